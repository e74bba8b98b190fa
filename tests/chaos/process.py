"""Commands of this program as processes that start in a moment: forks of one that has imported everything."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.chaos import disk
from tests.chaos.disk import Plan
from tests.chaos.workers import end_with_parent

SECONDS = 400  # a process that takes longer is ended; a busy machine makes 20 of them more than 120
OUTPUT = "out"  # the folder below a trial's that commands write into


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, or minus the signal; operations it made persistent; what it said."""

    code: int
    operations: int
    said: str

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


def run(
    arguments: Sequence[str],
    folder: Path,
    plan: Plan | None = None,
    setup: Callable[[], None] | None = None,
    memory: int = 0,
    root: str = OUTPUT,
    user: int = 0,
) -> Ended:
    """Run a command in a folder, below whose `root` operations are counted.

    setup: changes something in the process first; memory: bytes of addresses at most beyond what it has
    user: whose rights it has, besides our own
    """
    (folder / root).mkdir(parents=True, exist_ok=True)
    child = start(arguments, folder, plan, setup, memory, root, user)
    return wait(child, folder)


def start(
    arguments: Sequence[str],
    folder: Path,
    plan: Plan | None = None,
    setup: Callable[[], None] | None = None,
    memory: int = 0,
    root: str = OUTPUT,
    user: int = 0,
) -> int:
    """The same, but do not wait for it; returns its process id, which is its session's as well."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.setsid()
        end_with_parent()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        os.chdir(folder)
        for name, handle in (("said", 2), ("printed", 1)):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), handle)
        if setup is not None:
            setup()
        if user:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        counted = disk.install(folder / root, plan or Plan())
        if memory:
            _limit(memory)
        code = _main(list(arguments))
        counted.finish()
        with contextlib.suppress(OSError):
            os.write(os.open("operations", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), str(counted.count).encode())
    except BaseException:
        traceback.print_exc()
        code = 71
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def wait(child: int, folder: Path) -> Ended:
    """Wait for a process, and end what it may have started."""
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(status)
    file = folder / "operations"
    counted = int(file.read_text()) if file.is_file() else 0
    file.unlink(missing_ok=True)
    stderr = folder / "said"
    return Ended(code, counted, stderr.read_text(errors="replace") if stderr.is_file() else "")


def _main(arguments: list[str]) -> int:
    from anaphora.cli.app import main

    try:
        main(arguments)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1


def _limit(more: int) -> None:
    """Let this process have N bytes more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGESIZE") + more
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def gone(child: int, seconds: float = 10) -> bool:
    """Whether a process has ended by itself within some time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.02)
    return False
