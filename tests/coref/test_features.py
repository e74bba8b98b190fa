"""What is noticed of candidates and pronouns: names of features, which the weights know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anaphora.annotate.document import Document, Sentence
from anaphora.coref.features import (
    Candidate,
    Kind,
    Pronoun,
    agreement,
    is_person,
    own_features,
    pair_features,
)
from anaphora.coref.phrases import Phrase, phrases
from anaphora.coref.pronouns import language

Parsed = Callable[[str], Sentence]
EN, DE = language("en"), language("de")


def phrase_of(parsed: Parsed, text: str) -> tuple[Document, Phrase]:
    document = Document((parsed(text),))
    return document, next(iter(phrases(document, 0)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "A/DET/2/det/Definite=Ind cat/NOUN/3/nsubj slept/VERB/0/root",
            {"article indefinite", "role subject", "first"},
        ),
        ("in/ADP/3/case the/DET/3/det/Definite=Def year/NOUN/4/obl slept/VERB/0/root", {"article definite", "time"}),
        ("That/DET/2/det/PronType=Dem house/NOUN/0/root", {"article demonstrative"}),
        ("no/DET/2/det thing/NOUN/3/obj saw/VERB/0/root", {"negated", "vague", "role object"}),
        ("dog/NOUN/0/root barks/VERB/1/acl:relcl", {"relative clause", "article bare"}),
        ("a/DET/4/det big/ADJ/4/amod old/ADJ/4/amod dog/NOUN/0/root", {"long"}),
    ],
)
def test_features_of_a_phrase(parsed: Parsed, text: str, expected: set[str]) -> None:
    document, phrase = phrase_of(parsed, text)
    found = own_features(phrase, document, 1, EN)
    assert expected <= set(found)
    assert len(found) == len(set(found))


@pytest.mark.parametrize(("seen", "expected"), [(1, set()), (2, {"repeated"}), (4, {"repeated", "frequent"})])
def test_a_noun_that_comes_again(parsed: Parsed, seen: int, expected: set[str]) -> None:
    document, phrase = phrase_of(parsed, "cat/NOUN/0/root")
    assert set(own_features(phrase, document, seen, EN)) & {"repeated", "frequent"} == expected


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("Mr./PROPN/2/compound Smith/PROPN/3/nsubj slept/VERB/0/root", True),
        ("Smith/PROPN/2/nsubj said/VERB/0/root/Lemma=say", True),
        ("Smith/PROPN/0/root :/PUNCT/1/punct yes/INTJ/1/discourse", True),
        ("Berlin/PROPN/2/nsubj grew/VERB/0/root", False),
    ],
)
def test_persons(parsed: Parsed, text: str, person: bool) -> None:
    document, phrase = phrase_of(parsed, text)
    assert is_person(phrase, document.sentences[0], EN) is person


def candidate(**changes: Any) -> Candidate:
    return Candidate(
        **{"sentence": 3, "token": 1, "kind": Kind.NOUN, "word": "cat", "role": "subject", "verb": "eat"} | changes
    )


def it(**changes: Any) -> Pronoun:
    return Pronoun(
        **{"sentence": 3, "token": 7, "word": "it", "role": "subject", "verb": "sleep", "genders": frozenset()}
        | changes
    )


@pytest.mark.parametrize(
    ("before", "pronoun", "rank", "expected"),
    [
        (candidate(), it(), 0, {"distance 0", "rank 0", "parallel", "subject again"}),
        (candidate(sentence=2), it(token=0), 1, {"distance 1", "rank 1", "parallel", "topic"}),
        (candidate(sentence=2), it(), 2, {"distance 1", "rank 2", "parallel"}),
        (candidate(sentence=0, role="object"), it(sentence=9), 30, {"distance 4", "rank 7–11"}),
        (candidate(verb="sleep"), it(), 5, {"distance 0", "rank 4–6", "parallel", "subject again", "same verb"}),
        (candidate(verb="be"), it(verb="be"), 0, {"distance 0", "rank 0", "parallel", "subject again"}),
        (
            candidate(kind=Kind.PRONOUN, word="it", role="object"),
            it(),
            0,
            {"distance 0", "rank 0", "pronoun at 0", "same pronoun"},
        ),
        (
            candidate(kind=Kind.DEMONSTRATIVE, word="that", role="object", sentence=1),
            it(),
            0,
            {"distance 2", "rank 0", "demonstrative at 2"},
        ),
    ],
)
def test_features_of_a_pair(before: Candidate, pronoun: Pronoun, rank: int, expected: set[str]) -> None:
    assert set(pair_features(before, pronoun, rank, EN)) == expected


@pytest.mark.parametrize(
    ("gender", "upos", "expected"),
    [
        ("Gender=Fem", "NOUN", "gender fits"),
        ("Gender=Masc", "NOUN", "gender differs"),
        ("Gender=Masc", "PROPN", "gender of a name differs"),
        ("", "NOUN", "gender unknown"),
    ],
)
def test_agreement_of_nouns(parsed: Parsed, gender: str, upos: str, expected: str) -> None:
    _, phrase = phrase_of(parsed, f"Katze/{upos}/0/root/{gender}")
    sie = it(word="sie", genders=DE.pronouns["sie"])
    assert agreement(candidate(phrase=phrase), sie, DE) == expected
    assert expected in set(pair_features(candidate(phrase=phrase), sie, 0, DE))


@pytest.mark.parametrize(
    ("earlier", "later", "fits"), [("er", "ihm", True), ("es", "ihm", True), ("sie", "er", False), ("ihr", "sie", True)]
)
def test_agreement_of_pronouns(earlier: str, later: str, fits: bool) -> None:
    before = candidate(kind=Kind.PRONOUN, word=earlier)
    found = agreement(before, it(word=later, genders=DE.pronouns[later]), DE)
    assert found == ("pronoun gender fits" if fits else "pronoun gender differs")
