"""A program that answers lines with lines: fed and read at once, so that neither side ever waits for the other.

Nothing that it does takes more than a bounded amount of memory here, and it can be ended at any point: threads look
every TICK seconds whether they are still wanted, so that a pipe which another process holds open keeps none of them.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import shlex
import shutil
import signal
import subprocess
import weakref
from collections import deque
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from time import monotonic
from typing import IO, Any, cast

from anaphora.core.errors import AnaphoraError, OutputMisaligned
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example
from anaphora.systems.context import Options
from anaphora.systems.scores import parse_scores

STDERR_LINES = 5  # lines of stderr that an error shows
WAIT = 5.0  # seconds that a program gets to end, each time it is asked
TICK = 0.1  # seconds between looks at whether a thread is still wanted
BLOCK = 1 << 16  # bytes read at a time
MAX_LINE = 1 << 16  # bytes of one answer
MAX_STDERR = 256 << 20  # bytes of stderr between two answers
ANSWERS = 1024  # lines that wait to be read; then the program waits


class Program:
    """A process that we started, with threads that write its input and read its output and errors.

    given, sent, received: lines that it is to get, has got, and has written; none is answered before it is sent
    problem: why its output is not read any more, although it is still running
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.name = arguments[0]
        try:
            self._process = subprocess.Popen(
                arguments,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # a wrapper script and what it starts end together
            )
        except OSError as error:
            problem = "no such program" if isinstance(error, FileNotFoundError) else (error.strerror or "").lower()
            raise AnaphoraError(f"{self.name}: cannot be started: {problem}") from None
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._stdin, self._stdout, self._stderr = (cast(IO[bytes], pipe) for pipe in pipes)
        os.set_blocking(self._stdin.fileno(), False)
        self.given = self.sent = self.received = 0
        self.problem: str | None = None
        self.written = Event()  # all lines that were given have been taken by the program, or it takes no more
        self.written.set()
        self._answers: Queue[bytes | None] = Queue(ANSWERS)  # the program waits for us, not our memory for it
        self._stderr_lines: deque[bytes] = deque(maxlen=STDERR_LINES)
        self._stderr_size = 0  # bytes since the last answer
        self._ending = self.input_ended = False
        self._listener = Thread(target=self._listen, daemon=True)
        self._readers = [Thread(target=self._read, daemon=True), self._listener]
        self._writers: list[Thread] = []
        for thread in self._readers:
            thread.start()

    def send(self, lines: Sequence[bytes]) -> None:
        """Write lines from now on, without waiting for it."""
        self.given += len(lines)
        self.written.clear()
        self._writers = [thread for thread in self._writers if thread.is_alive()]
        thread = Thread(target=self._write, args=(lines,), daemon=True)
        self._writers.append(thread)
        thread.start()

    def answer(self, seconds: float) -> bytes | None:
        """Return the next line of output, None at its end. Raises queue.Empty where none comes in this time."""
        line = self._answers.get(timeout=seconds) if seconds else self._answers.get_nowait()
        if line is None:
            self._answers.put(None)  # the end stays the end
        else:
            self.received += 1
        return line

    def end_input(self) -> None:
        """Tell the program that no line will follow. Not while lines are being written."""
        self.input_ended = True
        with contextlib.suppress(OSError):  # it has closed its side already
            self._stdin.close()

    def exit_code(self) -> int | None:
        """Exit code of a program that has ended or is about to; None if it is still running."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(WAIT)
        return None

    def running(self) -> bool:
        return self._process.poll() is None

    def stderr_tail(self) -> str:
        """Return the end of what it wrote to stderr, in one line."""
        self._listener.join(1.0)  # what it said at its end is on the way
        lines = (line.decode(errors="replace").strip() for line in [*self._stderr_lines])
        return " | ".join(line for line in lines if line)[-1000:]

    def end(self) -> None:
        """Terminate it and what it started, if any of it still runs; leave no thread or pipe behind."""
        for thread in self._readers:
            thread.join(2 * TICK)
        # a program that has ended and whose output is still open has left something running that holds it
        if self.running() or any(thread.is_alive() for thread in self._readers):
            self._terminate()
        self._ending = True
        for thread in (*self._readers, *self._writers):
            thread.join()
        for pipe in (self._stdin, self._stdout, self._stderr):
            with contextlib.suppress(OSError):
                pipe.close()

    def _terminate(self) -> None:
        """Ask the process group to end, then kill it."""
        for ending in (signal.SIGTERM, signal.SIGKILL):
            latest = monotonic() + WAIT
            with contextlib.suppress(ProcessLookupError, PermissionError):  # all processes have ended
                os.killpg(self._process.pid, ending)
                while monotonic() < latest:
                    with contextlib.suppress(Empty):
                        self._answers.get(timeout=TICK / 10)  # make room, if that is what it waits for
                    if not self.running():
                        os.killpg(self._process.pid, 0)

    def _write(self, lines: Sequence[bytes]) -> None:
        with contextlib.suppress(
            OSError, ValueError
        ):  # it has closed its input: an error follows when its output is read
            for line in lines:
                if self._ending:
                    break
                self.sent += 1
                rest = memoryview(line + b"\n")
                while rest and not self._ending:
                    if _ready(self._stdin, select.POLLOUT):
                        with contextlib.suppress(BlockingIOError):
                            rest = rest[os.write(self._stdin.fileno(), rest) :]
        self.written.set()

    def _read(self) -> None:
        begun = b""
        for block in self._blocks(self._stdout):
            *lines, begun = (begun + block).split(b"\n")
            if max(map(len, (*lines, begun))) > MAX_LINE:
                self.problem = f"wrote a line of more than {MAX_LINE:,} bytes instead of a score"
                begun = b""
                break
            for line in lines:
                self._stderr_size = 0
                self._put(line.rstrip(b"\r"))
        if begun:
            self._put(begun.rstrip(b"\r"))
        self._put(None)

    def _put(self, line: bytes | None) -> None:
        while not self._ending:
            with contextlib.suppress(Full):
                self._answers.put(line, timeout=TICK)
                return

    def _listen(self) -> None:
        begun = b""
        for block in self._blocks(self._stderr):
            *lines, begun = (begun + block).split(b"\n")
            self._stderr_lines.extend(lines[-STDERR_LINES:])
            begun = begun[-MAX_LINE:]
            self._stderr_size += len(block)
            if self._stderr_size > MAX_STDERR:
                self.problem = f"wrote more than {MAX_STDERR >> 20} MB to stderr without a score"
                break
        if begun:
            self._stderr_lines.append(begun)

    def _blocks(self, pipe: IO[bytes]) -> Iterator[bytes]:
        while not self._ending:
            if _ready(pipe, select.POLLIN):
                block = os.read(pipe.fileno(), BLOCK)
                if not block:
                    return
                yield block


def _ready(pipe: IO[bytes], event: int) -> bool:
    """Return whether a pipe can be read or written, or has ended, within TICK."""
    poll = select.poll()
    poll.register(pipe, event)
    return bool(poll.poll(1000 * TICK))


# `command:PROGRAM ARGS…`: any program that reads `source⇥target` lines and writes one score per line, or, to translate,
# reads source lines and writes one translation per line.

SILENCE = 24 * 3600.0  # seconds without an answer after which a program is ended
TIMEOUT = "ANAPHORA_COMMAND_TIMEOUT"  # environment variable that sets another number of seconds
OUT_OF_STEP = "Its answers may be out of step with the lines, and what it has answered so far was put aside"


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
            raise AnaphoraError(f"{name}: no such program, or it is not executable. Write command:PROGRAM ARGUMENTS…")
        if options.margins_only:
            raise AnaphoraError("--margins-only is not supported by command: systems. Leave it out")
        self.options = options
        self._patience = self.PATIENCE
        self._silence = _seconds(os.environ.get(TIMEOUT, ""))
        self._program: Program | None = None

    def settings(self) -> dict[str, Any]:
        return {"command": shlex.join(self.arguments)}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Each example's number with its answer, in order, as the program writes them; what is done is not asked."""
        work = [(number, self._lines(example)) for number, example in enumerate(examples) if number not in done]
        if not work:
            return
        with self._sent([line for _, lines in work for line in lines]) as program:
            for number, lines in work:
                yield number, self._answer(program, len(lines))

    def translate(self, texts: Sequence[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
        """Return the program's line for each text. The beam size and the length of lines cannot be set."""
        if beams is not None:
            raise AnaphoraError(
                "--beams has no effect on a program. Leave it out, or pass it as an argument of the program"
            )
        if self.options.context.target == "produced":
            raise AnaphoraError("--target-context produced is not supported by command: systems. Use gold or none")
        wanted = [number for number, text in enumerate(texts) if text.strip()]  # some programs skip empty lines
        translations = [""] * len(texts)
        if not wanted:
            return translations
        lines = [" ".join(texts[number].split()).encode() for number in wanted]
        with self._sent(lines) as program:
            for number in wanted:
                translations[number] = self._received(program).decode(errors="replace").strip()
        return translations

    def close(self) -> None:
        """Nothing more will be asked: the program ends as it does at the end of its input, and is checked."""
        if self._program is not None:
            try:
                self._check_end(self._program)
            finally:
                self._stop()

    @contextlib.contextmanager
    def _sent(self, lines: Sequence[bytes]) -> Iterator[Program]:
        """Send lines to the program, whose answers are read inside; it is terminated if not all of them were."""
        program = self._started()
        complete = False
        try:
            program.send(lines)
            yield program
            if program.input_ended:
                self._check_end(program)
            complete = True
        finally:
            if not complete or program.input_ended:
                self._stop()

    def _lines(self, example: Example) -> list[bytes]:
        source, targets = self.options.context.scoring_input(example)
        for text in (source, *targets):
            if any(sign in text for sign in "\t\n\r"):
                raise AnaphoraError(
                    f"example {example.id}: a tab or a line break in {text[:60]!r}, which cannot be passed to a "
                    "program. Use another --separator, or remove it from the suite"
                )
        return [f"{source}\t{target}".encode() for target in targets]

    def _answer(self, program: Program, size: int) -> CandidateScores:
        path, first = Path(f"the output of {program.name}"), program.received + 1
        lines: list[bytes] = []
        while len(lines) < size:
            lines.append(self._received(program))
            parse_scores(lines[-1:], path, program.received)  # at once: it may be waiting for us
        return CandidateScores(*parse_scores(lines, path, first))

    def _received(self, program: Program) -> bytes:
        """Return the next line, which must be there and answer one that was sent."""
        line = self._line(program)
        if line is None:
            raise _ended_early(program)
        if program.received > program.sent:
            raise _surplus(program, line)
        return line

    def _line(self, program: Program) -> bytes | None:
        """Return the next line, or None at the end of the output or if the program is no longer waited for."""
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
        """Check that nothing follows the last score and that the program does not fail."""
        program.end_input()
        try:
            line = program.answer(WAIT)
        except Empty:
            return  # it has not ended yet, and is terminated by the caller
        if line is not None:
            raise _surplus(program, line)
        if program.problem is not None:
            raise AnaphoraError(f"{program.name}: {program.problem}, after its last score, and was terminated")
        code = program.exit_code()
        if code:
            raise AnaphoraError(f"{_how(program.name, code)} after its last score{_stderr_tail(program)}")

    def _started(self) -> Program:
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
        return AnaphoraError(f"{program.name}: {program.problem}, {after}, and was terminated{_stderr_tail(program)}")
    code = program.exit_code()
    if code:
        return AnaphoraError(
            f"{_how(program.name, code)} after {program.received:,} of {program.given:,} lines{_stderr_tail(program)}"
        )
    return OutputMisaligned(
        f"{program.name}: {program.given:,} lines sent, {program.received:,} answers received, not one per line. "
        f"{OUT_OF_STEP}{_stderr_tail(program)}"
    )


def _surplus(program: Program, line: bytes) -> AnaphoraError:
    text = line[:40].decode(errors="replace")
    return OutputMisaligned(
        f"{program.name}: {program.sent:,} lines sent, {program.received:,} or more received; the first surplus line "
        f"is {text!r}. {OUT_OF_STEP}"
    )


def _how(name: str, code: int) -> str:
    if code > 0:
        return f"{name}: failed with exit code {code}"
    try:
        return f"{name}: was terminated by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"{name}: was terminated by signal {-code}"


def _stderr_tail(program: Program) -> str:
    tail = program.stderr_tail()
    return f". The end of its stderr: {tail}" if tail else ""
