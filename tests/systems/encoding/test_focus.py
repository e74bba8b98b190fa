"""Focus: which tokens of a candidate are predicted, and which are only read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anaphora.scoring.tree import EncodedExample
from anaphora.suites.example import Example
from anaphora.systems.context import Context
from anaphora.systems.encoding.focus import context_question, current, focused, pronoun

SEQUENCES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple), min_size=2, max_size=4)


def test_the_context_is_read_and_the_current_sentence_predicted() -> None:
    whole = EncodedExample((9,), (0,), ((5, 6, 7, 1), (5, 6, 8, 1)))
    before = EncodedExample((9,), (0,), ((5, 6, 1),))  # 1 ends a sentence
    assert current(whole, before) == EncodedExample((9,), (0, 5, 6), ((7, 1), (8, 1)))


def test_without_context_everything_is_predicted() -> None:
    whole = EncodedExample((9,), (0,), ((7, 1), (8, 1)))
    assert current(whole, EncodedExample((9,), (0,), ((1,),))) == whole


def test_candidates_that_differ_in_their_context_are_predicted_from_there() -> None:
    whole = EncodedExample((), (0,), ((5, 6, 7, 1), (5, 4, 7, 1)))
    assert current(whole, EncodedExample((), (0,), ((5, 6, 1),))).candidates == ((6, 7, 1), (4, 7, 1))


def test_the_pronoun_is_the_first_token_that_differs() -> None:
    whole = EncodedExample((), (0,), ((5, 6, 7, 1), (5, 8, 7, 1), (5, 9, 1)))
    assert pronoun(whole) == EncodedExample((), (0, 5), ((6,), (8,), (9,)))


@given(SEQUENCES)
def test_reading_and_predicting_together_are_the_candidate(candidates: list[tuple[int, ...]]) -> None:
    whole = EncodedExample((), (0,), tuple(candidates))
    found = pronoun(whole)
    assert all(len(c) == 1 for c in found.candidates)
    for candidate, token in zip(candidates, found.candidates, strict=True):
        assert (0, *candidate)[: len(found.prompt) + 1] == (*found.prompt, *token)


def test_the_context_alone_is_that_of_the_gold() -> None:
    example = Example("x", ("a", "b"), (("C", "d"), ("E", "f")), 1)
    assert context_question(example, Context(1)).targets == ("E",)
    assert context_question(example, Context(0)).targets == ("",)
    assert context_question(example, Context(1, target="none")).targets == ("",)


def test_nothing_changes_without_a_focus() -> None:
    whole = EncodedExample((), (0,), ((5, 1), (6, 1)))
    assert focused([whole], None, "candidate") == [whole]
