"""Threads of OpenMP that wait without spinning. How their number is set is tested with sil-thot, in tests/align."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from anaphora.align.backend import Settings
from anaphora.api.inputs import set_threads
from anaphora.core.errors import AnaphoraError
from anaphora.core.openmp import MAX_THREADS, check_threads, sleeping_threads
from anaphora.core.workers import processor_count
from anaphora.systems.context import Options


def test_threads_sleep_unless_the_user_has_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    with sleeping_threads():
        assert os.environ["OMP_WAIT_POLICY"] == "passive"
    assert "OMP_WAIT_POLICY" not in os.environ
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    with sleeping_threads():
        assert os.environ["OMP_WAIT_POLICY"] == "active"
    assert os.environ["OMP_WAIT_POLICY"] == "active"


TAKERS = (check_threads, set_threads, lambda count: Options(threads=count), lambda count: Settings(threads=count))


@pytest.mark.parametrize("settings", TAKERS, ids=("check", "torch", "systems", "aligners"))
@pytest.mark.parametrize("count", [0, 100_000, 10**5000], ids=("none", "too many", "digits"))
def test_numbers_of_threads_that_end_the_process(settings: Callable[[int], object], count: int) -> None:
    """Libraries do not report that a thread cannot be started: torch and llama.cpp end with a segmentation fault."""
    with pytest.raises(AnaphoraError, match=r"threads must be between 1 and .* on this machine"):
        settings(count)


def test_all_processors_can_be_used() -> None:
    for count in (None, 1, MAX_THREADS, processor_count()):
        check_threads(count)
