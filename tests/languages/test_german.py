"""German pronouns by gender and case; possessives by their possessor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.languages.german import (
    FORMS,
    GENDERS,
    PRONOUNS,
    as_in,
    cases_of,
    genders_of,
    possessive,
    possessor_genders,
    pronoun,
)

ENDINGS = ["", "e", "en", "em", "er", "es", "s", "etwegen", "erseits"]


def test_the_forms() -> None:
    assert {"er", "ihn", "ihm", "sie", "ihr", "es"} == FORMS


@pytest.mark.parametrize(
    ("form", "cases"),
    [
        ("er", {"Nom"}),
        ("Ihn", {"Acc"}),
        ("ihm", {"Dat"}),
        ("ihr", {"Dat"}),
        ("sie", {"Nom", "Acc"}),
        ("es", {"Nom", "Acc"}),
    ],
)
def test_cases_by_form(form: str, cases: set[str]) -> None:
    assert cases_of(form) == cases


@pytest.mark.parametrize(
    ("form", "case", "genders"),
    [("er", "Nom", {"Masc"}), ("ihm", "Dat", {"Masc", "Neut"}), ("Sie", "Acc", {"Fem"}), ("es", "Acc", {"Neut"})],
)
def test_genders_by_form(form: str, case: str, genders: set[str]) -> None:
    assert genders_of(form, case) == genders


@given(st.sampled_from(GENDERS), st.sampled_from(["Nom", "Acc", "Dat"]))
def test_every_form_is_found_again(gender: str, case: str) -> None:
    form = pronoun(gender, case)
    assert form == PRONOUNS[gender][case]
    assert case in cases_of(form)
    assert gender in genders_of(form, case)


@pytest.mark.parametrize(
    ("form", "gender", "expected"),
    [
        ("sein", "Fem", "ihr"),
        ("seiner", "Fem", "ihrer"),
        ("Seinem", "Fem", "Ihrem"),
        ("ihren", "Masc", "seinen"),
        ("ihr", "Neut", "sein"),
        ("IHRE", "Masc", "SEINE"),
        ("seins", "Fem", "ihrs"),
        ("seinetwegen", "Fem", "ihretwegen"),
        ("seine", "Neut", "seine"),  # one for both
    ],
)
def test_possessives(form: str, gender: str, expected: str) -> None:
    assert possessive(form, gender) == expected


@given(st.sampled_from(["sein", "ihr"]), st.sampled_from(ENDINGS), st.booleans())
def test_there_and_back_again(stem: str, ending: str, capital: bool) -> None:
    form = (stem + ending).capitalize() if capital else stem + ending
    own = min(possessor_genders(form))
    for gender in GENDERS:
        assert gender in possessor_genders(possessive(form, gender))
        assert possessive(possessive(form, gender), own) == form


@pytest.mark.parametrize("word", ["seit", "ihn", "ihnen", "seinen Hund", "dessen", "", "seinnn"])
def test_what_is_no_possessive(word: str) -> None:
    assert possessor_genders(word) == set()
    with pytest.raises(ValueError, match="not a possessive"):
        possessive(word, "Fem")


@pytest.mark.parametrize(
    ("word", "like", "expected"),
    [("er", "Es", "Er"), ("er", "es", "er"), ("er", "ES", "ER"), ("er", "", "er"), ("sie", "E", "Sie")],
)
def test_capitals(word: str, like: str, expected: str) -> None:
    assert as_in(word, like) == expected
