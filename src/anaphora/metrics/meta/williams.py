"""Does one metric correlate better with the human score than another one on the same systems? Williams' test."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from anaphora.evaluation.intervals import Floats
from anaphora.evaluation.paired import holm
from anaphora.metrics.meta.correlation import coefficients

EPSILON = 1e-15
TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Williams:
    """Two metrics compared: t is positive where the first correlates better; None where there is no test."""

    first: str
    second: str
    difference: float | None  # of the two correlations (Pearson)
    t: float | None
    p_value: float | None  # two-sided
    p_adjusted: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "difference": self.difference,
            "t": self.t,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
        }


def all_pairs(human: Floats, metrics: Mapping[str, Floats]) -> tuple[Williams, ...]:
    """Williams' test for every pair of metrics; p-values also corrected by Holm's method for their number."""
    tests = []
    for first, second in itertools.combinations(metrics, 2):
        r_first, r_second = pearson(human, metrics[first]), pearson(human, metrics[second])
        between = pearson(metrics[first], metrics[second])
        t = p = None
        if not math.isnan(r_first + r_second + between):
            t, p = williams(r_first, r_second, between, len(human))
        difference = None if math.isnan(r_first - r_second) else r_first - r_second
        tests.append(Williams(first, second, difference, t, p))
    adjusted = iter(holm([test.p_value for test in tests if test.p_value is not None]))
    return tuple(
        Williams(w.first, w.second, w.difference, w.t, w.p_value, None if w.p_value is None else next(adjusted))
        for w in tests
    )


def pearson(first: Floats, second: Floats) -> float:
    """Pearson's r; nan where a column is constant."""
    return float(coefficients(first, second, np.ones((1, len(first))))[0, 0])


def williams(r_first: float, r_second: float, between: float, systems: int) -> tuple[float, float] | tuple[None, None]:
    """Williams 1959, as Graham and Baldwin 2014 (§3) use it for metrics: t with n − 3 degrees of freedom, two-sided p.

    r_first, r_second: the correlations of two metrics with the human score; between: of the metrics with each other.
    Equal correlations are t = 0, p = 1, be the metrics the same or not. Below four systems there is no test.
    """
    if systems <= 3:
        return None, None
    if abs(r_first - r_second) <= EPSILON:
        return 0.0, 1.0
    determinant = 1 - r_first**2 - r_second**2 - between**2 + 2 * r_first * r_second * between
    spread = 2 * max(0.0, determinant) * (systems - 1) / (systems - 3)
    spread += ((r_first + r_second) / 2) ** 2 * (1 - between) ** 3
    if spread <= EPSILON:  # a metric against its own opposite: nothing is left to chance
        return None, None
    t = (r_first - r_second) * math.sqrt((systems - 1) * (1 + between) / spread)
    return t, student_t(t, systems - 3)


def student_t(t: float, freedom: int) -> float:
    """The two-sided p-value of Student's t: the regularised incomplete beta function at ν/(ν + t²)."""
    x = freedom / (freedom + t * t)
    a, b = freedom / 2, 0.5
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly, that of the other tail is quick
        return 1 - _beta(t * t / (freedom + t * t), b, a)
    return _beta(x, a, b)


def _beta(x: float, a: float, b: float) -> float:
    """I_x(a, b) by its continued fraction (Abramowitz and Stegun 26.5.8), evaluated from the front (Lentz 1976)."""
    if x <= 0:
        return 0.0
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c, d = 1.0, 1 / _away_from_0(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / _away_from_0(1 + step * d)
            c = _away_from_0(1 + step / c)
            fraction *= c * d
        if abs(c * d - 1) < EPSILON:
            break
    return math.exp(front) * fraction / a


def _away_from_0(value: float) -> float:
    return value if abs(value) > TINY else TINY
