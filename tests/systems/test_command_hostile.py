"""Programs that write without end, hold pipes, or are silent: ended with one line, in bounded memory, nothing left."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.systems import command as program_module
from anaphora.systems.command import ANSWERS, CommandSystem, Program
from anaphora.systems.context import Options
from tests.memory import PRINT_PEAK

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files and processes are seen in /proc")
EXAMPLES = [Example(str(n), ("It.",), (("Er.",), ("Sie.",)), 0) for n in range(3)]
LIFE = "import os, signal, sys, time, subprocess\nsignal.alarm(60)\n"  # they end by themselves, whatever happens
ANSWER = "for line in sys.stdin: print(-len(line), flush=True)"

PROGRAMS = {
    "an endless line": "while True: os.write(1, b'1' * 65536)",
    "an endless line after answers": "print('1\\n1', flush=True)\nwhile True: os.write(1, b'x' * 65536)",
    "endless lines": "while True: os.write(1, b'1\\n' * 32768)",
    "long lines without end": "while True: os.write(1, b'1' * 100000 + b'\\n')",
    "endless stderr": "while True: os.write(2, b'loading ' * 8192)",
    "endless stderr in lines": "while True: os.write(2, b'loading\\n' * 8192)",
    "silence": "time.sleep(60)",
    "silence, and deaf to TERM": "signal.signal(15, signal.SIG_IGN); time.sleep(60)",
    "a child holds the pipe": "subprocess.Popen(['sleep', '60'])",
    "a child in another session holds the pipe": "subprocess.Popen(['sleep', '8'], start_new_session=True)",
    "a child floods stdout": "subprocess.Popen([sys.executable, '-c', 'while True: print(1)'])",
}
SAID = {
    "an endless line": "wrote a line of more than 65,536 bytes instead of a score, after 0 of 6 lines, "
    "and was terminated",
    "an endless line after answers": "wrote a line of more than 65,536 bytes instead of a score, after 2 of 6 lines",
    "endless lines": "lines sent",
    "long lines without end": "wrote a line of more than 65,536 bytes instead of a score",
    "endless stderr": "wrote more than 16 MB to stderr without a score, after 0 of 6 lines, and was terminated",
    "endless stderr in lines": "The end of its stderr: loading | loading",
    "silence": "wrote nothing for 2 seconds (ANAPHORA_COMMAND_TIMEOUT sets the limit), after 0 of 6 lines",
    "silence, and deaf to TERM": "wrote nothing for 2 seconds",
    "a child holds the pipe": "6 lines sent, 0 answers received",
    "a child in another session holds the pipe": "6 lines sent, 0 answers received",
    "a child floods stdout": "lines sent",
}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Shorter waits, and a check that neither threads, files nor processes are left."""
    monkeypatch.setenv("ANAPHORA_COMMAND_TIMEOUT", "2")
    monkeypatch.setattr(CommandSystem, "PATIENCE", 0.3)
    monkeypatch.setattr(program_module, "WAIT", 1.0)
    monkeypatch.setattr("anaphora.systems.command.WAIT", 1.0)
    monkeypatch.setattr(program_module, "MAX_STDERR", 16 << 20)
    threads, files = set(threading.enumerate()), len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    yield
    assert set(threading.enumerate()) <= threads
    assert len(os.listdir("/proc/self/fd")) <= files  # noqa: PTH208


def spec(code: str) -> str:
    return shlex.join([sys.executable, "-S", "-c", LIFE + code])


def group_is_empty(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, 0)
        return False
    return True


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_ended_with_one_line(name: str) -> None:
    system, start = CommandSystem(spec(PROGRAMS[name]), Options()), time.monotonic()
    with pytest.raises(AnaphoraError) as caught, contextlib.closing(system):
        list(system.score(EXAMPLES))
    assert time.monotonic() - start < 20
    assert SAID[name] in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2000
    assert system._program is None


def test_answers_wait_in_the_pipe_and_not_in_memory() -> None:
    program = Program([sys.executable, "-S", "-c", LIFE + "while True: os.write(1, b'1\\n' * 1000)"])
    try:
        end = time.monotonic() + 30
        while program._answers.qsize() < ANSWERS:
            assert time.monotonic() < end
            time.sleep(0.01)
        time.sleep(0.2)
        assert program._answers.qsize() == ANSWERS
    finally:
        program.end()


@pytest.mark.parametrize(
    "code",
    [
        f"subprocess.Popen(['sleep', '60'])\n{ANSWER}",
        f"subprocess.Popen([sys.executable, '-c', 'import os\\nwhile True: os.write(2, b\"x\" * 65536)'])\n{ANSWER}",
        f"subprocess.Popen(['sh', '-c', 'trap : TERM; while :; do sleep 1; done'])\n{ANSWER}",
    ],
)
def test_what_a_good_program_leaves_running_is_ended(code: str, tmp_path: Path) -> None:
    """M5: it has answered everything and exits, while a child holds or floods its stderr."""
    file = tmp_path / "pid"
    system = CommandSystem(spec(f"open({str(file)!r}, 'w').write(str(os.getpid()))\n{code}"), Options())
    with contextlib.suppress(AnaphoraError):  # a child that floods is said to
        assert len(list(system.score(EXAMPLES))) == 3
        system.close()
    pid = int(file.read_text())
    end = time.monotonic() + 5
    while not group_is_empty(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert group_is_empty(pid)


def test_a_wrong_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("soon", "0", "-1", "nan", "inf"):
        monkeypatch.setenv("ANAPHORA_COMMAND_TIMEOUT", value)
        with pytest.raises(AnaphoraError, match="must be a number of seconds above 0"):
            CommandSystem(spec(ANSWER), Options())


SCORER = """
import os, resource, sys
from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.systems.command import ANSWERS, CommandSystem, Program
from anaphora.systems.context import Options
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    system = CommandSystem(sys.argv[1], Options())
    list(system.score([Example("1", ("It.",), (("Er.",), ("Sie.",)), 0)]))
    system.close()
except AnaphoraError as error:
    print(error, file=sys.stderr)
"""
SCORER += PRINT_PEAK


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", ["an endless line", "endless lines", "long lines without end", "endless stderr"])
def test_memory_stays_below_500_mb(name: str) -> None:
    """In a process of its own, with the real limits."""
    command = [sys.executable, "-c", SCORER, spec(PROGRAMS[name])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert done.stderr.count("\n") == 1
    assert int(done.stdout) < 500
