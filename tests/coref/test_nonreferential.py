"""Pleonastic and event pronouns, told by rules; ContraCAT's own phrases (Appendix C.1) are among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anaphora.annotate.document import Sentence
from anaphora.coref.features import Pronoun
from anaphora.coref.nonreferential import classify, classify_certain, nonreferential_features
from anaphora.coref.pronouns import language


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
    found = list(nonreferential_features(parsed(text), pronoun, language("en")))
    assert {"non-referential", "non-referential, it", f"non-referential, {role}"} | expected <= set(found)
    assert len(found) == len(set(found))
