"""German pronouns by gender and case; possessives by their possessor."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages import german, match_case
from anaphora.languages.german import (
    CASES,
    FORMS,
    GENDERS,
    PRONOUNS,
    Noun,
    NounTable,
    case_in_clause,
    cases_of,
    determiner,
    genders_of,
    mentions,
    noun_table,
    phrases,
    possessive,
    possessor_genders,
    pronoun,
    relatives,
    words_of,
)

ENDINGS = ["", "e", "en", "em", "er", "es", "s", "etwegen", "erseits"]


def test_the_forms() -> None:
    assert {"er", "ihn", "ihm", "sie", "ihr", "es"} == FORMS


@pytest.mark.parametrize(
    ("form", "cases"),
    [
        ("er", {"Nom"}),
        ("Ihn", {"Acc"}),
        ("ihm", {"Dat"}),
        ("ihr", {"Dat"}),
        ("sie", {"Nom", "Acc"}),
        ("es", {"Nom", "Acc"}),
    ],
)
def test_cases_by_form(form: str, cases: set[str]) -> None:
    assert cases_of(form) == cases


@pytest.mark.parametrize(
    ("form", "case", "genders"),
    [("er", "Nom", {"Masc"}), ("ihm", "Dat", {"Masc", "Neut"}), ("Sie", "Acc", {"Fem"}), ("es", "Acc", {"Neut"})],
)
def test_genders_by_form(form: str, case: str, genders: set[str]) -> None:
    assert genders_of(form, case) == genders


@given(st.sampled_from(GENDERS), st.sampled_from(["Nom", "Acc", "Dat"]))
def test_every_form_is_found_again(gender: str, case: str) -> None:
    form = pronoun(gender, case)
    assert form == PRONOUNS[gender][case]
    assert case in cases_of(form)
    assert gender in genders_of(form, case)


@pytest.mark.parametrize(
    ("form", "gender", "expected"),
    [
        ("sein", "Fem", "ihr"),
        ("seiner", "Fem", "ihrer"),
        ("Seinem", "Fem", "Ihrem"),
        ("ihren", "Masc", "seinen"),
        ("ihr", "Neut", "sein"),
        ("IHRE", "Masc", "SEINE"),
        ("seins", "Fem", "ihrs"),
        ("seinetwegen", "Fem", "ihretwegen"),
        ("seine", "Neut", "seine"),  # one for both
    ],
)
def test_possessives(form: str, gender: str, expected: str) -> None:
    assert possessive(form, gender) == expected


@given(st.sampled_from(["sein", "ihr"]), st.sampled_from(ENDINGS), st.booleans())
def test_possessives_there_and_back_again(stem: str, ending: str, capital: bool) -> None:
    form = (stem + ending).capitalize() if capital else stem + ending
    own = min(possessor_genders(form))
    for gender in GENDERS:
        assert gender in possessor_genders(possessive(form, gender))
        assert possessive(possessive(form, gender), own) == form


@pytest.mark.parametrize("word", ["seit", "ihn", "ihnen", "seinen Hund", "dessen", "", "seinnn"])
def test_what_is_not_a_possessive(word: str) -> None:
    assert possessor_genders(word) == set()
    with pytest.raises(ValueError, match="not a possessive"):
        possessive(word, "Fem")


@pytest.mark.parametrize(
    ("word", "like", "expected"),
    [("er", "Es", "Er"), ("er", "es", "er"), ("er", "ES", "ER"), ("er", "", "er"), ("sie", "E", "Sie")],
)
def test_capitals(word: str, like: str, expected: str) -> None:
    assert match_case(word, like) == expected


# Noun phrases of another gender, in all cases; expected forms are those of a grammar, written down by hand.


def noun(lemma: str, gender: str, genitive: str = "") -> Noun:
    return Noun(lemma, gender, {case: (genitive if case == "Gen" and genitive else lemma,) for case in CASES})


HAT, CAP, CLOTH = noun("Hut", "Masc", "Hutes"), noun("Kappe", "Fem"), noun("Tuch", "Neut", "Tuchs")


def changed(phrase: str, old: Noun, new: Noun, before: str = "") -> dict[str, str]:
    return {case: " ".join(words) for case, words in phrases(phrase.split(), before, old, new)}


@pytest.mark.parametrize(
    ("phrase", "old", "new", "expected"),
    [
        ("der alte Hut", HAT, CAP, {"Nom": "die alte Kappe"}),
        ("ein alter Hut", HAT, CAP, {"Nom": "eine alte Kappe"}),
        ("ein alter Hut", HAT, CLOTH, {"Nom": "ein altes Tuch"}),
        ("einen alten Hut", HAT, CLOTH, {"Acc": "ein altes Tuch"}),
        ("meinem sehr alten Hut", HAT, CAP, {"Dat": "meiner sehr alten Kappe"}),
        ("Des alten Hutes", HAT, CAP, {"Gen": "Der alten Kappe"}),
        ("die Kappe", CAP, HAT, {"Nom": "der Hut", "Acc": "den Hut"}),
        ("die Kappe", CAP, CLOTH, {"Nom": "das Tuch", "Acc": "das Tuch"}),
        ("der alten Kappe", CAP, HAT, {"Dat": "dem alten Hut", "Gen": "des alten Hutes"}),
        ("diese schöne neue Kappe", CAP, HAT, {"Nom": "dieser schöne neue Hut", "Acc": "diesen schönen neuen Hut"}),
        ("eure Kappe", CAP, HAT, {"Nom": "euer Hut", "Acc": "euren Hut"}),
        ("euer Hut", HAT, CAP, {"Nom": "eure Kappe"}),
        ("unsre Kappe", CAP, CLOTH, {"Nom": "unser Tuch", "Acc": "unser Tuch"}),
        ("'ne Kappe", CAP, HAT, {"Nom": "'n Hut", "Acc": "'nen Hut"}),
        ("Ihre Kappe", CAP, CLOTH, {"Nom": "Ihr Tuch", "Acc": "Ihr Tuch"}),
        ("das Tuch", CLOTH, HAT, {"Nom": "der Hut", "Acc": "den Hut"}),
    ],
)
def test_determiner_adjectives_and_noun(phrase: str, old: Noun, new: Noun, expected: dict[str, str]) -> None:
    assert changed(phrase, old, new) == expected


@pytest.mark.parametrize(
    ("phrase", "before", "old", "new", "expected"),
    [
        ("im alten Hut", "", HAT, CAP, {"Dat": "in der alten Kappe"}),
        ("Zur Kappe", "", CAP, HAT, {"Dat": "Zum Hut"}),
        ("zum Hut", "", HAT, CAP, {"Dat": "zur Kappe"}),
        ("vom Hut", "", HAT, CLOTH, {"Dat": "vom Tuch"}),
        ("ins Tuch", "", CLOTH, HAT, {"Acc": "in den Hut"}),
        ("der Kappe", "mit", CAP, HAT, {"Dat": "dem Hut"}),
        ("die Kappe", "für", CAP, HAT, {"Acc": "den Hut"}),
        ("die Kappe", "Auf", CAP, HAT, {"Acc": "den Hut"}),
    ],
)
def test_prepositions_tell_the_case(phrase: str, before: str, old: Noun, new: Noun, expected: dict[str, str]) -> None:
    assert changed(phrase, old, new, before) == expected


@pytest.mark.parametrize(
    "phrase",
    ["die Hut", "der alter Hut", "ein rosa Hut", "Hut Hut", "den alte Hut", "beide Hut", "der Hutes", "des Hut"],
)
def test_what_does_not_agree_gives_nothing(phrase: str) -> None:
    assert changed(phrase, HAT, CAP) == {}


@pytest.mark.parametrize("word", ["und", "sehr", "Hut", "eint", "derselbe", "mancherlei"])
def test_other_words_are_not_determiners(word: str) -> None:
    assert determiner(word) is None


@given(
    st.sampled_from(["d", "dies", "jed", "ein", "kein", "mein", "unser", "eur"]),
    st.sampled_from([HAT, CAP, CLOTH]),
    st.sampled_from([HAT, CAP, CLOTH]),
    st.sampled_from(CASES),
    st.lists(st.sampled_from(["alt", "schön", "dunkl"]), max_size=2),
)
def test_there_and_back_again(stem: str, old: Noun, new: Noun, case: str, adjectives: list[str]) -> None:
    """Whatever a phrase becomes in a case, it becomes itself again in the same case."""
    actual = determiner({"d": "der", "eur": "eure"}.get(stem, stem + "e"))
    assert actual is not None
    k = CASES.index(case)
    words = [actual.form(old.gender, case), *(a + actual.adjectives[old.gender][k] for a in adjectives)]
    phrase = [*words, old.forms[case][0]]
    there = dict(phrases(phrase, "", old, new))[case]
    assert dict(phrases(there, "", new, old))[case] == tuple(phrase)


def test_relative_pronouns() -> None:
    assert relatives("der", "Masc", "Fem") == {"die"}
    assert relatives("die", "Fem", "Masc") == {"der", "den"}
    assert relatives("Dessen", "Neut", "Fem") == {"deren"}
    assert relatives("das", "Masc", "Fem") == set()


# Words that may take up a noun: told from articles with a noun, from the verb sein, from the polite Sie.


def mentioned(text: str, gender: str, start: int = 0) -> tuple[list[str], list[str]]:
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
    assert mentioned(text, gender) == (pronouns, others)


def test_only_from_a_position_on() -> None:
    assert mentioned("Er kam, er sah.", "Masc", 3) == (["er"], [])


def test_words_have_their_positions() -> None:
    assert [(w.text, w.start) for w in words_of("So, 'ne E-Mail!")] == [("So", 0), ("'ne", 4), ("E-Mail", 8)]


# The case of a noun phrase by the words around it: sure, or silent.


@pytest.mark.parametrize(
    ("before", "after", "case"),
    [
        ("ich habe ", " gekauft.", "Acc"),
        ("", " kenne ich nicht.", "Acc"),
        ("Das ist ", ".", "Nom"),
        ("Wo ist ", "?", "Nom"),
        ("Gestern wurde ", " gestohlen.", "Nom"),
        ("er sagt, dass ", " gefällt.", None),  # he is in another clause
        ("Ich gehe und ", " bleibt.", None),
        ("", " gefällt mir, sagte er.", None),
        ("Ich bin ", " gelaufen.", None),
        ("Das hat ", " getan, es war so.", None),
        ("Es ist wahr: Das wird ", " öffnen.", None),
        ("Nimm ", "!", None),
    ],
)
def test_the_case_in_a_clause(before: str, after: str, case: str | None) -> None:
    assert case_in_clause(before, after) == case


# Nouns with one gender and a singular: what a table in the form of german-nouns says of them.


CASE_COLUMNS = "nominativ singular,genitiv singular,genitiv singular*,dativ singular,dativ singular*,akkusativ singular"
COLUMNS = f"lemma,pos,genus,genus 1,genus 2,{CASE_COLUMNS}"
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
    monkeypatch.setattr(german, "find_spec", lambda _: None)
    with pytest.raises(AnaphoraError, match=r'pip install "anaphora\[mine\]"'):
        noun_table.__wrapped__()


@pytest.mark.skipif(find_spec("german_nouns") is None, reason="german-nouns is not installed: pip install german-nouns")
def test_the_real_table() -> None:
    genders = {lemma: (noun := noun_table().noun(lemma)) and noun.gender for lemma in ("Vorhang", "Gardine", "Tuch")}
    assert genders == {"Vorhang": "Masc", "Gardine": "Fem", "Tuch": "Neut"}
