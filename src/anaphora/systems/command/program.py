"""A program that answers lines with lines: fed and read at once, so that neither side ever waits for the other.

Nothing that it does takes more than a bounded amount of memory here, and it can be ended at any point: threads look
every TICK seconds whether they are still wanted, so that a pipe which somebody else holds open keeps none of them.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections import deque
from collections.abc import Iterator, Sequence
from queue import Empty, Full, Queue
from threading import Event, Thread
from time import monotonic
from typing import IO, cast

from anaphora.core.errors import AnaphoraError

LAST_WORDS = 5  # lines of stderr that are shown
WAIT = 5.0  # seconds that a program gets to end, each time it is asked
TICK = 0.1  # seconds between looks at whether a thread is still wanted
BLOCK = 1 << 16  # bytes read at a time
MAX_LINE = 1 << 16  # bytes of one answer
MAX_STDERR = 256 << 20  # bytes of stderr between two answers
ANSWERS = 1024  # lines that wait to be read; then the program waits


class Program:
    """A process that we started, with threads that write its input and read its output and errors.

    given, sent, received: lines that it is to get, has got, and has written; none is answered before it is sent
    problem: why it is not listened to any more, although it goes on
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
        if os.name == "posix":
            os.set_blocking(self._stdin.fileno(), False)
        self.given = self.sent = self.received = 0
        self.problem: str | None = None
        self.written = Event()  # all lines that were given have been taken by the program, or it takes no more
        self.written.set()
        self._answers: Queue[bytes | None] = Queue(ANSWERS)  # the program waits for us, not our memory for it
        self._stderr_lines: deque[bytes] = deque(maxlen=LAST_WORDS)
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
        """The next line of output, None at its end. Raises queue.Empty where none comes in this time."""
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
        """Exit code of a program that has ended or is about to; None if it goes on."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(WAIT)
        return None

    def running(self) -> bool:
        return self._process.poll() is None

    def last_words(self) -> str:
        """The end of what it wrote to stderr, in one line."""
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
        if os.name != "posix":
            self._process.terminate()
            self.exit_code()
            return
        for way in (signal.SIGTERM, signal.SIGKILL):
            latest = monotonic() + WAIT
            with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
                os.killpg(self._process.pid, way)
                while monotonic() < latest:
                    with contextlib.suppress(Empty):
                        self._answers.get(timeout=TICK / 10)  # make room, if that is what it waits for
                    if not self.running():
                        os.killpg(self._process.pid, 0)

    def _write(self, lines: Sequence[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):  # it takes no more: its output will tell
            for line in lines:
                if self._ending:
                    break
                self.sent += 1
                rest = memoryview(line + b"\n")
                while rest and not self._ending:
                    if self._ready(self._stdin, select.POLLOUT if os.name == "posix" else 0):
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
            self._stderr_lines.extend(lines[-LAST_WORDS:])
            begun = begun[-MAX_LINE:]
            self._stderr_size += len(block)
            if self._stderr_size > MAX_STDERR:
                self.problem = f"wrote more than {MAX_STDERR >> 20} MB to stderr without a score"
                break
        if begun:
            self._stderr_lines.append(begun)

    def _blocks(self, pipe: IO[bytes]) -> Iterator[bytes]:
        """What comes through a pipe, until its end or ours."""
        while not self._ending:
            if self._ready(pipe, select.POLLIN if os.name == "posix" else 0):
                block = os.read(pipe.fileno(), BLOCK)
                if not block:
                    return
                yield block

    def _ready(self, pipe: IO[bytes], event: int) -> bool:
        """Whether a pipe can be read or written, or has ended, within TICK; elsewhere than on POSIX one has to wait."""
        if os.name != "posix":
            return True
        poll = select.poll()
        poll.register(pipe, event)
        return bool(poll.poll(1000 * TICK))
