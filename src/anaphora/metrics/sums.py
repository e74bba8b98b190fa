"""Figures that depend only on sums over sentences: their intervals and paired tests need no second scoring.

AutoPRF, BLEU, chrF, TER, METEOR and shares of right items are all of this kind: each sentence leaves a row of counts,
and the figure of a text is a function of the columns' totals.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import finite
from anaphora.evaluation.intervals import CHUNK, Floats, Interval, Ints, generator, percentile_interval
from anaphora.evaluation.paired import holm

TESTS = ("bootstrap", "randomisation")
Figures = Callable[[Floats], Mapping[str, Floats]]  # totals (samples, columns) → the values (samples,) of each figure


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals and p-values are drawn. test: which of the two p-values is the p_value."""

    samples: int = 1_000
    seed: int = 12345
    confidence: float = 0.95
    test: str = "randomisation"

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1 or self.samples < 1:
            raise AnaphoraError("confidence is a number between 0 and 1, samples a number from 1")
        if self.test not in TESTS:
            raise AnaphoraError(f"unknown test {self.test!r}. Known: {', '.join(TESTS)}")

    @property
    def signature(self) -> str:
        unusual = f"|conf:{self.confidence:g}" if self.confidence != 0.95 else ""
        return f"ci:bs{self.samples}{unusual}|seed:{self.seed}"


@dataclass(frozen=True, slots=True)
class Sums:
    """The figures of one system. rows: (sentences, columns), what each sentence adds to the totals."""

    rows: Floats
    figures: Figures

    def values(self) -> dict[str, float]:
        found = self.figures(self.rows.sum(axis=0, keepdims=True))
        what = f"of {len(self.rows):,} sentences"
        return {name: finite(float(value[0]), f"{name} {what}") for name, value in found.items()}

    def intervals(self, resampling: Resampling) -> dict[str, Interval]:
        """Percentile bootstrap over sentences."""
        drawn = self.figures(resampled_totals(self.rows, resampling))
        return {name: percentile_interval(values, resampling.confidence) for name, values in drawn.items()}


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Two systems on the same sentences: the second's figure minus the first's, and how surely it is not chance."""

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
    rng = generator(resampling.seed)
    totals = np.empty((resampling.samples, rows.shape[1]))
    step = max(1, CHUNK // len(distinct))
    for start in range(0, resampling.samples, step):
        part = totals[start : start + step]
        part[:] = rng.multinomial(len(rows), counts / len(rows), size=len(part)).astype(float) @ distinct
    return totals


def swapped_totals(first: Floats, second: Floats, resampling: Resampling) -> tuple[Floats, Floats]:
    """Totals of two systems whose outputs are exchanged sentence by sentence at random (Noreen 1989)."""
    both, counts = _distinct(np.hstack([first, second]))
    change = both[:, first.shape[1] :] - both[:, : first.shape[1]]
    matter = change.any(axis=1)
    change, counts = change[matter], counts[matter]
    rng = generator(resampling.seed)
    shift = np.zeros((resampling.samples, first.shape[1]))
    step = max(1, CHUNK // max(1, len(change)))
    for start in range(0, resampling.samples, step):
        part = shift[start : start + step]
        part[:] = rng.binomial(counts, 0.5, size=(len(part), len(counts))).astype(float) @ change
    return first.sum(axis=0) + shift, second.sum(axis=0) - shift


def paired_test(names: tuple[str, str], first: Sums, second: Sums, resampling: Resampling) -> dict[str, PairedTest]:
    """Paired bootstrap (Koehn 2004) and approximate randomisation (Riezler and Maxwell 2005) for each figure."""
    if len(first.rows) != len(second.rows):
        raise AnaphoraError(f"{names[1]} and {names[0]} are not translations of the same sentences")
    width = first.rows.shape[1]
    totals = resampled_totals(np.hstack([first.rows, second.rows]), resampling)
    drawn = first.figures(totals[:, :width]), second.figures(totals[:, width:])
    one, other = swapped_totals(first.rows, second.rows, resampling)
    swapped = first.figures(one), second.figures(other)
    before, after = first.values(), second.values()
    found = {}
    for name in before:
        delta = after[name] - before[name]
        differences = drawn[1][name] - drawn[0][name]
        tests = {
            "bootstrap": _share_as_far_out(differences - differences.mean(), delta),
            "randomisation": _share_as_far_out(swapped[1][name] - swapped[0][name], delta),
        }
        interval = percentile_interval(differences, resampling.confidence)
        found[name] = PairedTest(*names, delta, interval, tests, tests[resampling.test])
    return found


def paired_tests(systems: Mapping[str, Sums], resampling: Resampling) -> dict[str, tuple[PairedTest, ...]]:
    """For each figure every pair of systems, the earlier one first; p-values corrected for their number (Holm)."""
    pairs = [paired_test((a, b), systems[a], systems[b], resampling) for a, b in itertools.combinations(systems, 2)]
    found = {}
    for name in pairs[0] if pairs else ():
        tests = [pair[name] for pair in pairs]
        adjusted = holm([test.p_value for test in tests])
        found[name] = tuple(replace(test, p_adjusted=p) for test, p in zip(tests, adjusted, strict=True))
    return found


def _distinct(rows: Floats) -> tuple[Floats, Ints]:
    """The different rows and how often each occurs; by their bytes, as sorting wide rows takes long."""
    counts = Counter(row.tobytes() for row in rows)
    different = np.frombuffer(b"".join(counts), dtype=rows.dtype).reshape(len(counts), -1)
    return different, np.array(list(counts.values()), np.int64)


def _share_as_far_out(differences: Floats, observed: float) -> float:
    extreme = int((np.abs(differences) >= abs(observed) - 1e-12).sum())
    return (extreme + 1) / (len(differences) + 1)
