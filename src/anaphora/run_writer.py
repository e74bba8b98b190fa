"""Writing runs: every answer is written as soon as it is known, so that an interruption loses none.

Answers are in a file next to the run's (`unfinished`), which replaces the run when it is complete. So an earlier run
that is overwritten is there until then.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput, OutputMisaligned
from anaphora.core.files import (
    Appender,
    atomic_writer,
    byte_lines,
    complete_lines,
    decode,
    json_line,
    rename_synced,
    sha256_of,
    write_atomic,
)
from anaphora.core.finite import all_finite
from anaphora.core.parsing import get, json_record
from anaphora.measurement import stable_spec
from anaphora.runs import (
    EXTRA,
    CandidateScores,
    Run,
    RunHeader,
    RunSummary,
    ScoredExample,
    header_line,
    open_run,
    parse_record,
    record_line,
    record_problem,
    run_file,
    unfinished,
)
from anaphora.suites.example import Example

REMEDY = "Check the model's files and precision (float16 overflows where float32 and bfloat16 do not)."
DIGITS = 6  # decimals of a score that are kept; float32 has no more


class RunWriter:
    """Answers in the order in which they come, in a file next to the run's; `finish` puts them in the suite's order.

    overwrite: replace the run that exists when this one is complete; an unfinished one is replaced immediately
    """

    def __init__(
        self, output: Path, header: RunHeader, examples: Sequence[Example], *, resume: bool, overwrite: bool
    ) -> None:
        self.file = run_file(output)
        self.part = unfinished(self.file)
        self.header, self.examples = header, examples
        self.done: dict[int, bytes] = {}  # the lines of the records
        self.summary = RunSummary()
        self._out: Appender | None = None
        self._complete = False  # whether the run was found complete, so that there is nothing to write
        self._replaces: str | None = None  # the SHA-256 of the earlier run that is replaced
        if overwrite:
            self.part.unlink(missing_ok=True)
            self._replaces = _digest(self.file)
            if self._replaces:  # so that --resume does not take the earlier run for this one
                write_atomic(self.part, header_line(header, replaces=self._replaces))
        elif not resume:
            if self.file.exists():
                raise AnaphoraError(
                    f"{self.file} already exists. Choose another output, or pass --resume or --overwrite"
                )
            if self.part.exists():
                raise AnaphoraError(
                    f"an unfinished run is at {self.part}. Continue with --resume, or start with --overwrite"
                )
        elif self.file.exists() and not self._is_replaced():
            _check_same(open_run(self.file).header, header, self.file)
            for number, item in enumerate(open_run(self.file)):
                self._keep(number, item, b"")
            self._complete = True
        elif self.part.exists():
            self._read()

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._out is not None:
            self._out.close()
        if error is not None and self._replaces and not self.done:
            self.part.unlink(missing_ok=True)
        elif isinstance(error, OutputMisaligned) and self.part.exists():  # never resumed, and not lost
            rename_synced(self.part, self.part.with_suffix(".in-doubt"))

    def add(self, number: int, answer: CandidateScores) -> None:
        """Keep an answer: it is with the operating system when this returns, so that kill −9 does not lose it.

        It is on the disk a second later at most: a loss of power costs the last answers, which are then scored again.
        """
        example = self.examples[number]
        all_finite(list(answer.scores), f"{self.header.system}: scores of example {example.id}", REMEDY)
        scores = [round(score, DIGITS) for score in answer.scores]
        extra: dict[str, Any] = dict(answer.extra)
        if answer.undecidable:
            extra["undecidable"] = [list(pair) for pair in answer.undecidable]
        if answer.truncated:
            extra["truncated"] = answer.truncated
        tokens = None if answer.tokens is None else list(answer.tokens)
        known = {name: extra[name] for name in EXTRA if name in extra}
        item = ScoredExample(example.id, example.gold, dict(example.tags), scores, tokens, known)
        if problem := record_problem(item):
            raise AnaphoraError(f"{self.header.system}: example {example.id}: {problem}")
        line = record_line(item)
        if self._out is None:
            new = not self.part.exists()
            self._out = Appender(self.part)
            if new:
                self._out.write(header_line(self.header))
        self._out.write(b'{"n": %d,' % number + line[1:])
        self._keep(number, item, line)

    def _keep(self, number: int, item: ScoredExample, line: bytes) -> None:
        self.done[number] = line
        self.summary.add(number, item)

    def finish(self) -> Run:
        """Write the complete run under its name and remove the unfinished one.

        A file that appeared there in the meantime belongs to another program: an error, and the answers are kept.
        """
        if len(self.done) != len(self.examples):
            missing = len(self.examples) - len(self.done)
            raise AnaphoraError(f"the system gave no answer to {missing:,} of {len(self.examples):,} examples")
        if self._out is not None:
            self._out.close()
        if not self._complete:
            if self.file.exists() and _digest(self.file) != self._replaces:
                raise AnaphoraError(
                    f"{self.file} was written by another program in the meantime. Move it away, then use --resume: "
                    f"answers of {self.header.system} are kept in {self.part}"
                )
            with atomic_writer(self.file) as out:
                out.write(header_line(self.header))
                out.writelines(self.done[n] for n in range(len(self.examples)))
        if self._is_part_ours():  # not what another system has kept there
            self.part.unlink(missing_ok=True)
        return replace(open_run(self.file), summary=self.summary)

    def _is_part_ours(self) -> bool:
        try:
            return self.part.exists() and not _differences(open_run(self.part).header, self.header)
        except BadInput:
            return False

    def _is_replaced(self) -> bool:
        """Whether the run that exists is the earlier one that an unfinished run was begun to replace."""
        if not self._is_part_ours():
            return False
        self._replaces = json_record(next(byte_lines(self.part)), self.part, 1).get("replaces")
        return self._replaces is not None and self._replaces == _digest(self.file)

    def _read(self) -> None:
        """Read the records that an interrupted process has written."""
        lines = complete_lines(self.part)
        if not lines:
            self.part.unlink()
            return
        _check_same(open_run(self.part).header, self.header, self.part)
        for line_number, line in enumerate(lines[1:], start=2):
            item = parse_record(decode(line, self.part, line_number), self.part, line_number)
            number = get(json_record(line, self.part, line_number), "n", int, self.part, line_number)
            if number not in range(len(self.examples)) or self.examples[number].id != item.id:
                problem = f"example {item.id!r} is not number {number!r} of the suite"
                raise BadInput(self.part, problem, line=line_number, remedy="Start again with --overwrite.")
            self._keep(number, item, record_line(item))


def _digest(file: Path) -> str | None:
    return sha256_of(file) if file.exists() else None


def refuse_other(output: Path, header: RunHeader) -> None:
    """An error where a run is, finished or not, created with other settings than those of the header."""
    file = run_file(output)
    if file.exists():
        _check_same(open_run(file).header, header, file, "Choose another output, or pass --overwrite")
    if unfinished(file).exists():
        raise AnaphoraError(f"an unfinished run is at {unfinished(file)}. Choose another output, or pass --overwrite")


def _check_same(earlier: RunHeader, header: RunHeader, path: Path, remedy: str = "Choose another output") -> None:
    """Raise an error if headers differ: runs are never mixed."""
    if differences := _differences(earlier, header):
        raise AnaphoraError(f"{path} was created with different settings ({'; '.join(differences)}). {remedy}")


def _differences(earlier: RunHeader, header: RunHeader) -> list[str]:
    differences = []
    for f in fields(RunHeader):
        old, new = getattr(earlier, f.name), getattr(header, f.name)
        new = json.loads(json_line(new)) if isinstance(new, str) else new
        if f.name == "settings":
            new = json.loads(json_line(dict(new)))  # as it comes back from a file: a tuple is a list there
            differences += [
                f"{key}: {old.get(key)!r}, now {new.get(key)!r}"
                for key in sorted({*old, *new})
                if old.get(key) != new.get(key)
            ]
        elif f.name == "system" and stable_spec(old) == stable_spec(new):
            continue  # how fast a server is asked does not change its answers
        elif old != new:
            differences.append(f"{f.name}: {old!r}, now {new!r}")
    return differences


def kept(output: Path) -> str:
    """Describe what an interrupted `score` has kept for --resume; empty where there is nothing."""
    part = unfinished(run_file(output))
    return f"{whole_lines(part):,} answers are kept in {part}" if part.is_file() else ""


def whole_lines(part: Path) -> int:
    """Count the complete lines of an unfinished file, without its header."""
    return max(0, part.read_bytes().count(b"\n") - 1)
