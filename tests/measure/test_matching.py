"""The alignment of two translations: equal words, pronouns for pronouns, never crossing."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from anaphora.measure.matching import match

PRONOUNS = frozenset({"he", "she", "it"})
SENTENCES = st.lists(st.sampled_from(["he", "she", "it", "was", "old", "and", "."]), max_size=9)


def test_a_pronoun_stands_for_another() -> None:
    links = match(["and", "he", "was", "old"], ["and", "she", "was", "very", "old"], PRONOUNS)
    assert links == [(0, 0), (1, 1), (2, 2), (3, 4)]


def test_a_pronoun_does_not_stand_for_another_word() -> None:
    assert match(["he", "slept"], ["John", "slept"], PRONOUNS) == [(0, 0), (1, 1)]
    assert match(["he", "slept"], ["well", "slept", "she"], PRONOUNS) == [(0, 0), (1, 1)]


def test_equal_words_go_before_pronoun_pairs() -> None:
    links = match(["he", "saw", "it"], ["it", "saw"], PRONOUNS)
    assert (1, 1) in links


@given(SENTENCES, SENTENCES)
def test_links_are_monotone_and_within_the_texts(one: list[str], other: list[str]) -> None:
    links = match(one, other, PRONOUNS)
    assert all(0 <= i < len(one) and 0 <= j < len(other) for i, j in links)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(links))


@given(SENTENCES)
def test_a_text_is_itself(words: list[str]) -> None:
    assert match(words, words, PRONOUNS) == [(n, n) for n in range(len(words))]


@given(SENTENCES, SENTENCES)
def test_the_order_of_the_texts_does_not_change_the_cost(one: list[str], other: list[str]) -> None:
    def cost(a: list[str], b: list[str]) -> float:
        links = match(a, b, PRONOUNS)
        pairs = sum(0.0 if a[i] == b[j] else 0.7 if {a[i], b[j]} <= PRONOUNS else 1.1 for i, j in links)
        return pairs + 0.6 * (len(a) + len(b) - 2 * len(links))

    assert abs(cost(one, other) - cost(other, one)) < 1e-9
