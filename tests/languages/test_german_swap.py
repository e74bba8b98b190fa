"""A German pronoun takes another gender: case, capitals and possessives follow, the rest stays; or it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anaphora.annotate.document import Sentence, Token
from anaphora.languages.german import FORMS
from anaphora.languages.german_swap import case_of, swap_pronoun, with_words
from anaphora.languages.swap import Swap

Parsed = Callable[[str], Sentence]


def first(sentence: Sentence) -> int:
    return next(i for i, token in enumerate(sentence) if token.text.lower() in FORMS)


@pytest.mark.parametrize(
    ("text", "case"),
    [
        ("Er/PRON/2/obj schläft/VERB/0/root", "Nom"),  # the form knows better than a parser
        ("ihn/PRON/2/nsubj sah/VERB/0/root", "Acc"),
        ("ihm/PRON/0/root", "Dat"),
        ("Es/PRON/2/nsubj schläft/VERB/0/root", "Nom"),
        ("Es/PRON/2/expl schläft/VERB/0/root", "Nom"),
        ("Ich/PRON/2/nsubj sah/VERB/0/root es/PRON/2/obj", "Acc"),
        ("Ich/PRON/2/nsubj sah/VERB/0/root es/PRON/2/nsubj/Case=Nom", "Acc"),  # there is a subject already
        ("Ich/PRON/2/nsubj sah/VERB/0/root sie/PRON/2/advmod/Case=Nom", "Acc"),
        ("für/ADP/2/case sie/PRON/0/root/Case=Nom", "Acc"),
        ("sie/PRON/0/root/Case=Nom", "Nom"),
        ("Es/PRON/2/expl kamen/VERB/0/root Leute/NOUN/2/nsubj", "Nom"),  # holds the place of a subject
        ("es/PRON/0/root", None),
        ("es/PRON/0/root/Case=Gen", None),
    ],
)
def test_the_case_of_a_pronoun(parsed: Parsed, text: str, case: str | None) -> None:
    sentence = parsed(text)
    assert case_of(sentence, first(sentence)) == case


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("Es/PRON/3/nsubj ist/AUX/3/cop rot/ADJ/0/root", {"Masc": "Er ist rot", "Fem": "Sie ist rot"}),
        ("Ich/PRON/2/nsubj sah/VERB/0/root es/PRON/2/obj", {"Masc": "Ich sah ihn", "Fem": "Ich sah sie"}),
        ("Ich/PRON/2/nsubj sah/VERB/0/root ihn/PRON/2/obj", {"Fem": "Ich sah sie", "Neut": "Ich sah es"}),
        ("Ich/PRON/2/nsubj half/VERB/0/root ihm/PRON/2/obl:arg", {"Fem": "Ich half ihr"}),
        (
            "mit/ADP/2/case ihr/PRON/3/obl schlief/VERB/0/root ich/PRON/3/nsubj",
            {"Masc": "mit ihm schlief ich", "Neut": "mit ihm schlief ich"},
        ),
        (
            "Er/PRON/2/nsubj verlor/VERB/0/root seine/DET/4/det:poss Farbe/NOUN/2/obj/Gender=Fem",
            {"Fem": "Sie verlor ihre Farbe", "Neut": "Es verlor seine Farbe"},
        ),
        (
            "Ich/PRON/2/nsubj/Person=1 nahm/VERB/0/root sie/PRON/2/obj und/CCONJ/6/cc ihren/DET/6/det:poss "
            "Deckel/NOUN/3/conj",
            {"Masc": "Ich nahm ihn und seinen Deckel", "Neut": "Ich nahm es und seinen Deckel"},
        ),
        # the subject owns it, whoever else is in the sentence
        (
            "Als/SCONJ/3/mark Tom/PROPN/3/nsubj/Gender=Masc kam/VERB/5/advcl ,/PUNCT/3/punct verlor/VERB/0/root "
            "er/PRON/5/nsubj seine/DET/8/det:poss Farbe/NOUN/5/obj",
            {"Fem": "Als Tom kam , verlor sie ihre Farbe", "Neut": "Als Tom kam , verlor es seine Farbe"},
        ),
        # reflexives and a polite possessive stay
        (
            "Sie/PRON/2/nsubj dreht/VERB/0/root sich/PRON/2/obj/Reflex=Yes auf/ADP/6/case Ihrem/DET/6/det:poss "
            "Tisch/NOUN/2/obl",
            {"Masc": "Er dreht sich auf Ihrem Tisch", "Neut": "Es dreht sich auf Ihrem Tisch"},
        ),
        # a possessive of another gender stays
        (
            "Er/PRON/2/nsubj verlor/VERB/0/root ihre/DET/4/det:poss Farbe/NOUN/2/obj",
            {"Fem": "Sie verlor ihre Farbe", "Neut": "Es verlor ihre Farbe"},
        ),
        # `ihr` next to it is a pronoun, not a possessive
        (
            "Sie/PRON/2/nsubj half/VERB/0/root ihr/PRON/2/obl:arg",
            {"Masc": "Er half ihr", "Neut": "Es half ihr"},
        ),
    ],
)
def test_other_genders(parsed: Parsed, text: str, others: dict[str, str]) -> None:
    sentence = parsed(text)
    swapped = swap_pronoun(sentence, first(sentence))
    assert isinstance(swapped, Swap), swapped
    assert {gender: variant.text for gender, variant in swapped.variants.items()} == others


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Er/PRON/4/nsubj ist/AUX/4/cop der/DET/4/det beste/ADJ/0/root", "predicate agrees"),
        ("Er/PRON/3/nsubj ist/AUX/3/cop einer/PRON/0/root", "predicate agrees"),
        (
            "Er/PRON/6/nsubj ,/PUNCT/4/punct der/PRON/4/nsubj bellt/VERB/1/acl:relcl ,/PUNCT/4/punct "
            "schläft/VERB/0/root",
            "relative clause",
        ),
        ("es/PRON/0/root", "case unclear"),
        ("ich/PRON/0/root", "no pronoun"),
        # the man, or it?
        (
            "Mann/NOUN/2/nsubj/Gender=Masc sah/VERB/0/root es/PRON/2/obj und/CCONJ/6/cc seine/DET/6/det:poss "
            "Tochter/NOUN/3/conj/Gender=Fem",
            "possessive unclear",
        ),
        # a plural in between may own, too, whatever the parser takes for the subject
        (
            "Sie/PRON/2/nsubj sank/VERB/0/root und/CCONJ/6/cc Leute/NOUN/2/obj/Number=Plur in/ADP/7/case "
            "ihre/DET/7/det:poss Orte/NOUN/2/obl/Number=Plur",
            "possessive unclear",
        ),
        # before any possible possessor
        (
            "Seine/DET/2/det:poss Farbe/NOUN/3/nsubj/Gender=Fem verlor/VERB/0/root es/PRON/3/obj",
            "possessive unclear",
        ),
    ],
)
def test_what_is_refused(parsed: Parsed, text: str, reason: str) -> None:
    sentence = parsed(text)
    index = next((i for i, t in enumerate(sentence) if t.text.lower() in FORMS), 0)
    assert swap_pronoun(sentence, index) == reason


def test_spaces_stay() -> None:
    sentence = Sentence((Token("Es", space_after=False), Token("!", space_after=True), Token("Nein", space_after=True)))
    assert with_words(sentence, {0: "Er"}) == "Er! Nein"


@pytest.mark.parametrize(
    ("line", "others"),
    [
        ("Wie viel kostet er?", ["Wie viel kostet sie?", "Wie viel kostet es?"]),  # Table 3
        ("Es ist rot.", ["Er ist rot.", "Sie ist rot."]),  # §7
        (
            "Wir haben ihn mit seinem Dach verkauft.",
            ["Wir haben sie mit ihrem Dach verkauft.", "Wir haben es mit seinem Dach verkauft."],
        ),
        (
            "„Und dann fiel sie auseinander“, sagte ich.",
            ["„Und dann fiel er auseinander“, sagte ich.", "„Und dann fiel es auseinander“, sagte ich."],
        ),
    ],
)
def test_with_a_real_parser(annotator: Callable[[str], Any], line: str, others: list[str]) -> None:
    (document,) = annotator("de").annotate([[line]])
    sentence = document.sentences[0]
    swapped = swap_pronoun(sentence, first(sentence))
    assert isinstance(swapped, Swap), swapped
    assert [variant.text for variant in swapped.variants.values()] == others
