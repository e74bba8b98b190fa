"""Noun phrases of another gender, in all cases; expected forms are those of a grammar, written down by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.languages.german_inflection import determiner, phrases, relatives
from anaphora.languages.german_noun_forms import CASES, Noun


def noun(lemma: str, gender: str, genitive: str = "") -> Noun:
    return Noun(lemma, gender, {case: (genitive if case == "Gen" and genitive else lemma,) for case in CASES})


HAT, CAP, CLOTH = noun("Hut", "Masc", "Hutes"), noun("Kappe", "Fem"), noun("Tuch", "Neut", "Tuchs")


def changed(phrase: str, old: Noun, new: Noun, before: str = "") -> dict[str, str]:
    return {case: " ".join(words) for case, words in phrases(phrase.split(), before, old, new)}


@pytest.mark.parametrize(
    ("phrase", "old", "new", "expected"),
    [
        ("der alte Hut", HAT, CAP, {"Nom": "die alte Kappe"}),
        ("ein alter Hut", HAT, CAP, {"Nom": "eine alte Kappe"}),
        ("ein alter Hut", HAT, CLOTH, {"Nom": "ein altes Tuch"}),
        ("einen alten Hut", HAT, CLOTH, {"Acc": "ein altes Tuch"}),
        ("meinem sehr alten Hut", HAT, CAP, {"Dat": "meiner sehr alten Kappe"}),
        ("Des alten Hutes", HAT, CAP, {"Gen": "Der alten Kappe"}),
        ("die Kappe", CAP, HAT, {"Nom": "der Hut", "Acc": "den Hut"}),
        ("die Kappe", CAP, CLOTH, {"Nom": "das Tuch", "Acc": "das Tuch"}),
        ("der alten Kappe", CAP, HAT, {"Dat": "dem alten Hut", "Gen": "des alten Hutes"}),
        ("diese schöne neue Kappe", CAP, HAT, {"Nom": "dieser schöne neue Hut", "Acc": "diesen schönen neuen Hut"}),
        ("eure Kappe", CAP, HAT, {"Nom": "euer Hut", "Acc": "euren Hut"}),
        ("euer Hut", HAT, CAP, {"Nom": "eure Kappe"}),
        ("unsre Kappe", CAP, CLOTH, {"Nom": "unser Tuch", "Acc": "unser Tuch"}),
        ("'ne Kappe", CAP, HAT, {"Nom": "'n Hut", "Acc": "'nen Hut"}),
        ("Ihre Kappe", CAP, CLOTH, {"Nom": "Ihr Tuch", "Acc": "Ihr Tuch"}),
        ("das Tuch", CLOTH, HAT, {"Nom": "der Hut", "Acc": "den Hut"}),
    ],
)
def test_determiner_adjectives_and_noun(phrase: str, old: Noun, new: Noun, expected: dict[str, str]) -> None:
    assert changed(phrase, old, new) == expected


@pytest.mark.parametrize(
    ("phrase", "before", "old", "new", "expected"),
    [
        ("im alten Hut", "", HAT, CAP, {"Dat": "in der alten Kappe"}),
        ("Zur Kappe", "", CAP, HAT, {"Dat": "Zum Hut"}),
        ("zum Hut", "", HAT, CAP, {"Dat": "zur Kappe"}),
        ("vom Hut", "", HAT, CLOTH, {"Dat": "vom Tuch"}),
        ("ins Tuch", "", CLOTH, HAT, {"Acc": "in den Hut"}),
        ("der Kappe", "mit", CAP, HAT, {"Dat": "dem Hut"}),
        ("die Kappe", "für", CAP, HAT, {"Acc": "den Hut"}),
        ("die Kappe", "Auf", CAP, HAT, {"Acc": "den Hut"}),
    ],
)
def test_prepositions_tell_the_case(phrase: str, before: str, old: Noun, new: Noun, expected: dict[str, str]) -> None:
    assert changed(phrase, old, new, before) == expected


@pytest.mark.parametrize(
    "phrase",
    ["die Hut", "der alter Hut", "ein rosa Hut", "Hut Hut", "den alte Hut", "beide Hut", "der Hutes", "des Hut"],
)
def test_what_does_not_agree_gives_nothing(phrase: str) -> None:
    assert changed(phrase, HAT, CAP) == {}


@pytest.mark.parametrize("word", ["und", "sehr", "Hut", "eint", "derselbe", "mancherlei"])
def test_other_words_are_no_determiners(word: str) -> None:
    assert determiner(word) is None


@given(
    st.sampled_from(["d", "dies", "jed", "ein", "kein", "mein", "unser", "eur"]),
    st.sampled_from([HAT, CAP, CLOTH]),
    st.sampled_from([HAT, CAP, CLOTH]),
    st.sampled_from(CASES),
    st.lists(st.sampled_from(["alt", "schön", "dunkl"]), max_size=2),
)
def test_there_and_back_again(stem: str, old: Noun, new: Noun, case: str, adjectives: list[str]) -> None:
    """Whatever a phrase becomes in a case, it becomes itself again in the same case."""
    found = determiner({"d": "der", "eur": "eure"}.get(stem, stem + "e"))
    assert found is not None
    k = CASES.index(case)
    words = [found.form(old.gender, case), *(a + found.adjectives[old.gender][k] for a in adjectives)]
    phrase = [*words, old.forms[case][0]]
    there = dict(phrases(phrase, "", old, new))[case]
    assert dict(phrases(there, "", new, old))[case] == tuple(phrase)


def test_relative_pronouns() -> None:
    assert relatives("der", "Masc", "Fem") == {"die"}
    assert relatives("die", "Fem", "Masc") == {"der", "den"}
    assert relatives("Dessen", "Neut", "Fem") == {"deren"}
    assert relatives("das", "Masc", "Fem") == set()
