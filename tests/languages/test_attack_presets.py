"""Presets as data: what a file may hold, and whose error it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.languages.attack_presets import DATA, built_in, for_languages, preset, preset_file


@pytest.mark.parametrize("kind", ["phrase", "possessive"])
def test_every_preset_has_the_row_of_its_table(kind: str) -> None:
    letter = {"phrase": "C", "possessive": "A"}[kind]
    for name, table in built_in(kind).items():
        assert letter in table["table"], name


def test_the_users_preset_goes_before_the_built_in_one(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[he_said]\nen = "x"\n', encoding="utf-8")
    assert preset("phrase", "he_said", file) == {"en": "x"}
    assert preset("phrase", "she_said", file)["place"] == "before"
    assert preset_file("phrase", "he_said", file) == file
    assert preset_file("phrase", "she_said", file) == DATA / "phrase.toml"


def test_both_languages_are_needed() -> None:
    assert for_languages({"en": "a", "de": "b", "fr": "c"}, "en", "fr", "it") == ("a", "c")
    with pytest.raises(AnaphoraError, match=r"it has no phrase for 'en' \(it has: de\)"):
        for_languages({"de": "b"}, "en", "de", "it")
    with pytest.raises(AnaphoraError, match=r"\(it has: no language\)"):
        for_languages({}, "en", "de", "it")
