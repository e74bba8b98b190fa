"""Figures from sums over sentences: values, intervals and paired tests agree with plain resampling in Python."""

from __future__ import annotations

import random
from statistics import mean, quantiles

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import NotFinite
from anaphora.evaluation.intervals import generator
from anaphora.evaluation.paired import approximate_randomisation, paired_bootstrap
from anaphora.metrics.sums import (
    Resampling,
    Sums,
    harmonic,
    paired_test,
    paired_tests,
    ratio,
    resampled_totals,
    swapped_totals,
)

FIXED = settings(derandomize=True, deadline=None)
FIRST = np.array([[1, 2], [0, 1], [3, 3], [0, 2], [1, 1], [0, 1], [1, 2], [2, 2]], float)
SECOND = np.array([[2, 2], [1, 1], [3, 3], [1, 2], [1, 1], [0, 1], [2, 2], [1, 2]], float)


def share(totals: np.ndarray) -> dict[str, np.ndarray]:
    return {"share": ratio(totals[:, 0], totals[:, 1])}


def test_the_figure_is_that_of_the_totals() -> None:
    assert Sums(FIRST, share).values() == {"share": pytest.approx(8 / 14)}


def test_the_interval_is_that_of_resampling_whole_sentences() -> None:
    """Quantiles of 20,000 samples drawn one by one in plain Python."""
    rng = random.Random(1)
    drawn = []
    for _ in range(20_000):
        rows = rng.choices(FIRST.tolist(), k=len(FIRST))
        drawn.append(sum(right for right, _ in rows) / sum(n for _, n in rows))
    cuts = quantiles(drawn, n=40)
    low, high = Sums(FIRST, share).intervals(Resampling(20_000))["share"]
    assert low == pytest.approx(cuts[0], abs=0.02)
    assert high == pytest.approx(cuts[-1], abs=0.02)
    narrow = Sums(FIRST, share).intervals(Resampling(20_000, confidence=0.5))["share"]
    assert narrow == pytest.approx((quantiles(drawn, n=4)[0], quantiles(drawn, n=4)[2]), abs=0.02)


def test_the_same_seed_gives_the_same_interval() -> None:
    one, same, other = (Sums(FIRST, share).intervals(Resampling(500, seed)) for seed in (1, 1, 2))
    assert one == same != other


@FIXED
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30), st.integers(0, 5))
def test_totals_of_samples_are_sums_of_as_many_sentences(rows: list[tuple[int, int]], seed: int) -> None:
    """A column of ones counts the sentences drawn; the mean over samples is the total itself."""
    table = np.column_stack([np.array(rows, float), np.ones(len(rows))])
    totals = resampled_totals(table, Resampling(2_000, seed))
    assert (totals[:, 2] == len(rows)).all()
    spread = len(rows) * table[:, 0].var()
    assert abs(totals[:, 0].mean() - table[:, 0].sum()) <= 5 * (spread / 2_000) ** 0.5 + 1e-9


@FIXED
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=30))
def test_swapping_keeps_the_sum_of_both_systems(rows: list[tuple[int, ...]]) -> None:
    table = np.array(rows, float)
    one, other = swapped_totals(table[:, :2], table[:, 2:], Resampling(200))
    assert np.allclose(one + other, table[:, :2].sum(axis=0) + table[:, 2:].sum(axis=0))
    low = np.minimum(table[:, :2], table[:, 2:]).sum(axis=0)
    assert (one >= low - 1e-9).all()
    assert (one[0] <= np.maximum(table[:, :2], table[:, 2:]).sum(axis=0) + 1e-9).all()


def test_the_tests_are_those_of_evaluation_where_sizes_are_equal() -> None:
    """For sentences of equal size the figure is a mean, for which `evaluation.paired` has the same tests."""
    rng = generator(3)
    first = np.column_stack([rng.random(200) < 0.4, np.ones(200)]).astype(float)
    second = np.column_stack([rng.random(200) < 0.5, np.ones(200)]).astype(float)
    found = paired_test(("a", "b"), Sums(first, share), Sums(second, share), Resampling(10_000))["share"]
    rows = np.column_stack([second[:, 0] - first[:, 0], np.ones(200)])
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    expected, _ = paired_bootstrap(distinct, counts, 10_000, generator(4))
    assert found.tests["bootstrap"] == pytest.approx(expected, abs=0.02)
    expected = approximate_randomisation(distinct[:, 0], counts, 10_000, generator(4))
    assert found.tests["randomisation"] == pytest.approx(expected, abs=0.02)
    assert found.delta == pytest.approx(second[:, 0].mean() - first[:, 0].mean())
    assert found.interval[0] < found.delta < found.interval[1]


def test_randomisation_is_right_by_counting_all_exchanges() -> None:
    """Of 2⁸ exchanges of the eight sentences, the share with a difference at least as large."""
    rows = list(zip(FIRST.tolist(), SECOND.tolist(), strict=True))
    observed = 11 / 14 - 8 / 14
    extreme = 0
    for bits in range(256):
        pairs = [(b, a) if bits >> k & 1 else (a, b) for k, (a, b) in enumerate(rows)]
        one, other = (sum(pair[side][0] for pair in pairs) / 14 for side in (0, 1))
        extreme += abs(other - one) >= observed - 1e-9
    found = paired_test(("a", "b"), Sums(FIRST, share), Sums(SECOND, share), Resampling(20_000))["share"]
    assert found.tests["randomisation"] == pytest.approx(extreme / 256, abs=0.015)
    assert found.p_value == found.tests["randomisation"]


def test_equal_systems_do_not_differ() -> None:
    found = paired_test(("a", "b"), Sums(FIRST, share), Sums(FIRST, share), Resampling(500))["share"]
    assert (found.delta, found.interval) == (0, (0, 0))
    assert found.tests == {"bootstrap": 1, "randomisation": 1}


def test_all_pairs_with_holms_correction() -> None:
    better = np.column_stack([FIRST[:, 1], FIRST[:, 1]])
    systems = {"a": Sums(FIRST, share), "b": Sums(SECOND, share), "c": Sums(better, share)}
    tests = paired_tests(systems, Resampling(2_000, test="bootstrap"))["share"]
    assert [(t.first, t.second) for t in tests] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [t.p_value for t in tests] == [t.tests["bootstrap"] for t in tests]
    smallest = min(tests, key=lambda t: t.p_value)
    assert smallest.p_adjusted == pytest.approx(min(1, 3 * smallest.p_value))
    assert all(t.p_adjusted >= t.p_value for t in tests)
    assert paired_tests({"a": Sums(FIRST, share)}, Resampling()) == {}
    document = tests[0].to_dict()
    assert set(document) == {"systems", "delta", "interval", "p_value", "p_adjusted", "tests"}


def test_systems_of_other_sentences_are_refused() -> None:
    with pytest.raises(AnaphoraError, match="b and a are not translations of the same sentences"):
        paired_test(("a", "b"), Sums(FIRST, share), Sums(SECOND[:3], share), Resampling())


def test_nothing_to_divide_by_is_zero() -> None:
    assert ratio(np.array([1.0, 2.0]), np.array([0.0, 4.0])).tolist() == [0, 0.5]
    assert harmonic(np.array([0.0, 0.5]), np.array([0.0, 1.0])).tolist() == [0, pytest.approx(2 / 3)]


@pytest.mark.parametrize("wrong", [{"confidence": 1.0}, {"confidence": 0.0}, {"samples": 0}, {"test": "t"}])
def test_settings_that_make_no_sense(wrong: dict[str, float | str]) -> None:
    with pytest.raises(AnaphoraError):
        Resampling(**wrong)  # type: ignore[arg-type]


def test_the_signature_names_what_is_unusual() -> None:
    assert Resampling().signature == "ci:bs1000|seed:12345"
    assert Resampling(50, 7, 0.9).signature == "ci:bs50|conf:0.9|seed:7"


def test_the_bootstrap_is_centred() -> None:
    """Koehn's test asks how often chance alone is as far from nothing: resampled differences less their mean."""
    rows = np.column_stack([np.r_[np.ones(30), np.zeros(10)], np.ones(40)])
    zero = np.column_stack([np.zeros(40), np.ones(40)])
    found = paired_test(("a", "b"), Sums(zero, share), Sums(rows, share), Resampling(1_000))["share"]
    assert found.tests["bootstrap"] == pytest.approx(1 / 1_001)
    assert mean(found.interval) == pytest.approx(0.75, abs=0.05)


def test_a_figure_that_is_not_finite_is_an_error() -> None:
    rows = np.array([[1.0, 2.0], [np.nan, 1.0]])
    with pytest.raises(NotFinite, match=r"^share of 2 sentences is nan, not a finite number"):
        Sums(rows, share).values()
