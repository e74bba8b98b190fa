"""A sentence with another noun: the phrase, its relative clause, what takes it up; refused where it is not sure."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from anaphora.build.attacks.synonym_sentence import Unsure, count_it, followed, phrase_in, replaced
from anaphora.languages.german import CASES, Noun

GENDERS = {"Hut": "Masc", "Kappe": "Fem", "Tuch": "Neut", "Frau": "Fem"}
NOUNS = {lemma: Noun(lemma, gender, dict.fromkeys(CASES, (lemma,))) for lemma, gender in GENDERS.items()}


class Table:
    def of_form(self, form: str) -> Noun | None:
        return NOUNS.get(form)


def changed(sentence: str, antecedent: str, new: str, opinions: Sequence[str] = (), head: str | None = None) -> str:
    phrase = phrase_in(sentence, antecedent, Table(), head)  # type: ignore[arg-type]
    return replaced(sentence, phrase, NOUNS[new], opinions)[0]


@pytest.mark.parametrize(
    ("sentence", "antecedent", "new", "expected"),
    [
        ("Da ist mein alter Hut.", "mein alter Hut", "Kappe", "Da ist meine alte Kappe."),
        ("Der Hut der Frau ist alt.", "Der Hut der Frau", "Tuch", "Das Tuch der Frau ist alt."),
        ("wir reden vom Hut.", "Hut", "Kappe", "wir reden von der Kappe."),
        ("Es liegt in der Kappe.", "der Kappe", "Hut", "Es liegt im Hut."),
        ("In der Kappe ist es.", "der Kappe", "Hut", "Im Hut ist es."),
        ("Es liegt in dem Hut.", "dem Hut", "Tuch", "Es liegt in dem Tuch."),
        ("ich habe eine Kappe.", "eine Kappe", "Hut", "ich habe einen Hut."),
        ("Wo ist die Kappe?", "die Kappe", "Hut", "Wo ist der Hut?"),
        ("Der Hut, der da liegt.", "Der Hut", "Kappe", "Die Kappe, die da liegt."),
        ("Der Hut, mit dem ich kam.", "Der Hut", "Kappe", "Die Kappe, mit der ich kam."),
        ("Der Hut, um zu gehen.", "Der Hut", "Kappe", "Die Kappe, um zu gehen."),
    ],
)
def test_the_noun_phrase_changes(sentence: str, antecedent: str, new: str, expected: str) -> None:
    assert changed(sentence, antecedent, new) == expected


@pytest.mark.parametrize(
    ("sentence", "antecedent", "new", "why"),
    [
        ("Kein Wort.", "der Hut", "Kappe", "not in its sentence"),
        ("Der Hut ist der Hut.", "Der Hut", "Kappe", "there twice"),
        ("Der Helm ist da.", "Der Helm", "Kappe", "is not known"),
        ("Marias Hut ist da.", "Marias Hut", "Kappe", "is not known"),
        ("Hut ab.", "Hut", "Kappe", "no determiner"),
        ("der, Hut.", "Hut", "Kappe", "no determiner"),
        ("Der alten Hut.", "Der alten Hut", "Kappe", "do not agree"),
        ("Die Kappe gefällt mir.", "Die Kappe", "Hut", "the case is not clear"),
        ("Das ist die Kappe, die ich mag.", "die Kappe", "Hut", "a relative pronoun is not clear"),
        ("Der Hut, der Mantel.", "Der Hut", "Kappe", "a relative pronoun is not clear"),
    ],
)
def test_what_is_not_sure_is_refused(sentence: str, antecedent: str, new: str, why: str) -> None:
    with pytest.raises(Unsure, match=why):
        changed(sentence, antecedent, new)


def test_opinions_decide_where_forms_do_not() -> None:
    assert changed("Die Kappe gefällt mir.", "Die Kappe", "Hut", ["Nom", "Nom"]) == "Der Hut gefällt mir."
    for opinions in (["Nom", "Acc"], ["Dat"]):
        with pytest.raises(Unsure, match="case"):
            changed("Die Kappe gefällt mir.", "Die Kappe", "Hut", opinions)
    with pytest.raises(Unsure, match="case"):  # the clause says accusative
        changed("Ich mag die Kappe.", "die Kappe", "Hut", ["Nom"])


def test_a_known_head_is_looked_for() -> None:
    assert changed("Die Frau mit dem Hut.", "Die Frau mit dem Hut", "Kappe", head="Hut") == "Die Frau mit der Kappe."


@pytest.mark.parametrize(
    ("text", "source", "genders", "alone", "expected"),
    [
        ("ich mag ihn.", "I like it.", ("Masc", "Fem"), 0, "ich mag sie."),
        ("mit seinem Band.", "with its band.", ("Masc", "Fem"), 0, "mit ihrem Band."),
        ("Ihr Band ist rot.", "its band is red.", ("Fem", "Neut"), 0, "Sein Band ist rot."),
        ("ich helfe ihr.", "I help it.", ("Fem", "Masc"), 0, "ich helfe ihm."),
        ("er mag das.", "he likes that.", ("Masc", "Fem"), 0, "er mag das."),
        ("Sie kennen das.", "you know it.", ("Fem", "Masc"), 0, "Sie kennen das."),
        ("sie mag es nicht.", "they like it.", ("Fem", "Neut"), 1, "sie mag es nicht."),
        ("nichts davon.", "it is not.", ("Masc", "Fem"), 0, "nichts davon."),
    ],
)
def test_what_takes_it_up(text: str, source: str, genders: tuple[str, str], alone: int, expected: str) -> None:
    assert followed(text, source, genders, 0, alone=alone) == expected


@pytest.mark.parametrize(
    ("text", "source", "genders", "why"),
    [
        ("sie gefällt mir.", "I like it.", ("Fem", "Masc"), "another pronoun"),  # er or ihn
        ("er mag ihn.", "he likes it.", ("Masc", "Fem"), "another pronoun"),
        ("er ist da.", "the man is there.", ("Masc", "Fem"), "another pronoun"),
        ("es regnet.", "it rains.", ("Neut", "Fem"), "another pronoun"),
        ("den mag ich.", "that one I like.", ("Masc", "Fem"), "a demonstrative"),
    ],
)
def test_what_may_take_it_up_is_refused(text: str, source: str, genders: tuple[str, str], why: str) -> None:
    with pytest.raises(Unsure, match=why):
        followed(text, source, genders, 0, alone=0)


def test_the_pronoun_of_the_relative_clause_is_no_other_mention() -> None:
    text = "Das ist eine Frau, der ich helfe."
    end = text.index(",")
    assert followed(text, "", ("Masc", "Fem"), end, alone=0) == text
    with pytest.raises(Unsure, match="demonstrative"):
        followed("Der Hut da, der ist alt, der.", "", ("Masc", "Fem"), 7, alone=0)


def test_it_is_counted() -> None:
    assert count_it("It's its own, isn’t it? Italy.") == 3
