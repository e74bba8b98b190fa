"""What becomes of a determiner: regular by its form, so that case and gender need not be known."""

from __future__ import annotations

import pytest

from anaphora.build.attacks.determiners import determiners_of
from anaphora.core.errors import AnaphoraError

GERMAN, ENGLISH = determiners_of("de"), determiners_of("en")


@pytest.mark.parametrize("stem", ["mein", "dein", "sein", "ihr", "unser", "euer", "eur"])
@pytest.mark.parametrize(
    ("ending", "article"), [("e", "die"), ("en", "den"), ("em", "dem"), ("er", "der"), ("es", "des")]
)
def test_a_possessive_becomes_the_definite_article_of_its_form(stem: str, ending: str, article: str) -> None:
    assert GERMAN.article(stem + ending) == article
    assert GERMAN.article((stem + ending).capitalize()) == article
    assert GERMAN.is_possessive(stem + ending)


@pytest.mark.parametrize("form", ["mein", "dein", "Ihr", "unser", "euer"])
def test_without_an_ending_it_becomes_the_indefinite_one(form: str) -> None:
    """No definite article has this form: mein alter Hut → ein alter Hut, mein altes Haus → ein altes Haus."""
    assert GERMAN.article(form) == "ein"


def test_short_forms() -> None:
    assert (GERMAN.article("unsern"), GERMAN.article("unserm"), GERMAN.article("unsre")) == ("den", "dem", "die")


@pytest.mark.parametrize("form", ["der", "Die", "einer", "eine", "diesem", "keinen", "jeder"])
def test_other_determiners_stay(form: str) -> None:
    assert form in GERMAN
    assert GERMAN.article(form) == form


def test_english() -> None:
    assert [ENGLISH.article(word) for word in ("my", "Your", "this", "a")] == ["the", "the", "this", "a"]
    assert "the" in ENGLISH
    assert "The" in ENGLISH
    for word in ("one", "dog", "only", ""):
        assert word not in ENGLISH


@pytest.mark.parametrize("word", ["Alfred", "nur", "alter", "Also", "von", "dann", "ihnen"])
def test_what_is_no_determiner(word: str) -> None:
    assert word not in GERMAN


@pytest.mark.parametrize(
    ("determiner", "adjective", "strong"),
    [  # der alte Hut, dem alten Hut, der alten Uhr, das alte Haus … after a genitive: Marias alter Hut, altem Hut …
        ("der", "alte", "alter"),
        ("Dieser", "alte", "alter"),
        ("das", "alte", "altes"),
        ("dieses", "alte", "altes"),
        ("den", "alten", "alten"),
        ("dem", "alten", "altem"),
        ("einem", "alten", "altem"),
        ("der", "alten", "alter"),
        ("meiner", "alten", "alter"),
        ("des", "alten", "alten"),
        ("eines", "alten", "alten"),
        ("die", "alte", "alte"),
        ("eine", "alte", "alte"),
        ("ein", "alter", "alter"),
        ("unser", "alter", "alter"),
        ("mein", "altes", "altes"),
        ("die", "alten", "alte"),
        ("der", "rosa", "rosa"),
        ("der", "Wutai", "Wutai"),
        ("der", "Kunde", "Kunde"),
    ],
)
def test_an_adjective_without_its_determiner_is_strong(determiner: str, adjective: str, strong: str) -> None:
    assert GERMAN.strong(determiner, adjective) == strong


def test_english_adjectives_stay() -> None:
    assert ENGLISH.strong("the", "orange") == "orange"


def test_an_unknown_language_says_which_are_known() -> None:
    with pytest.raises(AnaphoraError, match=r"the determiners of 'cs' are not known.*Known languages: de, en"):
        determiners_of("cs")
