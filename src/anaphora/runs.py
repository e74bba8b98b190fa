"""Runs: what a system scored about a suite, one record per example under a header that says how it was made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from anaphora import __version__
from anaphora.core.errors import BadInput
from anaphora.core.files import atomic_writer, byte_lines, decode, existing, json_line, missing
from anaphora.core.parsing import MAX_INTEGER, are_strings, get, is_a, json_header, json_value
from anaphora.measurement import Measurement, measurement_of
from anaphora.suites.example import Tag
from anaphora.suites.suite import Suite


class ScoredExample(NamedTuple):
    """An example's gold and tags with the system's scores, so that nothing has to be scored or read again.

    scores: one per candidate; tokens: how many tokens each candidate has, where known
    extra: what else was noticed, for example candidates that the system cannot tell apart
    """

    id: str
    gold: int | None
    tags: Mapping[str, Tag]
    scores: Sequence[float]
    tokens: Sequence[int] | None = None
    extra: Mapping[str, Any] = MappingProxyType({})

    @property
    def unanswered(self) -> bool:
        """Whether none of the system's replies was an answer, so that all scores are the same."""
        return bool(self.extra.get("unanswered")) and len(set(self.scores)) == 1


class CandidateScores(NamedTuple):
    """A system's answer to one example.

    scores: a log-probability for each candidate; tokens: how many tokens it was added up over, where known
    undecidable: pairs of candidates that the system cannot tell apart, as they are the same to it
    truncated: how many of the texts were cut to what the model takes
    extra: what else the record keeps, by the names in `run.EXTRA`, for example the system's own translation
    """

    scores: Sequence[float]
    tokens: Sequence[int] | None = None
    undecidable: Sequence[tuple[int, int]] = ()
    truncated: int = 0
    extra: Mapping[str, Any] = {}  # never written to; a MappingProxyType could not be sent to a process


def equal_pairs(candidates: Sequence[object]) -> list[tuple[int, int]]:
    """Return the pairs of candidates that are equal, by their indices: a system cannot tell them apart."""
    return [(i, j) for j, candidate in enumerate(candidates) for i in range(j) if candidates[i] == candidate]


Answer = CandidateScores  # its name in 0.1, which backends of other packages import

FORMAT_VERSION = 1
# what a record may say besides
EXTRA = ("undecidable", "truncated", "translation", "unanswered", "answer", "attribution")
FILE = "run.jsonl"  # where the records are if a run is a folder
WRITTEN_BY = "A run is written by: anaphora score SUITE --system SPEC -o RUN"
SAMPLE = re.compile(r"\d{1,19}@-?\d{1,19}")  # size and seed of a random sample
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
    """A run on disk; iterating reads its records.

    summary: counted while the run was written; None for a run that was opened, see `summarize`
    """

    header: RunHeader
    path: Path
    summary: RunSummary | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __iter__(self) -> Iterator[ScoredExample]:
        records = 0
        for number, line in enumerate(byte_lines(self.path), start=1):
            if number > 1 and line.strip():
                records += 1
                yield parse_record(decode(line, self.path, number), self.path, number)
        if self.header.examples not in (None, records):
            problem = f"{records:,} of {self.header.examples:,} examples are in it"
            raise BadInput(self.path, problem, remedy="Finish the run with the command that began it and --resume.")

    def summarize(self) -> RunSummary:
        """Counts of unusual examples in the run, which is read only if it was not just written."""
        if self.summary is not None:
            return self.summary
        summary = RunSummary()
        for number, item in enumerate(self):
            summary.add(number, item)
        return summary


@dataclass
class RunSummary:
    """Counts of what was noticed while a suite was scored.

    undecidable: candidates that are the same to the system as another one; truncated: inputs that were cut
    unanswered, partly_answered: examples where none, or not all, of the system's replies were answers
    replies: some of the replies that were not answers, by the number of their example
    """

    examples: int = 0
    undecidable: int = 0
    truncated: int = 0
    unanswered: int = 0
    partly_answered: int = 0
    replies: dict[int, str] = field(default_factory=dict)

    def add(self, number: int, item: ScoredExample) -> None:
        """Count an example, which has this number in the suite."""
        extra = item.extra
        self.examples += 1
        self.undecidable += len({candidate for pair in extra.get("undecidable", ()) for candidate in pair})
        self.truncated += extra.get("truncated", 0)
        self.unanswered += item.unanswered
        self.partly_answered += "unanswered" in extra and not item.unanswered
        if extra.get("answer"):
            self.replies[number] = extra["answer"]
            if len(self.replies) > 3:
                del self.replies[max(self.replies)]

    def to_dict(self) -> dict[str, Any]:
        replies = [self.replies[number] for number in sorted(self.replies)]
        counts = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "replies"}
        return {**counts, "answers": replies}


@dataclass(frozen=True)
class LoadedRun(Run):
    """A run, or some records of one, in memory."""

    records: tuple[ScoredExample, ...] = ()

    def __iter__(self) -> Iterator[ScoredExample]:
        return iter(self.records)


def load(run: Run) -> LoadedRun:
    """Return a run whose records are in memory, so that they are parsed once."""
    return run if isinstance(run, LoadedRun) else LoadedRun(run.header, run.path, tuple(run))


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
        *(about.name, sha256, about.source_language, about.target_language, system, __version__),
        *(about.breakdowns, about.blocks, context, settings, examples),
    )


def open_run(path: Path) -> Run:
    """A run by its file or folder. Only its header is read now."""
    file = existing(path, FILE) or path / FILE if path.is_dir() else path
    part = unfinished(file)
    if part.is_file() and not file.exists():
        pending = byte_lines(part)
        header = _parse_header(decode(next(pending, b""), part, 1), part)
        done, total = sum(1 for line in pending if line.strip()), header.examples
        problem = f"an unfinished run: {done:,} of {total:,} examples are scored" if total else "an unfinished run"
        raise BadInput(part, problem, remedy="Finish it with the command that started it and --resume.")
    if not file.exists():
        raise missing(file, WRITTEN_BY)
    lines = byte_lines(file)
    first = decode(next(lines, b""), file, 1)
    lines.close()  # type: ignore[attr-defined]  # byte_lines is a generator
    return Run(_parse_header(first, file), file)


def unfinished(file: Path) -> Path:
    """Where the answers are kept until a run is complete."""
    return file.with_name(f"{file.name}.part")


def run_file(path: Path) -> Path:
    """The file of a run: the path itself if it ends in .jsonl or .jsonl.gz, else a file in the folder of that name."""
    return path if path.name.endswith((".jsonl", ".jsonl.gz")) else path / FILE


def write_run(path: Path, header: RunHeader, items: Iterable[ScoredExample]) -> Path:
    """Write a whole run, complete or not at all."""
    file = run_file(path)
    with atomic_writer(file) as out:
        out.write(header_line(header))
        for item in items:
            out.write(record_line(item))
    return file


def header_line(header: RunHeader, **more: Any) -> bytes:
    """Return the first line of a run's file. more: what else it says, which readers of runs ignore"""
    row: dict[str, Any] = {"anaphora_run": FORMAT_VERSION}
    row |= {f.name: getattr(header, f.name) for f in fields(header)} | more
    for name in ("examples", "cut_blocks"):
        if row[name] is None:
            del row[name]
    return json_line(row)


def record_line(item: ScoredExample) -> bytes:
    row: dict[str, Any] = {"id": item.id, "scores": item.scores}
    if item.tokens is not None:
        row["tokens"] = item.tokens
    row |= {**item.extra, "gold": item.gold, "tags": dict(item.tags)}
    return json_line(row, separators=(",", ":"), allow_nan=False)


def _parse_header(line: str, path: Path) -> RunHeader:
    row = json_header(line, "anaphora_run", FORMAT_VERSION, path, "run", WRITTEN_BY)
    known = {f.name for f in fields(RunHeader)}
    try:
        header = RunHeader(**{key: value for key, value in row.items() if key in known})
    except TypeError as error:
        missing = str(error).partition(": ")[2]
        raise BadInput(path, f"the run header lacks {missing}", line=1, remedy=WRITTEN_BY) from None
    breakdowns, cut = row.get("breakdowns") or [], row.get("cut_blocks")
    tags = cut is None or (type(cut) is list and not any(isinstance(block, list | dict) for block in cut))
    optional = isinstance(header.blocks, str | None) and isinstance(header.context, str | None)
    checks = [
        (are_strings(breakdowns), "'breakdowns'", "a list of strings"),
        *((type(row[name]) is str, repr(name), "a string") for name in TEXTS),
        (optional, "'blocks' and 'context'", "strings"),
        (tags, "'cut_blocks'", "a list of tags"),
    ]
    for right, name, kind in checks:
        if not right:
            raise BadInput(path, f"{name} in the run header must be {kind}", line=1, remedy=WRITTEN_BY)
    if header.examples is not None:
        get(row, "examples", int, path, 1)
    settings = get(row, "settings", dict, path, 1, default={})
    sample = settings.get("sample") or "0@0"
    if type(sample) is not str or not SAMPLE.fullmatch(sample) or not isinstance(settings.get("limit"), int | None):
        raise BadInput(path, "'sample' in the settings must be SIZE@SEED, 'limit' a number", line=1, remedy=WRITTEN_BY)
    return replace(header, breakdowns=tuple(breakdowns), cut_blocks=None if cut is None else tuple(cut))


def parse_record(line: str, path: Path, number: int) -> ScoredExample:
    item = None
    try:
        row = json_value(line)
        extra = {key: row[key] for key in EXTRA if key in row}
        item = ScoredExample(row["id"], row["gold"], row["tags"], row["scores"], row.get("tokens"), extra)
        problem = record_problem(item)
    except KeyError as error:
        problem = f"{error} is missing"
    except (ValueError, TypeError) as error:
        problem = str(error)
    if item is None or problem:
        raise BadInput(path, f"not a record of a run ({problem})", line=number, remedy=WRITTEN_BY)
    return item


def record_problem(item: ScoredExample) -> str | None:
    """Return what is wrong with a record; None if it can be evaluated."""
    if type(item.id) is not str or type(item.tags) is not dict:
        return "'id' must be a string, 'tags' an object"
    if type(item.scores) is not list or not item.scores or not all(is_a(score, float) for score in item.scores):
        return "'scores' must be a list of finite numbers"
    if item.gold is not None and (type(item.gold) is not int or not 0 <= item.gold < len(item.scores)):
        return f"gold is {item.gold!r}, but there are {len(item.scores)} scores"
    if item.tokens is not None and (
        type(item.tokens) is not list
        or [type(n) for n in item.tokens] != [int] * len(item.scores)
        or max(item.tokens) > MAX_INTEGER  # it could not be divided by
    ):
        return "'tokens' must be a list of counts, one per score"
    pairs = item.extra.get("undecidable", [])
    if type(pairs) is not list or not all(type(pair) is list and all(type(n) is int for n in pair) for pair in pairs):
        return "'undecidable' must be a list of pairs of candidates"
    if not isinstance(item.extra.get("truncated", 0), int) or type(item.extra.get("answer", "")) is not str:
        return "'truncated' must be a count, 'answer' a string"
    return None
