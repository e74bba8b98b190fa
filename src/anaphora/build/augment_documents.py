"""Parallel documents as a stream: two files that belong together line by line, cut where documents begin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice, zip_longest
from operator import itemgetter
from pathlib import Path

from anaphora.align.alignment import Alignment, parse_alignment
from anaphora.core.errors import BadInput
from anaphora.core.files import DOCUMENT_TAG, refuse_tag, text_lines

FORMATS = ("lines", "docids", "tags")
BLOCK = 1000  # sentences of a document held at a time


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence, its translation and, where there is a file of them, its alignment; line: of the files."""

    line: int
    source: str
    target: str
    alignment: Alignment | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Sentences of one document that follow each other; first: the number of the first one in its document."""

    document: str
    first: int
    pairs: tuple[Pair, ...]


def read_blocks(
    source: Path, target: Path, *, format: str = "lines", alignments: Path | None = None
) -> Iterator[Block]:
    """The documents of two files; long ones in several blocks, so that a file without boundaries fits in memory, too.

    format: `lines`, a blank line in both files between documents; `docids`, docid⇥sentence on each line; `tags`, a
        line `<d>` before each document
    alignments: a Pharaoh file with as many lines as the others
    """
    for name, sentences in groupby(read_pairs(source, target, format, alignments), key=itemgetter(0)):
        first = 0
        while pairs := tuple(pair for _, pair in islice(sentences, BLOCK)):
            yield Block(name, first, pairs)
            first += len(pairs)


def read_pairs(source: Path, target: Path, format: str, alignments: Path | None) -> Iterator[tuple[str, Pair]]:
    """Each pair with the name of its document."""
    documents, inside = 0, False
    for line, rows in enumerate(side_by_side(source, target, alignments), start=1):
        first, second = (row.strip() for row in rows[:2])
        if format == "docids":
            name, first, second = _docid(rows[0], rows[1], target, line)
        else:
            if format == "lines":
                refuse_tag(first, source, line, "Add --format tags.")
            mark = DOCUMENT_TAG if format == "tags" else ""
            if (first == mark) != (second == mark):
                where, what = (source, "source") if first == mark else (target, "target")
                problem = f"{mark or 'a blank line'} in the {what} alone"
                remedy = "Documents begin at the same line of both files; see --format."
                raise BadInput(where, problem, line=line, remedy=remedy)
            if first == mark:
                inside = False
                continue
            documents, inside = documents + (not inside), True
            name = str(documents)
        points = parse_alignment(rows[2], alignments, line) if alignments is not None else None
        yield name, Pair(line, first, second, points)


def side_by_side(*files: Path | None) -> Iterator[tuple[str, ...]]:
    """The lines of files that belong together line by line; those that are None are left out."""
    paths = [path for path in files if path is not None]
    for line, rows in enumerate(zip_longest(*map(text_lines, paths)), start=1):
        if None in rows:
            short, long = paths[rows.index(None)], paths[next(i for i, row in enumerate(rows) if row is not None)]
            remedy = "They belong together line by line: give files of the same length."
            raise BadInput(short, f"it ends at line {line - 1:,}, but {long} goes on", remedy=remedy)
        yield rows


def _docid(source: str, target: str, path: Path, line: int) -> tuple[str, str, str]:
    name, tab, first = source.partition("\t")
    other, tab_too, second = target.partition("\t")
    if not tab or not tab_too or name != other:
        problem = "no tab in the line" if not (tab and tab_too) else f"document {other!r}, but {name!r} in the source"
        raise BadInput(path, problem, line=line, remedy="Each line of both files is docid, a tab, a sentence.")
    return name, first.strip(), second.strip()
