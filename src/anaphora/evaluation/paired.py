"""Is the difference between two systems on the same items real? Three tests, and a correction for many of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anaphora.evaluation.intervals import CHUNK, Floats, Ints, bootstrap


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact test, two-sided: of the items on which just one system is right, are they split evenly?

    The sum of binomial probabilities, in logarithms, so that any number of items will do.
    """
    n, k = only_first + only_second, min(only_first, only_second)
    if n == 0:
        return 1.0
    i = np.arange(1, k + 1)
    log_choose = np.concatenate(([0.0], np.cumsum(np.log(n - i + 1) - np.log(i))))
    tail = np.exp(np.logaddexp.reduce(log_choose) - n * np.log(2))
    return min(1.0, float(2 * tail))


def approximate_randomisation(differences: Floats, counts: Ints, samples: int, rng: np.random.Generator) -> float:
    """Noreen 1989 (Riezler and Maxwell 2005 for translation): swap the two systems' outputs unit by unit at random.

    differences: (k,), the different sums of (second − first) in a unit; counts: (k,), units with each.
    How often is a difference of the swapped systems at least as large? For outcomes right/wrong of single items
    this is McNemar's exact test with sampling error on top.
    """
    matter = differences != 0
    values, counts = np.abs(differences[matter]), counts[matter]
    observed = abs(float((differences[matter] * counts).sum()))
    if len(values) == 0:
        return 1.0
    extreme = 0
    step = max(1, CHUNK // len(values))
    for start in range(0, samples, step):
        size = min(step, samples - start)
        kept = rng.binomial(counts, 0.5, size=(size, len(values)))
        swapped = np.abs(((2 * kept - counts) * values).sum(axis=1))
        extreme += int((swapped >= observed - 1e-9).sum())
    return (extreme + 1) / (samples + 1)


def paired_bootstrap(rows: Floats, counts: Ints, samples: int, rng: np.random.Generator) -> tuple[float, Floats]:
    """Koehn 2004, two-sided: centre the resampled differences, count those as far out as the real one.

    sacreBLEU centres too, but drops the signs before, which gives smaller p-values.

    rows: (k, 2), a unit's sum of differences and number of items. Returns the p-value and the resampled values.
    """
    values = bootstrap(rows, counts, samples, rng)
    observed = float((rows[:, 0] * counts).sum() / (rows[:, 1] * counts).sum())
    extreme = int((np.abs(values - values.mean()) >= abs(observed) - 1e-12).sum())
    return (extreme + 1) / (samples + 1), values


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm 1979: p-values corrected so that the chance of any false alarm among them stays what it says."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    worst = 0.0
    for rank, i in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = worst
    return adjusted
