"""An Example is one question put to a system: which of these translations fits this source in its context?"""

from __future__ import annotations

import dataclasses

import pytest

from anaphora.suites.example import Example

EXAMPLE = Example(
    id="7",
    source=("The lamp fell.", "I was startled.", "It broke."),
    candidates=(
        ("Die Lampe fiel.", "Ich erschrak.", "Sie zerbrach."),
        ("Die Lampe fiel.", "Ich erschrak.", "Er zerbrach."),
    ),
    gold=0,
    tags={"distance": 2},
)


def test_the_current_sentence_is_the_last() -> None:
    assert EXAMPLE.context_size == 2
    assert EXAMPLE.with_context(0).source == ("It broke.",)
    assert EXAMPLE.with_context(0).candidates == (("Sie zerbrach.",), ("Er zerbrach.",))


def test_less_context_takes_the_nearest_sentences_on_both_sides() -> None:
    nearer = EXAMPLE.with_context(1)
    assert nearer.source == ("I was startled.", "It broke.")
    assert nearer.candidates == (("Ich erschrak.", "Sie zerbrach."), ("Ich erschrak.", "Er zerbrach."))
    assert nearer.context_size == 1


def test_all_else_stays_the_same() -> None:
    nearer = EXAMPLE.with_context(1)
    assert (nearer.id, nearer.gold, nearer.tags) == ("7", 0, {"distance": 2})


@pytest.mark.parametrize("sentences", [2, 3, 100])
def test_more_context_than_there_is_gives_what_there_is(sentences: int) -> None:
    assert EXAMPLE.with_context(sentences) == EXAMPLE


def test_the_original_is_not_changed() -> None:
    EXAMPLE.with_context(0)
    assert EXAMPLE.context_size == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        EXAMPLE.gold = 1  # type: ignore[misc]


def test_a_prior_has_no_right_answer() -> None:
    prior = Example("p", ("It is big.",), (("Er ist groß.",), ("Sie ist groß.",)), gold=None)
    assert prior.gold is None
    assert prior.tags == {}
    assert prior.context_size == 0
