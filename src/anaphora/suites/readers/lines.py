"""What the readers of line files share: files that go line by line together, and words that differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import text_lines

WORD = re.compile(r"\w+|[^\w\s]")


def parallel_lines(*paths: Path) -> Iterator[tuple[str, ...]]:
    """The lines of several files side by side; files of different lengths are an error that says which ends first."""
    streams = [text_lines(path) for path in paths]
    number = 0
    while True:
        number += 1
        row = [next(stream, None) for stream in streams]
        if all(line is None for line in row):
            return
        if None in row:
            short, long = (
                paths[row.index(None)],
                next(p for p, line in zip(paths, row, strict=True) if line is not None),
            )
            problem = f"ends after line {number - 1:,}, but {long} goes on"
            raise BadInput(short, problem, remedy="The files must have the same number of lines.")
        yield tuple(line for line in row if line is not None)


def groups_of(rows: Iterable[tuple[str, ...]], size: int, path: Path) -> Iterator[list[tuple[str, ...]]]:
    """Rows in groups of a fixed size; a rest is an error."""
    group: list[tuple[str, ...]] = []
    number = 0
    for row in rows:
        number += 1
        group.append(row)
        if len(group) == size:
            yield group
            group = []
    if group:
        raise BadInput(path, f"{number:,} lines are not a multiple of {size}", line=number)


def differing_words(one: str, other: str) -> list[tuple[str, str]]:
    """The words, lowercased, in which two sentences of the same number of words differ; else none."""
    a, b = WORD.findall(one.lower()), WORD.findall(other.lower())
    return [(x, y) for x, y in zip(a, b, strict=True) if x != y] if len(a) == len(b) else []


def differing_pronoun(one: str, other: str, pronouns: Iterable[str]) -> str | None:
    """The pronoun of the first sentence that the other replaces (agreement may make other words differ, too)."""
    words = set(pronouns)
    return next((x for x, y in differing_words(one, other) if x in words and y in words), None)
