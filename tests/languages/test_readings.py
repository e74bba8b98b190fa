"""Error classes of pronouns: the paper's examples, ambiguous forms, and files of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.readings import CLASSES, OTHER, known_languages, load_readings


@pytest.mark.parametrize(
    ("reference", "system", "expected"),
    [
        ("he", "it", "gender"),  # the examples of Jwalapuram et al. 2019, §3.2
        ("she", "it", "gender"),
        ("they", "it", "number"),
        ("who", "which", "animacy"),
        ("he", "him", "role"),
        ("i", "we", "number"),
        ("his", "it", "gender"),  # also the role; gender comes first
        ("this", "these", "number"),
        ("it", "that", "other"),  # a demonstrative
        ("he", "i", "other"),  # another person
        ("who", "that", "other"),  # they do not differ in anything that is known
        ("her", "his", "gender"),  # her is also an object, but his is not
        ("her", "she", "role"),
        ("you", "your", "role"),
    ],
)
def test_classes_of_errors(reference: str, system: str, expected: str) -> None:
    assert load_readings("en").error_class(reference, system) == expected


def test_what_differs_is_said() -> None:
    english = load_readings("en")
    assert english.differ_in("his", "it") == ("gender", "role")
    assert english.differ_in("you", "we") == ("person",)


def test_english_has_the_pronouns_of_the_paper() -> None:
    assert len(load_readings("en").pronouns) == 42


def test_a_form_with_several_readings_takes_the_nearest() -> None:
    german = load_readings("de")
    assert german.error_class("er", "sie") == "gender"
    assert german.error_class("ihren", "sie") == "role"  # of both the feminine or the plural
    assert german.error_class("ihnen", "sie") == "other"  # both can be the object in the plural
    assert load_readings("fr").error_class("il", "elle") == "gender"


@pytest.mark.parametrize("language", known_languages())
def test_every_two_pronouns_have_a_class(language: str) -> None:
    readings = load_readings(language)
    found = {readings.error_class(a, b) for a in readings.pronouns for b in readings.pronouns if a != b}
    assert found <= {*CLASSES, OTHER}
    assert {"gender", "number"} <= found
    assert all(readings.differ_in(word, word) == () for word in readings.pronouns)


def test_a_list_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "nl.toml"
    path.write_text('capital = []\n[readings]\nHij = ["3 sg m subject"]\nzij = ["3 sg f subject"]\n')
    assert load_readings("nl", path).error_class("hij", "zij") == "gender"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("x = ", "not TOML"),
        ("[other]\n", "no table [readings]"),
        ('[readings]\nhe = "3 sg"\n', "he: a list of readings is expected"),
        ('[readings]\nhe = ["3 singular"]\n', "he: unknown 'singular'"),
    ],
)
def test_a_broken_list_is_an_error(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "nl.toml"
    path.write_text(content)
    with pytest.raises(BadInput) as error:
        load_readings("nl", path)
    assert problem in str(error.value)
    assert str(path) in str(error.value)


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(AnaphoraError, match=r"no list of pronouns for language 'xx'\. There are lists for de, en, fr"):
        load_readings("xx")
