"""Parallel documents as a stream: two files that belong together line by line, cut where documents begin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path

from anaphora.align.alignment import Alignment, parse_alignment
from anaphora.core.documents import document_lines

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
    """Yield each pair with the name of its document."""
    extra = () if alignments is None else (alignments,)
    for line in document_lines(source, target, format=format, extra=extra):
        points = None if alignments is None else parse_alignment(line.extra[0], alignments, line.number)
        yield line.document, Pair(line.number, line.texts[0].strip(), line.texts[1].strip(), points)
