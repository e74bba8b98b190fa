"""Learning rates of the papers."""

from __future__ import annotations

import pytest

from anaphora.nmt.config import TrainingConfig
from anaphora.nmt.schedule import Progress, rate


def test_fixed() -> None:
    config = TrainingConfig(rate=0.5, schedule="fixed", warmup=0)
    assert [rate(config, update, Progress()) for update in (1, 10, 10_000)] == [0.5] * 3
    assert rate(TrainingConfig(rate=0.5, schedule="fixed", warmup=10), 5, Progress()) == 0.25


def test_inverse_square_root() -> None:
    config = TrainingConfig(rate=1.0, schedule="inverse-sqrt", warmup=100)
    assert rate(config, 50, Progress()) == 0.5
    assert rate(config, 100, Progress()) == 1.0
    assert rate(config, 400, Progress()) == pytest.approx(0.5)


def test_on_a_plateau_it_falls_by_seven_tenths_after_eight_checkpoints() -> None:
    """ContraCAT, appendix A."""
    config = TrainingConfig(rate=1.0, schedule="plateau", warmup=0)
    progress = Progress().after(10.0, 8)
    for _ in range(7):
        progress = progress.after(10.0, 8)
    assert rate(config, 1, progress) == 1.0
    progress = progress.after(11.0, 8)
    assert rate(config, 1, progress) == pytest.approx(0.7)
    for _ in range(8):
        progress = progress.after(10.0, 8)
    assert rate(config, 1, progress) == pytest.approx(0.49)
    better = progress.after(9.0, 8)
    assert (better.best, better.since, better.reductions) == (9.0, 0, 2)


def test_not_a_number_is_no_gain() -> None:
    assert Progress().after(float("inf"), 8).since == 1
