"""Trials side by side in a few processes, each of which forks the commands that it tries. All end with their parent."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

Found = TypeVar("Found")


def side_by_side(tasks: Sequence[Callable[[], Found]], jobs: int, folder: Path) -> list[Found]:
    """What the tasks return, in their order; each process does every n-th of them."""
    folder.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    children = [_child(tasks, number, jobs, folder) for number in range(jobs)]
    for child in children:
        os.waitpid(child, 0)
    results: dict[int, Found] = {}
    for number in range(jobs):
        file = folder / f"results-{number}.pickle"
        if file.is_file():
            results |= pickle.loads(file.read_bytes())
            file.unlink()
    missing = [number for number in range(len(tasks)) if number not in results]
    if missing:
        raise RuntimeError(f"{len(missing)} of {len(tasks)} trials did not come to an end; see above")
    return [results[number] for number in range(len(tasks))]


def _child(tasks: Sequence[Callable[[], Found]], number: int, jobs: int, folder: Path) -> int:
    child = os.fork()
    if child:
        return child
    try:
        end_with_parent()
        actual = {k: _told(tasks[k]()) for k in range(number, len(tasks), jobs)}
        (folder / f"results-{number}.pickle").write_bytes(pickle.dumps(actual))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def end_with_parent() -> None:
    """Let the kernel kill this process when the one that has forked it ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _told(actual: Found) -> Found:
    """Say at once what is wrong, as a run takes minutes."""
    if wrong := getattr(actual, "problem", ""):
        print(f"{getattr(actual, 'target', '')}: {wrong}", file=sys.stderr, flush=True)
    return actual
