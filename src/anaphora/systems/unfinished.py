"""A run that is being made: every answer is on disk as soon as it is known, and an interruption loses none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput, OutOfStep
from anaphora.core.files import Appender, decode, json_line, rename_synced
from anaphora.core.finite import all_finite
from anaphora.core.parsing import get, json_record
from anaphora.suites.example import Example
from anaphora.systems.context import stable_spec
from anaphora.systems.run import (
    RunHeader,
    header_line,
    open_run,
    parse_record,
    record_line,
    run_file,
    unfinished,
    write_run,
)
from anaphora.systems.scored import Answer, Scored

REMEDY = "Check the model's files and precision (float16 overflows where float32 and bfloat16 do not)."
DIGITS = 6  # decimals of a score that are kept; float32 has no more


class UnfinishedRun:
    """Answers in the order in which they come, in a file beside the run's; `finish` puts them in the suite's order."""

    def __init__(
        self, output: Path, header: RunHeader, examples: Sequence[Example], *, resume: bool, overwrite: bool
    ) -> None:
        self.file = run_file(output)
        self.part = unfinished(self.file)
        self.header, self.examples = header, examples
        self.done: dict[int, Scored] = {}
        self._out: Appender | None = None
        self._complete = False  # whether the run was found complete, so that there is nothing to write
        if overwrite:
            self.part.unlink(missing_ok=True)
            self.file.unlink(missing_ok=True)
        if self.file.exists():
            if not resume:
                raise AnaphoraError(
                    f"{self.file} is there already. Name another output, or use --resume or --overwrite"
                )
            _same(open_run(self.file).header, header, self.file)
            self.done = dict(enumerate(open_run(self.file)))
            self._complete = True
        elif self.part.exists():
            if not resume:
                raise AnaphoraError(
                    f"an unfinished run is at {self.part}. Go on with --resume, or start with --overwrite"
                )
            self._read()

    def __enter__(self) -> UnfinishedRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._out is not None:
            self._out.close()
        if isinstance(error, OutOfStep) and self.part.exists():  # never gone on with, and not lost
            rename_synced(self.part, self.part.with_suffix(".in-doubt"))

    def add(self, number: int, answer: Answer) -> None:
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
        line = record_line(Scored(example.id, example.gold, example.tags, scores, answer.tokens, extra))
        self._writer().write(json.dumps({"n": number}).encode()[:-1] + b"," + line[1:])
        # Kept as another process would read it, so that the run does not tell where it was interrupted.
        self.done[number] = parse_record(line.decode(), self.part, 0)

    def finish(self) -> Path:
        """The complete run under its name, and the unfinished one gone.

        A file that has appeared there meanwhile is somebody else's: an error, and the answers are kept.
        """
        if len(self.done) != len(self.examples):
            missing = len(self.examples) - len(self.done)
            raise AnaphoraError(f"the system gave no answer to {missing:,} of {len(self.examples):,} examples")
        if self._out is not None:
            self._out.close()
        if not self._complete:
            if self.file.exists():
                raise AnaphoraError(
                    f"{self.file} was written by another program meanwhile. Move it away, then use --resume: answers "
                    f"of {self.header.system} are kept in {self.part}"
                )
            write_run(self.file, self.header, (self.done[n] for n in range(len(self.examples))))
        self.part.unlink(missing_ok=True)
        return self.file

    def _writer(self) -> Appender:
        if self._out is None:
            fresh = not self.part.exists()
            self._out = Appender(self.part)
            if fresh:
                self._out.write(header_line(self.header))
        return self._out

    def _read(self) -> None:
        """What an interrupted process left: whole lines count, a line that it was writing is cut off."""
        data = self.part.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if not whole:
            self.part.unlink()
            return
        if len(whole) < len(data):
            with self.part.open("r+b") as stream:
                stream.truncate(len(whole))
        run = open_run(self.part)
        _same(run.header, self.header, self.part)
        for place, line in enumerate(whole.splitlines()[1:], start=2):
            item = parse_record(decode(line, self.part, place), self.part, place)
            number = get(json_record(line, self.part, place), "n", int, self.part, place)
            if number not in range(len(self.examples)) or self.examples[number].id != item.id:
                problem = f"example {item.id!r} is not number {number!r} of the suite"
                raise BadInput(self.part, problem, line=place, remedy="Start again with --overwrite.")
            self.done[number] = item


def refuse_other(output: Path, header: RunHeader) -> None:
    """An error where a run is, finished or not, that was made in another way than the header says."""
    file = run_file(output)
    if file.exists():
        _same(open_run(file).header, header, file, "Name another output, or use --overwrite")
    elif unfinished(file).exists():
        raise AnaphoraError(f"an unfinished run is at {unfinished(file)}. Name another output, or use --overwrite")


def _same(found: RunHeader, wanted: RunHeader, path: Path, remedy: str = "Name another output") -> None:
    """A header that differs is an error, never a mix."""
    differences = []
    for f in fields(RunHeader):
        old, new = getattr(found, f.name), getattr(wanted, f.name)
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
    if differences:
        raise AnaphoraError(f"{path} was made in another way ({'; '.join(differences)}). {remedy}")
