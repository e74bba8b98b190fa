"""Intervals and tests of APT: sentences are the units; figures agree with plain resampling written out here."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from statistics import mean, quantiles

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.metrics.apt.result import (
    DETAILS,
    AptResult,
    Unit,
    by_sentence,
    make_result,
    score_difference,
    score_interval,
)
from anaphora.metrics.apt.task import Confusion, Outcome, Side, Triple, Weighting
from anaphora.stats.paired import holm, mcnemar
from anaphora.stats.resampling import Resampling

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
    difference = score_difference(first, second, SAMPLING)
    assert difference.delta == pytest.approx(8 / 46)
    assert difference.total == 46
    assert difference.tests["randomization"] == pytest.approx(mcnemar(4, 12), abs=0.02)
    assert difference.p_value == difference.tests["randomization"]
    assert difference.interval[0] < difference.delta < difference.interval[1]
    assert score_difference(first, second, Resampling(test="bootstrap")).p_value == pytest.approx(
        difference.tests["bootstrap"], abs=0.03
    )


def test_a_difference_of_shares_ignores_pronouns_per_sentence() -> None:
    first = units([(0.0, 3)] * 40)
    second = units([(3.0, 3)] * 20 + [(0.0, 3)] * 20)
    difference = score_difference(first, second, SAMPLING)
    assert (difference.delta, difference.total) == (pytest.approx(0.5), 120)
    assert difference.interval == pytest.approx((0.35, 0.65), abs=0.03)  # 0.5 ± 1.96 √(0.25 / 40)


def test_a_system_does_not_differ_from_itself() -> None:
    same = units([(1.0, 2), (0.5, 1), (0.0, 3)])
    difference = score_difference(same, same, SAMPLING)
    assert (difference.delta, difference.interval) == (0.0, (0.0, 0.0))
    assert difference.p_value == 1.0


def test_where_the_systems_count_different_pronouns_ratios_are_resampled() -> None:
    """The second system loses a pronoun in every other sentence; the same data without losses gives the same test."""
    rng = random.Random(5)
    first = units([(float(rng.random() < 0.5), 1) for _ in range(80)])
    second = {k: (float(rng.random() < 0.7), 1) for k in range(80) if k % 10}
    difference = score_difference(first, second, SAMPLING)
    one, other = mean(s for s, _ in first.values()), mean(s for s, _ in second.values())
    assert (difference.first, difference.second) == (pytest.approx(one), pytest.approx(other))
    assert difference.total == 80
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
    assert difference.interval == pytest.approx((cuts[0], cuts[-1]), abs=0.03)
    observed = abs(other - one)
    assert difference.tests["randomization"] == pytest.approx(
        mean(abs(s) >= observed - 1e-9 for s in swapped), abs=0.03
    )
    center = mean(drawn)
    assert difference.tests["bootstrap"] == pytest.approx(mean(abs(d - center) >= observed for d in drawn), abs=0.03)


SENTENCES = st.integers(1, 4).flatmap(lambda n: st.tuples(st.integers(0, 2 * n).map(lambda k: k / 2), st.just(n)))
UNITS = st.lists(SENTENCES, min_size=1, max_size=20)


@settings(derandomize=True, max_examples=30)
@given(UNITS)
def test_intervals_are_within_0_and_1_and_hold_extremes(values: list[tuple[float, int]]) -> None:
    low, high = score_interval(units(values), Resampling(samples=200))
    assert 0 <= low <= high <= 1
    ratios = [s / n for s, n in values]
    assert min(ratios) - 1e-9 <= low
    assert high <= max(ratios) + 1e-9


@settings(derandomize=True, max_examples=30)
@given(UNITS, st.randoms(use_true_random=False))
def test_the_difference_turns_with_the_systems(values: list[tuple[float, int]], rng: random.Random) -> None:
    first = units(values)
    second = {k: (rng.randint(0, n) * 1.0, n) for k, (_, n) in first.items()}
    one = score_difference(first, second, Resampling(samples=200, trials=10_000))
    other = score_difference(second, first, Resampling(samples=200, trials=10_000))
    assert one.delta == pytest.approx(-other.delta)
    assert one.tests["randomization"] == pytest.approx(other.tests["randomization"], abs=0.03)
    # the order of sentences is of no matter
    turned = score_difference(dict(reversed(first.items())), second, Resampling(samples=200, trials=10_000))
    assert turned == one


@pytest.mark.parametrize("wrong", [{"confidence": 1.0}, {"samples": 0}, {"trials": 0}])
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(AnaphoraError, match="confidence must be between 0 and 1"):
        Resampling(**wrong)  # type: ignore[arg-type]
    with pytest.raises(AnaphoraError, match=r"unknown test 'mcnemar'\. Known: bootstrap, randomization"):
        Resampling(test="mcnemar")


# A result of APT: scores in all and by pronoun, the JSON of the contract, systems against each other, details.

GROUPS = ("it", "it", "they", "it", "they", "it")
FOUND = {1: "il", 2: "ce", 3: "elle", 4: "", 5: "il", 6: ""}  # by case; the reference has il, or nothing in 5 and 6


def outcome(name: str, cases: Sequence[int]) -> Outcome:
    """Two pronouns per sentence."""
    triples = []
    for k, (case, group) in enumerate(zip(cases, GROUPS, strict=True)):
        reference = Side((k,), ("il",)) if case < 5 else Side()
        candidate = Side((k + 1,), (FOUND[case],), rescued=k == 0) if FOUND[case] else Side()
        triples.append(Triple(k // 2, Side((k,), (group,)), reference, candidate, case))
    return Outcome(name, triples, GROUPS, Confusion(("il",), ((1,),)))


def result(*outcomes: Outcome, weighting: Weighting | None = None, by_pronoun: bool = False) -> AptResult:
    return make_result(
        outcomes,
        languages="en-fr",
        variant="paper",
        weighting=weighting or Weighting(),
        sampling=Resampling(samples=200, trials=500),
        signature="apt|l:en-fr",
        by_pronoun=by_pronoun,
    )


FIRST = outcome("a", [1, 2, 3, 4, 5, 6])
SECOND = outcome("b", [1, 1, 1, 4, 5, 1])


def test_scores_by_hand() -> None:
    (system,) = result(FIRST).systems
    assert system.score.cases == (1, 1, 1, 1, 1, 1)
    assert (system.score.apt, system.score.total) == (pytest.approx(1.5 / 6), 6)
    assert list(system.pronouns) == ["it", "they"]  # the more frequent first
    assert system.pronouns["it"].cases == (1, 1, 0, 1, 0, 1)
    assert system.pronouns["it"].apt == pytest.approx(1.5 / 4)
    assert system.pronouns["they"].apt == 0
    assert system.rescued == (0, 1)
    low, high = system.score.interval
    assert low < 0.25 < high


def test_discarded_cases_are_counted_but_not_scored() -> None:
    (system,) = result(FIRST, weighting=Weighting(discarded=(5, 6))).systems
    assert system.score.cases == (1, 1, 1, 1, 1, 1)
    assert (system.score.apt, system.score.total) == (pytest.approx(1.5 / 4), 4)


def test_one_system_is_the_document_and_is_listed() -> None:
    document = result(FIRST, weighting=Weighting(discarded=(6,))).to_dict()
    assert {key: document[key] for key in ("apt", "cases", "weights", "discarded", "signature")} == {
        "apt": pytest.approx(0.3),
        "cases": [1, 1, 1, 1, 1, 1],
        "weights": [1.0, 0.5, 0.0, 0.0, 0.0, 0.0],
        "discarded": [6],
        "signature": "apt|l:en-fr",
    }
    (listed,) = document["systems"].values()
    assert listed == {key: document[key] for key in listed}
    assert document["rescued"] == {"reference": 0, "candidate": 1}
    assert document["confusion"] == {"labels": ["il"], "counts": [[1]]}
    assert document["pronouns"]["they"]["cases"] == [0, 0, 1, 0, 1, 0]
    assert document["pairs"] == []
    json.dumps(document, allow_nan=False)


def test_several_systems_are_listed_and_compared() -> None:
    document = result(FIRST, SECOND).to_dict()
    assert (document["system"], document["apt"]) == ("a", pytest.approx(1.5 / 6))  # the first one
    assert list(document["systems"]) == ["a", "b"]
    assert document["systems"]["b"]["apt"] == pytest.approx(4 / 6)
    (pair,) = document["pairs"]
    assert pair["systems"] == ["a", "b"]
    assert pair["delta"] == pytest.approx(2.5 / 6)
    assert pair["gained"] == ["0:1", "1:2", "2:5"]
    assert pair["lost"] == []
    assert set(pair["tests"]) == {"randomization", "bootstrap"}
    assert pair["breakdowns"] == {}


def test_p_values_are_corrected_over_pairs_and_pronouns() -> None:
    actual = result(FIRST, SECOND, outcome("c", [3, 1, 1, 1, 3, 3]), by_pronoun=True)
    assert [(pair.first, pair.second) for pair in actual.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [pair.overall.p_adjusted for pair in actual.pairs] == holm([pair.overall.p_value for pair in actual.pairs])
    parts = [pair.breakdowns["pronoun"][group] for pair in actual.pairs for group in ("it", "they")]
    assert [part.p_adjusted for part in parts] == holm([part.p_value for part in parts])
    assert parts[0].total == 4
    assert parts[0].delta == pytest.approx(3 / 4 - 1.5 / 4)


def test_one_row_per_pronoun() -> None:
    rows = list(result(FIRST, SECOND).details())
    assert len(rows) == 12
    first = dict(zip(DETAILS, rows[0], strict=True))
    assert first == {
        "system": "a",
        "sentence": "0",
        "position": "0",
        "source": "it",
        "reference_position": "0",
        "reference": "il",
        "reference_found": "aligned",
        "candidate_position": "1",
        "candidate": "il",
        "candidate_found": "rescued",
        "case": "1",
    }
    neither = dict(zip(DETAILS, rows[5], strict=True))
    assert (neither["reference"], neither["candidate_position"], neither["candidate_found"]) == ("", "", "")
    assert rows[6][0] == "b"


def test_without_pronouns_there_is_no_score() -> None:
    nothing = Outcome("a", [], [], Confusion((), ()))
    document = result(nothing).to_dict()
    assert (document["apt"], document["interval"], document["total"]) == (None, [0.0, 1.0], 0)


def test_it_prints_its_tables() -> None:
    assert "APT en→fr · paper" in str(result(FIRST, SECOND))
    assert "a → b" in str(result(FIRST, SECOND))


# Verdicts of annotators, which count in place of a case.


def judged_outcome(name: str, cases: Sequence[int], verdicts: Sequence[str]) -> Outcome:
    triples = [Triple(k, Side((0,), ("it",)), Side(), Side(), case) for k, case in enumerate(cases)]
    return Outcome(name, triples, ["it"] * len(cases), Confusion((), ()), verdicts=verdicts)


def judged_result(*outcomes: Outcome, **weighting: tuple[int, ...]) -> AptResult:
    settings = {"languages": "en-fr", "variant": "paper", "sampling": SAMPLING, "signature": "apt"}
    return make_result(outcomes, weighting=Weighting(**weighting), **settings)  # type: ignore[arg-type]


def test_verdicts_count_in_place_of_cases() -> None:
    cases = [1, 2, 3, 3, 4, 5, 6, 3]
    verdicts = ["", "", "right", "wrong", "right", "", "unclear", ""]
    document = judged_result(judged_outcome("a", cases, verdicts)).to_dict()
    assert document["apt"] == pytest.approx((1 + 0.5 + 1 + 1) / 8)
    assert document["total"] == 8
    assert document["cases"] == [1, 1, 1, 0, 1, 0]  # those that the cases decide
    assert document["people"] == {"right": 2, "wrong": 1, "unclear": 1}
    # the program decides cases 1 to 3; nobody judged case 5, and case 6 is unclear
    assert (document["judged_by_machine"], document["judged_by_people"], document["not_judged"]) == (3, 3, 2)
    assert document["share_judged_by_people"] == pytest.approx(3 / 8)
    assert document["pronouns"]["it"]["people"] == document["people"]
    plain = judged_result(judged_outcome("a", cases, ())).to_dict()
    assert plain["cases"] == [1, 1, 3, 1, 1, 1]
    assert "people" not in plain
    assert "judged_by_machine" not in plain


def test_a_verdict_counts_even_where_its_case_is_discarded() -> None:
    outcome = judged_outcome("a", [1, 5, 5, 6], ["", "wrong", "", ""])
    document = judged_result(outcome, discarded=(5, 6)).to_dict()
    assert (document["apt"], document["total"]) == (0.5, 2)


def test_systems_are_compared_with_the_verdicts() -> None:
    cases = [1, 3, 3, 1] * 10
    first = judged_outcome("a", cases, ["", "right", "", ""] * 10)
    second = judged_outcome("b", cases, ["", "", "right", "wrong"] * 10)
    (pair,) = judged_result(first, second).pairs
    assert (pair.overall.first, pair.overall.second) == (0.75, 0.5)
    assert (len(pair.gained), len(pair.lost)) == (10, 20)
    low, high = judged_result(first, second).systems[0].score.interval
    assert low < 0.75 < high
