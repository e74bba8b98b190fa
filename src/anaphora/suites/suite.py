"""Suites: a header and examples, and the suite file, JSON Lines with a versioned header, streamed both ways."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import Any, Protocol, overload

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer, byte_lines, decode, json_line
from anaphora.core.parsing import are_strings, json_header, parse_json_line, shown
from anaphora.suites.example import Example
from anaphora.table import Row, Table, arrow, as_html

FORMAT_VERSION = 1


class Digest(Protocol):
    """Anything that takes bytes, such as the objects of hashlib."""

    def update(self, data: bytes, /) -> None: ...


class LineDigest:
    """A digest that keeps the bytes it is given until they are taken: the line of one example."""

    def __init__(self) -> None:
        self._bytes = b""

    def update(self, data: bytes, /) -> None:
        self._bytes += data

    def take(self) -> bytes:
        line, self._bytes = self._bytes, b""
        return line


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a suite.

    breakdowns: what its paper reports, as `evaluate --by` takes it: a tag, `tag>3` to merge larger numbers, `a×b`
    blocks: the tag whose groups count as right only if every example in them is (Bawden et al. 2018, §2.1)
    """

    name: str
    source_language: str
    target_language: str
    breakdowns: tuple[str, ...] = ()
    blocks: str | None = None
    citation: str = ""
    licence: str = ""

    @property
    def languages(self) -> str:
        return f"{self.source_language}-{self.target_language}"


@dataclass(frozen=True)
class Suite:
    """A header and a stream of examples, which are read again each time the suite is iterated.

    stream: yields the examples; a digest it is given takes the bytes of each example's line
    path: the file the suite came from, if it came from one
    count: counts the examples without parsing them, where that is possible
    """

    header: Header
    stream: Callable[[Digest | None], Iterator[Example]] = field(repr=False)
    path: Path | None = None
    count: Callable[[], int] | None = field(default=None, repr=False, compare=False)

    def __iter__(self) -> Iterator[Example]:
        yield from self._kept if "_kept" in self.__dict__ else self.stream(None)

    def __len__(self) -> int:
        """Return the number of examples. Where they cannot be counted otherwise, they are kept in memory."""
        return self.count() if self.count is not None else len(self._kept)

    @cached_property
    def _kept(self) -> tuple[Example, ...]:
        """The examples, kept so that `list(suite)`, which asks for the length first, makes them once."""
        return tuple(self.stream(None))

    def __bool__(self) -> bool:
        return True

    @overload
    def __getitem__(self, index: int) -> Example: ...

    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...

    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        """Return the example at an index, or a list for a slice; the file is read up to it."""
        if isinstance(index, slice):
            chosen = range(len(self))[index]
            by_index = {k: example for k, example in enumerate(self) if k in chosen}
            return [by_index[k] for k in chosen]
        wanted = index if index >= 0 else len(self) + index
        for example in itertools.islice(self, wanted, None) if wanted >= 0 else ():
            return example
        raise IndexError(f"index {index} is out of range: {self.header.name} has {len(self):,} examples")

    def __repr__(self) -> str:
        source = f" from {self.path}" if self.path is not None else ""
        return f"<Suite {self.header.name} {self.header.languages}{source}>"

    def _repr_html_(self) -> str:
        """Return the header and the first examples, for notebooks."""
        rows = []
        for example in itertools.islice(self, 3):
            gold = "" if example.gold is None else example.candidates[example.gold][-1]
            others = [c[-1] for k, c in enumerate(example.candidates) if k != example.gold]
            rows.append(Row((example.id, example.source[-1], gold, " / ".join(others))))
        number = f"{len(self):,} example{'' if len(self) == 1 else 's'}"
        title = f"{self.header.name} {arrow(self.header.languages)} · {number}"
        notes = [f"breakdowns: {', '.join(self.header.breakdowns)}"] if self.header.breakdowns else []
        notes += [f"license: {self.header.licence}"] if self.header.licence else []
        return as_html(Table(title, ("id", "source", "right", "wrong"), tuple(rows), tuple(notes)))

    def examples(self, digest: Digest | None = None) -> Iterator[Example]:
        """Return the examples; once they are used up, the digest holds the suite's hash."""
        return self.stream(digest)

    def sha256(self) -> str:
        """Return the hash of the example lines (not of the header), which identifies the suite."""
        digest = hashlib.sha256()
        for _ in self.stream(digest):
            pass
        return digest.hexdigest()

    def load(self) -> Suite:
        """Return the same suite with its examples in memory, so that they are parsed once."""
        lines = LineDigest()
        rows = [(example, lines.take()) for example in self.stream(lines)]

        def stream(digest: Digest | None) -> Iterator[Example]:
            for example, line in rows:
                if digest is not None:
                    digest.update(line)
                yield example

        return Suite(self.header, stream, self.path, lambda: len(rows))

    def write(self, path: str | Path) -> str:
        """Write a suite file atomically; return its hash."""
        digest = hashlib.sha256()
        with atomic_writer(Path(path)) as out:
            out.write(header_line(self.header))
            for example in self:
                line = example_line(example)
                digest.update(line)
                out.write(line)
        return digest.hexdigest()


def suite_of(header: Header, examples: Callable[[], Iterable[Example]], path: Path | None = None) -> Suite:
    """Return a suite for a function that yields its examples; every reader returns one."""

    def stream(digest: Digest | None) -> Iterator[Example]:
        for example in examples():
            if not _is_example(example):
                raise BadInput(
                    path or header.name, f"example {shown(example.id)}: something other than a text is in its passages"
                )
            if digest is not None:
                digest.update(example_line(example))
            yield example

    return Suite(header, stream, path)


def _is_example(example: Example) -> bool:
    """Return whether an example consists of texts; a published file may contain anything."""
    passages = (example.source, *example.candidates)
    texts = all(passages) and all(type(text) is str for passage in passages for text in passage)
    return texts and type(example.id) is str and type(example.gold) in (int, NoneType) and bool(example.candidates)


def read_native(path: Path) -> Suite:
    """Open a suite file. Only its header is read now."""
    lines = byte_lines(path)
    try:
        header = _parse_header(next(lines, b""), path)
    finally:
        lines.close()  # type: ignore[attr-defined]  # byte_lines is a generator

    def stream(digest: Digest | None) -> Iterator[Example]:
        for number, line in enumerate(byte_lines(path), start=1):
            if number == 1 or not line.strip():
                continue
            if digest is not None:
                digest.update(line)
                digest.update(b"\n")
            yield parse_example(decode(line, path, number), path, number)

    def count() -> int:
        lines = sum(1 for line in byte_lines(path) if line.strip())
        return max(0, lines - 1)

    return Suite(header, stream, path, count)


def header_line(header: Header) -> bytes:
    """Return the first line of a suite file."""
    fields: dict[str, Any] = {"anaphora": FORMAT_VERSION}
    for name in Header.__slots__:
        value = getattr(header, name)
        if value is not None:
            fields[name] = list(value) if isinstance(value, tuple) else value
    return json_line(fields)


def example_line(example: Example) -> bytes:
    """Return the line of an example, the same bytes for the same example."""
    fields = {
        "id": example.id,
        "source": example.source,
        "candidates": example.candidates,
        "gold": example.gold,
        "tags": dict(example.tags),
    }
    try:
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    except (ValueError, RecursionError) as error:  # a lone surrogate, which is not text, or a tag that is not a number
        raise AnaphoraError(f"example {example.id!a} cannot be written: {error}") from None


def parse_example(line: str, path: Path, number: int) -> Example:
    """Parse a line of a suite file."""
    row = parse_json_line(line, path, number)
    problem = shape_problem(row)
    if problem:
        raise BadInput(path, problem, line=number, remedy=f"See all problems with: anaphora suites validate {path}")
    tags = row.get("tags")
    return Example(
        row["id"], tuple(row["source"]), tuple([tuple(c) for c in row["candidates"]]), row["gold"], tags or {}
    )


def shape_problem(row: Any) -> str | None:
    """Return why a JSON value is not an Example, or None."""
    if not isinstance(row, dict):
        return "an object is expected on each line"
    try:
        identifier, source, candidates, gold = row["id"], row["source"], row["candidates"], row["gold"]
    except KeyError as error:
        return f"{error} is missing"
    if type(identifier) is not str:
        return "'id' must be a string"
    if not _are_passages([source]):
        return "'source' must be a list of one or more strings, the current sentence last"
    if type(candidates) is not list or not _are_passages(candidates):
        return "'candidates' must be a list of passages (lists of one or more strings)"
    if gold is not None and (type(gold) is not int or not 0 <= gold < len(candidates)):
        return f"gold is {gold!r}, but the candidates are numbered 0 to {len(candidates) - 1}"
    if not isinstance(row.get("tags", {}), dict):
        return "'tags' must be an object"
    return None


def _are_passages(values: list[Any]) -> bool:
    """Return whether values are passages. These are loops because every line is checked and nothing else is as fast."""
    for passage in values:
        if type(passage) is not list or not passage:
            return False
        for sentence in passage:
            if type(sentence) is not str:
                return False
    return bool(values)


def _parse_header(line: bytes, path: Path) -> Header:
    remedy = "A suite file is written by: anaphora suites convert INPUT --from FORMAT -o OUT.jsonl"
    row = json_header(decode(line, path, 1), "anaphora", FORMAT_VERSION, path, "suite file", remedy)
    for key in ("name", "source_language", "target_language"):
        if not isinstance(row.get(key), str):
            raise BadInput(path, f"the header lacks {key!r}", line=1, remedy=remedy)
    for key in ("blocks", "citation", "licence"):
        if not isinstance(row.get(key), str | None):
            raise BadInput(path, f"{key!r} in the header must be a string", line=1, remedy=remedy)
    breakdowns = row.get("breakdowns") or []
    if not are_strings(breakdowns):
        raise BadInput(path, "'breakdowns' in the header must be a list of strings", line=1, remedy=remedy)
    name, source, target = (row[key] for key in ("name", "source_language", "target_language"))
    texts = row.get("citation") or "", row.get("licence") or ""
    return Header(name, source, target, tuple(breakdowns), row.get("blocks"), *texts)
