"""One example, one decision: right only if the gold is strictly better than every other candidate (ContraPro §3.2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.evaluation.decision import (
    Breakdown,
    Decision,
    Priors,
    check_known,
    decide,
    joint,
    keyed,
    order,
    parse,
    parse_all,
    per_token,
    repeated,
    unit_of,
)
from anaphora.runs import ScoredExample
from anaphora.stats.intervals import wilson

FIXED = settings(derandomize=True)


def scored(*scores: float, gold: int | None = 0, tokens: list[int] | None = None) -> ScoredExample:
    return ScoredExample("7", gold, {}, list(scores), tokens)


@pytest.mark.parametrize(
    ("item", "decision"),
    [
        (scored(-1.0, -2.0, -3.0), Decision(True, False, 0)),
        (scored(-2.0, -1.0, -3.0), Decision(False, False, 1)),
        (scored(-1.0, -1.0, -3.0), Decision(False, True, None)),  # a tie with the best is wrong
        (scored(-2.0, -1.0, -2.0), Decision(False, False, 1)),  # tied behind a better candidate: simply wrong
        (scored(-2.0, -1.0, -1.0), Decision(False, False, None)),  # others tie: wrong, but no tie with the gold
        (scored(-1.0, -2.0, -2.0), Decision(True, False, 0)),
        (scored(-5.0, -4.0, -3.0, -2.0, gold=3), Decision(True, False, 3)),  # 31 items of ContraPro have four
        (scored(-5.0, -4.0, -3.0, -2.0, -2.0, gold=3), Decision(False, True, None)),
        (scored(-9.0, -10.0), Decision(True, False, 0)),  # numbers, not strings
        (scored(0.0, -0.0), Decision(False, True, None)),
        (scored(1.0), Decision(True, False, 0)),
        (scored(-1.0, -2.0, gold=None), Decision(False, False, 0)),  # a prior has a choice but no right answer
        (scored(-1.0, -1.0, gold=None), Decision(False, False, None)),
    ],
)
def test_higher_is_better(item: ScoredExample, decision: Decision) -> None:
    assert decide(item) == decision


@pytest.mark.parametrize(
    ("item", "decision"),
    [
        (scored(1.0, 2.0, 3.0), Decision(True, False, 0)),
        (scored(3.0, 2.0, 1.0), Decision(False, False, 2)),
        (scored(1.0, 2.0, 1.0), Decision(False, True, None)),
        (scored(2.0, 2.0, 1.0), Decision(False, False, 2)),
        (scored(9.0, 10.0), Decision(True, False, 0)),
        (scored(2.0, 1.0, gold=None), Decision(False, False, 1)),
    ],
)
def test_lower_is_better_on_request(item: ScoredExample, decision: Decision) -> None:
    assert decide(item, minimize=True) == decision


SCORES = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.sampled_from([1e-3, 1e3, 9.0, 10.0])),
    min_size=1,
    max_size=6,
)
ITEMS = SCORES.flatmap(lambda scores: st.tuples(st.just(scores), st.integers(0, len(scores) - 1)))


@FIXED
@given(ITEMS, st.booleans())
def test_a_decision_is_what_the_definition_says(item: tuple[list[float], int], minimize: bool) -> None:
    scores, gold = item
    others = [score for k, score in enumerate(scores) if k != gold]
    right = all((scores[gold] < other) if minimize else (scores[gold] > other) for other in others)
    better = any((other < scores[gold]) if minimize else (other > scores[gold]) for other in others)
    tie = scores[gold] in others and not better  # the gold shares the best score (INTERFACE.md)
    decision = decide(scored(*scores, gold=gold), minimize=minimize)
    assert (decision.correct, decision.tie) == (right, tie)
    assert not (decision.correct and decision.tie)
    best = [k for k, s in enumerate(scores) if s == (min(scores) if minimize else max(scores))]
    assert decision.chosen == (best[0] if len(best) == 1 else None)


@FIXED
@given(ITEMS, st.floats(1e-3, 10.0), st.booleans())
def test_a_better_candidate_ends_every_tie(item: tuple[list[float], int], gap: float, minimize: bool) -> None:
    scores, gold = item
    best = min(scores) - gap if minimize else max(scores) + gap
    decision = decide(scored(*scores, best, gold=gold), minimize=minimize)
    assert decision == Decision(False, False, len(scores))


@FIXED
@given(ITEMS)
def test_lower_is_better_is_higher_is_better_of_the_negative(item: tuple[list[float], int]) -> None:
    scores, gold = item
    assert decide(scored(*scores, gold=gold), minimize=True) == decide(scored(*[-s for s in scores], gold=gold))


def test_scores_per_token_can_turn_the_decision() -> None:
    """−6 over 6 tokens is −1 each, −4 over 2 is −2 each."""
    item = scored(-6.0, -4.0, tokens=[6, 2])
    assert not decide(item).correct
    assert decide(item, normalize="mean").correct
    assert per_token(item) == [-1.0, -2.0]
    assert decide(scored(6.0, 4.0, tokens=[6, 2]), minimize=True, normalize="mean").correct


def test_a_tie_per_token_is_a_tie() -> None:
    assert decide(scored(-6.0, -3.0, tokens=[6, 3]), normalize="mean") == Decision(False, True, None)


def test_without_token_counts_the_way_out_is_named() -> None:
    with pytest.raises(AnaphoraError, match=r"example 7: .*no token counts are known.*--normalize sum"):
        decide(scored(-6.0, -4.0), normalize="mean")
    with pytest.raises(AnaphoraError, match=r"example 7: .*a candidate has no tokens"):
        decide(scored(-6.0, -4.0, tokens=[3, 0]), normalize="mean")


def test_items_stand_alone_unless_a_tag_binds_them() -> None:
    item = ScoredExample("7", 0, {"document": "a.de", "spans": [1, 2]}, [1.0, 2.0])
    assert unit_of(item, None) is None
    assert unit_of(item, "document") == "a.de"
    for tag in ("spans", "missing"):
        with pytest.raises(AnaphoraError, match=f"example 7 has no single value of the tag '{tag}'"):
            unit_of(item, tag)


# Any tag can be a breakdown, as one writes it after --by; what cannot be one is said in a way that helps.


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("distance", [("distance", None)]),
        ("distance>3", [("distance", 3)]),
        (" distance > 3 ", [("distance", 3)]),
        ("location×reference_pronoun", [("location", None), ("reference_pronoun", None)]),
        ("location*reference_pronoun", [("location", None), ("reference_pronoun", None)]),
        ("distance>3 × pronoun pair", [("distance", 3), ("pronoun pair", None)]),
        ("a*b×c>10", [("a", None), ("b", None), ("c", 10)]),
    ],
)
def test_a_breakdown_is_a_tag_a_limit_and_crosses(written: str, parts: list[tuple[str, int | None]]) -> None:
    assert parse(written) == Breakdown(tuple(parts))


@pytest.mark.parametrize("written", ["", " ", "×", "a×", "*b", "a**b", "a>", "a>x", ">3", "a>3>4", "a>-1"])
def test_what_is_not_a_breakdown_is_reported_with_an_example(written: str) -> None:
    with pytest.raises(AnaphoraError, match=r"not a breakdown: .*tag>3 to merge") as error:
        parse(written)
    assert repr(written) in str(error.value)


def test_the_name_leaves_limits_out_and_the_spec_keeps_them() -> None:
    breakdown = parse("distance>3*reference_pronoun")
    assert breakdown.name == "distance×reference_pronoun"
    assert breakdown.spec == "distance>3×reference_pronoun"
    assert parse(breakdown.spec) == breakdown


def test_breakdowns_that_would_share_a_name_keep_their_limits() -> None:
    """Asked for both, the whole distances must not be lost behind the merged ones."""
    assert list(parse_all(["distance", "distance>3", "location"])) == ["distance", "distance>3", "location"]
    assert list(parse_all(["distance>3", "location"])) == ["distance", "location"]
    assert list(parse_all(["a*b", "a×b", "c", "c"])) == ["a×b", "c"]


@pytest.mark.parametrize(
    ("written", "tags", "group"),
    [
        ("distance>3", {"distance": 3}, "3"),
        ("distance>3", {"distance": 4}, ">3"),
        ("distance>3", {"distance": 3.5}, ">3"),
        ("distance>3", {"distance": 0}, "0"),
        ("distance", {"distance": 17}, "17"),
        ("distance>3", {"distance": "unknown"}, "unknown"),  # a word is not larger than a number
        ("distance>0", {"distance": True}, "yes"),  # and neither is yes
        ("attacked", {"attacked": False}, "no"),
        ("distance>3×location", {"distance": 9, "location": "external"}, ">3×external"),
        ("distance>3×location", {"distance": 9}, None),
        ("location", {"location": None}, None),
        ("location", {}, None),
        ("location", {"location": ""}, ""),
    ],
)
def test_an_example_falls_in_the_group_of_its_values(written: str, tags: dict[str, Any], group: str | None) -> None:
    breakdown = parse(written)
    assert breakdown.group(keyed(breakdown, tags)) == group


def test_groups_come_in_the_order_people_read() -> None:
    """Numbers by value, what is merged behind them, then words; crosses part by part."""
    groups = ["er", ">3", "10", "2", "0", "sie", "-1", "0.5", ">10", "3"]
    assert sorted(groups, key=order) == ["-1", "0", "0.5", "2", "3", ">3", "10", ">10", "er", "sie"]
    crossed = ["10×er", "2×sie", ">3×er", "2×er", "no×1", "0×es"]
    assert sorted(crossed, key=order) == ["0×es", "2×er", "2×sie", ">3×er", "10×er", "no×1"]


def test_words_that_python_takes_for_numbers_are_words() -> None:
    """Not a number compares with nothing: the bread called nan would leave the groups in any order."""
    groups = ["nan", "2", "apple", "infinity", "1", "zebra"]
    assert sorted(groups, key=order) == ["1", "2", "apple", "infinity", "nan", "zebra"]


@pytest.mark.parametrize("value", [["er", "sie"], [], {"start": 1}])
def test_a_tag_with_several_values_cannot_be_a_breakdown(value: Any) -> None:
    with pytest.raises(AnaphoraError, match="the tag 'spans' has several values"):
        keyed(parse("location×spans"), {"location": "external", "spans": value})


def test_a_tag_of_no_example_is_an_error() -> None:
    known = {"distance", "location", "reference_pronoun"}
    check_known([parse("distance>3×location")], known)
    with pytest.raises(AnaphoraError) as error:
        check_known([parse("location×referencepronoun")], known)
    assert str(error.value) == (
        "no example has the tag 'referencepronoun' (did you mean reference_pronoun?). "
        "Tags of this suite: distance, location, reference_pronoun"
    )
    with pytest.raises(AnaphoraError, match="Tags of this suite: none"):
        check_known([parse("anything")], set())


def test_the_joint_breakdown_has_every_tag_once() -> None:
    breakdowns = [parse("distance>3"), parse("location×distance"), parse("pronoun>2")]
    assert joint(breakdowns).parts == (("distance", None), ("location", None), ("pronoun", None))
    assert joint([]).parts == ()


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([("er", "it:er"), ("sie", "it:sie")], {"b": "a"}),
        ([("er", "it:er"), ("sie", "it:er")], {}),  # coarser
        ([("er", "it:er"), ("er", "they:er")], {}),  # finer
        ([("er", "x"), (None, None)], {"b": "a"}),  # neither has a value for the second
        ([("er", "x"), ("sie", None)], {}),  # an item that is shown in one of them only
        ([("er", None), ("sie", None)], {}),  # nothing is in it, and so nothing twice
    ],
)
def test_a_breakdown_repeats_another_with_the_same_groups(
    groups: list[tuple[str | None, str | None]], expected: dict[str, str]
) -> None:
    assert repeated(["a", "b"], groups) == expected


# Templates without a right answer: what a system chooses when nothing tells, as in ContraCAT's Tables 10–12.

ROLE = {"template": "prior/role", "choices": ["subject", "object", "neither"]}
VERB = {"template": "prior/verb", "choices": ["masculine", "feminine", "neuter"]}


def shares(priors: Priors, template: str) -> dict[str, tuple[int, int]]:
    """The count and total of each choice."""
    return {choice: (figure.correct, figure.total) for choice, figure in priors.figures(0.95)[template].items()}


def test_role_is_subject_object_or_neither() -> None:
    """Table 10, whose shares need not add up to 100 %: the rest is neither."""
    priors = Priors()
    for chosen in [1, 1, 1, 0, 2]:
        priors.add(ROLE, chosen)
    priors.add({**ROLE, "choices": ["neither", "object", "subject"]}, 2)  # what a candidate means is the item's own
    assert shares(priors, "prior/role") == {"object": (3, 6), "subject": (2, 6), "neither": (1, 6)}


def test_verb_is_one_of_three_genders() -> None:
    """Table 12."""
    priors = Priors()
    for chosen in [2, 2, 2, 0]:
        priors.add(VERB, chosen)
    assert shares(priors, "prior/verb") == {"neuter": (3, 4), "masculine": (1, 4)}


# a masculine and a feminine noun, in both orders: candidates are er, sie, es
ONE_ORDER = {"template": "prior/position", "pair": "dog cat", "choices": ["first", "second", "neither"]}
OTHER_ORDER = {"template": "prior/position", "pair": "dog cat", "choices": ["second", "first", "neither"]}


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        (0, 1, "first"),  # er for "the dog and the cat", sie for "the cat and the dog"
        (1, 0, "second"),
        (0, 0, "same antecedent"),  # er in both orders: the dog, wherever it stands
        (1, 1, "same antecedent"),
        (2, 2, "neither"),
        (0, 2, "neither"),
        (2, 1, "neither"),
        (None, 0, "tie"),
        (2, None, "tie"),
    ],
)
def test_position_is_counted_over_both_orders(one: int | None, other: int | None, together: str) -> None:
    """Table 11: two items, one count; it does not matter which of them comes first."""
    for items in ([(ONE_ORDER, one), (OTHER_ORDER, other)], [(OTHER_ORDER, other), (ONE_ORDER, one)]):
        priors = Priors()
        for tags, chosen in items:
            priors.add(tags, chosen)
        assert shares(priors, "prior/position") == {together: (1, 1)}


def test_half_a_pair_is_not_counted() -> None:
    priors = Priors()
    priors.add(ONE_ORDER, 0)
    priors.add({**ONE_ORDER, "pair": "horse cow"}, 0)
    priors.add({**ONE_ORDER, "pair": "goat sheep"}, 0)
    priors.add({**OTHER_ORDER, "pair": "horse cow"}, 0)
    priors.add(OTHER_ORDER, 1)
    assert shares(priors, "prior/position") == {"same antecedent": (1, 2), "first": (1, 2)}
    assert priors.unpaired() == {"prior/position": 1}


def test_the_same_pair_again_is_a_new_pair() -> None:
    priors = Priors()
    for tags, chosen in [(ONE_ORDER, 0), (OTHER_ORDER, 1), (ONE_ORDER, 1), (OTHER_ORDER, 0)]:
        priors.add(tags, chosen)
    assert shares(priors, "prior/position") == {"first": (1, 2), "second": (1, 2)}


def test_a_tie_is_a_choice_of_its_own() -> None:
    priors = Priors()
    priors.add(VERB, None)
    priors.add(VERB, 1)
    priors.add(VERB, None)
    assert shares(priors, "prior/verb") == {"tie": (2, 3), "feminine": (1, 3)}


def test_templates_are_separate_with_the_most_frequent_choice_first() -> None:
    priors = Priors()
    priors.add(VERB, 1)
    priors.add(ROLE, 2)
    priors.add(ROLE, 0)
    priors.add(ROLE, 0)
    figures = priors.figures(0.9)
    assert {template: list(choices) for template, choices in figures.items()} == {
        "prior/role": ["subject", "neither"],
        "prior/verb": ["feminine"],
    }
    assert figures["prior/role"]["subject"].interval == wilson(2, 3, 0.9)


def test_without_tags_candidates_are_counted_by_their_number() -> None:
    priors = Priors()
    priors.add({}, 1)
    priors.add({}, 0)
    priors.add({}, 1)
    assert shares(priors, "all") == {"candidate 2": (2, 3), "candidate 1": (1, 3)}
