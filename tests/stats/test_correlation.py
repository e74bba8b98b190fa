"""Correlations: SciPy's on any columns, in any bootstrap sample, with intervals that say what they should."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import NotFinite
from anaphora.stats import intervals
from anaphora.stats.correlation import (
    COEFFICIENTS,
    CorrelationSettings,
    all_pairs,
    bootstrap_coefficients,
    coefficients,
    correlation,
    fisher,
    pearson,
    student_t,
    williams,
)
from anaphora.stats.intervals import generator

FIXED = settings(derandomize=True)
# few different values, so that ties are common; some of them far apart
VALUES = st.one_of(st.integers(-3, 3), st.sampled_from([1e-6, 0.1, 0.25, 1e6])).map(float)
COLUMNS = st.integers(3, 9).flatmap(
    lambda n: st.tuples(*[st.lists(VALUES, min_size=n, max_size=n).map(np.array) for _ in range(2)])
)
LINE = np.arange(7.0)


def of_scipy(x: np.ndarray, y: np.ndarray) -> list[float]:
    if len(set(x)) == 1 or len(set(y)) == 1:
        return [math.nan] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy warns of columns that are nearly constant
        return [float(test(x, y).statistic) for test in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]


def values(x: np.ndarray, y: np.ndarray) -> list[float]:
    return list(coefficients(x, y, np.ones((1, len(x))))[0])


@FIXED
@given(COLUMNS)
def test_the_coefficients_are_those_of_scipy(columns: tuple[np.ndarray, np.ndarray]) -> None:
    assert values(*columns) == pytest.approx(of_scipy(*columns), abs=1e-9, nan_ok=True)


@FIXED
@given(COLUMNS, st.integers(0, 2**32))
def test_a_bootstrap_sample_has_the_coefficients_of_its_draw(columns: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    x, y = columns
    drawn = generator(seed).multinomial(len(x), np.full(len(x), 1 / len(x)), size=4)
    actual = coefficients(x, y, drawn.astype(float))
    for row, times in zip(actual, drawn, strict=True):
        assert list(row) == pytest.approx(of_scipy(np.repeat(x, times), np.repeat(y, times)), abs=1e-9, nan_ok=True)


def test_worked_by_hand() -> None:
    """Ranks 1 2 3 4 against 1 3.5 2 3.5: of six pairs one is tied, four are in order, one is not."""
    r, rho, tau = values(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 9.0, 1.0, 9.0]))
    assert r == pytest.approx(9.5 / math.sqrt(5 * 72.75))  # sums of products and squares about 2.5 and 4.75
    assert rho == pytest.approx(3.0 / math.sqrt(5 * 4.5))
    assert tau == pytest.approx((4 - 1) / math.sqrt(6 * 5))


@pytest.mark.parametrize(
    ("ranks", "expected"),
    # Table 3 of APT has six systems, and values that only rank differences with these sums of squares give
    [([1, 2, 3, 4, 6, 5], 0.943), ([3, 2, 1, 5, 4, 6], 0.714), ([1, 2, 3, 4, 5, 6], 1.0)],
)
def test_spearman_of_six_systems(ranks: list[int], expected: float) -> None:
    squares = sum((a - b) ** 2 for a, b in zip(ranks, range(1, 7), strict=True))
    assert expected == pytest.approx(1 - 6 * squares / 210, abs=5e-4)
    assert values(np.arange(1.0, 7.0), np.array(ranks, float))[1] == pytest.approx(expected, abs=5e-4)


def test_perfect_orders_are_exactly_one() -> None:
    assert values(LINE, np.exp(LINE))[1:] == [1.0, 1.0]
    assert values(LINE, -(LINE**3))[1:] == [-1.0, -1.0]
    assert values(LINE, 3 * LINE - 8)[0] == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_the_unit_of_a_metric_does_not_matter(scale: float) -> None:
    other = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0])
    assert values(LINE * scale, other) == pytest.approx(values(LINE, other), abs=1e-12)
    assert values(LINE + 1e6, other) == pytest.approx(values(LINE, other), abs=1e-9)


def test_the_bootstrap_is_the_plain_one() -> None:
    """Quantiles agree with systems drawn one by one and SciPy's coefficients, within Monte-Carlo error."""
    y = np.array([0.3, 0.1, 2.0, 2.2, 1.9, 7.0, 5.0])
    ours = bootstrap_coefficients(LINE, y, CorrelationSettings(samples=4_000))
    rng = np.random.default_rng(9)
    theirs = np.array([of_scipy(LINE[p], y[p]) for p in (rng.integers(0, 7, 7) for _ in range(800))])
    for k in range(3):
        for cut in np.nanquantile(theirs[:, k], [0.05, 0.25, 0.5, 0.75, 0.95]):
            below, expected = (ours[:, k] <= cut).mean(), (theirs[:, k] <= cut).mean()
            assert below == pytest.approx(expected, abs=4 * (0.25 / 800 + 0.25 / 4_000) ** 0.5)


def test_the_interval_is_the_middle_of_the_bootstrap() -> None:
    y = np.array([0.3, 0.1, 2.0, 2.2, 1.9, 7.0, 5.0])
    how = CorrelationSettings(samples=2_000, confidence=0.8, seed=3)
    resampled = bootstrap_coefficients(LINE, y, how)
    actual = correlation(LINE, y, how)
    for k, name in enumerate(COEFFICIENTS):
        coefficient = getattr(actual, name)
        defined = resampled[~np.isnan(resampled[:, k]), k]
        assert coefficient.interval == pytest.approx(np.quantile(defined, [0.1, 0.9]))
        assert coefficient.undefined == 2_000 - len(defined)
    assert correlation(LINE, y, how) == actual, "the same seed, the same figures"
    assert correlation(LINE, y, CorrelationSettings(samples=2_000, confidence=0.8, seed=4)) != actual


def test_samples_without_a_correlation_are_left_out_and_counted() -> None:
    """Three systems: in one of nine samples all three are the same."""
    actual = correlation(
        np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]), CorrelationSettings(samples=9_000)
    ).pearson
    assert actual.undefined == pytest.approx(1_000, abs=4 * math.sqrt(9_000 * 8 / 81))
    assert actual.interval is not None
    assert not any(map(math.isnan, actual.interval))


@pytest.mark.parametrize("interval", ["bootstrap", "fisher"])
def test_a_constant_metric_has_no_correlation(interval: str) -> None:
    document = correlation(LINE, np.full(7, 0.3), CorrelationSettings(interval=interval, samples=200)).to_dict()
    for name in COEFFICIENTS:
        assert document[name]["value"] is None
        assert document[name]["interval"] is None


@FIXED
@given(COLUMNS)
def test_no_figure_is_out_of_range(columns: tuple[np.ndarray, np.ndarray]) -> None:
    for interval in ("bootstrap", "fisher"):
        actual = correlation(*columns, CorrelationSettings(interval=interval, samples=100))
        for coefficient in (actual.pearson, actual.spearman, actual.kendall):
            if coefficient.value is not None:
                assert -1 <= coefficient.value <= 1
            if coefficient.interval is not None:
                low, high = coefficient.interval
                assert -1 <= low <= high <= 1


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_fisher_for_pearson_is_that_of_scipy(confidence: float) -> None:
    y = np.array([0.3, 0.1, 2.0, 2.2, 1.9, 7.0, 5.0])
    expected = stats.pearsonr(LINE, y).confidence_interval(confidence)
    actual = correlation(LINE, y, CorrelationSettings(interval="fisher", confidence=confidence)).pearson
    assert actual.interval == pytest.approx(tuple(expected), abs=1e-12)


def test_fisher_for_ranks_by_hand() -> None:
    """Bonett and Wright 2000, with ρ = 0.6 and τ = 0.5 of 12 systems and z = 1.959964."""
    half = 1.959964 * math.sqrt((1 + 0.36 / 2) / 9)
    assert fisher("spearman", 0.6, 12) == pytest.approx([math.tanh(math.atanh(0.6) + s * half) for s in (-1, 1)])
    half = 1.959964 * math.sqrt(0.437 / 8)
    assert fisher("kendall", 0.5, 12) == pytest.approx([math.tanh(math.atanh(0.5) + s * half) for s in (-1, 1)])


def test_fisher_has_no_interval_for_very_few_systems() -> None:
    assert fisher("pearson", 0.5, 3) is None
    assert fisher("kendall", 0.5, 4) is None
    assert fisher("pearson", 0.5, 4) is not None
    assert fisher("spearman", -1.0, 7) == (-1.0, -1.0)


def test_fisher_covers_with_seven_systems_and_the_bootstrap_nearly() -> None:
    """600 times seven normal pairs with a correlation of 0.9: Fisher's holds it 95 %, the bootstrap's about 90 %."""
    rng = generator(1)
    held = {"fisher": 0, "bootstrap": 0}
    for trial in range(600):
        x, noise = rng.normal(size=(2, 7))
        for interval in held:
            actual = correlation(
                x, 0.9 * x + math.sqrt(0.19) * noise, CorrelationSettings(interval=interval, samples=400, seed=trial)
            )
            assert actual.pearson.interval is not None
            low, high = actual.pearson.interval
            held[interval] += low <= 0.9 <= high
    assert held["fisher"] / 600 == pytest.approx(0.95, abs=0.027)
    assert held["bootstrap"] / 600 == pytest.approx(0.9, abs=0.037)


def test_draws_do_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    how = CorrelationSettings(samples=300)
    whole = bootstrap_coefficients(LINE, LINE**2, how)
    monkeypatch.setattr(intervals, "CHUNK", 50)
    assert np.array_equal(bootstrap_coefficients(LINE, LINE**2, how), whole, equal_nan=True)


@pytest.mark.parametrize("wrong", [{"interval": "wald"}, {"confidence": 1.0}, {"samples": 0}])
def test_settings_that_make_no_sense(wrong: dict[str, object]) -> None:
    with pytest.raises(AnaphoraError):
        CorrelationSettings(**wrong)  # type: ignore[arg-type]


def test_columns_that_differ_by_rounding_only_have_no_pearson() -> None:
    first = np.array([1.0, 1.0 + 2**-52, 1e16, 1.0])
    drawn = np.array([[2.0, 2.0, 0.0, 0.0]])  # the two that differ, far below what is left of them next to 1e16
    actual = coefficients(first, np.array([1.0, 2.0, 3.0, 4.0]), drawn)[0]
    assert math.isnan(actual[0])
    assert list(actual[1:]) == [1.0, 1.0]


def test_scores_too_large_to_be_added_are_an_error() -> None:
    with pytest.raises(NotFinite, match=r"^the correlation of 4 systems: overflow"):
        correlation(np.array([1e308, -1e308, 1.5e308, 1.7e308]), np.arange(4.0))


# Williams' test: the t of R's cocor, Student's p of SciPy, and the promised rate of false alarms.


@pytest.mark.parametrize(
    ("r_first", "r_second", "between", "n", "t"),
    # printed by the R package cocor (Diedenhofen and Musch 2015), from correlations that it printed with 4 digits
    [
        (0.5447, 0.8, 0.0729, 70, -2.8114),
        (-0.1741, 0.2015, 0.3734, 646, -9.0340),
        (0.8066, 0.2383, 0.2255, 177, 9.3823),
        (0.7245, 0.7108, 0.8972, 15_549, 5.5544),
    ],
)
def test_the_examples_of_another_program(r_first: float, r_second: float, between: float, n: int, t: float) -> None:
    error = 1.5e-4 * abs(t / (r_first - r_second))  # what the fifth digit of the correlations can do
    actual, p = williams(r_first, r_second, between, n)
    assert actual == pytest.approx(t, abs=error)
    assert p == pytest.approx(2 * stats.t.sf(abs(t), n - 3), rel=0.1)


def test_the_p_value_of_another_program() -> None:
    assert williams(0.5447, 0.8, 0.0729, 70)[1] == pytest.approx(0.0065, abs=5e-5)


@FIXED
@given(st.floats(-60, 60), st.integers(1, 2_000))
def test_student_is_that_of_scipy(t: float, freedom: int) -> None:
    assert student_t(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-9, abs=1e-300)


def test_student_at_the_ends() -> None:
    assert student_t(0.0, 4) == 1.0
    assert student_t(1.0, 1) == pytest.approx(0.5)  # Cauchy
    assert 0 <= student_t(1e12, 4) < 1e-40


@FIXED
@given(st.integers(0, 10_000), st.integers(4, 30))
def test_the_order_of_the_metrics_changes_the_sign_only(seed: int, n: int) -> None:
    human, first, second = np.random.default_rng(seed).normal(size=(3, n))
    (forth,), (back,) = (
        all_pairs(human, {"a": first, "b": second}),
        all_pairs(human, {"b": second, "a": first}),
    )
    assert forth.t == pytest.approx(-back.t, abs=1e-12)  # type: ignore[operator]
    assert forth.p_value == pytest.approx(back.p_value, abs=1e-12)
    assert (forth.t > 0) == (pearson(human, first) > pearson(human, second))  # type: ignore[operator]
    assert forth.difference == pytest.approx(pearson(human, first) - pearson(human, second))


def test_false_alarms_are_as_rare_as_promised() -> None:
    """Two metrics that are equally good, of ten systems, 4,000 times: 5 % within four standard errors (0.0034)."""
    rng = np.random.default_rng(8)
    alarms = 0
    for _ in range(4_000):
        human = rng.normal(size=10)
        metrics = {name: human + rng.normal(size=10) for name in "ab"}
        (test,) = all_pairs(human, metrics)
        assert test.p_value is not None
        alarms += test.p_value < 0.05
    assert alarms / 4_000 == pytest.approx(0.05, abs=0.014)


def test_a_better_metric_is_found() -> None:
    rng = np.random.default_rng(3)
    human = rng.normal(size=40)
    (test,) = all_pairs(human, {"good": human + rng.normal(size=40) / 4, "bad": human + 3 * rng.normal(size=40)})
    assert test.t is not None
    assert test.t > 5
    assert test.p_value is not None
    assert test.p_value < 1e-5


def test_p_values_of_many_pairs_are_corrected() -> None:
    rng = np.random.default_rng(5)
    human = rng.normal(size=15)
    tests = all_pairs(human, {name: human + k * rng.normal(size=15) for k, name in enumerate("abc", start=1)})
    assert [(test.first, test.second) for test in tests] == [("a", "b"), ("a", "c"), ("b", "c")]
    smallest = min(tests, key=lambda test: test.p_value or 1)
    assert smallest.p_adjusted == pytest.approx(min(1.0, 3 * smallest.p_value))  # type: ignore[operator]
    assert all(test.p_adjusted >= test.p_value for test in tests)  # type: ignore[operator]


def test_a_metric_against_itself() -> None:
    human, metric = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1.0, 3.0, 2.0, 5.0, 4.0])
    (same,) = all_pairs(human, {"a": metric, "b": 2 * metric + 1})
    assert (same.t, same.p_value) == (pytest.approx(0, abs=1e-6), pytest.approx(1, abs=1e-6))
    (opposite,) = all_pairs(human, {"a": metric, "b": -metric})
    assert (opposite.t, opposite.p_value, opposite.p_adjusted) == (None, None, None)
    assert opposite.difference == pytest.approx(2 * pearson(human, metric))


def test_no_test_without_four_systems_or_with_a_constant_metric() -> None:
    assert williams(0.9, 0.5, 0.3, 3) == (None, None)
    assert williams(0.9, 0.5, 0.3, 4)[0] is not None
    human = np.arange(5.0)
    tests = all_pairs(human, {"a": human**2, "flat": np.ones(5), "b": -human})
    assert [test.p_value is None for test in tests] == [True, False, True]
    assert tests[0].to_dict()["difference"] is None
    assert tests[1].p_adjusted == tests[1].p_value, "corrected for the tests that there are"
