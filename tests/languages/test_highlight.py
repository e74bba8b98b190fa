"""What is highlighted: the words in which two candidates differ, and a pronoun that is to be hidden."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.languages.highlight import (
    MAX_SEARCHED,
    differences,
    find_word,
    matching_blocks,
    occurrences,
    replaced_pronouns,
    segments,
)


def marked(one: str, other: str) -> tuple[list[str], list[str]]:
    spans = differences(one, other)
    return [one[a:b] for a, b in spans[0]], [other[a:b] for a, b in spans[1]]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("He was creative.", "It was creative.", (["He"], ["It"])),
        ("I will miss him dearly.", "We will miss him dearly.", (["I"], ["We"])),
        ("and she left, and she cried", "and she left, and he cried", (["she"], ["he"])),
        ("Er war alt.", "Sie war alt.", (["Er"], ["Sie"])),
        ("C'est vrai.", "Il est vrai.", (["C'"], ["Il"])),
        ("I gave it to her.", "I gave them to him.", (["it", "her"], ["them", "him"])),
        ("He himself saw.", "It saw.", (["He himself"], ["It"])),  # neighbors are one stretch
        ("the same", "the same", ([], [])),
        ("我看見他。", "我看見她。", (["我看見他"], ["我看見她"])),  # words are not divided there: better too much
    ],
)
def test_differences(one: str, other: str, expected: tuple[list[str], list[str]]) -> None:
    assert marked(one, other) == expected


def test_a_word_that_is_missing_is_shown_by_its_neighbor() -> None:
    assert marked("he saw it today", "he saw today") == (["it"], ["today"])
    assert marked("he saw it", "he saw") == (["it"], ["saw"])
    assert marked("", "he") == ([], ["he"])


@pytest.mark.parametrize(
    ("one", "other", "pair"),
    [
        ("He was here.", "It was here.", ("he", "it")),
        ("C’est vrai.", "Il est vrai.", ("c'", "il")),
        ("He himself saw.", "It saw.", None),
        ("I gave it to her.", "I gave them to him.", None),
    ],
)
def test_the_pair_of_pronouns(one: str, other: str, pair: tuple[str, str] | None) -> None:
    assert replaced_pronouns(one, other) == pair


@pytest.mark.parametrize(
    ("pronoun", "sentence", "actual"),
    [
        ("il", "Il dit qu'il mange son filet, dit-il.", ["Il", "il", "il"]),
        ("c'", "C’est lui, et c'est moi.", ["C’", "c'"]),
        ("'s", "Wie geht's dir?", ["'s"]),
        ("es", "Des Esels Reste", []),
        (".*", "a.*b", []),
    ],
)
def test_occurrences(pronoun: str, sentence: str, actual: list[str]) -> None:
    assert [sentence[a:b] for a, b in occurrences(pronoun, sentence)] == actual


WORDS = st.lists(st.sampled_from(["he", "it", "saw", "C'", ",", "était", "<b>", "她"]), max_size=8).map(" ".join)


@given(WORDS, WORDS)
def test_the_parts_are_the_sentence(one: str, other: str) -> None:
    for sentence, spans in zip((one, other), differences(one, other), strict=True):
        parts = segments(sentence, spans)
        assert "".join(text for text, _ in parts) == sentence
        assert [text for text, mark in parts if mark] == [sentence[a:b] for a, b in spans]
    left_over = [
        " ".join("".join(text for text, mark in segments(s, spans) if not mark).split())
        for s, spans in zip((one, other), differences(one, other), strict=True)
    ]
    if len(one.split()) == len(other.split()) and not any("'" in s or "<" in s for s in (one, other)):
        words = [
            sum(mark for _, mark in segments(s, d)) for s, d in zip((one, other), differences(one, other), strict=True)
        ]
        assert (words[0] == 0) == (one.split() == other.split()), left_over


@given(st.text("ab", max_size=30), st.text("ab", max_size=30))
def test_matching_blocks_are_equal_in_both_texts_and_ordered(one: str, other: str) -> None:
    blocks = list(matching_blocks(one, other))
    assert all(one[a : a + size] == other[b : b + size] for a, b, size in blocks)
    for (a, b, size), (c, d, _) in pairwise(blocks):
        assert a + size <= c
        assert b + size <= d


def test_long_repetitive_words_are_not_compared_letter_by_letter() -> None:
    long = "1" * (2 * MAX_SEARCHED)
    assert list(matching_blocks(f"a{long}b", f"a{long.replace('1', '2')}b")) == [(0, 0, 1), (len(long) + 1,) * 2 + (1,)]
    assert find_word(f"Elle x{long} là", ["Elle", f"y{long}", "là"], 0, 0, 4) == (0, 4)
