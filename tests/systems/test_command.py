"""Programs: fed and read at once, ended for certain, and the end of their stderr in errors. All are real processes."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from queue import Empty

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.demo.corpus import demo_suite
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, read_native, suite_of
from anaphora.systems import command as module
from anaphora.systems import load_system, scoring
from anaphora.systems.command import CommandSystem, Program
from anaphora.systems.context import Context, Options
from anaphora.systems.scoring import score_suite

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
    actual = []
    while (line := program.answer(LONG)) is not None:
        actual.append(line)
    return actual


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


def test_a_missing_line_is_an_error(start: Start) -> None:
    program = start("sys.stdin.read()")
    for seconds in (0, 0.01):
        with pytest.raises(Empty):
            program.answer(seconds)
    assert program.received == 0


def test_line_ends_of_any_kind_are_stripped(start: Start) -> None:
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
    assert len(program._stderr_lines) <= module.STDERR_LINES


# Its end


def test_the_last_words_are_one_line(start: Start) -> None:
    program = start(r"sys.stderr.buffer.write(b'1\n2\n3\n\n  four \xff\n5\r\nsix'); sys.exit(3)")
    assert program.exit_code() == 3
    assert program.stderr_tail() == "3 | four � | 5 | six"


def test_a_silent_program_has_no_last_words(start: Start) -> None:
    program = start("")
    assert program.exit_code() == 0
    assert program.stderr_tail() == ""


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


def test_a_file_that_cannot_be_executed_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "scorer"
    path.write_bytes(b"\x7fELF nonsense")
    with pytest.raises(AnaphoraError, match=r"scorer: cannot be started: permission denied$"):
        Program([str(path)])
    path.chmod(0o755)
    with pytest.raises(AnaphoraError, match=r"scorer: cannot be started: exec format error$"):
        Program([str(path)])


# `command:`: programs that score lines, well and badly behaved. All of them are real processes.

EXAMPLES = (
    Example("1", ("The cup. It broke.",), (("Er brach.",), ("Sie zerbrach.",), ("Es ging kaputt.",)), 1),
    Example("2", ("It is ß.",), (("Es ist ß.",), ("Das ist ß und noch mehr.",)), 0),
    Example("3", ("Old, it was.",), (("a",), ("bb",), ("ccc",), ("dddd",)), 0),
)
# Longer translations are worse, in this world.
LENGTHS = [[-9.0, -13.0, -15.0], [-9.0, -24.0], [-1.0, -2.0, -3.0, -4.0]]

HEAD = """
import sys, time
sys.stdin.reconfigure(encoding="utf-8")
def score(line):
    source, target = line.rstrip("\\n").split("\\t")
    assert source, line
    return -len(target)
"""
STREAMING = 'for line in sys.stdin: print(f"{score(line):.1f}", flush=True)'
BUFFERING = 'lines = list(sys.stdin)\nprint("\\n".join(str(score(line)) for line in lines))'
LOGGING = """
with open(sys.argv[1], "w", encoding="utf-8") as log:
    for line in sys.stdin:
        log.write(line)
        print(score(line), flush=True)
"""

Write = Callable[..., str]


@pytest.fixture
def program(tmp_path: Path) -> Write:
    """Write a program and give the rest of its spec."""

    def write(code: str, *arguments: str, name: str = "scorer.py") -> str:
        path = tmp_path / name
        path.write_text(HEAD + code, encoding="utf-8")
        return shlex.join([sys.executable, str(path), *arguments])

    return write


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CommandSystem, "PATIENCE", 0.3)


def scores(system: CommandSystem) -> list[list[float]]:
    answers = list(system.score(EXAMPLES))
    assert [number for number, _ in answers] == [0, 1, 2]
    return [list(answer.scores) for _, answer in answers]


def failure(system: CommandSystem) -> str:
    """The one line in which scoring or the end of it fails; nothing is left running."""
    with pytest.raises(AnaphoraError) as caught, contextlib.closing(system):
        list(system.score(EXAMPLES))
    assert system._program is None
    assert "\n" not in str(caught.value)
    return str(caught.value)


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"  # a zombie is dead, only not yet buried by its parent


# Well-behaved


def test_streaming_program(program: Write) -> None:
    system = CommandSystem(program(STREAMING), Options())
    assert scores(system) == LENGTHS
    system.close()


def test_streaming_program_is_started_once(program: Write, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    code = f"open({str(starts)!r}, 'a').write('x')\n" + STREAMING
    system = CommandSystem(program(code), Options())
    assert scores(system) == scores(system) == scores(system) == LENGTHS
    system.close()
    assert starts.read_text() == "x"


def test_program_that_answers_at_the_end_of_its_input(program: Write, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    code = f"open({str(starts)!r}, 'a').write('x')\n" + BUFFERING
    system = CommandSystem(program(code), Options())
    assert scores(system) == scores(system) == LENGTHS
    assert starts.read_text() == "xx", "it has to be started again"
    system.close()


def test_program_that_holds_back_a_part(program: Write) -> None:
    """As marian-scorer does: it answers in chunks, the last of which needs the end of the input."""
    code = """
waiting = []
for line in sys.stdin:
    waiting.append(line)
    if len(waiting) == 4:
        print(*map(score, waiting), sep="\\n", flush=True)
        waiting = []
print(*map(score, waiting), sep="\\n")
"""
    assert scores(CommandSystem(program(code), Options())) == LENGTHS


def test_slow_program_loses_nothing(program: Write) -> None:
    """Slower than our patience: it gets the end of its input early, and goes on answering."""
    code = (
        "for n, line in enumerate(sys.stdin):\n    time.sleep(0.8 if n == 0 else 0.01); print(score(line), flush=True)"
    )
    assert scores(CommandSystem(program(code), Options())) == LENGTHS


def test_much_input_and_output_does_not_block(program: Write) -> None:
    """More than the pipes hold, on both sides and on stderr, while nobody takes the answers."""
    code = """
for line in sys.stdin:
    print(" " * 2000 + str(score(line)), flush=True)
    print("x" * 999, file=sys.stderr)
"""
    system = CommandSystem(program(code), Options())
    examples = [Example(str(n), ("s" * 500,), (("t",), ("tt" * 500,)), 0) for n in range(1000)]
    answers = system.score(examples)
    assert next(answers)[1].scores == [-1.0, -1000.0]
    time.sleep(0.3)
    assert [answer.scores for _, answer in answers] == [[-1.0, -1000.0]] * 999
    system.close()


def test_chatty_stderr_is_not_output(program: Write) -> None:
    code = 'print("loading the model …", file=sys.stderr)\n' + STREAMING + '\nprint("done", file=sys.stderr)'
    system = CommandSystem(program(code), Options())
    assert scores(system) == LENGTHS
    system.close()


def test_answers_arrive_one_by_one(program: Write) -> None:
    """The first is known long before the program has seen the last."""
    code = "for n, line in enumerate(sys.stdin):\n    time.sleep(60 * (n > 2)); print(score(line), flush=True)"
    answers = CommandSystem(program(code), Options()).score(EXAMPLES)
    start = time.monotonic()
    number, answer = next(answers)
    assert (number, answer.scores, answer.tokens) == (0, [-9.0, -13.0, -15.0], None)
    answers.close()
    assert time.monotonic() - start < 20


def test_tokens_may_follow_the_score(program: Write) -> None:
    code = 'for line in sys.stdin: print(score(line), 7, sep="\\t", flush=True)'
    answers = dict(CommandSystem(program(code), Options()).score(EXAMPLES))
    assert answers[1].tokens == [7, 7]


def test_only_what_is_not_done_is_sent(program: Write, tmp_path: Path) -> None:
    system = CommandSystem(program(LOGGING, str(tmp_path / "log")), Options())
    assert [number for number, _ in system.score(EXAMPLES, done={0, 2})] == [1]
    system.close()
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert log == "It is ß.\tEs ist ß.\nIt is ß.\tDas ist ß und noch mehr.\n"
    assert list(system.score(EXAMPLES, done={0, 1, 2})) == []


def test_context_is_joined(program: Write, tmp_path: Path) -> None:
    options = Options(context=Context(1, " <sep> ", "none"))
    example = Example("1", ("A cup.", "It broke."), (("Eine Tasse.", "Sie brach."), ("Eine Tasse.", "Er brach.")), 0)
    system = CommandSystem(program(LOGGING, str(tmp_path / "log")), options)
    assert [list(answer.scores) for _, answer in system.score([example])] == [[-10, -9]]
    system.close()
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert log == "A cup. <sep> It broke.\tSie brach.\nA cup. <sep> It broke.\tEr brach.\n"


def test_settings_and_arguments(program: Write) -> None:
    spec = program('for line in sys.stdin: print(sys.argv[1] == "a b")', "a b")
    system = load_system(f"command:{spec}")
    assert system.settings() == {"command": spec}
    assert "'True'" in failure(system)  # the argument arrived whole, though True is no score


def test_no_shell(program: Write, tmp_path: Path) -> None:
    system = CommandSystem(program(STREAMING, ";", "touch", str(tmp_path / "x"), "$(id)", ">", "out"), Options())
    assert scores(system) == LENGTHS
    system.close()
    assert not (tmp_path / "x").exists()


# Badly behaved


def test_dies_midway(program: Write) -> None:
    code = """
for n, line in enumerate(sys.stdin):
    if n == 4:
        print("one\\ntwo\\nRuntimeError: out of cheese", file=sys.stderr)
        sys.exit(3)
    print(score(line), flush=True)
"""
    message = failure(CommandSystem(program(code), Options()))
    assert "exit code 3 after 4 of 9 lines" in message
    assert "two | RuntimeError: out of cheese" in message


def test_only_the_last_words_are_shown(program: Write) -> None:
    code = "print(*range(100, 1000), sep='\\n', file=sys.stderr); sys.exit(1)"
    assert failure(CommandSystem(program(code), Options())).endswith("stderr: 995 | 996 | 997 | 998 | 999")


def test_killed(program: Write) -> None:
    code = "import os\nprint(1, flush=True); os.kill(os.getpid(), 9)"
    assert "signal 9 (SIGKILL) after 1 of 9 lines" in failure(CommandSystem(program(code), Options()))


def test_answers_before_death_are_kept(program: Write) -> None:
    code = "for n, line in zip(range(4), sys.stdin): print(score(line), flush=True)\nsys.exit(1)"
    answers = CommandSystem(program(code), Options()).score(EXAMPLES)
    assert next(answers)[0] == 0
    with pytest.raises(AnaphoraError, match="exit code 1"):
        next(answers)


def test_missing_line(program: Write) -> None:
    code = "for n, line in enumerate(sys.stdin):\n    if n != 5: print(score(line))"
    assert "9 lines sent, 8 answers received" in failure(CommandSystem(program(code), Options()))


@pytest.mark.parametrize("body", [STREAMING, BUFFERING], ids=["streaming", "buffering"])
def test_surplus_line_at_the_end(program: Write, body: str) -> None:
    message = failure(CommandSystem(program(body + "\nprint(-99.5)"), Options()))
    assert "9 lines sent, 10 or more received; the first surplus line is '-99.5'" in message


def test_surplus_line_between_two_parts(program: Write) -> None:
    code = "for n, line in enumerate(sys.stdin):\n    print(score(line), *[5] * (n == 8), sep='\\n', flush=True)"
    system = CommandSystem(program(code), Options())
    assert scores(system) == LENGTHS
    time.sleep(0.3)
    assert "9 lines sent, 10 or more received; the first surplus line is '5'" in failure(system)


def test_program_that_talks_without_being_asked() -> None:
    message = failure(CommandSystem("yes 1", Options()))
    assert re.search(r"^yes: \d lines sent, \d+ or more received; the first surplus line is '1'", message)


def test_fails_after_the_last_score(program: Write) -> None:
    message = failure(CommandSystem(program(STREAMING + "\nsys.exit('disk full')"), Options()))
    assert "failed with exit code 1 after its last score. The end of its stderr: disk full" in message


@pytest.mark.parametrize(
    ("output", "text"),
    [("abc", "'abc'"), ("", "an empty line"), ("nan", "'nan'"), ("1_0", "'1_0'"), ("-3.5 x", "'-3.5 x'")],
)
def test_not_a_number(program: Write, output: str, text: str) -> None:
    code = f"for n, line in enumerate(sys.stdin): print({output!r} if n == 6 else score(line), flush=True)"
    message = failure(CommandSystem(program(code), Options()))
    assert "the output of" in message
    assert f"line 7: {'not a finite number: ' if text[0] == chr(39) else ''}{text}" in message


def test_banner_of_a_program_that_then_waits(program: Write) -> None:
    code = 'print("ready", flush=True); time.sleep(600)'
    assert "line 1: not a finite number: 'ready'" in failure(CommandSystem(program(code), Options()))


def test_does_not_read(program: Write) -> None:
    assert "0 answers received" in failure(CommandSystem(program("sys.stdin.close()"), Options()))


def test_reads_nothing_of_much(program: Write) -> None:
    system = CommandSystem(program("sys.exit(4)"), Options())
    examples = [Example(str(n), ("s" * 5000,), (("t",), ("u",)), 0) for n in range(100)]
    with pytest.raises(AnaphoraError, match="exit code 4 after 0 of 200 lines"):
        list(system.score(examples))


def test_no_such_program_system() -> None:
    with pytest.raises(AnaphoraError, match=r"^marian-scorrer: no such program"):
        load_system("command:marian-scorrer --model x")


def test_may_not_be_run(tmp_path: Path) -> None:
    (tmp_path / "scorer").write_text("#!/bin/nowhere\n")
    with pytest.raises(AnaphoraError, match="is not executable"):
        load_system(f"command:{tmp_path / 'scorer'}")
    (tmp_path / "scorer").chmod(0o755)
    with pytest.raises(AnaphoraError, match="cannot be started: no such program"):
        list(CommandSystem(str(tmp_path / "scorer"), Options()).score(EXAMPLES))


@pytest.mark.parametrize("what", ["'unclosed", "''", "   "])
def test_not_a_command_line(what: str) -> None:
    with pytest.raises(AnaphoraError):
        load_system(f"command:{what}")


@pytest.mark.parametrize("text", ["a\tb", "a\nb", "a\rb"])
def test_text_that_does_not_fit_on_a_line(program: Write, text: str) -> None:
    system = CommandSystem(program(STREAMING), Options())
    bad = Example("bad.1", ("Source.",), (("fine",), (text,)), 0)
    with pytest.raises(AnaphoraError, match=r"example bad\.1: a tab or a line break in 'a"):
        list(system.score([EXAMPLES[0], bad]))
    assert system._program is None, "nothing was started"


def test_margins_only_is_refused(program: Write) -> None:
    with pytest.raises(AnaphoraError, match="--margins-only"):
        CommandSystem(program(STREAMING), Options(margins_only=True))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
class TestEndsWhatItStarted:
    def test_when_it_is_closed_early(self, program: Write) -> None:
        code = "import os\nfor line in sys.stdin: print(os.getpid(), flush=True)\ntime.sleep(600)"
        answers = CommandSystem(program(code), Options()).score(EXAMPLES)
        pid = int(next(answers)[1].scores[0])
        assert running(pid)
        answers.close()
        assert not running(pid)

    def test_when_nobody_holds_it_any_more(self, program: Write) -> None:
        code = "import os\nfor line in sys.stdin: print(os.getpid(), flush=True)\ntime.sleep(600)"
        system = CommandSystem(program(code), Options())
        pid = int(next(iter(list(system.score(EXAMPLES))))[1].scores[0])
        assert running(pid), "it is kept"
        del system
        assert not running(pid)

    def test_also_what_a_wrapper_started(self, program: Write, tmp_path: Path) -> None:
        code = "import os\nfor line in sys.stdin: print(os.getpid(), flush=True)\ntime.sleep(600)"
        wrapper = tmp_path / "wrapper.sh"
        wrapper.write_text(f"{program(code)}\nexit $?\n")
        answers = CommandSystem(f"sh {wrapper}", Options()).score(EXAMPLES)
        pid = int(next(answers)[1].scores[0])
        answers.close()
        for _ in range(50):
            if not running(pid):
                break
            time.sleep(0.1)
        assert not running(pid)

    def test_that_does_not_listen(self, program: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("anaphora.systems.command.WAIT", 0.5)
        code = "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        code += "for line in sys.stdin: print(os.getpid(), flush=True)\ntime.sleep(600)"
        answers = CommandSystem(program(code), Options()).score(EXAMPLES)
        pid = int(next(answers)[1].scores[0])
        answers.close()
        assert not running(pid)


# Whole runs


def small_suite(size: int = 30) -> Suite:
    demo = demo_suite()
    return suite_of(demo.header, lambda: islice(iter(demo), size))


def test_run_in_shards(program: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process for all shards, and the same run as in one piece."""
    spec = f"command:{program(STREAMING)}"
    whole = score_suite(small_suite(), spec, tmp_path / "whole.jsonl")
    monkeypatch.setattr(scoring, "SHARD", 7)
    parts = score_suite(small_suite(), spec, tmp_path / "parts.jsonl")
    assert whole.path.read_bytes() == parts.path.read_bytes()
    assert len(list(whole)) == 30


def test_surplus_fails_the_run(program: Write, tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="90 lines sent, 91 or more received"):
        score_suite(small_suite(), f"command:{program(STREAMING + chr(10) + 'print(0)')}", tmp_path / "run.jsonl")
    assert not (tmp_path / "run.jsonl").exists()
    assert (tmp_path / "run.jsonl.in-doubt").exists()  # kept, but never gone on with
    assert not (tmp_path / "run.jsonl.part").exists()
    good = f"command:{program(STREAMING)}"
    assert len(list(score_suite(small_suite(), good, tmp_path / "run.jsonl", resume=True))) == 30


def test_surplus_fails_the_run_of_workers(program: Write, tmp_path: Path) -> None:
    from anaphora.systems.scoring import local_workers

    spec = f"command:{program(STREAMING + chr(10) + 'print(0)')}"
    with pytest.raises(AnaphoraError, match="put aside"):
        score_suite(small_suite(), spec, tmp_path / "run.jsonl", scorer=local_workers(2))
    assert [path.name for path in tmp_path.glob("run.jsonl*")] == ["run.jsonl.in-doubt"]


def test_resume_after_the_program_died(program: Write, tmp_path: Path) -> None:
    good = f"command:{program(STREAMING)}"
    whole = score_suite(small_suite(), good, tmp_path / "whole.jsonl").path.read_bytes()
    program("for n, line in zip(range(41), sys.stdin): print(score(line), flush=True)\nsys.exit(1)")  # under its name
    with pytest.raises(AnaphoraError, match="after 41 of 90 lines"):
        score_suite(small_suite(), good, tmp_path / "run.jsonl")
    program(LOGGING.replace("sys.argv[1]", repr(str(tmp_path / "log"))))
    run = score_suite(small_suite(), good, tmp_path / "run.jsonl", resume=True)
    assert run.path.read_bytes() == whole
    assert len((tmp_path / "log").read_text().splitlines()) == 90 - 39  # 13 examples had all their scores


@pytest.mark.skipif(os.name != "posix", reason="kills")
def test_resume_after_we_were_killed(program: Write, tmp_path: Path) -> None:
    """kill −9 while a run goes on: the program ends with us, and the run goes on where it was."""
    slow = program(
        f"import os; print(os.getpid(), file=open({str(tmp_path / 'pid')!r}, 'w'))\n"
        + STREAMING.replace("print", "time.sleep(0.01), print")
    )
    suite = tmp_path / "suite.jsonl"
    small_suite().write(suite)
    output = tmp_path / "run.jsonl"
    code = (
        "import sys; from pathlib import Path; from anaphora.suites.suite import read_native;"
        "from anaphora.systems.scoring import score_suite;"
        "score_suite(read_native(Path(sys.argv[1])), sys.argv[2], Path(sys.argv[3]))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, suite, f"command:{slow}", output], cwd=tmp_path)
    part = output.with_name("run.jsonl.part")
    try:
        while process.poll() is None and not (part.exists() and part.read_bytes().count(b"\n") > 5):
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not output.exists()
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not running(pid):
            break
        time.sleep(0.1)
    assert not running(pid), "it saw the end of its input"
    resumed = score_suite(read_native(suite), f"command:{slow}", output, resume=True)
    whole = score_suite(read_native(suite), f"command:{slow}", tmp_path / "whole.jsonl")
    assert resumed.path.read_bytes() == whole.path.read_bytes()


# A program that translates: a line of source, a line of translation.

TRANSLATE = "command:" + shlex.join([sys.executable, "-S", "-c", f"import sys\n{UPPER}"])


def test_a_program_translates_line_by_line() -> None:
    system = load_system(TRANSLATE)
    assert isinstance(system, CommandSystem)
    assert system.translate(["it fell", "", "two\nlines"]) == ["IT FELL", "", "TWO LINES"]
    assert system.translate(["again"]) == ["AGAIN"]  # it was kept running
    assert system.translate(["", " "]) == ["", ""]
    system.close()


def test_a_program_that_answers_at_the_end_of_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CommandSystem, "PATIENCE", 0.2)
    late = "import sys\nlines = sys.stdin.readlines()\nfor line in lines: print(line.strip()[::-1])"
    system = load_system("command:" + shlex.join([sys.executable, "-S", "-c", late]))
    assert isinstance(system, CommandSystem)
    assert [system.translate(texts) for texts in (["ab", "cd"], ["ef"])] == [["ba", "dc"], ["fe"]]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("print('one')", "2 lines sent, 1 answers received, not one per line"),
        ("sys.stdin.read(); print('1\\n2\\n3')", "2 lines sent, 3 or more received|2 lines sent, 2 or more received"),
        ("sys.exit(3)", "failed with exit code 3 after 0 of 2 lines"),
    ],
)
def test_translations_out_of_step_are_an_error(monkeypatch: pytest.MonkeyPatch, code: str, problem: str) -> None:
    monkeypatch.setattr(CommandSystem, "PATIENCE", 0.2)
    system = load_system("command:" + shlex.join([sys.executable, "-S", "-c", f"import sys\n{code}"]))
    assert isinstance(system, CommandSystem)
    with pytest.raises(AnaphoraError, match=problem):
        system.translate(["a", "b"])


def test_what_a_program_decides_itself_is_no_option() -> None:
    system = load_system(TRANSLATE)
    assert isinstance(system, CommandSystem)
    with pytest.raises(AnaphoraError, match="--beams has no effect on a program"):
        system.translate(["a"], beams=2)
    produced = CommandSystem("cat", Options(context=Context(1, target="produced")))
    with pytest.raises(
        AnaphoraError, match=r"--target-context produced is not supported by command: systems\. Use gold or none"
    ):
        produced.translate(["a"])


def test_a_file_is_translated_by_a_program(anaphora, tmp_path: Path) -> None:
    (tmp_path / "in.en").write_text("it fell\n\nit broke\n", encoding="utf-8")
    anaphora("translate", "--system", TRANSLATE, "-l", "en-de", "-i", tmp_path / "in.en", "-o", tmp_path / "out.de")
    assert (tmp_path / "out.de").read_text(encoding="utf-8") == "IT FELL\n\nIT BROKE\n"
