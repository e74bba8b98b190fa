"""A program that answers lines with lines: fed and read at once, so that neither side ever waits for the other."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections import deque
from collections.abc import Sequence
from queue import Empty, Queue
from threading import Event, Thread
from time import monotonic
from typing import IO, cast

from anaphora.core.errors import AnaphoraError

LAST_WORDS = 5  # lines of stderr that are shown
WAIT = 5.0  # seconds that a program gets to end, each time it is asked


class Program:
    """A process that we started, with threads that write its input and read its output and errors.

    given, sent, received: lines that it is to get, has got, and has written; none is answered before it is sent
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.name = arguments[0]
        try:
            self._process = subprocess.Popen(
                arguments,
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
        self.given = self.sent = self.received = 0
        self.written = Event()  # all lines that were given have been taken by the program, or it takes no more
        self.written.set()
        self._answers: Queue[bytes | None] = Queue(maxsize=4096)  # the program waits for us, not our memory for it
        self._said: deque[bytes] = deque(maxlen=LAST_WORDS)
        self._ending = self.input_ended = False
        self._listener = Thread(target=self._listen, daemon=True)
        self._threads = [Thread(target=self._read, daemon=True), self._listener]
        for thread in self._threads:
            thread.start()

    def send(self, lines: Sequence[bytes]) -> None:
        """Write lines from now on, without waiting for it."""
        self.given += len(lines)
        self.written.clear()
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = Thread(target=self._write, args=(lines,), daemon=True)
        self._threads.append(thread)
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
        """Of a program that has ended or is about to; None if it goes on."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(WAIT)
        return None

    def running(self) -> bool:
        return self._process.poll() is None

    def last_words(self) -> str:
        """The end of what it wrote to stderr, in one line."""
        self._listener.join(1.0)  # what it said at its end is on the way
        return " | ".join(text for line in [*self._said] if (text := line.decode(errors="replace").strip()))

    def end(self) -> None:
        """Terminate it if it still runs, kill it if that does not help; leave no thread or pipe behind."""
        self._ending = True
        for way in (signal.SIGTERM, signal.SIGKILL) if os.name == "posix" else (signal.SIGTERM,):
            if self.running():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, way) if os.name == "posix" else self._process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(WAIT)
        latest = monotonic() + WAIT
        while any(thread.is_alive() for thread in self._threads) and monotonic() < latest:
            with contextlib.suppress(Empty):
                self._answers.get(timeout=0.01)  # make room for a reader that waits for it
        if not any(thread.is_alive() for thread in self._threads):  # else someone else holds the pipes open
            for pipe in (self._stdin, self._stdout, self._stderr):
                with contextlib.suppress(OSError):
                    pipe.close()

    def _write(self, lines: Sequence[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):  # it takes no more: its output will tell
            for line in lines:
                if self._ending:
                    break
                self.sent += 1
                self._stdin.write(line + b"\n")
                self._stdin.flush()
        self.written.set()

    def _read(self) -> None:
        for line in self._stdout:
            self._answers.put(line.rstrip(b"\r\n"))
        self._answers.put(None)

    def _listen(self) -> None:
        for line in self._stderr:
            self._said.append(line)
