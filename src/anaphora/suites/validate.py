"""Problems of a suite with their positions: everything that would make its figures misleading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.core.files import byte_lines
from anaphora.core.parsing import parse_json_line
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, read_native, shape_problem


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong; line: in a suite file, None where the suite was read from another format."""

    path: str
    line: int | None
    id: str | None
    problem: str

    def __str__(self) -> str:
        location = self.path if self.line is None else f"{self.path}: line {self.line:,}"
        return f"{location}: {f'example {self.id}: ' if self.id is not None else ''}{self.problem}"


def validate_file(path: Path) -> Iterator[Problem]:
    """All problems of a suite file, in its order; a broken line does not keep the next ones from being read."""
    read_native(path)  # a bad header is an error by itself
    ids: dict[str, int] = {}
    examples = 0
    for number, line in enumerate(byte_lines(path), start=1):
        if number == 1 or not line.strip():
            continue
        examples += 1
        row: Any = None
        try:
            row = parse_json_line(line, path, number)
            problem = shape_problem(row)
        except BadInput as error:
            problem = error.problem
        listed = [problem] if problem else list(example_problems(row["source"], row["candidates"], row["gold"]))
        identifier = row.get("id") if isinstance(row, dict) and isinstance(row.get("id"), str) else None
        if identifier is not None:
            if identifier in ids:
                listed.append(f"the id is already that of line {ids[identifier]:,}")
            ids.setdefault(identifier, number)
        for problem in listed:
            yield Problem(str(path), number, identifier, problem)
    if not examples:
        yield Problem(str(path), None, None, "the suite has no examples")


def validate_suite(suite: Suite) -> Iterator[Problem]:
    """The same for a suite read from another format."""
    seen: set[str] = set()
    path = str(suite.path or suite.header.name)
    example: Example | None = None
    for example in suite:
        for problem in example_problems(example.source, example.candidates, example.gold):
            yield Problem(path, None, example.id, problem)
        if example.gold is not None and not 0 <= example.gold < len(example.candidates):
            last = len(example.candidates) - 1
            yield Problem(path, None, example.id, f"gold is {example.gold}, but the candidates are 0 to {last}")
        if example.id in seen:
            yield Problem(path, None, example.id, "the id occurs twice")
        seen.add(example.id)
    if example is None:
        yield Problem(path, None, None, "the suite has no examples")


def example_problems(source: Any, candidates: Any, gold: int | None) -> Iterator[str]:
    """The problems of the passages of one example.

    An example that is not a choice (no gold, one candidate) is to be translated: the candidate is the reference, or
    empty where there is none (WinoMT).
    """
    passages = [tuple(candidate) for candidate in candidates]
    lengths = sorted({len(source), *map(len, passages)})
    if len(lengths) > 1:
        sizes = ", ".join(map(str, [len(source), *map(len, passages)]))
        yield f"passages of different lengths (source and candidates have {sizes} sentences)"
    to_translate = len(passages) == 1 and gold is None
    if len(passages) == 1 and not to_translate:
        yield "there is only one candidate"
    first: dict[tuple[str, ...], int] = {}
    for k, passage in enumerate(passages):
        if not passage[-1].strip() and not to_translate:
            yield f"candidate {k} is empty"
        if passage in first:
            yield f"candidates {first[passage]} and {k} do not differ"
        first.setdefault(passage, k)
    if any("\n" in sentence or "\r" in sentence for passage in (source, *passages) for sentence in passage):
        yield "a sentence has a line break in it"
