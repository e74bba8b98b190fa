"""A language is one data file and a pair another one: two files in one folder add a made-up language."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.annotate.document import Document, Sentence
from anaphora.build.attacks.attack import determiners_of
from anaphora.build.mine.pronouns import pair_data
from anaphora.coref import load_linker
from anaphora.languages import DATA, VARIABLE, names_with, table, top_value
from anaphora.languages.grammar import load_grammar
from anaphora.languages.pronouns import class_of, load_readings, pronoun_forms, pronoun_lists, same_class
from anaphora.languages.swap import load_forms, swap_pronoun

# two genders, no cases: lo and la are "it", and adjectives end like them
LANGUAGE = """
capital = ["lo"]

[forms]
"m.sg" = ["lo"]
"f.sg" = ["la"]

[readings]
lo = ["3 sg m subject"]
la = ["3 sg f subject"]

[classes]
lo = ["lo"]
la = ["la"]

[grammar]
genders = ["m", "f"]

[grammar.articles.the]
nominative = { m = "lon", f = "lan" }

[grammar.pronouns]
nominative = { m = "lo", f = "la" }

[coref]
like = "fr"

[coref.pronouns]
lo = ["m"]
la = ["f"]

[[swap.pronouns]]
case = "Nom"
number = "sg"
relations = ["nsubj"]
m = "lo"
f = "la"

[swap.auxiliaries]
subject = ["est"]

[swap.participles]
sg = [["to", "ta"]]

[swap.adjectives]
words = {}
feminine = [["o", "a"]]
masculine_plural = []
feminine_plural = []

[determiners]
determiners = ["lon", "lan"]
possessives = ["mo"]
owned = { "" = "lon" }
"""
PAIR = """
[apt]
pronouns = ["it"]
target = ["lo", "la"]
identical = [["lo", "l'"]]

[apt.translations]
it = ["lo", "la"]

[mining]
swap = "agreement"

[mining.pronouns]
it = ["lo", "la"]

[mining.labels]
m = "lo"
f = "la"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qa.toml").write_text(LANGUAGE, encoding="utf-8")
    (tmp_path / "en-qa.toml").write_text(PAIR, encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_two_files_add_a_language(parsed: Callable[[str], Sentence]) -> None:
    assert same_class("lo", frozenset(), pronoun_forms("qa")) == {"lo"}
    assert load_readings("qa").error_class("lo", "la") == "gender"
    assert load_readings("qa").capital == {"lo"}
    assert (class_of("La", "qa"), class_of("il", "qa")) == ("la", "other")
    assert load_grammar("qa").article("the", "nominative", "f") == "lan"
    assert determiners_of("qa").article("mo") == "lon"
    assert pronoun_lists("en-qa").likely("it") == {"lo", "l'", "la"}
    data = pair_data("en", "qa")
    assert (data.targets("it", oblique=False), data.labels["Fem"]) == ({"lo", "la"}, "la")
    document = Document(
        (
            parsed("Lan/DET/2/det kata/NOUN/3/nsubj/Gender=Fem,Number=Sing dor/VERB/0/root"),
            parsed("La/PRON/3/nsubj est/AUX/3/cop/lemma=est bela/ADJ/0/root"),
        )
    )
    (link,) = load_linker("builtin", "qa").links(document)
    assert link.candidates[0][0].head == 1


@pytest.mark.usefixtures("folder")
def test_pronouns_of_an_added_language_are_swapped(parsed: Callable[[str], Sentence]) -> None:
    swap = swap_pronoun(parsed("Lo/PRON/2/nsubj dor/VERB/0/root"), 0, load_forms("qa"))
    assert not isinstance(swap, str)
    assert swap.variants == {"Fem": ("La", "La dor")}


def test_a_file_of_the_folder_replaces_built_in_tables(folder: Path) -> None:
    (folder / "en-de.toml").write_text('[mining]\nswap = "german"\n', encoding="utf-8")
    assert table("en-de", "mining") == {"swap": "german"}
    assert (table("en-de", "apt") or {})["pronouns"] == ["it", "they"]
    assert names_with("mining") == ["en-de", "en-es", "en-fr", "en-qa"]


def test_a_missing_file_or_table_is_none() -> None:
    assert table("qb", "forms") is None
    assert table("pl", "forms") is None
    assert top_value("pl", "capital", []) == []


@pytest.mark.parametrize("file", sorted(DATA.glob("*.toml")), ids=lambda file: file.stem)
def test_data_files_have_only_known_tables(file: Path) -> None:
    known = {
        "agreement",
        "capital",
        "forms",
        "readings",
        "classes",
        "coref",
        "swap",
        "grammar",
        "determiners",
        "declension",
        "nouns",
    }
    assert set(tomllib.loads(file.read_text(encoding="utf-8"))) <= ({"apt", "mining"} if "-" in file.stem else known)
