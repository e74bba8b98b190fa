"""Intervals say how sure a figure is: they are Wilson's or the bootstrap's, and hold the truth as often as promised."""

from __future__ import annotations

import random
from statistics import mean, quantiles, variance

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from anaphora.core.finite import NotFinite
from anaphora.stats import intervals
from anaphora.stats.intervals import bootstrap, generator, percentile_interval, resampled_sums, wilson

FIXED = settings(derandomize=True)
COUNTS = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CONFIDENCES = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])


@pytest.mark.parametrize(
    ("correct", "total", "low", "high"),
    # Newcombe 1998, "Two-sided confidence intervals for the single proportion", Table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_published_examples(correct: int, total: int, low: float, high: float) -> None:
    assert wilson(correct, total) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("total", [1, 2, 7, 50, 1_000, 12_000])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_wilson_is_the_interval_of_statsmodels(total: int, confidence: float) -> None:
    for correct in sorted({0, 1, total // 3, total // 2, total - 1, total}):
        expected = proportion_confint(correct, total, alpha=1 - confidence, method="wilson")
        assert wilson(correct, total, confidence) == pytest.approx(expected, abs=1e-12)


@FIXED
@given(COUNTS, CONFIDENCES)
def test_wilson_holds_the_share_and_stays_between_0_and_1(counts: tuple[int, int], confidence: float) -> None:
    correct, total = counts
    low, high = wilson(correct, total, confidence)
    assert 0 <= low <= correct / total <= high <= 1
    assert low < high


@FIXED
@given(COUNTS, CONFIDENCES)
def test_wilson_is_symmetric_under_right_and_wrong(counts: tuple[int, int], confidence: float) -> None:
    correct, total = counts
    low, high = wilson(correct, total, confidence)
    assert wilson(total - correct, total, confidence) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@FIXED
@given(COUNTS, st.integers(2, 50))
def test_wilson_narrows_with_more_items_of_the_same_share(counts: tuple[int, int], times: int) -> None:
    correct, total = counts
    (low, high), (many_low, many_high) = wilson(correct, total), wilson(correct * times, total * times)
    assert many_high - many_low < high - low


def test_wilson_is_exact_at_the_ends() -> None:
    assert wilson(0, 12_000)[0] == 0.0
    assert wilson(12_000, 12_000)[1] == 1.0
    assert wilson(0, 0) == (0.0, 1.0)


def test_wilson_covers_the_truth_as_often_as_it_says() -> None:
    """Exactly, not by simulation: every outcome of 50 items, weighted by its probability, for many true shares."""
    outcomes = np.array([wilson(k, 50) for k in range(51)])
    covered = []
    for truth in np.linspace(0.05, 0.95, 181):
        holds = (outcomes[:, 0] <= truth) & (truth <= outcomes[:, 1])
        covered.append(binom.pmf(np.arange(51), 50, truth)[holds].sum())
    assert mean(covered) == pytest.approx(0.95, abs=0.01)
    assert min(covered) > 0.91


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_percentile_interval_cuts_both_tails_evenly(confidence: float) -> None:
    values = np.arange(10_001) / 10_000
    low, high = percentile_interval(values, confidence)
    assert low == pytest.approx((1 - confidence) / 2, abs=1e-4)
    assert high == pytest.approx((1 + confidence) / 2, abs=1e-4)


ROWS = np.array([[0.0, 1.0], [1.0, 1.0], [2.5, 3.0], [-1.25, 2.0]])  # (sum, size) of four kinds of units
MANY = np.array([9, 14, 5, 2])
SAMPLES = 6_000


def naive(rows: np.ndarray, counts: np.ndarray, samples: int, seed: int) -> list[list[float]]:
    """The bootstrap as it is defined, in plain Python."""
    rng = random.Random(seed)
    units = [tuple(row) for row, n in zip(rows.tolist(), counts.tolist(), strict=True) for _ in range(n)]
    return [[sum(column) for column in zip(*rng.choices(units, k=len(units)), strict=True)] for _ in range(samples)]


@pytest.fixture(params=["multiplicities", "indices"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of drawing, for the same data."""
    if request.param == "indices":
        monkeypatch.setattr(intervals, "MAX_DISTINCT", 0)
    return str(request.param)


@pytest.mark.usefixtures("path")
def test_resampled_sums_have_the_distribution_of_the_plain_bootstrap() -> None:
    """Means, variances and quantiles agree within four standard errors of two Monte-Carlo samples of this size."""
    ours = resampled_sums(ROWS, MANY, SAMPLES, generator(1))
    theirs = naive(ROWS, MANY, SAMPLES, seed=2)
    assert ours.shape == (SAMPLES, 2)
    for column in (0, 1):
        one, other = ours[:, column].tolist(), [row[column] for row in theirs]
        spread = variance(other)
        error = (2 * spread / SAMPLES) ** 0.5
        assert abs(mean(one) - mean(other)) < 4 * error
        assert variance(one) == pytest.approx(spread, rel=4 * (4 / SAMPLES) ** 0.5)
        for cut in quantiles(other, n=20):  # the share below a quantile, as sums come in steps
            below, expected = (sum(value <= cut for value in values) / SAMPLES for values in (one, other))
            assert below == pytest.approx(expected, abs=4 * (2 * expected * (1 - expected) / SAMPLES) ** 0.5)


@pytest.mark.usefixtures("path")
def test_resampled_sums_have_the_expected_mean_and_variance() -> None:
    """A sum of n independent draws has n times the mean and n times the variance of one."""
    sums = resampled_sums(ROWS, MANY, 20_000, generator(3))
    units = np.repeat(ROWS, MANY, axis=0)
    for column in (0, 1):
        spread = len(units) * units[:, column].var()
        assert sums[:, column].mean() == pytest.approx(units[:, column].sum(), abs=4 * (spread / 20_000) ** 0.5)
        assert sums[:, column].var() == pytest.approx(spread, rel=4 * (2 / 20_000) ** 0.5)
    together = np.cov(sums.T)[0, 1]
    assert together == pytest.approx(len(units) * np.cov(units.T, bias=True)[0, 1], rel=0.1)


class Recorder:
    """A generator that remembers how it was asked."""

    def __init__(self) -> None:
        self.rng, self.asked = generator(5), set()

    def __getattr__(self, name: str) -> object:
        self.asked.add(name)
        return getattr(self.rng, name)


@pytest.mark.parametrize(("distinct", "asked"), [(512, {"multinomial"}), (513, {"integers"})])
def test_indices_are_drawn_only_where_there_are_many_different_units(distinct: int, asked: set[str]) -> None:
    rng = Recorder()
    rows = np.column_stack([np.arange(distinct, dtype=float), np.ones(distinct)])
    sums = resampled_sums(rows, np.ones(distinct, dtype=int), 50, rng)  # type: ignore[arg-type]
    assert rng.asked == asked
    assert set(sums[:, 1]) == {float(distinct)}  # as many are drawn as there are


@pytest.mark.usefixtures("path")
def test_draws_do_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = resampled_sums(ROWS, MANY, 500, generator(5))
    monkeypatch.setattr(intervals, "CHUNK", 77)
    assert np.array_equal(resampled_sums(ROWS, MANY, 500, generator(5)), whole)


def interval_of(outcomes: np.ndarray, samples: int, seed: int) -> tuple[float, float]:
    """The bootstrap interval of single items."""
    right = int(outcomes.sum())
    counts = np.array([len(outcomes) - right, right])
    return percentile_interval(bootstrap(np.array([[0.0, 1.0], [1.0, 1.0]]), counts, samples, generator(seed)))


def cluster_interval_of(outcomes: np.ndarray, samples: int, seed: int) -> tuple[float, float]:
    """The bootstrap interval where the rows of the outcomes are documents."""
    rows = np.column_stack([outcomes.sum(axis=1), np.full(len(outcomes), outcomes.shape[1])]).astype(float)
    return percentile_interval(bootstrap(rows, np.ones(len(rows), dtype=int), samples, generator(seed)))


def test_the_bootstrap_covers_the_truth_as_often_as_it_says() -> None:
    """600 samples of 200 items: 95 % within three standard errors (0.009 each)."""
    rng = generator(11)
    held = 0
    for trial in range(600):
        low, high = interval_of(rng.random(200) < 0.4, 1_000, seed=trial)
        held += low <= 0.4 <= high
    assert held / 600 == pytest.approx(0.95, abs=0.027)


def test_resampling_documents_covers_the_truth_where_resampling_items_does_not() -> None:
    """Items of a document go right or wrong together: half of the documents are easy (0.9), half hard (0.3)."""
    rng = generator(12)
    documents = items = 0
    for trial in range(400):
        easy = np.where(rng.random(60) < 0.5, 0.9, 0.3)
        outcomes = rng.random((60, 10)) < easy[:, None]
        low, high = cluster_interval_of(outcomes, 600, seed=trial)
        documents += low <= 0.6 <= high
        low, high = interval_of(outcomes.ravel(), 600, seed=trial)
        items += low <= 0.6 <= high
    assert documents / 400 == pytest.approx(0.95, abs=0.035)
    assert items / 400 < 0.85


def test_resampling_documents_widens_the_interval_only_where_items_go_together() -> None:
    """Ten items that always agree are worth one: the interval is √10 times as wide."""
    rng = generator(13)

    def ratio(outcomes: np.ndarray) -> float:
        (low, high), (item_low, item_high) = (
            cluster_interval_of(outcomes, 4_000, 1),
            interval_of(outcomes.ravel(), 4_000, 1),
        )
        return (high - low) / (item_high - item_low)

    together = np.repeat(rng.random((100, 1)) < 0.5, 10, axis=1)
    alone = rng.random((100, 10)) < 0.5
    assert ratio(together) == pytest.approx(10**0.5, rel=0.1)
    assert ratio(alone) == pytest.approx(1, rel=0.25)


def test_a_seed_gives_the_same_numbers_everywhere() -> None:
    """The first number of PCG64 for this seed, as numpy documents it (default_rng(12345))."""
    assert generator(12345).random() == 0.22733602246716966


@pytest.mark.parametrize("values", [[0.5, np.nan], [np.inf], []])
def test_no_interval_of_what_is_not_finite(values: list[float]) -> None:
    with pytest.raises(NotFinite, match=r"^resampled values: "):
        percentile_interval(np.array(values))
