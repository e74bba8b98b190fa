"""Pronoun lists answer what APT asks of a word: is it a pronoun, which one, is it as good as another?"""

from __future__ import annotations

import unicodedata

import pytest

from anaphora.languages.pronouns import PronounLists, normalise, pronoun_in

LISTS = PronounLists(
    "en-fr",
    pronouns=("it",),
    target=("il", "ce", "c'", "ça", "elle"),
    identical=(("ce", "c'"), ("ça", "cela")),
    equivalent=(("ce", "il"), ("c'", "ça", "on")),
    translations={"it": ("il", "ce", "lequel")},
)


@pytest.mark.parametrize("word", ["C'", "c’", "c&apos;", "C&apos;"])
def test_words_have_one_form(word: str) -> None:
    assert normalise(word) == "c'"


def test_accents_are_composed() -> None:
    assert normalise(unicodedata.normalize("NFD", "ÇA")) == "ça"


def test_identical_forms_have_the_first_as_their_name() -> None:
    assert [LISTS.canonical(word) for word in ("c'", "ce", "cela", "il")] == ["ce", "ce", "ça", "il"]


def test_equivalents_hold_in_all_forms_and_both_orders_but_not_over_a_third() -> None:
    assert LISTS.are_equivalent("c'", "il")
    assert LISTS.are_equivalent("il", "ce")
    assert LISTS.are_equivalent("cela", "c'")
    assert LISTS.are_equivalent("on", "ça")
    assert not LISTS.are_equivalent("il", "ça")
    assert not LISTS.are_equivalent("ce", "c'")  # the same, not equivalent
    assert not LISTS.are_equivalent("il", "elle")


def test_likely_translations_have_all_their_forms_and_are_pronouns() -> None:
    assert LISTS.likely("it") == {"il", "ce", "c'", "lequel"}
    assert LISTS.likely("they") is None
    assert LISTS.target_pronouns == {"il", "ce", "c'", "ça", "elle", "lequel"}


def test_a_pronoun_can_be_a_part_of_a_word() -> None:
    pronouns = frozenset({"il", "elle", "celui-ci"})
    assert pronoun_in("il", pronouns) == "il"
    assert pronoun_in("est-il", pronouns) is None
    assert pronoun_in("purifie-t-il", pronouns, "-") == "il"
    assert pronoun_in("celui-ci", pronouns, "-") == "celui-ci"
    assert pronoun_in("peut-être", pronouns, "-") is None
    assert pronoun_in("qu'il", pronouns, "-'") == "il"


def test_the_digest_is_of_the_content() -> None:
    other = PronounLists("x-y", sources=("somebody",), **{k: getattr(LISTS, k) for k in ("pronouns", "target")})
    same = PronounLists("en-fr", pronouns=LISTS.pronouns, target=LISTS.target)
    assert other.digest == same.digest
    assert same.digest != LISTS.digest
