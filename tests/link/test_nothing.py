"""Pleonastic and event pronouns, told by rules; ContraCAT's own phrases (Appendix C.1) are among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anaphora.annotate.document import Sentence
from anaphora.link.language import language
from anaphora.link.nothing import nothing_by_rule, surely_nothing


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
    assert nothing_by_rule(parsed(text), index, language(code)) == kind


def test_with_a_real_parser(annotator: Callable[[str], Any]) -> None:
    lines = ["It was raining.", "It seemed this was unnecessary.", "It is hard to believe this is true.", "It is red."]
    (document,) = annotator("en").annotate([lines])
    kinds = [nothing_by_rule(sentence, 0, language("en")) for sentence in document.sentences]
    assert kinds == ["pleonastic", "pleonastic", "pleonastic", None]


def test_an_object_that_announces_a_clause(parsed: Callable[[str], Sentence]) -> None:
    easier = "This/PRON/2/nsubj makes/VERB/0/root it/PRON/2/obj easier/ADJ/2/xcomp"
    assert nothing_by_rule(parsed(f"{easier} to/PART/6/mark see/VERB/4/advcl"), 2, language("en")) == "pleonastic"
    assert nothing_by_rule(parsed(easier), 2, language("en")) is None


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
    assert surely_nothing(sentence, index, language(code), doing=True) == kind
    without = surely_nothing(sentence, index, language(code))
    assert without == (None if kind == "event" else kind)
