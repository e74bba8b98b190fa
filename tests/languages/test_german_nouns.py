"""Nouns with one gender and a singular: what a table in the form of german-nouns says of them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages import german_nouns
from anaphora.languages.german_nouns import NounTable, noun_table

CASES = "nominativ singular,genitiv singular,genitiv singular*,dativ singular,dativ singular*,akkusativ singular"
COLUMNS = f"lemma,pos,genus,genus 1,genus 2,{CASES}"
ROWS = """Brief,Substantiv,m,,,Brief,Briefes,Briefs,Brief,Briefe,Brief
Brief,"Substantiv,Nachname",,,,,,,,,
Löwe,Substantiv,m,,,Löwe,Löwen,,Löwen,,Löwen
Teil,Substantiv,,m,n,Teil,Teils,,Teil,,Teil
Beamter,"Substantiv,adjektivische Deklination",m,,,Beamter,Beamten,,Beamten,,Beamten
Leute,Substantiv,,,,,,,,,
Berlin,"Substantiv,Toponym",n,,,Berlin,Berlins,,Berlin,,Berlin
Band,Substantiv,n,,,Band,Bandes,,Band,,Band
Band,Substantiv,f,,,Band,Band,,Band,,Band
"""


@pytest.fixture
def table(tmp_path: Path) -> NounTable:
    path = tmp_path / "nouns.csv"
    path.write_text(f"{COLUMNS}\n{ROWS}", encoding="utf-8")
    return NounTable(path)


def test_the_forms_of_a_noun_by_case(table: NounTable) -> None:
    letter = table.noun("Brief")
    assert letter is not None
    assert (letter.gender, letter.forms["Gen"]) == ("Masc", ("Briefes", "Briefs"))
    assert letter.cases("Brief") == {"Nom", "Acc", "Dat"}
    assert letter.cases("Briefe") == {"Dat"}


def test_a_noun_is_found_by_its_forms(table: NounTable) -> None:
    assert table.of_form("Briefs") == table.noun("Brief")
    assert table.of_form("Löwen") == table.noun("Löwe")
    assert table.of_form("Löwes") is None


@pytest.mark.parametrize("lemma", ["Teil", "Band", "Beamter", "Leute", "Berlin", "Unwort"])
def test_what_one_cannot_be_sure_of_is_left_out(table: NounTable, lemma: str) -> None:
    assert table.noun(lemma) is None


def test_another_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"x\.csv: line 1: no column 'genus'"):
        NounTable(tmp_path / "x.csv")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(german_nouns, "find_spec", lambda _: None)
    with pytest.raises(AnaphoraError, match=r'pip install "anaphora\[mine\]"'):
        noun_table.__wrapped__()


@pytest.mark.skipif(find_spec("german_nouns") is None, reason="german-nouns is not installed: pip install german-nouns")
def test_the_real_table() -> None:
    genders = {lemma: (noun := noun_table().noun(lemma)) and noun.gender for lemma in ("Vorhang", "Gardine", "Tuch")}
    assert genders == {"Vorhang": "Masc", "Gardine": "Fem", "Tuch": "Neut"}
