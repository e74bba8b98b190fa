"""Synonyms that all resources agree on, with resources made of a few nouns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from anaphora.build.attacks.synonym_choice import OFTEN, Synonyms, Usage
from anaphora.languages.german_noun_forms import CASES, Noun
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite

GENDERS = {"Hut": "Masc", "Kappe": "Fem", "Tuch": "Neut", "Zylinder": "Masc", "Strohhut": "Fem", "Hütchen": "Neut"}


class Table:
    def noun(self, lemma: str) -> Noun | None:
        gender = GENDERS.get(lemma)
        return Noun(lemma, gender, dict.fromkeys(CASES, (lemma,))) if gender else None


class Book:
    """A thesaurus and a dictionary: senses by noun, English words by noun."""

    def __init__(self, senses: Mapping[str, Sequence[str]], words: Mapping[str, str] | None = None) -> None:
        self._senses, self._words = senses, {noun: set(text.split()) for noun, text in (words or {}).items()}

    def senses(self, noun: str) -> list[tuple[str, ...]]:
        return [tuple(sense.split()) for sense in self._senses.get(noun, ())]

    def translations(self, word: str) -> frozenset[str]:
        return frozenset(noun for noun, words in self._words.items() if word in words)

    def words(self, noun: str) -> frozenset[str]:
        return frozenset(self._words.get(noun, ()))


class Net:
    def first_sense(self, noun: str) -> tuple[str, ...]:
        return ("hat", "lid") if noun == "hat" else ()


HAT = Table().noun("Hut")
assert HAT is not None


def chosen(synonyms: Synonyms, source: str = "hat") -> list[str]:
    return [noun.lemma for noun in synonyms.of(HAT, source)]


def make(senses: Sequence[str], words: Mapping[str, str] | None = None, **more: object) -> Synonyms:
    book = Book({"Hut": senses, "Kappe": ["Hut"], "Tuch": ["Hut", "Lappen"]}, words)
    return Synonyms(Table(), book, book if words is not None else None, **more)  # type: ignore[arg-type]


def test_without_a_dictionary_both_nouns_have_one_sense() -> None:
    assert chosen(make(["Kappe Tuch"])) == ["Kappe"]
    assert chosen(make(["Kappe", "Tuch"])) == []


def test_gender_compounds_diminutives_and_unknown_nouns() -> None:
    words = dict.fromkeys([*GENDERS, "Unwort"], "hat")
    assert chosen(make(["Zylinder Strohhut Hütchen Unwort Kappe"], words)) == ["Kappe"]


def test_both_nouns_translate_the_english_one() -> None:
    senses = ["Kappe Tuch"]
    assert chosen(make(senses, {"Hut": "hat", "Kappe": "cap", "Tuch": "hat"})) == ["Tuch"]
    assert chosen(make(senses, {"Hut": "guard", "Kappe": "hat guard", "Tuch": "hat guard"})) == []


def test_or_another_word_of_its_first_sense() -> None:
    words = {"Hut": "lid top", "Kappe": "lid top"}
    assert chosen(make(["Kappe"], words)) == []
    assert chosen(make(["Kappe"], words, wordnet=Net())) == ["Kappe"]


def test_most_translations_in_common_first_and_few_are_not_enough() -> None:
    words = {"Hut": "hat a b", "Kappe": "hat c d e", "Tuch": "hat a"}
    assert chosen(make(["Kappe Tuch"], words)) == ["Tuch"]  # 1 of 6, 2 of 3
    assert chosen(make(["Kappe Tuch"], words, least=0.1)) == ["Tuch", "Kappe"]


@pytest.fixture
def text(suite: Callable[..., Suite]) -> Callable[..., Usage]:
    """The usage of a text, from pairs of sentences."""

    def usage(*pairs: tuple[str, str]) -> Usage:
        return Usage(suite(*(Example(str(k), (en,), ((de,),), 0) for k, (en, de) in enumerate(pairs))))

    return usage


def test_a_noun_that_is_used_otherwise_is_no_synonym(text: Callable[..., Usage]) -> None:
    words = {"Hut": "hat", "Kappe": "hat", "Tuch": "hat"}
    other = [(f"A cloth, {k}.", f"Da ist ein Tuch, {k}.") for k in range(OFTEN)]
    assert chosen(make(["Kappe Tuch"], words, usage=text(*other))) == ["Kappe"]
    assert chosen(make(["Kappe Tuch"], words, usage=text(*other[1:]))) == ["Tuch", "Kappe"]  # not often enough
    used = [*other, ("Two hats.", "Dann ein Tuch.")]
    assert chosen(make(["Kappe Tuch"], words, usage=text(*used))) == ["Tuch", "Kappe"]


def test_what_the_text_uses_for_the_word_may_share_less(text: Callable[..., Usage]) -> None:
    words = {"Hut": "hat a b", "Kappe": "hat c d"}
    assert chosen(make(["Kappe"], words)) == []  # 1 of 5
    assert chosen(make(["Kappe"], words, usage=text(("My hat.", "Meine Kappe.")))) == ["Kappe"]


def test_words_are_counted_once_per_pair_and_not_at_the_beginning(text: Callable[..., Usage]) -> None:
    usage = text(("My hat.", "Mein Hut."), ("My hat.", "Mein Hut."), ("Guard it.", "Hut ab."), ("No.", "Kein Hut da."))
    assert usage.counts(HAT, "hat") == (2, 1)
