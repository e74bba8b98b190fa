"""Chains in brackets, as CorefUD and GUM write them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anaphora.annotate.document import Mention, Sentence, Token
from anaphora.annotate.entities import Entities, head_of

FLAT = Sentence(tuple(Token(word, head=None) for word in "abcdef"))


def chains(*notes: tuple[int, str]) -> list[list[tuple[int, int]]]:
    """The spans of the chains of one sentence."""
    entities = Entities()
    for token, text in notes:
        entities.note(token, text)
    entities.end_of_sentence(0, FLAT)
    return [[(m.start, m.end) for m in chain] for chain in entities.chains() or ()]


def test_what_opens_and_closes() -> None:
    assert chains((0, "(e1-person"), (1, "e1)"), (3, "(e1-person)")) == [[(0, 2), (3, 4)]]


def test_one_within_the_other() -> None:
    notes = (0, "(e1-place(e2-person)"), (2, "(e2-person"), (3, "e2)e1)"), (5, "(e1-place)")
    assert chains(*notes) == [[(0, 4), (5, 6)], [(0, 1), (2, 4)]]


def test_the_same_entity_within_itself() -> None:
    assert chains((0, "(e1-x"), (1, "(e1-x)"), (2, "e1)")) == [[(0, 3), (1, 2)]]


def test_of_a_mention_with_a_gap_the_first_part_counts() -> None:
    assert chains((0, "(e1[1/2]-x)"), (2, "(e1[2/2]-x)"), (4, "(e1-x)")) == [[(0, 1), (4, 5)]]


def test_what_is_named_once_is_no_chain() -> None:
    assert chains((0, "(e1-x)"), (1, "(e2-x)")) == []


def test_what_never_closes_is_dropped() -> None:
    assert chains((0, "(e1-x"), (1, "e9)"), (2, "(e2-x)"), (3, "(e2-x)")) == [[(2, 3), (3, 4)]]


def test_without_any_note_there_is_no_annotation() -> None:
    entities = Entities()
    entities.end_of_sentence(0, FLAT)
    assert entities.chains() is None


def test_chains_run_through_the_sentences() -> None:
    entities = Entities()
    for number in range(2):
        entities.note(number, "(e1-x)")
        entities.end_of_sentence(number, FLAT)
    assert entities.chains() == ((Mention(0, 0, 1, 0), Mention(1, 1, 2, 1)),)


@pytest.mark.parametrize(("start", "end", "head"), [(0, 3, 2), (1, 2, 1), (3, 5, 4), (3, 4, 3), (5, 6, 5)])
def test_the_head_of_a_span(parsed: Callable[[str], Sentence], start: int, end: int, head: int) -> None:
    sentence = parsed("the/DET/3/det old/ADJ/3/amod cat/NOUN/6/nsubj in/ADP/5/case rain/NOUN/6/obl slept/VERB/0/root")
    assert head_of(sentence, start, end) == head
