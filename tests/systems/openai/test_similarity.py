"""How near a candidate is to a translation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.systems.openai.similarity import normalise, similarity


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Sie ist groß.", "  sie  ist GROSS !", True),
        ("Sie ist groß.", "Sie ist groß", True),
        ("Wer, er?", "Wer er", False),
        ("e\u0301", "é", True),
        ("?", "!", False),
        ("", "", True),
    ],
)
def test_what_makes_no_other_translation(one: str, other: str, same: bool) -> None:
    assert (normalise(one) == normalise(other)) is same


def test_by_hand() -> None:
    # words: none of 1; characters: 1 of 2, 0 of 1, so that precision = recall = F = 1/4, which counts a tenth
    assert similarity("ab", "ac") == pytest.approx(0.1 / 4)
    # words: 1 of 1, of 2: precision 1, recall 1/2; characters: 2 of 2, of 4, and 1 of 1, of 3: recall (1/2 + 1/3) / 2
    words, characters = (5 * r / (4 + r) for r in (1 / 2, 5 / 12))
    assert similarity("ab", "ab cd") == pytest.approx(0.9 * words + 0.1 * characters)


def test_a_pronoun_counts_as_a_word() -> None:
    translation = "dieser alte schrank aber war es nicht"
    assert similarity(translation, "es war alt") > similarity(translation, "er war alt")


@given(st.text(), st.text())
def test_between_nothing_and_one(one: str, other: str) -> None:
    assert 0.0 <= similarity(one, other) <= 1.0 + 1e-12
    assert similarity(one, one) == pytest.approx(1.0 if one.strip() else 0.0)
