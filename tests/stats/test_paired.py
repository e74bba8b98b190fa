"""Is a difference real? The three tests agree with other implementations, with each other, and with enumeration."""

from __future__ import annotations

import itertools
import random
from statistics import mean, quantiles

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import NotFinite
from anaphora.stats import paired
from anaphora.stats.intervals import generator
from anaphora.stats.paired import (
    Resampling,
    SufficientStats,
    approximate_randomization,
    harmonic,
    holm,
    mcnemar,
    paired_bootstrap,
    paired_test,
    paired_tests,
    ratio,
    resampled_totals,
    swapped_totals,
)

FIXED = settings(derandomize=True)
DISCORDANT = st.integers(0, 3_000)
P_VALUES = st.lists(st.floats(0, 1), max_size=12)


def test_mcnemar_by_hand() -> None:
    """One against nine: two tails of (1 + 10) / 2¹⁰."""
    assert mcnemar(1, 9) == pytest.approx(2 * 11 / 1024)
    assert mcnemar(0, 5) == pytest.approx(2 / 32)
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(4, 4) == 1.0


@FIXED
@given(DISCORDANT, DISCORDANT)
def test_mcnemar_is_the_exact_binomial_test(only_first: int, only_second: int) -> None:
    n = only_first + only_second
    expected = binomtest(only_first, n).pvalue if n else 1.0
    p_value = mcnemar(only_first, only_second)
    assert p_value == pytest.approx(expected, rel=1e-8, abs=1e-300)
    assert p_value == mcnemar(only_second, only_first)
    assert 0 <= p_value <= 1


@pytest.mark.parametrize(("only_first", "only_second"), [(3, 11), (40, 41), (0, 12), (120, 200)])
def test_mcnemar_is_that_of_statsmodels(only_first: int, only_second: int) -> None:
    table = [[500, only_first], [only_second, 77]]
    assert mcnemar(only_first, only_second) == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue)


@pytest.mark.parametrize("only_first", [500_000, 499_500, 498_000, 490_000])
def test_mcnemar_takes_a_million_items(only_first: int) -> None:
    expected = binomtest(only_first, 1_000_000).pvalue
    assert mcnemar(only_first, 1_000_000 - only_first) == pytest.approx(expected, rel=1e-6)


def test_mcnemar_of_a_landslide_has_a_tiny_p_value() -> None:
    assert mcnemar(0, 1_000) == pytest.approx(2.0**-999)
    assert mcnemar(0, 1_000_000) == 0.0


def error(p: float, samples: int) -> float:
    """Four standard errors of a share found by sampling, and the one that is added to it."""
    return 4 * (p * (1 - p) / samples) ** 0.5 + 2 / samples


@pytest.mark.parametrize(("only_first", "only_second"), [(5, 15), (10, 14), (30, 31), (100, 140), (0, 6), (7, 7)])
def test_randomization_of_right_and_wrong_is_mcnemars_test(only_first: int, only_second: int) -> None:
    values, counts = np.array([-1.0, 0.0, 1.0]), np.array([only_first, 1_000, only_second])
    expected = mcnemar(only_first, only_second)
    p_value = approximate_randomization(values, counts, 20_000, generator(1))
    assert p_value == pytest.approx(expected, abs=error(expected, 20_000))


def enumerated(differences: list[float]) -> float:
    """All 2ⁿ ways to swap the systems."""
    observed = abs(sum(differences))
    swaps = list(itertools.product((-1, 1), repeat=len(differences)))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in swaps]
    return sum(actual >= observed - 1e-9 for actual in sums) / len(sums)


@pytest.mark.parametrize(
    "differences",
    [
        [0.5, 1.25, -0.3, 2.0, 0.7, -1.1, 0.9, 0.4, -0.2, 1.6],
        [3.0, -1.0, 2.0, 2.0, 2.0, -1.0, -1.0, 3.0, 1.0],  # several alike: drawn together
        [1.0, -1.0, 0.0, 0.0],
        [-4.0, -2.0, -3.0, -1.0, -2.5, -0.5],
    ],
)
def test_randomization_is_the_enumeration_of_all_swaps(differences: list[float]) -> None:
    values, counts = np.unique(differences, return_counts=True)
    expected = enumerated(differences)
    p_value = approximate_randomization(values, counts, 40_000, generator(2))
    assert p_value == pytest.approx(expected, abs=error(expected, 40_000))


def test_randomization_keeps_apart_units_that_differ_only_in_sign() -> None:
    """A gain of 2 in three documents, a loss of 2 in one: of 16 ways to swap, 2 give ±8, 8 give ±4, 6 give 0."""
    p_value = approximate_randomization(np.array([-2.0, 2.0]), np.array([1, 3]), 40_000, generator(3))
    assert p_value == pytest.approx(10 / 16, abs=error(10 / 16, 40_000))


def test_randomization_of_systems_that_never_differ_finds_nothing() -> None:
    assert approximate_randomization(np.array([0.0]), np.array([500]), 100, generator(1)) == 1.0


def test_randomization_does_not_depend_on_the_block_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = (np.array([-2.0, -1.0, 1.0, 3.0]), np.array([10, 20, 25, 7]), 3_000)
    whole = approximate_randomization(*arguments, generator(4))
    monkeypatch.setattr(paired, "CHUNK", 40)
    again = approximate_randomization(*arguments, generator(4))
    assert 0 < whole < 1
    assert again == whole


def rows_of(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, counts = np.unique(differences, return_counts=True)
    return np.column_stack([values, np.ones(len(values))]), counts


def test_paired_bootstrap_raises_false_alarms_as_seldom_as_it_says() -> None:
    """500 pairs of systems that are equally good: p-values spread evenly, within four standard errors."""
    rng = generator(5)
    p_values = []
    for trial in range(500):
        differences = rng.choice([-1.0, 0.0, 1.0], p=[0.15, 0.7, 0.15], size=300)
        p_values.append(paired_bootstrap(*rows_of(differences), 500, generator(trial))[0])
    actual = np.array(p_values)
    for level in (0.05, 0.25, 0.5, 0.75):
        assert (actual <= level).mean() == pytest.approx(level, abs=4 * (level * (1 - level) / 500) ** 0.5)


def test_paired_bootstrap_sees_a_large_effect_and_never_says_zero() -> None:
    differences = np.array([1.0] * 80 + [-1.0] * 20 + [0.0] * 100)
    p, values = paired_bootstrap(*rows_of(differences), 1_000, generator(6))
    assert p == 1 / 1_001
    assert len(values) == 1_000
    assert values.mean() == pytest.approx(0.3, abs=0.01)


def test_paired_bootstrap_is_two_sided() -> None:
    gain = np.array([1.0] * 30 + [-1.0] * 15 + [0.0] * 55)
    better, _ = paired_bootstrap(*rows_of(gain), 20_000, generator(7))
    worse, _ = paired_bootstrap(*rows_of(-gain), 20_000, generator(8))
    assert better == pytest.approx(worse, abs=2 * error(better, 20_000))
    assert better == pytest.approx(mcnemar(15, 30), abs=0.02)  # the same question, asked otherwise


def test_paired_bootstrap_of_equal_systems_finds_nothing() -> None:
    p, values = paired_bootstrap(np.array([[0.0, 1.0]]), np.array([50]), 200, generator(1))
    assert p == 1.0
    assert set(values) == {0.0}


def test_paired_bootstrap_weighs_documents_by_their_items() -> None:
    """Two documents: +3 of 10 items and −1 of 2. The difference is 2 of 12, whatever the resampling."""
    rows, counts = np.array([[3.0, 10.0], [-1.0, 2.0]]), np.array([1, 1])
    _, values = paired_bootstrap(rows, counts, 4_000, generator(9))
    assert {round(v, 12) for v in values} == {round(v, 12) for v in (6 / 20, 2 / 12, -2 / 4)}


@settings(FIXED, max_examples=20)
@given(P_VALUES)
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    expected = multipletests(p_values, method="holm")[1].tolist() if p_values else []
    assert holm(p_values) == pytest.approx(expected)


def test_holm_by_hand() -> None:
    """0.005 × 4, 0.01 × 3, 0.03 × 2, and 0.04 × 1 raised to the one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@FIXED
@given(P_VALUES, st.randoms(use_true_random=False))
def test_holm_does_not_depend_on_the_order(p_values: list[float], rng: object) -> None:
    order = list(range(len(p_values)))
    rng.shuffle(order)  # type: ignore[attr-defined]
    shuffled = holm([p_values[i] for i in order])
    assert [shuffled[order.index(i)] for i in range(len(order))] == pytest.approx(holm(p_values))


# Figures from sums over sentences: values, intervals and paired tests agree with plain resampling in Python.

FIRST = np.array([[1, 2], [0, 1], [3, 3], [0, 2], [1, 1], [0, 1], [1, 2], [2, 2]], float)
SECOND = np.array([[2, 2], [1, 1], [3, 3], [1, 2], [1, 1], [0, 1], [2, 2], [1, 2]], float)


def share(totals: np.ndarray) -> dict[str, np.ndarray]:
    return {"share": ratio(totals[:, 0], totals[:, 1])}


def test_the_figure_is_that_of_the_totals() -> None:
    assert SufficientStats(FIRST, share).values() == {"share": pytest.approx(8 / 14)}


def test_the_interval_is_that_of_resampling_whole_sentences() -> None:
    """Quantiles of 20,000 samples drawn one by one in plain Python."""
    rng = random.Random(1)
    drawn = []
    for _ in range(20_000):
        rows = rng.choices(FIRST.tolist(), k=len(FIRST))
        drawn.append(sum(right for right, _ in rows) / sum(n for _, n in rows))
    cuts = quantiles(drawn, n=40)
    low, high = SufficientStats(FIRST, share).intervals(Resampling(20_000))["share"]
    assert low == pytest.approx(cuts[0], abs=0.02)
    assert high == pytest.approx(cuts[-1], abs=0.02)
    narrow = SufficientStats(FIRST, share).intervals(Resampling(20_000, confidence=0.5))["share"]
    assert narrow == pytest.approx((quantiles(drawn, n=4)[0], quantiles(drawn, n=4)[2]), abs=0.02)


def test_the_same_seed_gives_the_same_interval() -> None:
    one, same, other = (SufficientStats(FIRST, share).intervals(Resampling(500, seed)) for seed in (1, 1, 2))
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
    actual = paired_test(("a", "b"), SufficientStats(first, share), SufficientStats(second, share), Resampling(10_000))[
        "share"
    ]
    rows = np.column_stack([second[:, 0] - first[:, 0], np.ones(200)])
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    expected, _ = paired_bootstrap(distinct, counts, 10_000, generator(4))
    assert actual.tests["bootstrap"] == pytest.approx(expected, abs=0.02)
    expected = approximate_randomization(distinct[:, 0], counts, 10_000, generator(4))
    assert actual.tests["randomization"] == pytest.approx(expected, abs=0.02)
    assert actual.delta == pytest.approx(second[:, 0].mean() - first[:, 0].mean())
    assert actual.interval[0] < actual.delta < actual.interval[1]


def test_randomization_is_right_by_counting_all_exchanges() -> None:
    """The p-value is the share of 2⁸ exchanges of eight sentences with a difference at least as large."""
    rows = list(zip(FIRST.tolist(), SECOND.tolist(), strict=True))
    observed = 11 / 14 - 8 / 14
    extreme = 0
    for bits in range(256):
        pairs = [(b, a) if bits >> k & 1 else (a, b) for k, (a, b) in enumerate(rows)]
        one, other = (sum(pair[side][0] for pair in pairs) / 14 for side in (0, 1))
        extreme += abs(other - one) >= observed - 1e-9
    actual = paired_test(("a", "b"), SufficientStats(FIRST, share), SufficientStats(SECOND, share), Resampling(20_000))[
        "share"
    ]
    assert actual.tests["randomization"] == pytest.approx(extreme / 256, abs=0.015)
    assert actual.p_value == actual.tests["randomization"]


def test_equal_systems_do_not_differ() -> None:
    actual = paired_test(("a", "b"), SufficientStats(FIRST, share), SufficientStats(FIRST, share), Resampling(500))[
        "share"
    ]
    assert (actual.delta, actual.interval) == (0, (0, 0))
    assert actual.tests == {"bootstrap": 1, "randomization": 1}


def test_all_pairs_with_holms_correction() -> None:
    better = np.column_stack([FIRST[:, 1], FIRST[:, 1]])
    systems = {
        "a": SufficientStats(FIRST, share),
        "b": SufficientStats(SECOND, share),
        "c": SufficientStats(better, share),
    }
    tests = paired_tests(systems, Resampling(2_000, test="bootstrap"))["share"]
    assert [(t.first, t.second) for t in tests] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [t.p_value for t in tests] == [t.tests["bootstrap"] for t in tests]
    smallest = min(tests, key=lambda t: t.p_value)
    assert smallest.p_adjusted == pytest.approx(min(1, 3 * smallest.p_value))
    assert all(t.p_adjusted >= t.p_value for t in tests)
    assert paired_tests({"a": SufficientStats(FIRST, share)}, Resampling()) == {}
    document = tests[0].to_dict()
    assert set(document) == {"systems", "delta", "interval", "p_value", "p_adjusted", "tests"}


def test_systems_of_other_sentences_are_refused() -> None:
    with pytest.raises(AnaphoraError, match="b and a are not translations of the same sentences"):
        paired_test(("a", "b"), SufficientStats(FIRST, share), SufficientStats(SECOND[:3], share), Resampling())


def test_nothing_to_divide_by_is_zero() -> None:
    assert ratio(np.array([1.0, 2.0]), np.array([0.0, 4.0])).tolist() == [0, 0.5]
    assert harmonic(np.array([0.0, 0.5]), np.array([0.0, 1.0])).tolist() == [0, pytest.approx(2 / 3)]


@pytest.mark.parametrize("wrong", [{"confidence": 1.0}, {"confidence": 0.0}, {"samples": 0}, {"test": "t"}])
def test_settings_that_make_no_sense(wrong: dict[str, float | str]) -> None:
    with pytest.raises(AnaphoraError):
        Resampling(**wrong)  # type: ignore[arg-type]


def test_the_british_name_of_a_test_is_taken() -> None:
    assert Resampling(test="randomisation") == Resampling(test="randomization")


def test_the_bootstrap_is_centered() -> None:
    """Koehn's test asks how often chance alone is as far from nothing: resampled differences less their mean."""
    rows = np.column_stack([np.r_[np.ones(30), np.zeros(10)], np.ones(40)])
    zero = np.column_stack([np.zeros(40), np.ones(40)])
    actual = paired_test(("a", "b"), SufficientStats(zero, share), SufficientStats(rows, share), Resampling(1_000))[
        "share"
    ]
    assert actual.tests["bootstrap"] == pytest.approx(1 / 1_001)
    assert mean(actual.interval) == pytest.approx(0.75, abs=0.05)


def test_a_figure_that_is_not_finite_is_an_error() -> None:
    rows = np.array([[1.0, 2.0], [np.nan, 1.0]])
    with pytest.raises(NotFinite, match=r"^share of 2 sentences is nan, not a finite number"):
        SufficientStats(rows, share).values()
