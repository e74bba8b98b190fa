"""Passages as the model reads them: words, pronouns of the last sentence, the three settings of context."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.languages.readings import load_readings
from anaphora.measure.config import Model
from anaphora.measure.items import candidate_texts, pairs_of, plain_text, text_of
from anaphora.suites.example import Example

ENGLISH = load_readings("en")
PAIR = Example("x", ("", "", ""), (("R2.", "R1.", "He left."), ("S2.", "S1.", "It left.")), 0, {"kind": "system"})


def test_pronouns_are_those_of_the_current_sentence() -> None:
    text = text_of(("", "She came.", "He saw her and I."), ENGLISH)
    assert text.whole == "She came. He saw her and I."
    assert text.begin == 3
    assert [text.words[n] for n in text.pronouns] == ["he", "her", "i"]
    assert [text.whole[start:end] for start, end in text.spans][3:5] == ["He", "saw"]


def test_sentences_of_one_token_and_of_none() -> None:
    assert text_of(("It",), ENGLISH).pronouns == (0,)
    empty = text_of(("",), ENGLISH)
    assert (empty.words, empty.pronouns, empty.whole) == ((), (), "")


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("NC", ["He left.", "It left."]),
        ("RC", ["R2. R1. He left.", "S2. S1. It left."]),
        ("CRC", ["R2. R1. He left.", "R2. R1. It left."]),
    ],
)
def test_settings_of_context(context: str, expected: list[str]) -> None:
    assert [text.whole for text in candidate_texts(PAIR, Model(context=context), ENGLISH)] == expected


def test_so_many_sentences() -> None:
    assert candidate_texts(PAIR, Model(context="RC", sentences=1), ENGLISH)[1].whole == "S1. It left."


def test_pairs_of_a_kind() -> None:
    model = Model()
    assert len(pairs_of([PAIR], model, ENGLISH)) == len(pairs_of([PAIR], model, ENGLISH, "system")) == 1
    assert pairs_of([PAIR], model, ENGLISH, "noisy") == []
    untagged = Example("y", ("",), (("It left.",), ("He left.",), ("She left.",)), 1)
    found = pairs_of([untagged], model, ENGLISH, "noisy")
    assert [(pair.better.sentence, pair.worse.sentence) for pair in found] == [
        ("He left.", "It left."),
        ("He left.", "She left."),
    ]
    with pytest.raises(AnaphoraError, match="example 'z' is no pair"):
        pairs_of([Example("z", ("",), (("a",), ("b",)), None)], model, ENGLISH)


def test_plain_text_is_as_the_annotated_pairs() -> None:
    assert plain_text("\"It's Jenner's,\" he said – at 3.5 %!") == "it s jenner s he said at 3.5 !"
    assert text_of(("He's IN.",), ENGLISH, plain=True).words == ("he", "s", "in", ".")


@given(st.text(max_size=40), st.text(max_size=40))
def test_spans_point_at_the_words(before: str, current: str) -> None:
    text = text_of((before, current), ENGLISH)
    assert len(text.spans) == len(text.words) >= text.begin
    assert all(place >= text.begin for place in text.pronouns)
    assert all(not piece.isspace() and piece for piece in (text.whole[a:b] for a, b in text.spans))


def test_texts_do_not_depend_on_how_signs_are_written() -> None:
    for written in ("He’s in.", "He&#39;s\u00a0in.", "He&amp;apos;s in."):
        for plain in (False, True):
            assert text_of((written,), ENGLISH, plain=plain) == text_of(("He's in.",), ENGLISH, plain=plain)
