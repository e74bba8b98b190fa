"""Pearson, Spearman and Kendall between two columns of scores, with intervals for very few systems.

The coefficients of a sample depend only on how often each system is in it. So one formula over such multiplicities
gives the value itself (each system once) and all bootstrap samples at a time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from anaphora.core.errors import check_name
from anaphora.core.finite import no_overflow
from anaphora.stats.intervals import Floats, bootstrap_draws, generator, percentile_interval
from anaphora.stats.paired import holm
from anaphora.stats.resampling import Interval, Resampling

COEFFICIENTS = ("pearson", "spearman", "kendall")
INTERVALS = ("bootstrap", "fisher")


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationSettings(Resampling):
    """The settings of intervals of correlations."""

    interval: str = "bootstrap"  # or "fisher"

    def __post_init__(self) -> None:
        check_name("interval", self.interval, INTERVALS)
        Resampling.__post_init__(self)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation with its interval; None where it is not defined."""

    value: float | None
    interval: Interval | None
    undefined: int = 0  # bootstrap samples without a value, which the interval leaves out

    def to_dict(self) -> dict[str, Any]:
        interval = None if self.interval is None else list(self.interval)
        return {"value": self.value, "interval": interval, "undefined_samples": self.undefined}


@dataclass(frozen=True, slots=True)
class Correlation:
    """The three coefficients of a metric with the human score."""

    pearson: Coefficient
    spearman: Coefficient
    kendall: Coefficient

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name).to_dict() for name in COEFFICIENTS}


def correlation(first: Floats, second: Floats, settings: CorrelationSettings | None = None) -> Correlation:
    """The coefficients of two columns with their intervals.

    A bootstrap sample in which a column is constant has no correlation; it is left out, and counted.
    """
    settings = settings or CorrelationSettings()
    with no_overflow(f"the correlation of {len(first):,} systems", "Write the scores on another scale."):
        (values,) = coefficients(first, second, np.ones((1, len(first))))
        resampled = bootstrap_coefficients(first, second, settings) if settings.interval == "bootstrap" else None
    by_name = {}
    for k, (name, value) in enumerate(zip(COEFFICIENTS, values.tolist(), strict=True)):
        if math.isnan(value):
            by_name[name] = Coefficient(None, None, 0 if resampled is None else settings.samples)
        elif resampled is None:
            by_name[name] = Coefficient(value, fisher(name, value, len(first), settings.confidence))
        else:
            defined = resampled[~np.isnan(resampled[:, k]), k]
            interval = percentile_interval(defined, settings.confidence) if len(defined) else None
            by_name[name] = Coefficient(value, interval, settings.samples - len(defined))
    return Correlation(**by_name)


def coefficients(first: Floats, second: Floats, drawn: Floats) -> Floats:
    """Pearson's r, Spearman's ρ and Kendall's τ-b (APT §3.3) in each of many samples; nan where a column is constant.

    first, second: (n,), scores of the systems. drawn: (samples, n), how often each system is in each sample.
    Returns (samples, 3).
    A rank, up to a factor and a shift, is the number of systems below less those above, so that tied systems share
    a middle rank; the sum of these ranks over a sample is 0. τ-b weighs pairs of systems that are in order against
    pairs that are not, out of the pairs without a tie on either side (Kendall 1945).
    """
    order_first, order_second = (np.sign(scores[:, None] - scores) for scores in (first, second))
    untied = _pairs(drawn, np.abs(order_first)) * _pairs(drawn, np.abs(order_second))
    ranks_first, ranks_second = drawn @ order_first.T, drawn @ order_second.T
    values = np.full((len(drawn), 3), np.nan)
    some = untied > 0
    weights = drawn[some]
    values[some, 0] = _cosine(_centered(first, weights), _centered(second, weights), weights)
    values[some, 1] = _cosine(ranks_first[some], ranks_second[some], weights)
    values[some, 2] = _pairs(weights, order_first * order_second) / np.sqrt(untied[some])
    return np.asarray(np.clip(values, -1.0, 1.0))


def bootstrap_coefficients(first: Floats, second: Floats, settings: CorrelationSettings) -> Floats:
    """The coefficients of bootstrap samples: as many systems as there are, drawn with replacement. (samples, 3)."""
    values = np.empty((settings.samples, 3))
    once = np.ones(len(first), np.int64)
    for part, drawn in bootstrap_draws(once, settings.samples, generator(settings.seed)):
        values[part] = coefficients(first, second, drawn)
    return values


def fisher(name: str, value: float, systems: int, confidence: float = 0.95) -> Interval | None:
    """Fisher 1921 for Pearson; his transformation with the variances of Bonett and Wright 2000 for ρ and τ."""
    free = systems - (4 if name == "kendall" else 3)
    if free <= 0:
        return None
    if abs(value) == 1:  # at infinity on the transformed scale, whatever the spread
        return value, value
    spread = {"pearson": 1.0, "spearman": 1 + value * value / 2, "kendall": 0.437}[name]
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * math.sqrt(spread / free)
    center = math.atanh(value)
    return math.tanh(center - half), math.tanh(center + half)


def _pairs(drawn: Floats, values: Floats) -> Floats:
    """The sum of a value over the ordered pairs of what is drawn."""
    return np.asarray(((drawn @ values) * drawn).sum(axis=1))


def _centered(scores: Floats, weights: Floats) -> Floats:
    """Scores less their mean in each sample; scaled, so that their squares do not overflow."""
    scores = scores - scores.mean()
    scores = scores / (np.abs(scores).max() or 1.0)
    means = (weights @ scores) / weights.sum(axis=1)
    return np.asarray(scores - means[:, None])


def _cosine(first: Floats, second: Floats, weights: Floats) -> Floats:
    """nan where scores differ in their last digits at most."""
    norms = (weights * first * first).sum(axis=1) * (weights * second * second).sum(axis=1)
    products = (weights * first * second).sum(axis=1)
    return np.asarray(np.divide(products, np.sqrt(norms), out=np.full_like(products, np.nan), where=norms > 0))


# Does one metric correlate better with the human score than another one on the same systems? Williams' test.

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
        return asdict(self)


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
    Equal correlations give t = 0 and p = 1, whether or not the metrics are the same. Fewer than four systems are too
    few for the test.
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
    """The two-sided p-value of Student's t: the regularized incomplete beta function at ν/(ν + t²)."""
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
