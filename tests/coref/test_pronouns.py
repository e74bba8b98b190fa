"""Which words are pronouns of the third person singular."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anaphora.annotate.document import Sentence
from anaphora.core.errors import AnaphoraError
from anaphora.coref.builtin import weights
from anaphora.coref.pronouns import (
    is_plural_pronoun,
    is_pronoun,
    is_singular_pronoun,
    language,
    pronoun_role,
)
from anaphora.languages import names_with

PLURAL, SINGULAR = "VerbForm=Fin,Number=Plur", "VerbForm=Fin,Number=Sing"


@pytest.mark.parametrize(
    ("code", "text", "index", "expected"),
    [
        ("en", "It/PRON/2/nsubj rains/VERB/0/root", 0, True),
        ("en", "its/PRON/2/nmod:poss door/NOUN/0/root", 0, True),
        ("en", "she/PRON/2/nsubj sleeps/VERB/0/root", 0, False),
        ("de", f"Sie/PRON/2/nsubj schläft/VERB/0/root/{SINGULAR}", 0, True),
        ("de", f"Sie/PRON/2/nsubj schlafen/VERB/0/root/{PLURAL}", 0, False),
        ("de", f"Haben/AUX/3/aux/{PLURAL} Sie/PRON/3/nsubj geschlafen/VERB/0/root", 1, False),
        ("de", "Ich/PRON/2/nsubj frage/VERB/0/root Sie/PRON/2/obj/Number=Sing", 2, False),  # polite
        ("de", f"„/PUNCT/3/punct Sie/PRON/3/nsubj schläft/VERB/0/root/{SINGULAR}", 1, True),  # begins a sentence
        ("de", "Ich/PRON/2/nsubj frage/VERB/0/root sie/PRON/2/obj/Number=Sing", 2, True),
        ("de", "Ich/PRON/2/nsubj frage/VERB/0/root sie/PRON/2/obj/Number=Plur", 2, False),
        ("de", "ihr/DET/2/det:poss/Poss=Yes Haus/NOUN/0/root", 0, False),
        ("de", "ihr/PRON/2/nsubj/Case=Nom schlaft/VERB/0/root", 0, False),  # you
        ("de", "mit/ADP/2/case ihr/PRON/0/root/Case=Dat", 1, True),
        ("de", "es/PRON/2/nsubj regnet/VERB/0/root", 0, True),
        ("fr", "la/DET/2/det porte/NOUN/0/root", 0, False),
        ("fr", "la/PRON/2/obj ferme/VERB/0/root", 0, True),
        ("fr", "Il/PRON/2/nsubj pleut/VERB/0/root", 0, True),
    ],
)
def test_singular_pronouns(parsed: Callable[[str], Sentence], code: str, text: str, index: int, expected: bool) -> None:
    assert is_singular_pronoun(parsed(text), index, language(code)) is expected


@pytest.mark.parametrize(
    ("code", "text", "index", "expected"),
    [
        ("en", "They/PRON/2/nsubj sleep/VERB/0/root", 0, True),
        ("en", "It/PRON/2/nsubj sleeps/VERB/0/root", 0, False),
        ("fr", "Elles/PRON/2/nsubj dorment/VERB/0/root", 0, True),
        ("fr", "les/DET/2/det portes/NOUN/0/root", 0, False),
        ("fr", "les/PRON/2/obj ferme/VERB/0/root", 0, True),
        ("de", f"sie/PRON/2/nsubj schlafen/VERB/0/root/{PLURAL}", 0, False),  # not told from the singular
        ("es", "los/PRON/2/obj veo/VERB/0/root", 0, True),
    ],
)
def test_plural_pronouns(parsed: Callable[[str], Sentence], code: str, text: str, index: int, expected: bool) -> None:
    sentence = parsed(text)
    assert is_plural_pronoun(sentence, index, language(code)) is expected
    singular = is_singular_pronoun(sentence, index, language(code))
    assert is_pronoun(sentence, index, language(code)) is (expected or singular)


def test_roles(parsed: Callable[[str], Sentence]) -> None:
    sentence = parsed("It/PRON/2/nsubj lost/VERB/0/root its/PRON/4/nmod:poss door/NOUN/2/obj")
    assert pronoun_role(sentence, 0, language("en")) == "subject"
    assert pronoun_role(sentence, 2, language("en")) == "possessive"


# Each language has its data file; all have the same shape.


@pytest.mark.parametrize("code", names_with("coref"))
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


@pytest.mark.parametrize("code", names_with("coref"))
def test_the_weights_of_a_language(code: str) -> None:
    actual = weights(code)
    assert actual["distance 0"] > actual["distance 2"] > actual["distance 4"]
    assert actual["gender fits"] > actual["gender differs"]
    assert "non-referential" in actual
    assert all(abs(weight) < 10 for weight in actual.values())


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
