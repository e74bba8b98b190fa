"""Threads of OpenMP that wait without spinning. How their number is set is tested with sil-thot, in tests/align."""

from __future__ import annotations

import os

import pytest

from anaphora.core.openmp import sleeping_threads


def test_threads_sleep_unless_the_user_has_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    with sleeping_threads():
        assert os.environ["OMP_WAIT_POLICY"] == "passive"
    assert "OMP_WAIT_POLICY" not in os.environ
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    with sleeping_threads():
        assert os.environ["OMP_WAIT_POLICY"] == "active"
    assert os.environ["OMP_WAIT_POLICY"] == "active"
