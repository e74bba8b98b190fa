"""Programs: fed and read at once, ended for certain, and remembered by their last words. All are real processes."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.systems.command import program as module
from anaphora.systems.command.program import Program

LONG = 20.0  # seconds, for what takes none

Start = Callable[..., Program]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a Python program; it is ended in any case, and no thread of it is left."""
    before = set(threading.enumerate())
    started: list[Program] = []

    def popen(code: str) -> Program:
        started.append(Program([sys.executable, "-S", "-c", f"import os, sys, time\n{code}"]))
        return started[-1]

    yield popen
    for program in started:
        program.end()
    assert set(threading.enumerate()) <= before


def answers(program: Program) -> list[bytes]:
    """All that it writes."""
    found = []
    while (line := program.answer(LONG)) is not None:
        found.append(line)
    return found


UPPER = "for line in sys.stdin: print(line.strip().upper(), flush=True)"


def test_lines_are_answered_while_it_runs(start: Start) -> None:
    program = start(UPPER)
    for word in (b"one", "ß".encode(), b"three"):
        program.send([word])
        assert program.answer(LONG) == word.decode().upper().encode()
    assert program.running()
    assert (program.given, program.sent, program.received) == (3, 3, 3)
    assert program.written.wait(LONG)
    program.end_input()
    assert program.exit_code() == 0
    assert not program.running()


def test_the_end_stays_the_end(start: Start) -> None:
    program = start("print('a\\n\\nb')")
    assert answers(program) == [b"a", b"", b"b"]
    assert [program.answer(LONG), program.answer(0), program.answer(0)] == [None] * 3
    assert program.received == 3


def test_where_no_line_comes_that_is_said(start: Start) -> None:
    program = start("sys.stdin.read()")
    for seconds in (0, 0.01):
        with pytest.raises(Empty):
            program.answer(seconds)
    assert program.received == 0


def test_line_ends_of_any_kind_are_not_part_of_a_line(start: Start) -> None:
    assert answers(start(r"os.write(1, b'1\r\n \t2 \n\xff\nlast')")) == [b"1", b" \t2 ", b"\xff", b"last"]


def test_nothing_may_be_sent(start: Start) -> None:
    program = start(UPPER)
    assert program.written.is_set()
    program.send([])
    assert program.written.wait(LONG)
    program.end_input()
    assert answers(program) == []


def test_a_program_that_does_not_read_holds_nobody_up(start: Start) -> None:
    """More than a pipe takes: it is not all written, which is known, and sending it took no time."""
    program = start("time.sleep(600)")
    program.send([b"x" * 100_000] * 10)
    assert not program.written.wait(0.1)
    assert program.given == 10 > program.sent


def test_a_program_that_takes_no_more_does_not_fail_us(start: Start) -> None:
    program = start("os.close(0); print('no, thanks', flush=True); time.sleep(600)")
    assert program.answer(LONG) == b"no, thanks"
    program.send([b"x" * 100_000] * 3)
    assert program.written.wait(LONG)
    program.end_input()
    assert program.input_ended


def test_what_nobody_reads_stays_in_the_pipe(start: Start) -> None:
    """The program waits for us; neither its output nor what it says fills our memory."""
    program = start("for n in range(10**9): print(n); print(n, file=sys.stderr)")
    assert [program.answer(LONG) for _ in range(3)] == [b"0", b"1", b"2"]
    time.sleep(0.2)
    assert program._answers.qsize() <= module.ANSWERS
    assert len(program._stderr_lines) <= module.LAST_WORDS


# Its end


def test_the_last_words_are_one_line(start: Start) -> None:
    program = start(r"sys.stderr.buffer.write(b'1\n2\n3\n\n  four \xff\n5\r\nsix'); sys.exit(3)")
    assert program.exit_code() == 3
    assert program.last_words() == "3 | four � | 5 | six"


def test_one_that_said_nothing_has_no_last_words(start: Start) -> None:
    program = start("")
    assert program.exit_code() == 0
    assert program.last_words() == ""


def test_one_that_goes_on_has_no_exit_code(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    program = start("time.sleep(600)")
    monkeypatch.setattr(module, "WAIT", 0.05)
    assert program.exit_code() is None
    assert program.running()


def test_to_be_ended_twice_does_no_harm(start: Start) -> None:
    program = start("time.sleep(600)")
    program.end()
    assert program.exit_code() == -15
    program.end()


def test_one_that_has_ended_by_itself_keeps_its_exit_code(start: Start) -> None:
    program = start("sys.exit(4)")
    assert program.exit_code() == 4
    program.end()
    assert program.exit_code() == 4


def test_ended_while_it_is_written_to_and_writes(start: Start) -> None:
    """Threads that wait for it, and its own waiting for us, end with it."""
    program = start("for n in range(10**9): print('x' * 1000)")
    program.send([b"x" * 100_000] * 100)
    assert program.answer(LONG)
    program.end()
    assert not program.running()
    assert program._stdin.closed
    assert program._stdout.closed


@pytest.mark.skipif(os.name != "posix", reason="sessions")
def test_it_is_in_a_session_of_its_own(start: Start) -> None:
    """Ctrl-C on our terminal is for us, and what it starts can be ended with it."""
    assert answers(start("print(os.getsid(0) == os.getpid())")) == [b"True"]


# What cannot be started


def test_no_such_program() -> None:
    with pytest.raises(AnaphoraError, match=r"^no-such-scorer: cannot be started: no such program$"):
        Program(["no-such-scorer", "--model", "x"])


def test_a_file_that_may_not_be_run_or_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "scorer"
    path.write_bytes(b"\x7fELF nonsense")
    with pytest.raises(AnaphoraError, match=r"scorer: cannot be started: permission denied$"):
        Program([str(path)])
    path.chmod(0o755)
    with pytest.raises(AnaphoraError, match=r"scorer: cannot be started: exec format error$"):
        Program([str(path)])
