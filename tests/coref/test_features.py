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
    classify,
    classify_certain,
    is_person,
    nonreferential_features,
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
    actual = own_features(phrase, document, 1, EN)
    assert expected <= set(actual)
    assert len(actual) == len(set(actual))


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
    actual = agreement(before, it(word=later, genders=DE.pronouns[later]), DE)
    assert actual == ("pronoun gender fits" if fits else "pronoun gender differs")


# Pleonastic and event pronouns, told by rules; ContraCAT's own phrases (Appendix C.1) are among them


@pytest.mark.parametrize(
    ("code", "text", "index", "kind"),
    [
        ("en", "It/PRON/2/expl rains/VERB/0/root", 0, "pleonastic"),
        ("en", "It/PRON/2/nsubj seems/VERB/0/root/Lemma=seem", 0, "pleonastic"),
        ("en", "It/PRON/3/nsubj is/AUX/3/cop good/ADJ/0/root that/SCONJ/5/mark came/VERB/3/csubj", 0, "pleonastic"),
        ("en", "It/PRON/2/nsubj takes/VERB/0/root/Lemma=take time/NOUN/2/obj", 0, "pleonastic"),
        ("en", "It/PRON/4/nsubj is/AUX/4/cop the/DET/4/det day/NOUN/0/root", 0, "pleonastic"),
        ("en", "do/VERB/0/root it/PRON/1/obj", 1, "event"),
        ("en", "know/VERB/0/root it/PRON/1/obj", 1, "event"),
        ("en", "It/PRON/3/nsubj is/AUX/3/cop red/ADJ/0/root", 0, None),
        ("en", "saw/VERB/0/root it/PRON/1/obj", 1, None),
        ("de", "Es/PRON/2/nsubj gibt/VERB/0/root/Lemma=geben Bier/NOUN/2/obj", 0, "pleonastic"),
        ("de", "Es/PRON/2/expl kommen/VERB/0/root Leute/NOUN/2/nsubj", 0, "pleonastic"),
        ("de", "tun/VERB/0/root es/PRON/1/obj", 1, "event"),
        ("fr", "Il/PRON/2/nsubj faut/VERB/0/root/Lemma=falloir", 0, "pleonastic"),
        ("fr", "Il/PRON/3/nsubj y/PRON/3/expl a/VERB/0/root/Lemma=avoir", 0, "pleonastic"),
        ("fr", "Il/PRON/2/nsubj brille/VERB/0/root", 0, None),
    ],
)
def test_rules(parsed: Callable[[str], Sentence], code: str, text: str, index: int, kind: str | None) -> None:
    assert classify(parsed(text), index, language(code)) == kind


def test_with_a_real_parser(annotator: Callable[[str], Any]) -> None:
    lines = ["It was raining.", "It seemed this was unnecessary.", "It is hard to believe this is true.", "It is red."]
    (document,) = annotator("en").annotate([lines])
    kinds = [classify(sentence, 0, language("en")) for sentence in document.sentences]
    assert kinds == ["pleonastic", "pleonastic", "pleonastic", None]


def test_an_object_that_announces_a_clause(parsed: Callable[[str], Sentence]) -> None:
    easier = "This/PRON/2/nsubj makes/VERB/0/root it/PRON/2/obj easier/ADJ/2/xcomp"
    assert classify(parsed(f"{easier} to/PART/6/mark see/VERB/4/advcl"), 2, language("en")) == "pleonastic"
    assert classify(parsed(easier), 2, language("en")) is None


@pytest.mark.parametrize(
    ("code", "text", "index", "kind"),
    [
        ("en", "It/PRON/2/nsubj rains/VERB/0/root/Lemma=rain", 0, "pleonastic"),
        ("en", "We/PRON/2/nsubj did/VERB/0/root/Lemma=do it/PRON/2/obj", 2, "event"),
        ("en", "We/PRON/2/nsubj said/VERB/0/root/Lemma=say it/PRON/2/obj", 2, None),  # an event, but not for sure
        ("de", "Es/PRON/2/nsubj handelt/VERB/0/root/Lemma=handeln sich/PRON/2/obj", 0, "pleonastic"),
    ],
)
def test_what_leaves_no_doubt(
    parsed: Callable[[str], Sentence], code: str, text: str, index: int, kind: str | None
) -> None:
    sentence = parsed(text)
    assert classify_certain(sentence, index, language(code), doing=True) == kind
    without = classify_certain(sentence, index, language(code))
    assert without == (None if kind == "event" else kind)


@pytest.mark.parametrize(
    ("text", "index", "role", "expected"),
    [
        ("It/PRON/3/nsubj is/AUX/3/cop red/ADJ/0/root", 0, "subject", {"non-referential, first word", "is ADJ"}),
        ("worth/ADJ/0/root it/PRON/1/obj", 1, "object", {"worth it", "non-referential, object"}),
        ("how/ADV/4/advmod it/PRON/4/nsubj is/AUX/4/cop old/ADJ/0/root", 1, "subject", {"question before"}),
        (
            "It/PRON/3/nsubj is/AUX/3/cop good/ADJ/0/root to/PART/5/mark go/VERB/3/xcomp",
            0,
            "subject",
            {"announces", "opener ahead", "is ADJ"},
        ),
        (
            "It/PRON/3/nsubj was/AUX/3/cop John/PROPN/0/root who/PRON/5/nsubj came/VERB/3/acl:relcl",
            0,
            "subject",
            {"cleft", "is PROPN"},
        ),
        ("finds/VERB/0/root it/PRON/1/obj hard/ADJ/1/xcomp", 1, "object", {"object with predicate"}),
    ],
)
def test_features_of_a_nonreferential_pronoun(
    parsed: Callable[[str], Sentence], text: str, index: int, role: str, expected: set[str]
) -> None:
    pronoun = Pronoun(1, index, "it", role, "be", frozenset())
    actual = list(nonreferential_features(parsed(text), pronoun, language("en")))
    assert {"non-referential", "non-referential, it", f"non-referential, {role}"} | expected <= set(actual)
    assert len(actual) == len(set(actual))
