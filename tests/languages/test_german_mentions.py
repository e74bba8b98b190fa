"""Words that may take up a noun: told from articles with a noun, from the verb sein, from the polite Sie."""

from __future__ import annotations

import pytest

from anaphora.languages.german_mentions import mentions, words_of


def found(text: str, gender: str, start: int = 0) -> tuple[list[str], list[str]]:
    result = mentions(text, gender, start)
    return [w.text for w in result.pronouns], [w.text for w in result.others]


@pytest.mark.parametrize(
    ("text", "gender", "pronouns", "others"),
    [
        ("Er hat ihn, und ihm gehört sein alter Mantel.", "Masc", ["Er", "ihn", "ihm", "sein"], []),
        ("Das kann nicht sein.", "Masc", [], []),
        ("Das ist seiner.", "Masc", ["seiner"], []),
        ("Ich habe sie und ihre Tür.", "Fem", ["sie", "ihre"], []),
        ("Haben Sie Ihren Mantel?", "Fem", [], []),
        ("Sie kommt.", "Fem", ["Sie"], []),
        ("Der Mann mit dem sehr alten Mantel.", "Masc", [], []),
        ("Der gefällt mir, den nehme ich.", "Masc", [], ["Der", "den"]),
        ("Der gefällt mir, den nehme ich.", "Neut", [], []),
        ("Er ist der beste.", "Masc", ["Er"], ["der"]),
        ("Ich nehme diesen, keiner ist besser.", "Masc", [], ["diesen", "keiner"]),
        ("Steig ein.", "Masc", [], []),
        ("Es ist das, was ich will.", "Neut", ["Es"], ["das"]),
    ],
)
def test_what_can_take_up_a_noun(text: str, gender: str, pronouns: list[str], others: list[str]) -> None:
    assert found(text, gender) == (pronouns, others)


def test_only_from_a_place_on() -> None:
    assert found("Er kam, er sah.", "Masc", 3) == (["er"], [])


def test_words_have_their_places() -> None:
    assert [(w.text, w.start) for w in words_of("So, 'ne E-Mail!")] == [("So", 0), ("'ne", 4), ("E-Mail", 8)]
