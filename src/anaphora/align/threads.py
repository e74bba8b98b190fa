"""How many threads a compiled backend uses. Several add numbers in an order that changes from run to run."""

from __future__ import annotations

import contextlib
import ctypes
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
