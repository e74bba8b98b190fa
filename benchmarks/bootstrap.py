"""10,000 bootstrap samples over 12,000 items on one core, and how much that saves over a loop over the samples."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from timing import Row, side_by_side

AT_MOST = 2.0
SAMPLES, ITEMS = 10_000, 12_000


def run(rounds: int = 3) -> list[Row]:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # heard where numpy was not yet imported; what is timed here has no threads
    import numpy as np

    from anaphora.stats.intervals import bootstrap, generator

    rng = generator(4)
    values = rng.normal(size=ITEMS)
    right = int((values > 0).sum())
    outcomes = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([ITEMS - right, right])
    general = np.column_stack([values, np.ones(ITEMS)]), np.ones(ITEMS, dtype=np.int64)
    kinds: dict[str, Callable[[], Any]] = {
        "right/wrong": lambda: bootstrap(*outcomes, SAMPLES, generator(5)),
        "real values": lambda: bootstrap(*general, SAMPLES, generator(5)),
        "loop": lambda: loop(values, generator(5)),
    }
    measured = side_by_side(kinds, rounds)
    rows = []
    for kind in ("right/wrong", "real values"):
        rows.append(Row(f"bootstrap, {kind}", measured.seconds(kind), "s", AT_MOST, measured.note))
        ratio = measured.ratio(kind, "loop")
        rows.append(Row(f"bootstrap, {kind} / a loop over the samples", ratio, "×", note="for information"))
    return rows


def loop(values: Any, rng: Any) -> list[float]:
    """The plain way: draw, look up, take the mean, 10,000 times."""
    return [values[rng.integers(0, len(values), len(values))].mean() for _ in range(SAMPLES)]
