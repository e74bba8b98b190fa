"""Processes that work for this one: they never see Ctrl-C, do not outlive it, and do not print on its stdout."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess


def start(process: BaseProcess) -> None:
    """Start a worker. Ctrl-C is for its parent alone, even while it starts."""
    resource_tracker.ensure_running()  # starting it would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_work() -> None:
    """What a worker does first: whatever a library prints goes to stderr, and the worker ends when its parent does."""
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def dismiss(process: BaseProcess) -> None:
    """End a worker that nobody needs any more."""
    process.terminate()
    process.join(5)
    if process.exitcode is None:
        process.kill()
        process.join()


def _end_with_parent() -> None:
    """Even if the parent was killed, and even in the middle of a computation."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
