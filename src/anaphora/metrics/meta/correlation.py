"""Pearson, Spearman and Kendall between two columns of scores, with intervals for very few systems.

The coefficients of a sample depend only on how often each system is in it. So one formula over such multiplicities
gives the value itself (each system once) and all bootstrap samples at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import no_overflow
from anaphora.evaluation.intervals import CHUNK, Floats, Interval, generator, percentile_interval

COEFFICIENTS = ("pearson", "spearman", "kendall")
INTERVALS = ("bootstrap", "fisher")


@dataclass(frozen=True, slots=True)
class Settings:
    """How intervals are made."""

    interval: str = "bootstrap"  # or "fisher"
    confidence: float = 0.95
    samples: int = 10_000
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.interval not in INTERVALS:
            raise AnaphoraError(f"unknown interval {self.interval!r}. Known: {', '.join(INTERVALS)}")
        if not 0 < self.confidence < 1 or self.samples < 1:
            raise AnaphoraError("confidence is a number between 0 and 1, samples a number from 1")


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


def correlation(first: Floats, second: Floats, settings: Settings | None = None) -> Correlation:
    """The coefficients of two columns with their intervals.

    A bootstrap sample in which a column is constant has no correlation; it is left out, and counted.
    """
    settings = settings or Settings()
    with no_overflow(f"the correlation of {len(first):,} systems", "Write the scores on another scale."):
        (values,) = coefficients(first, second, np.ones((1, len(first))))
        resampled = bootstrap_coefficients(first, second, settings) if settings.interval == "bootstrap" else None
    found = {}
    for k, (name, value) in enumerate(zip(COEFFICIENTS, values.tolist(), strict=True)):
        if math.isnan(value):
            found[name] = Coefficient(None, None, 0 if resampled is None else settings.samples)
        elif resampled is None:
            found[name] = Coefficient(value, fisher(name, value, len(first), settings.confidence))
        else:
            defined = resampled[~np.isnan(resampled[:, k]), k]
            interval = percentile_interval(defined, settings.confidence) if len(defined) else None
            found[name] = Coefficient(value, interval, settings.samples - len(defined))
    return Correlation(**found)


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
    found = np.full((len(drawn), 3), np.nan)
    some = untied > 0
    weights = drawn[some]
    found[some, 0] = _cosine(_centred(first, weights), _centred(second, weights), weights)
    found[some, 1] = _cosine(ranks_first[some], ranks_second[some], weights)
    found[some, 2] = _pairs(weights, order_first * order_second) / np.sqrt(untied[some])
    return np.asarray(np.clip(found, -1.0, 1.0))


def bootstrap_coefficients(first: Floats, second: Floats, settings: Settings) -> Floats:
    """The coefficients of bootstrap samples: as many systems as there are, drawn with replacement. (samples, 3)."""
    n = len(first)
    rng = generator(settings.seed)
    found = np.empty((settings.samples, 3))
    step = max(1, CHUNK // n)
    for start in range(0, settings.samples, step):
        part = found[start : start + step]
        drawn = rng.multinomial(n, np.full(n, 1 / n), size=len(part)).astype(np.float64)
        part[:] = coefficients(first, second, drawn)
    return found


def fisher(name: str, value: float, systems: int, confidence: float = 0.95) -> Interval | None:
    """Fisher 1921 for Pearson; his transformation with the variances of Bonett and Wright 2000 for ρ and τ."""
    free = systems - (4 if name == "kendall" else 3)
    if free <= 0:
        return None
    if abs(value) == 1:  # at infinity on the transformed scale, whatever the spread
        return value, value
    spread = {"pearson": 1.0, "spearman": 1 + value * value / 2, "kendall": 0.437}[name]
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * math.sqrt(spread / free)
    centre = math.atanh(value)
    return math.tanh(centre - half), math.tanh(centre + half)


def _pairs(drawn: Floats, values: Floats) -> Floats:
    """The sum of a value over the ordered pairs of what is drawn."""
    return np.asarray(((drawn @ values) * drawn).sum(axis=1))


def _centred(scores: Floats, weights: Floats) -> Floats:
    """Scores less their mean in each sample; scaled, so that squares of any scores are in reach."""
    scores = scores - scores.mean()
    scores = scores / (np.abs(scores).max() or 1.0)
    means = (weights @ scores) / weights.sum(axis=1)
    return np.asarray(scores - means[:, None])


def _cosine(first: Floats, second: Floats, weights: Floats) -> Floats:
    """nan where scores are the same but for their last digits."""
    norms = (weights * first * first).sum(axis=1) * (weights * second * second).sum(axis=1)
    products = (weights * first * second).sum(axis=1)
    return np.asarray(np.divide(products, np.sqrt(norms), out=np.full_like(products, np.nan), where=norms > 0))
