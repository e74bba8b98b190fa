"""Capitals, apostrophes and spaces where they belong; every character knows the place in the plain text it is from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.measure.items import plain_text
from anaphora.measure.restoring import learn_names, restored

WORDS = st.sampled_from(["i", "it", "he", "s", "t", "don", "re", "the", ".", "?", "!", "3.5", "özil", "munich", "'"])


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("", ""),
        ("it", "It."),
        ("i don t know . it was jenner s", "I don't know. It was jenner's."),
        ("they re here ! and i m not ?", "They're here! And I'm not?"),
        ("he has 3.5 t of it .", "He has 3.5 t of it."),  # no t of a negation
        ("s is a letter . s too", "S is a letter. S too."),  # there is no word that a clitic could belong to
        ("  he   said ", "He said."),
    ],
)
def test_sentences(plain: str, expected: str) -> None:
    assert restored(plain)[0] == expected


def test_names_are_written_as_elsewhere() -> None:
    assert restored("the bbc in munich .", {"munich": "Munich", "bbc": "BBC"})[0] == "The BBC in Munich."


def test_an_open_end_can_stay_open() -> None:
    assert restored("he said", close=False)[0] == "He said"


def test_places_of_what_was_put_in() -> None:
    text, places = restored("i don t")
    assert text == "I don't."
    assert places == [0, 2, 2, 3, 4, 6, 6, 6]  # the space belongs to what follows it, the apostrophe and the end to t


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_every_character_has_its_place(plain: str) -> None:
    text, places = restored(plain, {"munich": "Munich"})
    assert len(text) == len(places)
    assert places == sorted(places)
    for character, place in zip(text, places, strict=True):
        assert character in " '." or character.lower() == plain[place]


@given(st.lists(WORDS.filter(lambda word: word != "'"), max_size=12).map(" ".join))
def test_made_plain_again_it_is_the_same(plain: str) -> None:
    assert plain_text(restored(plain, close=False)[0]) == plain_text(plain)


def test_learning_names() -> None:
    lines = ["The Munich of May.", "We saw Munich. May I?", "you may go, may you", 'He said: "They go."', "In US terms"]
    assert learn_names(lines) == {"munich": "Munich", "us": "US", "i": "I"}  # what begins a sentence says nothing
