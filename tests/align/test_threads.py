"""A compiled backend can be held to a number of threads for a while."""

from __future__ import annotations

import ctypes
import math

import pytest

from anaphora.align.threads import openmp_threads


def test_the_number_of_threads_is_set_and_set_back() -> None:
    thot = pytest.importorskip("thot")
    library = ctypes.CDLL(thot.__file__)
    before = library.omp_get_max_threads()
    with pytest.raises(KeyError), openmp_threads(thot, before + 2):
        assert library.omp_get_max_threads() == before + 2
        raise KeyError
    assert library.omp_get_max_threads() == before
    with openmp_threads(thot, None):
        assert library.omp_get_max_threads() == before


def test_a_module_without_openmp_is_left_alone() -> None:
    if not hasattr(math, "__file__"):
        pytest.skip("math is built into this Python")
    with openmp_threads(math, 1):
        pass
