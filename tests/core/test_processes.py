"""Worker processes: Ctrl-C is not theirs, they end with their parent, and what they print is not its output."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PARENT = """
import multiprocessing, os, sys, time
from anaphora.core import processes

def work(pipe):
    processes.begin_work()
    print("said by a library", flush=True)
    pipe.send(os.getpid())
    pipe.recv()

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs,), daemon=True)
    processes.start(process)
    number = None
    try:
        if sys.argv[1] == "starting":
            print("started", flush=True)
        number = mine.recv()
        print(number, flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        if number is None:
            print(mine.recv(), flush=True)  # it goes on as if nothing had been
        processes.dismiss(process)
        print(process.exitcode, flush=True)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "parent.py"
    path.write_text(PARENT, encoding="utf-8")
    return path


def parent(script: Path, when: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(script), when]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def read(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("when", ["starting", "working"])
def test_ctrl_c_is_for_the_parent_alone(script: Path, when: str) -> None:
    process = parent(script, when)
    first = read(process)
    assert first == "started" if when == "starting" else first.isdigit()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.split()[-1] == str(-signal.SIGTERM)  # ended by its parent, not by Ctrl-C
    assert err == "said by a library\n"


def test_a_worker_does_not_outlive_its_parent(script: Path) -> None:
    process = parent(script, "working")
    worker = int(read(process))
    process.kill()
    process.communicate(timeout=60)
    for _ in range(600):
        if not alive(worker):
            break
        time.sleep(0.1)
    assert not alive(worker)


def alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{number}/stat")
    return not state.is_file() or state.read_text().rpartition(")")[2].split()[0] != "Z"
