"""Agreement between annotators: percent, Cohen's κ, Krippendorff's α, Gwet's AC1.

Ratings are an array (items, raters) of categories 0 … q−1, with −1 where a rater did not rate an item. Every
coefficient is a function of sums over items, so that a bootstrap over items needs the sums only, not the items again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anaphora.stats.intervals import Floats, Ints, bootstrap_draws, generator, percentile_interval
from anaphora.stats.resampling import Interval, Resampling

CHUNK = 4_000_000  # random numbers held at a time


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A function of sums over items.

    rows: ratings → (items, columns), what each item adds to the sums
    value: sums (samples, columns) → (samples,), NaN where it is not defined
    sums: ratings, how often each item counts → (columns,); for what has more columns than can be held for every item
    """

    rows: Callable[[Ints, int], Floats]
    value: Callable[[Floats, int], Floats]
    sums: Callable[[Ints, int, Floats], Floats] | None = None

    def of(self, ratings: Ints, categories: int) -> float | None:
        """The coefficient of these ratings; None where it is not defined."""
        value = float(self.value(self.sampled(ratings, categories, np.ones((1, len(ratings)))), categories)[0])
        return None if np.isnan(value) else value

    def sampled(self, ratings: Ints, categories: int, times: Floats) -> Floats:
        """The sums of samples: times (samples, items), how often each sample has an item → (samples, columns)."""
        raters = ratings.shape[1]
        if self.sums is None or len(ratings) * raters * raters * categories <= CHUNK:
            return np.asarray(times @ self.rows(ratings, categories))
        return np.stack([self.sums(ratings, categories, one) for one in times])


def counts_of(ratings: Ints, categories: int) -> Floats:
    """(items, categories): how many raters put the item into the category."""
    return np.stack([(ratings == k).sum(axis=1) for k in range(categories)], axis=1).astype(float)


def _observed(counts: Floats) -> tuple[Floats, Floats]:
    """For each item, the share of rater pairs that agree (0 where it has no pair), and whether it has a pair."""
    raters = counts.sum(axis=1)
    paired = raters >= 2
    pairs = np.where(paired, raters * (raters - 1), 1)
    return np.where(paired, (counts * (counts - 1)).sum(axis=1) / pairs, 0.0), paired.astype(float)


def _divide(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 1e-12)


def _ac1_rows(ratings: Ints, categories: int) -> Floats:
    counts = counts_of(ratings, categories)
    agreement, paired = _observed(counts)
    raters = counts.sum(axis=1)
    rated = raters > 0
    shares = counts / np.where(rated, raters, 1)[:, None]
    return np.column_stack([agreement, paired, rated.astype(float), shares])


def _ac1(sums: Floats, categories: int) -> Floats:
    """Gwet 2008 (for q = 2), 2014 ch. 2 for several raters and missing ratings: (Pa − Pe) / (1 − Pe).

    Pe = Σ π (1 − π) / (q − 1) over the q categories that could be chosen, where π is the mean over items of the share
    of raters who chose the category. Unlike κ it does not fall where nearly all ratings are of one category.
    """
    observed = _divide(sums[:, 0], sums[:, 1])
    prevalence = sums[:, 3:] / np.where(sums[:, 2] > 0, sums[:, 2], np.nan)[:, None]
    expected = (prevalence * (1 - prevalence)).sum(axis=1) / (categories - 1)
    return np.asarray((observed - expected) / (1 - expected))


def _alpha_rows(ratings: Ints, categories: int) -> Floats:
    counts = counts_of(ratings, categories)
    raters = counts.sum(axis=1)
    counts = np.where((raters >= 2)[:, None], counts, 0.0)  # a value that pairs with nothing says nothing
    disagreement = (counts * (raters[:, None] - counts)).sum(axis=1) / np.maximum(raters - 1, 1)
    return np.column_stack([disagreement, counts])


def _alpha(sums: Floats, categories: int) -> Floats:
    """Krippendorff 2011, nominal data: 1 − observed / expected disagreement; undefined where one category is all."""
    totals = sums[:, 1:]
    n = totals.sum(axis=1)
    expected = (totals * (n[:, None] - totals)).sum(axis=1)
    return 1 - _divide((n - 1) * sums[:, 0], expected)


def _kappa_rows(ratings: Ints, categories: int) -> Floats:
    """For each pair of raters with an item in common: how many, how many alike, and both raters' categories."""
    first, second = np.triu_indices(ratings.shape[1], k=1)
    rated = (ratings >= 0).astype(float)
    common = (rated.T @ rated)[first, second] > 0
    one, other = ratings[:, first[common]], ratings[:, second[common]]
    both = (one >= 0) & (other >= 0)
    columns = [both, both & (one == other)]
    columns += [both & (side == k) for side in (one, other) for k in range(categories)]
    return np.stack(columns, axis=2).astype(float).reshape(len(ratings), both.shape[1] * len(columns))


def _kappa_sums(ratings: Ints, categories: int, times: Floats) -> Floats:
    """The sums of `_kappa_rows` without the rows: 200 raters are 19,900 pairs."""
    first, second = np.triu_indices(ratings.shape[1], k=1)
    rated = (ratings >= 0).astype(float)
    common = (rated.T @ rated)[first, second] > 0
    first, second = first[common], second[common]
    counted = rated * times[:, None]
    chosen = [(ratings == k).astype(float) for k in range(categories)]
    alike = sum((one.T @ (one * times[:, None]) for one in chosen), np.zeros((ratings.shape[1],) * 2))
    with_other = [one.T @ counted for one in chosen]  # [a, b]: how often a chose it where b rated, too
    columns = [(rated.T @ counted)[first, second], alike[first, second]]
    columns += [table[first, second] for table in with_other] + [table[second, first] for table in with_other]
    return np.stack(columns, axis=1).reshape(-1)


def _kappa(sums: Floats, categories: int) -> Floats:
    """Cohen 1960; for several raters the mean over their pairs (Light 1971), weighted by the items they share.

    Pairs in which both raters use one and the same category only have no κ and are left out.
    """
    width = 2 + 2 * categories
    pairs = sums.reshape(len(sums), sums.shape[1] // width, width)
    both, alike = pairs[..., 0], pairs[..., 1]
    first, second = pairs[..., 2 : 2 + categories], pairs[..., 2 + categories :]
    chance = (first * second).sum(axis=-1)  # times both²
    kappas = _divide(alike * both - chance, both**2 - chance)
    weights = np.where(np.isnan(kappas), 0.0, both)
    return _divide((np.nan_to_num(kappas) * weights).sum(axis=1), weights.sum(axis=1))


COEFFICIENTS = {
    # the mean over items of the share of pairs of raters that agree
    "percent": Coefficient(
        lambda ratings, categories: np.stack(_observed(counts_of(ratings, categories)), axis=1),
        lambda sums, categories: _divide(sums[:, 0], sums[:, 1]),
    ),
    "kappa": Coefficient(_kappa_rows, _kappa, _kappa_sums),
    "alpha": Coefficient(_alpha_rows, _alpha),
    "ac1": Coefficient(_ac1_rows, _ac1),
}


def gwet_ac1(ratings: Ints, categories: int) -> float | None:
    """Gwet's AC1 of ratings (items, raters); None where no item has two ratings."""
    return COEFFICIENTS["ac1"].of(ratings, categories)


def bootstrap_intervals(
    ratings: Ints, categories: int, resampling: Resampling | None = None
) -> dict[str, Interval | None]:
    """Percentile intervals of all coefficients: items are drawn with replacement, the same ones for each coefficient.

    Samples in which a coefficient is not defined are left out of its interval.
    """
    resampling = resampling or Resampling()
    if not len(ratings):
        return dict.fromkeys(COEFFICIENTS)
    values: dict[str, list[Floats]] = {name: [] for name in COEFFICIENTS}
    once = np.ones(len(ratings), np.int64)
    for _, times in bootstrap_draws(once, resampling.samples, generator(resampling.seed), CHUNK):
        for name, coefficient in COEFFICIENTS.items():
            values[name].append(coefficient.value(coefficient.sampled(ratings, categories, times), categories))
    sampled = {name: np.concatenate(parts) for name, parts in values.items()}
    defined = {name: drawn[~np.isnan(drawn)] for name, drawn in sampled.items()}
    return {
        name: percentile_interval(part, resampling.confidence) if len(part) else None for name, part in defined.items()
    }
