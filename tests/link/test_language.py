"""Each language has its data file; all have the same shape."""

from __future__ import annotations

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.link.language import known_languages, language
from anaphora.link.ranker import weights


@pytest.mark.parametrize("code", known_languages())
def test_the_data_of_a_language(code: str) -> None:
    known = language(code)
    assert known.code == code
    assert known.pronouns
    assert all(form == form.lower() for form in known.pronouns)
    assert set().union(*known.pronouns.values()) <= {"Masc", "Fem", "Neut"}
    assert known.possessives <= set(known.pronouns)
    assert known.ambiguous <= {*known.pronouns, *known.plurals}
    assert not set(known.pronouns) & set(known.plurals)
    assert language(known.like).like == known.like
    assert language(code) is known


@pytest.mark.parametrize("code", known_languages())
def test_the_weights_of_a_language(code: str) -> None:
    found = weights(code)
    assert found["distance 0"] > found["distance 2"] > found["distance 4"]
    assert found["gender fits"] > found["gender differs"]
    assert "nothing" in found
    assert all(abs(weight) < 10 for weight in found.values())


def test_a_language_without_annotated_text_has_the_weights_of_another() -> None:
    assert language("es").like == "fr"
    assert weights("es") == weights("fr") != weights("de")


def test_the_genders_of_pronouns() -> None:
    french = language("fr")
    assert french.genders("elle") == french.genders("elles") == {"Fem"}
    assert french.genders("les") == {"Masc", "Fem"}
    assert french.genders("ce") == frozenset()


def test_persons() -> None:
    english = language("en")
    assert english.is_person("woman")
    assert english.is_person("archaeologist")
    assert not english.is_person("table")
    assert not language("de").is_person("frau")  # er and sie stand for persons, too


def test_an_unknown_language() -> None:
    with pytest.raises(AnaphoraError, match=r"'ru' cannot be linked.*Known: de, en, es, fr"):
        language("ru")
