"""Agreement coefficients: published worked examples first, then independent implementations, then what always holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anaphora.stats.agreement import COEFFICIENTS, _kappa_rows, _kappa_sums, bootstrap_intervals, gwet_ac1
from anaphora.stats.intervals import Ints
from anaphora.stats.resampling import Resampling


def of(name: str, ratings: Ints, categories: int) -> float | None:
    return COEFFICIENTS[name].of(ratings, categories)


# Krippendorff 2011 (Computing Krippendorff's Alpha-Reliability, part C): four observers, twelve units, missing values.
FOUR_RATERS = (
    np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
            [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
        ]
    ).T
    - 1
)


def test_alpha_of_krippendorffs_example() -> None:
    assert of("alpha", FOUR_RATERS, 5) == pytest.approx(0.743, abs=0.0005)


def test_ac1_of_gwets_four_raters() -> None:
    # Gwet's own program (irrCAC for R, cac.raw4raters; Handbook of Inter-Rater Reliability, 2014). In his copy of the
    # example above the third rater, not the second, has rated the last unit, which changes none of these.
    assert of("ac1", FOUR_RATERS, 5) == pytest.approx(0.77544, abs=5e-6)
    assert of("percent", FOUR_RATERS, 5) == pytest.approx(0.8181818, abs=5e-8)
    assert of("alpha", FOUR_RATERS, 5) == pytest.approx(0.74342, abs=5e-6)


def test_gwets_two_abstractors() -> None:
    # irrCAC for R, cont3x3abstractors: κ 0.7964094, AC1 0.8493305, α 0.7972585, percent 0.89
    table = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
    ratings = np.array([[i, j] for i in range(3) for j in range(3) for _ in range(table[i][j])])
    assert of("kappa", ratings, 3) == pytest.approx(0.7964094, abs=5e-8)
    assert of("ac1", ratings, 3) == pytest.approx(0.8493305, abs=5e-8)
    assert of("alpha", ratings, 3) == pytest.approx(0.7972585, abs=5e-8)
    assert of("percent", ratings, 3) == pytest.approx(0.89)


def test_gwets_six_raters() -> None:
    # irrCAC for R, distrib.6raters: psychiatrists and five diagnoses; AC1 0.4448007, α 0.4204384, percent 0.5511111
    units = "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031"
    counts = units.split()
    ratings = np.array([[k for k, n in enumerate(unit) for _ in range(int(n))] for unit in counts])
    assert ratings.shape == (15, 6)
    assert of("ac1", ratings, 5) == pytest.approx(0.4448007, abs=5e-8)
    assert of("alpha", ratings, 5) == pytest.approx(0.4204384, abs=5e-8)
    assert of("percent", ratings, 5) == pytest.approx(0.5511111, abs=5e-8)


def test_the_paradox_of_kappa() -> None:
    # Gwet 2002 (Kappa is not satisfactory): 118 times both yes, 5 and 2 times one only; κ −0.0234, AC1 0.9408
    ratings = np.array([[0, 0]] * 118 + [[0, 1]] * 5 + [[1, 0]] * 2)
    assert of("kappa", ratings, 2) == pytest.approx(-0.0234, abs=5e-5)
    assert of("ac1", ratings, 2) == pytest.approx(0.9408, abs=5e-5)
    assert of("percent", ratings, 2) == 0.944


def test_ac1_by_hand() -> None:
    # items ++ ++ +− ; Pa = 2/3, π = 5/6, Pe = 2 · 5/6 · 1/6 = 5/18, AC1 = (12/18 − 5/18) / (13/18) = 7/13
    assert of("ac1", np.array([[0, 0], [0, 0], [0, 1]]), 2) == pytest.approx(7 / 13)
    # a third category that nobody chose halves Pe: (24/36 − 5/36) / (31/36)
    assert of("ac1", np.array([[0, 0], [0, 0], [0, 1]]), 3) == pytest.approx(19 / 31)


def test_what_is_not_defined() -> None:
    alone = np.array([[0, -1], [-1, 1]])
    assert [of(name, alone, 2) for name in COEFFICIENTS] == [None] * 4
    same = np.zeros((5, 3), dtype=int)
    assert [of(name, same, 2) for name in COEFFICIENTS] == [1.0, None, None, 1.0]
    nothing = np.zeros((0, 3), dtype=int)
    assert [of(name, nothing, 2) for name in COEFFICIENTS] == [None] * 4


def test_kappa_of_several_is_the_mean_of_pairs() -> None:
    from statsmodels.stats.inter_rater import cohens_kappa, to_table

    ratings = np.random.default_rng(5).integers(0, 3, size=(40, 3))
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = np.mean([cohens_kappa(to_table(ratings[:, pair], bins=3)[0]).kappa for pair in pairs])
    assert of("kappa", ratings, 3) == pytest.approx(expected)


RATINGS = hnp.arrays(np.int64, st.tuples(st.integers(2, 14), st.integers(2, 4)), elements=st.integers(-1, 2))


@given(RATINGS)
def test_ac1_and_alpha_are_those_of_irrcac(ratings: Ints) -> None:
    pandas = pytest.importorskip("pandas", reason="irrCAC needs pandas")
    raw = pytest.importorskip("irrCAC.raw", reason="pip install --no-deps irrCAC (it pins an old pandas)")
    ratings = ratings[(ratings >= 0).any(axis=1)]
    ours = of("ac1", ratings, 3), of("alpha", ratings, 3)
    if None in ours or ((ratings >= 0).sum(axis=1) >= 2).sum() < 2:  # its variance divides by items − 1
        return
    frame = pandas.DataFrame(np.where(ratings < 0, np.nan, ratings.astype(float)))
    theirs = raw.CAC(frame, categories=[0.0, 1.0, 2.0], digits=9)
    assert ours[0] == pytest.approx(theirs.gwet()["est"]["coefficient_value"], abs=1e-8)
    assert ours[1] == pytest.approx(theirs.krippendorff()["est"]["coefficient_value"], abs=1e-8)


@given(RATINGS)
def test_alpha_is_that_of_the_krippendorff_package(ratings: Ints) -> None:
    krippendorff = pytest.importorskip("krippendorff", reason="pip install krippendorff")
    ours = of("alpha", ratings, 3)
    if ours is None:
        return
    values = np.where(ratings < 0, np.nan, ratings.astype(float)).T
    theirs = krippendorff.alpha(values, value_domain=[0, 1, 2], level_of_measurement="nominal")
    assert ours == pytest.approx(theirs)


@given(RATINGS, st.permutations([0, 1, 2]))
def test_neither_the_order_nor_the_names_matter(ratings: Ints, names: list[int]) -> None:
    shuffled = ratings[:, ::-1][np.random.default_rng(len(ratings)).permutation(len(ratings))]
    renamed = np.where(shuffled < 0, -1, np.array(names)[shuffled])
    for name in COEFFICIENTS:
        assert of(name, renamed, 3) == pytest.approx(of(name, ratings, 3))


@given(RATINGS)
def test_bounds(ratings: Ints) -> None:
    actual = {name: of(name, ratings, 3) for name in COEFFICIENTS}
    percent, ac1 = actual["percent"], actual["ac1"]
    assert all(value is None or value <= 1 + 1e-12 for value in actual.values())
    assert (percent is None) == (ac1 is None)
    if percent is not None and ac1 is not None:
        assert 0 <= percent <= 1
        assert ac1 <= percent + 1e-12
        assert ac1 >= -0.5 - 1e-12  # Pe is at most 1/q
        assert (abs(percent - 1) < 1e-12) == (abs(ac1 - 1) < 1e-12)
    if percent == 1:
        assert actual["kappa"] in (None, pytest.approx(1))
        assert actual["alpha"] in (None, pytest.approx(1))


def test_intervals_hold_the_value_and_shrink() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, size=400)
    ratings = np.stack([np.where(rng.random(400) < 0.15, 1 - truth, truth) for _ in range(3)], axis=1)

    def width(items: int) -> dict[str, float]:
        intervals = bootstrap_intervals(ratings[:items], 2, Resampling(500, 1, 0.95))
        widths = {}
        for name, interval in intervals.items():
            value = of(name, ratings[:items], 2)
            assert interval is not None
            assert value is not None
            assert interval[0] < value < interval[1]
            widths[name] = interval[1] - interval[0]
        return widths

    few, many = width(50), width(400)
    assert all(many[name] < 0.6 * few[name] for name in COEFFICIENTS)


def test_the_interval_of_percent_is_that_of_a_mean() -> None:
    ratings = np.array([[0, 0]] * 60 + [[0, 1]] * 40)
    interval = bootstrap_intervals(ratings, 2, Resampling(4000, 7, 0.95))["percent"]
    half = 1.96 * np.sqrt(0.6 * 0.4 / 100)
    assert interval == pytest.approx((0.6 - half, 0.6 + half), abs=0.015)


def test_the_same_seed_gives_the_same_interval() -> None:
    ratings = np.random.default_rng(0).integers(-1, 3, size=(30, 3))
    first, again = (bootstrap_intervals(ratings, 3, Resampling(200, 4, 0.9)) for _ in range(2))
    assert first == again
    assert first != bootstrap_intervals(ratings, 3, Resampling(200, 5, 0.9))
    empty = bootstrap_intervals(ratings[:0], 3, Resampling(200, 4, 0.9))
    assert set(empty.values()) == {None}


def test_the_agreement_of_the_published_pair_list(data: Callable[[str], Path]) -> None:
    """The published figures are near AC1, but not it. Where one answer alone dissents, its formula can be told:

    the chance term takes π(REF) to be the share of items that are all REF, (N − 1) / N, instead of the share of
    answers, so that it is too large. By Gwet's formula agreement is a little higher, at most 0.012 here.
    """
    listed = json.loads((data("eval-anaphora") / "pronoun_pair_list.json").read_text(encoding="utf-8"))
    single = [
        (agreement, counts["REF"] + 1)
        for entries in listed.values()
        for agreement, counts in entries
        if agreement < 1 and sum(counts.values()) == counts["REF"] + 1
    ]
    explained = 0
    for agreement, answers in single:
        for raters in (2, 3):
            items, rest = divmod(answers, raters)
            if rest:
                continue
            ratings = np.zeros((items, raters), dtype=int)
            ratings[0, 0] = 1
            percent, ac1 = of("percent", ratings, 3), of("ac1", ratings, 3)
            assert percent is not None
            assert ac1 is not None
            shares = ((items - 1) / items, 1 / answers)
            chance = sum(share * (1 - share) for share in shares) / 2
            if abs((percent - chance) / (1 - chance) - agreement) < 1e-9:
                explained += 1
                assert 0 < ac1 - agreement < 0.012
    assert (len(single), explained) == (15, 12)


@pytest.mark.parametrize("seed", range(5))
def test_sums_without_rows_are_the_same(seed: int) -> None:
    """Many raters have more pairs than can be held for every item; their sums are whole numbers, so exactly equal."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(-1, 3, size=(40, 7))
    times = rng.integers(0, 4, size=40).astype(float)
    assert np.array_equal(times @ _kappa_rows(ratings, 3), _kappa_sums(ratings, 3, times))


def test_two_hundred_raters_fit_into_memory() -> None:
    """As an array of items and pairs this would be 764 MB."""
    import tracemalloc

    ratings = np.random.default_rng(1).integers(0, 3, size=(600, 200))
    tracemalloc.start()
    assert of("kappa", ratings, 3) == pytest.approx(0, abs=0.01)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000_000


def test_ac1_of_two_raters_by_hand() -> None:
    # 8 of 10 alike; "reference" is 8 of the first rater and 8 of the second: q = 0.8, e = 0.32
    ratings = [(1, 1)] * 7 + [(0, 0)] + [(1, 0), (0, 1)]
    assert gwet_ac1(np.array(ratings), 2) == pytest.approx((0.8 - 0.32) / (1 - 0.32))
    assert gwet_ac1(np.array([(1, 1)] * 5), 2) == 1.0  # where κ is not defined
    assert gwet_ac1(np.array([(1, 0), (0, 1)]), 2) == pytest.approx(-1.0)
