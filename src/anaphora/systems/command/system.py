"""`command:PROGRAM ARGS…`: any program that reads `source⇥target` lines and writes one score per line.

That is how marian-scorer, Sockeye, fairseq and others are called, if need be through a script of a few lines.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
import signal
import weakref
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import Any

from anaphora.core.errors import AnaphoraError, OutOfStep
from anaphora.suites.example import Example
from anaphora.systems.command.program import TICK, WAIT, Program
from anaphora.systems.options import Options
from anaphora.systems.scored import Answer
from anaphora.systems.scores import parse_scores

SILENCE = 24 * 3600.0  # seconds without an answer after which a program is ended
TIMEOUT = "ANAPHORA_COMMAND_TIMEOUT"  # environment variable that sets another number of seconds
OUT_OF_STEP = "Its scores may be out of step with the lines, and what it has scored so far was put aside"


class CommandSystem:
    """A program that is started once, without a shell, and kept running; the higher its scores the better.

    All lines of `score` are written while answers are read. Some programs answer only at the end of their input: one
    that is silent for PATIENCE seconds when it has been given everything gets that end, and is started again if there
    is more to score. That costs such a program time, never its answers. One that is silent for SILENCE seconds, writes
    lines or logs without end, or ends while something that it started holds its output, is ended with an error.
    """

    PATIENCE = 10.0

    def __init__(self, what: str, options: Options) -> None:
        try:
            self.arguments = shlex.split(what)
        except ValueError as error:
            raise AnaphoraError(f"command:{what}: {str(error).lower()}") from None
        if not self.arguments or shutil.which(self.arguments[0]) is None:
            name = self.arguments[0] if self.arguments else what
            raise AnaphoraError(f"{name}: no such program, or it may not be run. Write command:PROGRAM ARGUMENTS…")
        if options.margins_only:
            raise AnaphoraError("--margins-only: what a program's scores are made of is not known here. Leave it out")
        self.options = options
        self._patience = self.PATIENCE
        self._silence = _seconds(os.environ.get(TIMEOUT, ""))
        self._program: Program | None = None

    def settings(self) -> dict[str, Any]:
        """What the scores depend on, for the header of a run."""
        return {"command": shlex.join(self.arguments)}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, Answer]]:
        """Each example's number with its answer, in order, as the program writes them; what is done is not asked."""
        work = [(number, self._lines(example)) for number, example in enumerate(examples) if number not in done]
        if not work:
            return
        program = self._started()
        complete = False
        try:
            program.send([line for _, lines in work for line in lines])
            for number, lines in work:
                yield number, self._answer(program, len(lines))
            if program.input_ended:
                self._check_end(program)
            complete = True
        finally:
            if not complete or program.input_ended:
                self._stop()

    def close(self) -> None:
        """Nothing more will be asked: the program ends as it does at the end of its input, and is checked."""
        if self._program is not None:
            try:
                self._check_end(self._program)
            finally:
                self._stop()

    def _lines(self, example: Example) -> list[bytes]:
        """What the program reads: a line per candidate."""
        source, targets = self.options.context.question(example)
        for text in (source, *targets):
            if any(sign in text for sign in "\t\n\r"):
                raise AnaphoraError(
                    f"example {example.id}: a tab or a line break in {text[:60]!r}, which a program cannot be given. "
                    "Use another --separator, or take it out of the suite"
                )
        return [f"{source}\t{target}".encode() for target in targets]

    def _answer(self, program: Program, size: int) -> Answer:
        """The scores of one example."""
        place, first = Path(f"the output of {program.name}"), program.received + 1
        lines: list[bytes] = []
        while len(lines) < size:
            line = self._line(program)
            if line is None:
                raise _ended_early(program)
            if program.received > program.sent:
                raise _surplus(program, line)
            parse_scores([line], place, program.received)  # at once: it may be waiting for us to complain
            lines.append(line)
        return Answer(*parse_scores(lines, place, first))

    def _line(self, program: Program) -> bytes | None:
        """The next line, or None at the end of the output or where the program is not waited for any more."""
        start = monotonic()
        quiet = gone = 0.0
        while True:
            try:
                return program.answer(TICK)
            except Empty:
                silent = monotonic() - start
                if program.problem is not None:
                    return None
                if silent > self._silence:
                    program.problem = f"wrote nothing for {self._silence:,.0f} seconds ({TIMEOUT} sets the limit)"
                    return None
                if program.written.is_set() and not program.input_ended:
                    quiet += TICK
                    if quiet >= self._patience:
                        program.end_input()
                        self._patience = 0.0  # it will be the same the next time
                if not program.running():  # and yet its output is open: something that it started holds it
                    gone += TICK
                    if gone >= WAIT:
                        return None

    def _check_end(self, program: Program) -> None:
        """After the last answer: nothing may follow, and the program must not fail."""
        program.end_input()
        try:
            line = program.answer(WAIT)
        except Empty:
            return  # it does not want to end, which is no harm
        if line is not None:
            raise _surplus(program, line)
        if program.problem is not None:
            raise AnaphoraError(f"{program.name}: {program.problem}, after its last score, and was ended")
        code = program.exit_code()
        if code:
            raise AnaphoraError(f"{_how(program.name, code)} after its last score{_words(program)}")

    def _started(self) -> Program:
        """The program that is running, or a new one."""
        if self._program is not None:
            try:
                line = self._program.answer(0)
            except Empty:
                return self._program
            if line is not None:
                program = self._program
                self._stop()
                raise _surplus(program, line)
            self.close()  # it ended by itself
        self._program = Program(self.arguments)
        self._finalizer = weakref.finalize(self, self._program.end)
        return self._program

    def _stop(self) -> None:
        if self._program is not None:
            self._program = None
            self._finalizer()


def _seconds(text: str) -> float:
    """The limit that the environment sets, else SILENCE."""
    try:
        value = float(text or SILENCE)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise AnaphoraError(f"{TIMEOUT} must be a number of seconds above 0, not {text!r}")
    return value


def _ended_early(program: Program) -> AnaphoraError:
    if program.problem is not None:
        after = f"after {program.received:,} of {program.given:,} lines"
        return AnaphoraError(f"{program.name}: {program.problem}, {after}, and was ended{_words(program)}")
    code = program.exit_code()
    if code:
        return AnaphoraError(
            f"{_how(program.name, code)} after {program.received:,} of {program.given:,} lines{_words(program)}"
        )
    return OutOfStep(
        f"{program.name}: {program.given:,} lines sent, {program.received:,} scores received, not one per line. "
        f"{OUT_OF_STEP}{_words(program)}"
    )


def _surplus(program: Program, line: bytes) -> AnaphoraError:
    text = line[:40].decode(errors="replace")
    return OutOfStep(
        f"{program.name}: {program.sent:,} lines sent, {program.received:,} or more received; too much is {text!r}. "
        f"{OUT_OF_STEP}"
    )


def _how(name: str, code: int) -> str:
    if code > 0:
        return f"{name}: ended with exit code {code}"
    try:
        return f"{name}: was ended by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"{name}: was ended by signal {-code}"


def _words(program: Program) -> str:
    words = program.last_words()
    return f". Its last words: {words}" if words else ""
