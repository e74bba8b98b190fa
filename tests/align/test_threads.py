"""A compiled backend can be held to a number of threads for a while."""

from __future__ import annotations

import ctypes
import math
import os

import pytest

from anaphora.align.threads import openmp_threads, sleeping_threads


def test_the_number_of_threads_is_set_and_set_back() -> None:
    thot = pytest.importorskip("anaphora.align.thot", reason="sil-thot is not installed").thot
    library = ctypes.CDLL(thot.__file__)
    before = library.omp_get_max_threads()
    with openmp_threads(thot, before + 2):
        assert library.omp_get_max_threads() == before + 2
    assert library.omp_get_max_threads() == before
    with pytest.raises(ZeroDivisionError), openmp_threads(thot, before + 2):
        1 / 0  # noqa: B018
    assert library.omp_get_max_threads() == before
    with openmp_threads(thot, None):
        assert library.omp_get_max_threads() == before


def test_a_module_without_openmp_is_left_alone() -> None:
    if not hasattr(math, "__file__"):
        pytest.skip("math is built into this Python")
    with openmp_threads(math, 1):
        pass


def test_threads_are_told_to_sleep_unless_somebody_has_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    with sleeping_threads():
        assert os.environ["OMP_WAIT_POLICY"] == "passive"
    assert "OMP_WAIT_POLICY" not in os.environ
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    with sleeping_threads():
        assert os.environ["OMP_WAIT_POLICY"] == "active"
    assert os.environ["OMP_WAIT_POLICY"] == "active"
