"""A Run: what a System said about a Suite, one record per Example under a header that says how it was made.

A run holds the gold and the tags of each example beside its scores, so that every figure, comparison and plot is
computed from runs alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from anaphora import __version__
from anaphora.core.errors import BadInput
from anaphora.core.files import atomic_writer, byte_lines, decode, existing, json_line
from anaphora.core.parsing import get, is_a, json_value
from anaphora.suites.example import Tag
from anaphora.suites.suite import Suite
from anaphora.systems.context import Measurement, measurement_of
from anaphora.systems.scored import Scored

FORMAT_VERSION = 1
EXTRA = ("undecidable", "truncated", "translation", "unanswered", "answer")  # what a record may say besides
FILE = "run.jsonl"  # where the records are if a run is a folder
TEXTS = ("suite", "sha256", "source_language", "target_language", "system", "version")


@dataclass(frozen=True, slots=True)
class RunHeader:
    """How a run was made.

    suite, sha256: which suite; breakdowns and blocks are its own; examples: how many it has, where known
    system: the spec it was named by; settings: everything else that the scores depend on
    context: sentences of source + target context, as in "1+1"; None where it is not known
    cut_blocks: blocks of which some examples were left out (by a limit or a sample); None where it is not known
    """

    suite: str
    sha256: str
    source_language: str
    target_language: str
    system: str
    version: str
    breakdowns: tuple[str, ...] = ()
    blocks: str | None = None
    context: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    examples: int | None = None
    cut_blocks: tuple[Tag, ...] | None = None

    @property
    def languages(self) -> str:
        return f"{self.source_language}-{self.target_language}"

    @property
    def measurement(self) -> Measurement:
        """How the system was measured: what runs must share to be comparable, besides the suite."""
        return measurement_of(self.context, self.settings)


@dataclass(frozen=True)
class Run:
    """A run on disk; iterating reads its records."""

    header: RunHeader
    path: Path

    def __iter__(self) -> Iterator[Scored]:
        records = 0
        for number, line in enumerate(byte_lines(self.path), start=1):
            if number > 1 and line.strip():
                records += 1
                yield parse_record(decode(line, self.path, number), self.path, number)
        if self.header.examples not in (None, records):
            problem = f"{records:,} of {self.header.examples:,} examples are in it"
            raise BadInput(self.path, problem, remedy="Finish the run with the command that began it and --resume.")


def describe(
    suite: Suite,
    *,
    sha256: str,
    system: str,
    context: str | None = None,
    examples: int | None = None,
    **settings: Any,
) -> RunHeader:
    """The header of a run over a suite, made by this version of the program."""
    about = suite.header
    return RunHeader(
        suite=about.name,
        sha256=sha256,
        source_language=about.source_language,
        target_language=about.target_language,
        system=system,
        version=__version__,
        breakdowns=about.breakdowns,
        blocks=about.blocks,
        context=context,
        examples=examples,
        settings=settings,
    )


def open_run(path: Path) -> Run:
    """A run by its file or folder. Only its header is read now."""
    file = existing(path, FILE) or path / FILE if path.is_dir() else path
    part = unfinished(file)
    if part.is_file() and not file.exists():
        raise _unfinished(part)
    lines = byte_lines(file)
    first = decode(next(lines, b""), file, 1)
    lines.close()  # type: ignore[attr-defined]  # byte_lines is a generator
    return Run(_parse_header(first, file), file)


def unfinished(file: Path) -> Path:
    """Where the answers are kept until a run is complete."""
    return file.with_name(f"{file.name}.part")


def _unfinished(part: Path) -> BadInput:
    """What is said of a run that somebody wants to read before it is complete."""
    lines = byte_lines(part)
    header = _parse_header(decode(next(lines, b""), part, 1), part)
    done, total = sum(1 for line in lines if line.strip()), header.examples
    problem = f"an unfinished run: {done:,} of {total:,} examples are scored" if total else "an unfinished run"
    return BadInput(part, problem, remedy="Finish it with the command that started it and --resume.")


def run_file(path: Path) -> Path:
    """The file of a run: the path itself if it ends in .jsonl or .jsonl.gz, else a file in the folder of that name."""
    return path if path.name.endswith((".jsonl", ".jsonl.gz")) else path / FILE


def write_run(path: Path, header: RunHeader, items: Iterable[Scored]) -> Path:
    """Write a whole run, complete or not at all."""
    file = run_file(path)
    with atomic_writer(file) as out:
        out.write(header_line(header))
        for item in items:
            out.write(record_line(item))
    return file


def header_line(header: RunHeader) -> bytes:
    row: dict[str, Any] = {"anaphora_run": FORMAT_VERSION}
    row |= {f.name: getattr(header, f.name) for f in fields(header)}
    for name in ("examples", "cut_blocks"):
        if row[name] is None:
            del row[name]
    return json_line(row)


def record_line(item: Scored) -> bytes:
    row: dict[str, Any] = {"id": item.id, "scores": item.scores}
    if item.tokens is not None:
        row["tokens"] = item.tokens
    row |= {**item.extra, "gold": item.gold, "tags": dict(item.tags)}
    return json_line(row, separators=(",", ":"), allow_nan=False)


def _parse_header(line: str, path: Path) -> RunHeader:
    remedy = "A run is written by: anaphora score SUITE --system SPEC -o RUN"
    try:
        row = json_value(line)
    except ValueError:
        row = None
    if not isinstance(row, dict) or "anaphora_run" not in row:
        raise BadInput(path, "not a run: the first line is not a run header", line=1, remedy=remedy)
    version = row.pop("anaphora_run")
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        problem = f"run format version {version!r}, this program reads up to {FORMAT_VERSION}"
        raise BadInput(path, problem, line=1, remedy="Upgrade with: pip install -U anaphora")
    known = {f.name for f in fields(RunHeader)}
    try:
        header = RunHeader(**{key: value for key, value in row.items() if key in known})
    except TypeError as error:
        missing = str(error).partition(": ")[2]
        raise BadInput(path, f"the run header lacks {missing}", line=1, remedy=remedy) from None
    breakdowns = row.get("breakdowns") or []
    if type(breakdowns) is not list or any(type(text) is not str for text in breakdowns):
        raise BadInput(path, "'breakdowns' in the run header must be a list of strings", line=1, remedy=remedy)
    for name in TEXTS:
        if type(row[name]) is not str:
            raise BadInput(path, f"{name!r} in the run header must be a string", line=1, remedy=remedy)
    if not isinstance(header.blocks, str | None) or not isinstance(header.context, str | None):
        raise BadInput(path, "'blocks' and 'context' in the run header must be strings", line=1, remedy=remedy)
    if header.examples is not None:
        get(row, "examples", int, path, 1)
    get(row, "settings", dict, path, 1, default={})
    cut = row.get("cut_blocks")
    if cut is not None and (type(cut) is not list or any(isinstance(block, list | dict) for block in cut)):
        raise BadInput(path, "'cut_blocks' in the run header must be a list of tags", line=1, remedy=remedy)
    return replace(header, breakdowns=tuple(breakdowns), cut_blocks=None if cut is None else tuple(cut))


def parse_record(line: str, path: Path, number: int) -> Scored:
    item = None
    try:
        row = json_value(line)
        extra = {key: row[key] for key in EXTRA if key in row}
        item = Scored(row["id"], row["gold"], row["tags"], row["scores"], row.get("tokens"), extra)
        problem = _record_problem(item)
    except KeyError as error:
        problem = f"{error} is missing"
    except (ValueError, TypeError) as error:
        problem = str(error)
    if item is None or problem:
        remedy = "A run is written by: anaphora score SUITE --system SPEC -o RUN"
        raise BadInput(path, f"not a record of a run ({problem})", line=number, remedy=remedy)
    return item


def _record_problem(item: Scored) -> str | None:
    """What keeps a record from being evaluated, if anything does."""
    if type(item.id) is not str or type(item.tags) is not dict:
        return "'id' must be a string, 'tags' an object"
    if type(item.scores) is not list or not item.scores or not all(is_a(score, float) for score in item.scores):
        return "'scores' must be a list of finite numbers"
    if item.gold is not None and (type(item.gold) is not int or not 0 <= item.gold < len(item.scores)):
        return f"gold is {item.gold!r}, but there are {len(item.scores)} scores"
    if item.tokens is not None and (
        type(item.tokens) is not list or [type(n) for n in item.tokens] != [int] * len(item.scores)
    ):
        return "'tokens' must be a list of counts, one per score"
    return None
