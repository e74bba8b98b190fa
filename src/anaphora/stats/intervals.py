"""Confidence intervals of a proportion, by formula and by resampling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from anaphora.core.finite import NotFinite, all_finite
from anaphora.stats.resampling import Interval

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Up to this many different units the resampled totals are drawn by their multiplicities (see `resampled_sums`).
MAX_DISTINCT = 512
CHUNK = 400_000  # random numbers held at a time: few enough to stay in a processor's cache


def wilson(correct: float, total: int, confidence: float = 0.95) -> Interval:
    """Wilson 1927: the score interval for a share; sound near 0 and 1 and for small samples."""
    if total == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, spread = correct / total, z * z / total
    center = share + spread / 2
    half = z * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    low, high = (center - half) / (1 + spread), (center + half) / (1 + spread)
    return (0.0 if correct == 0 else low), (1.0 if correct == total else high)  # exact at the ends


def newcombe(one: tuple[int, int], other: tuple[int, int], confidence: float) -> Interval:
    """Newcombe 1998, method 10: the difference of two shares (correct, total) of different items, from Wilson's."""
    (l1, u1), (l2, u2) = wilson(*one, confidence), wilson(*other, confidence)
    p1, p2 = one[0] / one[1], other[0] / other[1]
    return p1 - p2 - math.hypot(p1 - l1, u2 - p2), p1 - p2 + math.hypot(u1 - p1, p2 - l2)


def percentile_interval(values: Floats, confidence: float = 0.95) -> Interval:
    """The middle part of resampled values that holds the confidence."""
    if not len(values):
        raise NotFinite("resampled values: there are none for an interval. Draw more samples (--samples)")
    all_finite(values, "resampled values")
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def resampled_sums(rows: Floats, counts: Ints, samples: int, rng: np.random.Generator) -> Floats:
    """Totals of bootstrap samples: draw as many units as there are, with replacement, and add up their rows.

    rows: (k, columns), the different units; counts: (k,), how many units are like each row.
    Returns (samples, columns). Units with equal rows cannot be told apart in a total, so that it is enough to draw
    how often each row occurs, which is a multinomial draw: for outcomes right/wrong two numbers per sample instead
    of 12,000. This is the distribution of the plain bootstrap itself, not an approximation. Where nearly every unit
    differs, indices are drawn in chunks.
    """
    units = int(counts.sum())
    sums = np.empty((samples, rows.shape[1]))
    if len(rows) <= MAX_DISTINCT:
        for part, times in bootstrap_draws(counts, samples, rng):
            sums[part] = times @ rows
        return sums
    columns = list(np.repeat(rows, counts, axis=0).T.copy())
    step = max(1, CHUNK // units)
    for start in range(0, samples, step):
        rest = sums[start : start + step]
        picks = rng.integers(0, units, size=(len(rest), units), dtype=np.int32)
        for k, column in enumerate(columns):
            rest[:, k] = column.take(picks).sum(axis=1)
    return sums


def bootstrap_draws(
    counts: Ints, samples: int, rng: np.random.Generator, at_once: int | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Yield which samples are drawn, and (samples, k), how often each of them has each of k different units.

    counts: (k,), how many units of each kind there are; at_once: random numbers held at a time
    """
    units = int(counts.sum())
    step = max(1, (at_once or CHUNK) // len(counts))
    for start in range(0, samples, step):
        part = slice(start, min(start + step, samples))
        yield part, rng.multinomial(units, counts / units, size=part.stop - start).astype(float)


def bootstrap(rows: Floats, counts: Ints, samples: int, rng: np.random.Generator) -> Floats:
    """Bootstrap values of a share or mean: units with a sum and a size (rows), resampled whole.

    rows: (k, 2), the sum and the number of items of a unit. An item is a unit of size 1; a document or a block is
    a unit of all its items, which keeps intervals honest where items of one document go right or wrong together.
    """
    sums = resampled_sums(rows, counts, samples, rng)
    return np.asarray(sums[:, 0] / sums[:, 1])


def bootstrap_mean(values: Floats, samples: int, seed: int) -> Floats:
    """Bootstrap values of the mean of single items."""
    rows = np.stack([values, np.ones_like(values)], axis=1)
    return bootstrap(rows, np.ones(len(rows), np.int64), samples, generator(seed))


def generator(seed: int) -> np.random.Generator:
    """The one source of randomness: the same seed, the same figures, on every machine."""
    return np.random.Generator(np.random.PCG64(seed))
