"""What was mined beside what people annotated: pairs of pronouns, antecedents, distances."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.build.mine.evaluate import (
    Evaluation,
    evaluate,
    gold_items,
    judge,
    names_one,
    same_chains,
    with_gold_chains,
)
from anaphora.build.mine.filtering import Antecedents, Contrast
from anaphora.build.mine.gold import GoldMention, GoldPair, GoldSide, read_gold
from anaphora.build.mine.pair import AnnotatedPair
from anaphora.build.mine.pronouns import Found, Pronouns

Parsed = Callable[[str], Sentence]

ENGLISH = (
    "The/DET/2/det lamp/NOUN/3/nsubj/Number=Sing hit/VERB/0/root the/DET/5/det table/NOUN/3/obj/Number=Sing",
    "A/DET/2/det light/NOUN/3/nsubj/Number=Sing was/AUX/0/root",
    "It/PRON/3/nsubj was/AUX/3/cop new/ADJ/0/root",
    "It/PRON/2/nsubj rained/VERB/0/root/Lemma=rain",
)
GERMAN = (
    "Die/DET/2/det Lampe/NOUN/3/nsubj/Gender=Fem,Number=Sing traf/VERB/0/root den/DET/5/det "
    "Tisch/NOUN/3/obj/Gender=Masc,Number=Sing",
    "Eine/DET/2/det Leuchte/NOUN/3/nsubj/Gender=Fem,Number=Sing war/AUX/0/root",
    "Sie/PRON/3/nsubj war/AUX/3/cop/VerbForm=Fin,Number=Sing neu/ADJ/0/root",
    "Es/PRON/2/nsubj regnete/VERB/0/root",
)


def side(lines: tuple[str, ...], light: bool = True) -> GoldSide:
    words = tuple(tuple(item.partition("/")[0] for item in line.split()) for line in lines)
    mentions = [
        GoldMention((0, 0, 2), True, "lamp"),
        GoldMention((0, 3, 5), True, "table"),
        *([GoldMention((1, 0, 2), True, "lamp")] if light else []),
        GoldMention((2, 0, 1), False, "lamp"),
        GoldMention((3, 0, 1), False, None),
    ]
    return GoldSide(words, tuple(mentions))


@pytest.fixture
def gold() -> GoldPair:
    straight = tuple(tuple((i, i) for i in range(len(line.split()))) for line in ENGLISH)
    return GoldPair("a", side(ENGLISH), side(GERMAN), straight, straight)


@pytest.fixture
def pair(parsed: Parsed, gold: GoldPair) -> AnnotatedPair:
    documents = (Document(tuple(map(parsed, lines))) for lines in (ENGLISH, GERMAN))
    return AnnotatedPair("a", *documents, gold.alignments)


def translations(word: str) -> frozenset[str]:
    return frozenset({"er", "sie", "es"}) if word == "it" else frozenset()


def found(source: Mention, target: Mention, sentence: int = 2) -> Found:
    contrast = Contrast("Nom", frozenset({"Nom"}), frozenset({"Fem"}), "Sing", {})
    return Found(sentence, 0, 0, Antecedents(source, target, 0.7), contrast, "sie")


LAMP, TABLE, LIGHT = Mention(0, 0, 2, 1), Mention(0, 3, 5, 4), Mention(1, 0, 2, 1)


def test_gold_items(gold: GoldPair, pair: AnnotatedPair) -> None:
    items = gold_items(gold, pair, translations)
    assert list(items) == [(2, 0)]  # it rained is none
    assert items[2, 0].targets == {0}
    assert gold_items(gold, pair, lambda word: frozenset({"er"})) == {}
    assert gold_items(gold, pair, lambda word: frozenset()) == {}


def test_chains_that_are_not_the_same(gold: GoldPair, pair: AnnotatedPair) -> None:
    assert same_chains(gold, pair) == {("lamp", "lamp"), ("table", "table")}
    crossed = replace(gold, alignments=(((1, 4), (4, 1)), (), ((0, 0),), ()))
    assert same_chains(crossed, pair) == {("lamp", "table"), ("table", "lamp")}
    assert gold_items(crossed, pair, translations) == {}


def test_what_is_right(gold: GoldPair, pair: AnnotatedPair) -> None:
    truth = gold_items(gold, pair, translations)

    def judged(*what: Any) -> tuple[bool, bool, bool]:
        item = judge(gold, pair, found(*what), truth)
        return item.pair, item.antecedent, item.distance

    assert judged(LIGHT, LIGHT) == (True, True, True)
    assert judged(LAMP, LAMP) == (True, True, False)  # the light is nearer
    assert judged(TABLE, TABLE) == (True, False, False)
    assert judged(LIGHT, TABLE) == (True, False, False)
    assert judged(TABLE, LIGHT) == (True, False, False)
    assert judged(LIGHT, LIGHT, 3) == (False, False, False)
    elsewhere = replace(found(LIGHT, LIGHT), target=1)
    assert not judge(gold, pair, elsewhere, truth).pair
    item = judge(gold, pair, found(LIGHT, LIGHT), truth)
    assert (item.document, item.label, item.confidence) == ("a", "sie", 0.7)


def test_phrases_that_name_the_same(parsed: Parsed) -> None:
    # a parser that took the adjective for the head
    line = parsed("the/DET/2/det big/ADJ/0/root school/NOUN/4/compound bus/NOUN/2/dep of/ADP/6/case Ann/PROPN/4/nmod")
    document = Document((line,))
    whole = [(0, 0, 6)]
    assert names_one(document, Mention(0, 2, 4, 3), whole)
    assert not names_one(document, Mention(0, 5, 6, 5), whole)
    assert not names_one(document, Mention(0, 2, 3, 2), whole)
    assert not names_one(document, Mention(0, 2, 4, 3), [(1, 0, 6)])
    assert not names_one(document, Mention(0, 2, 4, 3), [])


def test_an_evaluation(gold: GoldPair, pair: AnnotatedPair) -> None:
    chains = {"link_source": "chains", "link_target": "chains", "neuter": "both"}
    result = evaluate([(gold, with_gold_chains(gold, pair))] * 2, Pronouns("en", "de", **chains))
    assert (result.gold, result.documents, len(result.items)) == (2, 2, 2)
    assert all(item.pair and item.antecedent and item.distance for item in result.items)
    assert result.counts == {"pronouns": 4, "items": 2, "source pleonastic": 2}
    whole = Evaluation()
    whole.add(result)
    whole.add(result)
    assert (whole.gold, whole.documents, len(whole.items), whole.counts["pronouns"]) == (4, 4, 4, 8)


def test_the_gold_of_parcorfull_agrees_with_the_pairs_that_others_extracted(
    data: Callable[[str], Path], annotator: Callable[[str], Any]
) -> None:
    """`it_items`: aligned pronouns with flags, made from the same corpus by another program; ours has nearly all."""
    folder = data("parcorfull")
    with (folder / "it_items.en-de.jsonl").open(encoding="utf-8") as stream:
        others = [json.loads(line) for line in stream]
    documents = list(read_gold(folder / "parcorfull.en-de.jsonl.gz", "en", "de"))[:4]
    sides = (annotator(code).annotate([getattr(d, side_).lines for d in documents]) for code, side_ in SIDES)
    phenomenon = Pronouns("en", "de", oblique=True)
    ours = set()
    for truth, *annotated in zip(documents, *sides, strict=True):
        annotated_pair = AnnotatedPair(truth.name, *annotated, truth.alignments)
        items = gold_items(truth, annotated_pair, phenomenon.translations)
        ours |= {(truth.name, *place, target) for place, item in items.items() for target in item.targets}
    names = {document.name for document in documents}
    linked = [i for i in others if i["antecedents_linked"] and i["doc"] in names]
    theirs = {(i["doc"], i["en_sent"], i["en_tok"], i["tgt_tok"]) for i in linked}
    assert len(theirs) > 40
    assert len(theirs & ours) >= 0.9 * len(theirs)


SIDES = (("en", "source"), ("de", "target"))
