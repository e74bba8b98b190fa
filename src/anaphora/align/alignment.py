"""Word alignments: pairs of a source and a target word, and the Pharaoh format they are exchanged in (`0-0 1-2`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import text_lines

Point = tuple[int, int]  # source word, target word; both count from 0
Alignment = tuple[Point, ...]  # of one sentence pair, in the order of the file

LONGEST = 20  # characters of a point; no sentence has so many words
FORMAT = "A line is source-target word numbers from 0: 0-0 1-2."


def parse_alignment(line: str, path: Path, number: int) -> Alignment:
    """One line of a Pharaoh file; an empty line is a pair without links."""
    points = []
    for item in line.split():
        source, dash, target = item.partition("-")
        digits = source.isascii() and source.isdigit() and target.isascii() and target.isdigit()
        if not (dash and digits and len(item) < LONGEST):
            raise BadInput(path, f"not an alignment point: {item[:LONGEST]!r}", line=number, remedy=FORMAT)
        points.append((int(source), int(target)))
    return tuple(points)


def read_alignments(path: Path) -> Iterator[Alignment]:
    """A Pharaoh file, line by line."""
    for number, line in enumerate(text_lines(path), start=1):
        yield parse_alignment(line, path, number)


def format_alignment(alignment: Iterable[Point]) -> str:
    """One line of a Pharaoh file."""
    return " ".join(f"{source}-{target}" for source, target in alignment)


def check_alignment(alignment: Alignment, source: int, target: int, path: Path, number: int) -> None:
    """Points must be words of the sentences, which have so many."""
    for i, j in alignment:
        if i >= source or j >= target:
            problem = f"point {i}-{j} is outside the sentences of {source:,} and {target:,} words"
            remedy = "Align the very texts that are scored, tokenised as they are."
            raise BadInput(path, problem, line=number, remedy=remedy)


def links(alignment: Alignment, source: int) -> list[list[int]]:
    """The target words of each of so many source words, in ascending order."""
    found: list[set[int]] = [set() for _ in range(source)]
    for i, j in alignment:
        found[i].add(j)
    return [sorted(words) for words in found]


def transposed(alignment: Alignment) -> Alignment:
    """From target to source."""
    return tuple((j, i) for i, j in alignment)
