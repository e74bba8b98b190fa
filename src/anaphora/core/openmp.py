"""Threads of libraries that compute with OpenMP: how many there are, and how they wait for each other."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from anaphora.core.errors import AnaphoraError
from anaphora.core.parsing import shown
from anaphora.core.workers import processor_count

MAX_THREADS = 256  # on machines with fewer processors


def check_threads(count: int | None) -> None:
    """Raise an error for more threads than a machine can start: libraries end the process then. None is no number."""
    most = max(MAX_THREADS, processor_count())
    if count is not None and not 1 <= count <= most:
        raise AnaphoraError(f"the number of threads must be between 1 and {most} on this machine, not {shown(count)}")


@contextmanager
def openmp_threads(module: ModuleType, count: int | None) -> Iterator[None]:
    """Set the number of OpenMP threads of an extension module inside this block; None leaves it alone.

    sil-thot has no option for it. Its OpenMP is a library of its own, found through the module itself.
    """
    library = ctypes.CDLL(module.__file__)
    if count is None or not hasattr(library, "omp_set_num_threads"):
        yield
        return
    before = library.omp_get_max_threads()
    library.omp_set_num_threads(count)
    try:
        yield
    finally:
        library.omp_set_num_threads(before)


@contextmanager
def sleeping_threads() -> Iterator[None]:
    """Let the OpenMP threads of a library that is loaded inside this block sleep while they wait for each other.

    By default they spin. If other programs use the processors as well, a thread that spins keeps the one it waits for
    from running: on a busy machine, a sampler of sil-thot takes ten times as long, and llama.cpp, which waits after
    each operation of a model, more than twenty times. OpenMP reads this setting once, when it is loaded.
    """
    if "OMP_WAIT_POLICY" in os.environ:  # the user has chosen
        yield
        return
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        yield
    finally:
        del os.environ["OMP_WAIT_POLICY"]
