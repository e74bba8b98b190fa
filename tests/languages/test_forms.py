"""Forms of one gender and number, whatever their case."""

from __future__ import annotations

import pytest

from anaphora.languages.forms import addressed, known_languages, polite_forms, pronoun_forms, same_class


def of(word: str, *others: str, language: str = "de") -> set[str]:
    return set(same_class(word, frozenset(others), pronoun_forms(language)))


def test_case_does_not_matter() -> None:
    assert of("er", "sie", "es") == of("ihn", "sie", "es") == {"er", "ihn", "ihm"}
    assert of("es", "er", "sie") == {"es", "'s", "ihm"}


def test_one_word_for_two_numbers_takes_that_of_the_others() -> None:
    assert of("sie", "er", "es") == {"sie", "ihr"}
    assert of("sie") == {"sie", "ihr", "ihnen"}
    assert of("les", "il", language="fr") >= {"ils", "elles"}
    assert of("elle", "il", language="fr") == {"elle", "la", "l'", "lui", "celle-ci", "celle-là"}


def test_a_word_that_is_no_pronoun_stands_for_itself() -> None:
    assert of("Haus") == {"Haus"}


def test_languages() -> None:
    assert known_languages() == ["de", "en", "es", "fr"]
    assert pronoun_forms("de-AT") is not None
    assert not pronoun_forms("xx")


@pytest.mark.parametrize("language", ["de", "en", "es", "fr"])
def test_files_are_in_lower_case(language: str) -> None:
    for words in pronoun_forms(language).values():
        assert words
        assert all(word == word.lower() for word in words)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Nehmen Sie es", [1]),
        ("Sie nimmt es", []),
        ("Ja . Sie nimmt es", []),
        ("Er sagt : Sie nimmt es", []),
        ("dass Sie sie Ihnen geben", [1, 3]),
        ("„ Sie nimmt es", []),
    ],
)
def test_a_capital_inside_of_a_sentence_is_polite(sentence: str, expected: list[int]) -> None:
    found = addressed(sentence.split(), polite_forms("de"))
    assert [place for place, special in enumerate(found) if special] == expected
    assert not any(addressed(sentence.split(), polite_forms("fr")))
