"""One example, one decision: right only if the gold is strictly better than every other candidate (ContraPro §3.2)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.evaluation.decision import Decision, decide, per_token, unit_of
from anaphora.systems.scored import Scored

FIXED = settings(derandomize=True, deadline=None)


def scored(*scores: float, gold: int | None = 0, tokens: list[int] | None = None) -> Scored:
    return Scored("7", gold, {}, list(scores), tokens)


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
def test_higher_is_better(item: Scored, decision: Decision) -> None:
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
def test_lower_is_better_when_told(item: Scored, decision: Decision) -> None:
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
    item = Scored("7", 0, {"document": "a.de", "spans": [1, 2]}, [1.0, 2.0])
    assert unit_of(item, None) is None
    assert unit_of(item, "document") == "a.de"
    for tag in ("spans", "missing"):
        with pytest.raises(AnaphoraError, match=f"example 7 has no single value of the tag '{tag}'"):
            unit_of(item, tag)
