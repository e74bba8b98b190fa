"""Intervals and tests of APT: sentences are the units; figures agree with plain resampling written out here."""

from __future__ import annotations

import random
from statistics import mean, quantiles

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.metrics.apt.statistics import Unit, by_sentence, score_difference, score_interval
from anaphora.stats.intervals import Resampling
from anaphora.stats.paired import mcnemar

SAMPLING = Resampling(samples=4_000, trials=4_000)


def units(values: list[tuple[float, int]]) -> dict[int, Unit]:
    return dict(enumerate(values))


def test_pronouns_are_put_together_by_sentence() -> None:
    credits = [(0, 1.0), (0, 0.5), (2, 0.0), (3, None), (2, None), (2, 1.0)]
    assert by_sentence(credits) == {0: (1.5, 2), 2: (1.0, 2)}


def test_the_interval_is_that_of_resampling_sentences() -> None:
    rng = random.Random(3)
    sentences = [(float(sum(rng.random() < 0.6 for _ in range(n))), n) for n in rng.choices([1, 2, 3], k=60)]
    drawn = []
    for _ in range(4_000):
        sample = rng.choices(sentences, k=len(sentences))
        drawn.append(sum(s for s, _ in sample) / sum(n for _, n in sample))
    cuts = quantiles(drawn, n=40)
    assert score_interval(units(sentences), SAMPLING) == pytest.approx((cuts[0], cuts[-1]), abs=0.02)


def test_pronouns_that_go_together_make_the_interval_wider() -> None:
    alone = units([(1.0, 1)] * 60 + [(0.0, 1)] * 60)
    together = units([(3.0, 3)] * 20 + [(0.0, 3)] * 20)
    narrow, wide = (score_interval(u, SAMPLING) for u in (alone, together))
    assert wide[1] - wide[0] > 1.4 * (narrow[1] - narrow[0])


def test_without_units_nothing_is_known() -> None:
    assert score_interval({}, SAMPLING) == (0.0, 1.0)
    assert score_difference({}, {}, SAMPLING).p_value == 1.0
    one = score_difference({0: (1.0, 1)}, {}, SAMPLING)
    assert (one.total, one.p_value) == (0, 1.0)


def test_single_pronouns_right_or_wrong_are_mcnemars_test() -> None:
    first = units([(1.0, 1)] * 30 + [(0.0, 1)] * 12 + [(1.0, 1)] * 4)
    second = units([(1.0, 1)] * 30 + [(1.0, 1)] * 12 + [(0.0, 1)] * 4)
    found = score_difference(first, second, SAMPLING)
    assert found.delta == pytest.approx(8 / 46)
    assert found.total == 46
    assert found.tests["randomisation"] == pytest.approx(mcnemar(4, 12), abs=0.02)
    assert found.p_value == found.tests["randomisation"]
    assert found.interval[0] < found.delta < found.interval[1]
    assert score_difference(first, second, Resampling(test="bootstrap")).p_value == pytest.approx(
        found.tests["bootstrap"], abs=0.03
    )


def test_a_difference_is_of_shares_however_many_pronouns_a_sentence_has() -> None:
    first = units([(0.0, 3)] * 40)
    second = units([(3.0, 3)] * 20 + [(0.0, 3)] * 20)
    found = score_difference(first, second, SAMPLING)
    assert (found.delta, found.total) == (pytest.approx(0.5), 120)
    assert found.interval == pytest.approx((0.35, 0.65), abs=0.03)  # 0.5 ± 1.96 √(0.25 / 40)


def test_a_system_does_not_differ_from_itself() -> None:
    same = units([(1.0, 2), (0.5, 1), (0.0, 3)])
    found = score_difference(same, same, SAMPLING)
    assert (found.delta, found.interval) == (0.0, (0.0, 0.0))
    assert found.p_value == 1.0


def test_where_the_systems_count_different_pronouns_ratios_are_resampled() -> None:
    """The second system loses a pronoun in every other sentence; the same data without losses gives the same test."""
    rng = random.Random(5)
    first = units([(float(rng.random() < 0.5), 1) for _ in range(80)])
    second = {k: (float(rng.random() < 0.7), 1) for k in range(80) if k % 10}
    found = score_difference(first, second, SAMPLING)
    one, other = mean(s for s, _ in first.values()), mean(s for s, _ in second.values())
    assert (found.first, found.second) == (pytest.approx(one), pytest.approx(other))
    assert found.total == 80
    drawn, swapped = [], []
    for _ in range(3_000):
        picks = rng.choices(range(80), k=80)
        a, b = [first[k][0] for k in picks], [second[k][0] for k in picks if k in second]
        drawn.append(mean(b) - mean(a))
        turned = {k for k in range(80) if rng.random() < 0.5}
        a = [(second if k in turned else first)[k][0] for k in range(80) if k in second or k not in turned]
        b = [(first if k in turned else second)[k][0] for k in range(80) if k in second or k in turned]
        swapped.append(mean(b) - mean(a))
    cuts = quantiles(drawn, n=40)
    assert found.interval == pytest.approx((cuts[0], cuts[-1]), abs=0.03)
    observed = abs(other - one)
    assert found.tests["randomisation"] == pytest.approx(mean(abs(s) >= observed - 1e-9 for s in swapped), abs=0.03)
    centre = mean(drawn)
    assert found.tests["bootstrap"] == pytest.approx(mean(abs(d - centre) >= observed for d in drawn), abs=0.03)


SENTENCES = st.integers(1, 4).flatmap(lambda n: st.tuples(st.integers(0, 2 * n).map(lambda k: k / 2), st.just(n)))
UNITS = st.lists(SENTENCES, min_size=1, max_size=20)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(UNITS)
def test_intervals_are_within_0_and_1_and_hold_extremes(values: list[tuple[float, int]]) -> None:
    low, high = score_interval(units(values), Resampling(samples=200))
    assert 0 <= low <= high <= 1
    ratios = [s / n for s, n in values]
    assert min(ratios) - 1e-9 <= low
    assert high <= max(ratios) + 1e-9


@settings(derandomize=True, deadline=None, max_examples=30)
@given(UNITS, st.randoms(use_true_random=False))
def test_the_difference_turns_with_the_systems(values: list[tuple[float, int]], rng: random.Random) -> None:
    first = units(values)
    second = {k: (rng.randint(0, n) * 1.0, n) for k, (_, n) in first.items()}
    one = score_difference(first, second, Resampling(samples=200, trials=10_000))
    other = score_difference(second, first, Resampling(samples=200, trials=10_000))
    assert one.delta == pytest.approx(-other.delta)
    assert one.tests["randomisation"] == pytest.approx(other.tests["randomisation"], abs=0.03)
    # the order of sentences is of no matter
    turned = score_difference(dict(reversed(first.items())), second, Resampling(samples=200, trials=10_000))
    assert turned == one


@pytest.mark.parametrize("wrong", [{"confidence": 1.0}, {"samples": 0}, {"trials": 0}])
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(AnaphoraError, match="confidence is a number between 0 and 1"):
        Resampling(**wrong)  # type: ignore[arg-type]
    with pytest.raises(AnaphoraError, match=r"unknown test 'mcnemar'\. Known: bootstrap, randomisation"):
        Resampling(test="mcnemar")
