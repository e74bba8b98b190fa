"""The threads of compiled backends: how many there are, and that they sleep while they wait."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from types import ModuleType


@contextlib.contextmanager
def openmp_threads(module: ModuleType, count: int | None) -> Iterator[None]:
    """Within this block the OpenMP of an extension module uses so many threads; None leaves it alone.

    The packages have no option for it. Their OpenMP is a library of their own, found through the module itself.
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


@contextlib.contextmanager
def sleeping_threads() -> Iterator[None]:
    """An extension module that is imported within this block has OpenMP threads that sleep while they wait.

    By default they spin. Where other programs use the machine as well, a sampler that waits for its threads thousands
    of times then takes ten times as long. OpenMP reads this setting once, when it is loaded.
    """
    if "OMP_WAIT_POLICY" in os.environ:  # somebody has chosen
        yield
        return
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        yield
    finally:
        del os.environ["OMP_WAIT_POLICY"]
