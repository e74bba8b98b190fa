"""Williams' test: the t of R's cocor, Student's p of SciPy, and the promised rate of false alarms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from anaphora.metrics.meta.williams import all_pairs, pearson, student_t, williams

FIXED = settings(derandomize=True, deadline=None)


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
    found, p = williams(r_first, r_second, between, n)
    assert found == pytest.approx(t, abs=error)
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
