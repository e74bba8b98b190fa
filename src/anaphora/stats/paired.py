"""Paired tests of the difference between two systems on the same items, and a correction for many of them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import finite
from anaphora.stats.intervals import CHUNK, Floats, Ints, bootstrap, bootstrap_draws, generator, percentile_interval
from anaphora.stats.resampling import Interval, Resampling


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


def approximate_randomization(differences: Floats, counts: Ints, samples: int, rng: np.random.Generator) -> float:
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
        unchanged = rng.binomial(counts, 0.5, size=(size, len(values)))
        swapped = np.abs(((2 * unchanged - counts) * values).sum(axis=1))
        extreme += int((swapped >= observed - 1e-9).sum())
    return (extreme + 1) / (samples + 1)


def paired_bootstrap(rows: Floats, counts: Ints, samples: int, rng: np.random.Generator) -> tuple[float, Floats]:
    """Koehn 2004, two-sided: center the resampled differences, count those as far out as the real one.

    sacreBLEU centers too, but drops the signs before, which gives smaller p-values.

    rows: (k, 2), a unit's sum of differences and number of items. Returns the p-value and the resampled values.
    """
    values = bootstrap(rows, counts, samples, rng)
    observed = float((rows[:, 0] * counts).sum() / (rows[:, 1] * counts).sum())
    return share_as_extreme(values - values.mean(), observed), values


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm 1979: p-values corrected so that the probability of any false alarm among them stays below the level."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    worst = 0.0
    for rank, i in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = worst
    return adjusted


# Figures that depend only on sums over sentences: their intervals and paired tests need no second scoring.

Figures = Callable[[Floats], Mapping[str, Floats]]  # totals (samples, columns) → the values (samples,) of each figure


@dataclass(frozen=True, slots=True)
class SufficientStats:
    """The figures of one system. rows: (sentences, columns), what each sentence adds to the totals."""

    rows: Floats
    figures: Figures

    def values(self) -> dict[str, float]:
        totals = self.figures(self.rows.sum(axis=0, keepdims=True))
        what = f"of {len(self.rows):,} sentences"
        return {name: finite(float(value[0]), f"{name} {what}") for name, value in totals.items()}

    def intervals(self, resampling: Resampling) -> dict[str, Interval]:
        """Percentile bootstrap over sentences."""
        drawn = self.figures(resampled_totals(self.rows, resampling))
        return {name: percentile_interval(values, resampling.confidence) for name, values in drawn.items()}


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Two systems on the same sentences: the second's figure minus the first's, with its p-values."""

    first: str
    second: str
    delta: float
    interval: Interval
    tests: dict[str, float]  # p-values by the name of the test
    p_value: float
    p_adjusted: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "systems": [self.first, self.second],
            "delta": self.delta,
            "interval": list(self.interval),
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
            "tests": self.tests,
        }


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole; 0 where there is nothing to divide by."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole != 0)


def harmonic(precision: Floats, recall: Floats) -> Floats:
    """The F-score: the harmonic mean of precision and recall."""
    return ratio(2 * precision * recall, precision + recall)


def resampled_totals(rows: Floats, resampling: Resampling) -> Floats:
    """Totals of bootstrap samples of whole sentences, (samples, columns).

    Sentences with equal rows are drawn together, by a multinomial draw (as in `intervals.resampled_sums`, which is
    made for two columns; here there may be hundreds, so that the draws are multiplied with the rows).
    """
    distinct, counts = _distinct(rows)
    totals = np.empty((resampling.samples, rows.shape[1]))
    for part, times in bootstrap_draws(counts, resampling.samples, generator(resampling.seed)):
        totals[part] = times @ distinct
    return totals


def swapped_totals(first: Floats, second: Floats, resampling: Resampling) -> tuple[Floats, Floats]:
    """Totals of two systems whose outputs are exchanged sentence by sentence at random (Noreen 1989)."""
    both, counts = _distinct(np.hstack([first, second]))
    change = both[:, first.shape[1] :] - both[:, : first.shape[1]]
    matter = change.any(axis=1)
    change, counts = change[matter], counts[matter]
    rng = generator(resampling.seed)
    shift = np.zeros((resampling.randomizations, first.shape[1]))
    step = max(1, CHUNK // max(1, len(change)))
    for start in range(0, resampling.randomizations, step):
        part = shift[start : start + step]
        part[:] = rng.binomial(counts, 0.5, size=(len(part), len(counts))).astype(float) @ change
    return first.sum(axis=0) + shift, second.sum(axis=0) - shift


def paired_test(
    names: tuple[str, str], first: SufficientStats, second: SufficientStats, resampling: Resampling
) -> dict[str, PairedTest]:
    """Paired bootstrap (Koehn 2004) and approximate randomization (Riezler and Maxwell 2005) for each figure."""
    if len(first.rows) != len(second.rows):
        raise AnaphoraError(f"{names[1]} and {names[0]} are not translations of the same sentences")
    width = first.rows.shape[1]
    totals = resampled_totals(np.hstack([first.rows, second.rows]), resampling)
    drawn = first.figures(totals[:, :width]), second.figures(totals[:, width:])
    one, other = swapped_totals(first.rows, second.rows, resampling)
    swapped = first.figures(one), second.figures(other)
    before, after = first.values(), second.values()
    tests_of = {}
    for name in before:
        delta = after[name] - before[name]
        differences = drawn[1][name] - drawn[0][name]
        tests = {
            "bootstrap": share_as_extreme(differences - differences.mean(), delta),
            "randomization": share_as_extreme(swapped[1][name] - swapped[0][name], delta),
        }
        interval = percentile_interval(differences, resampling.confidence)
        tests_of[name] = PairedTest(*names, delta, interval, tests, tests[resampling.test])
    return tests_of


def paired_tests(systems: Mapping[str, SufficientStats], resampling: Resampling) -> dict[str, tuple[PairedTest, ...]]:
    """For each figure every pair of systems, the earlier one first; p-values corrected for their number (Holm)."""
    pairs = [paired_test((a, b), systems[a], systems[b], resampling) for a, b in itertools.combinations(systems, 2)]
    by_figure = {}
    for name in pairs[0] if pairs else ():
        tests = [pair[name] for pair in pairs]
        adjusted = holm([test.p_value for test in tests])
        by_figure[name] = tuple(replace(test, p_adjusted=p) for test, p in zip(tests, adjusted, strict=True))
    return by_figure


def _distinct(rows: Floats) -> tuple[Floats, Ints]:
    """The different rows and how often each occurs; by their bytes, as sorting wide rows takes long."""
    counts = Counter(row.tobytes() for row in rows)
    different = np.frombuffer(b"".join(counts), dtype=rows.dtype).reshape(len(counts), -1)
    return different, np.array(list(counts.values()), np.int64)


def share_as_extreme(differences: Floats, observed: float) -> float:
    """The p-value of a resampling test: the share of differences at least as large as the observed one."""
    extreme = int((np.abs(differences) >= abs(observed) - 1e-12).sum())
    return (extreme + 1) / (len(differences) + 1)
