"""Words with places, and the exchange of one pronoun with its case kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.languages.pronouns import load_readings
from anaphora.measure.words import exchanged, places, words_of

ENGLISH = load_readings("en")


def swap(text: str, old: str, new: str) -> str:
    words = words_of(text, ENGLISH)
    place = next(n for n in places(words, ENGLISH.pronouns) if words[n].text == old)
    return exchanged(text, words, place, new, ENGLISH)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("He's here.", "He", "it", "It's here."),
        ("Then he left.", "he", "It", "Then it left."),
        ("I think so.", "I", "we", "We think so."),
        ("Now I think so.", "I", "we", "Now we think so."),
        ("Now he thinks so.", "he", "i", "Now I thinks so."),
        ('Ah. "I know."', "I", "he", 'Ah. "He know."'),
        ("i know him", "him", "I", "i know i"),  # all of it is in lower case
        ("he left Rome.", "he", "it", "it left Rome."),
        ("Praise Him!", "Him", "it", "Praise It!"),
        ("I  saw\tit .", "it", "them", "I  saw\tthem ."),  # blanks stay as they are
    ],
)
def test_one_pronoun_is_exchanged_and_all_else_stays(text: str, old: str, new: str, expected: str) -> None:
    assert swap(text, old, new) == expected


def test_a_small_i_is_no_pronoun_in_ordinary_text() -> None:
    def found(text: str) -> list[str]:
        words = words_of(text, ENGLISH)
        return [words[n].text for n in places(words, ENGLISH.pronouns)]

    assert found("It, i.e. he.") == ["It", "he"]
    assert found("yes i know him") == ["i", "him"]


@given(st.text())
def test_words_are_where_they_say(text: str) -> None:
    words = words_of(text)
    assert all(text[word.start : word.end] == word.text for word in words)
    assert "".join(word.text for word in words) == "".join(text.split())
    assert [word.start for word in words] == sorted(word.start for word in words)
