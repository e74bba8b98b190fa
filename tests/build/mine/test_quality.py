"""Mining is compared with what annotators marked: figures by hand on small documents."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anaphora.annotate.document import Document, Mention, Sentence, Token
from anaphora.build.mine.filtering import Antecedents
from anaphora.build.mine.phenomenon import AnnotatedPair
from anaphora.build.mine.pronouns import CONFIDENCE, PronounMatch, Pronouns
from anaphora.build.mine.quality import (
    Evaluation,
    GoldMention,
    GoldPair,
    GoldSide,
    JudgedItem,
    annotated,
    curve,
    document_of,
    evaluate,
    evaluate_mining,
    gold_items,
    judge,
    languages_of,
    names_one,
    read_gold,
    same_chains,
    share,
    shares,
    with_gold_chains,
)
from anaphora.core.errors import BadInput
from anaphora.languages.swap import Swap
from anaphora.reports.data_tables import quality_table
from anaphora.stats.intervals import wilson

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
    return GoldPair("a", side(ENGLISH), side(GERMAN), straight)


@pytest.fixture
def pair(parsed: Parsed, gold: GoldPair) -> AnnotatedPair:
    documents = (Document(tuple(map(parsed, lines))) for lines in (ENGLISH, GERMAN))
    return AnnotatedPair("a", *documents, gold.alignments)


def translations(word: str) -> frozenset[str]:
    return frozenset({"er", "sie", "es"}) if word == "it" else frozenset()


def pronoun_match(source: Mention, target: Mention, sentence: int = 2) -> PronounMatch:
    swap = Swap("Nom", frozenset({"Nom"}), frozenset({"Fem"}), "Sing", {})
    return PronounMatch(sentence, 0, 0, Antecedents(source, target, 0.7), swap, "sie")


LAMP, TABLE, LIGHT = Mention(0, 0, 2, 1), Mention(0, 3, 5, 4), Mention(1, 0, 2, 1)


def test_gold_items(gold: GoldPair, pair: AnnotatedPair) -> None:
    items = gold_items(gold, pair, translations)
    assert list(items) == [(2, 0)]  # it rained is none
    assert items[2, 0] == {0}
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
        item = judge(gold, pair, pronoun_match(*what), truth)
        return item.pair, item.antecedent, item.distance

    assert judged(LIGHT, LIGHT) == (True, True, True)
    assert judged(LAMP, LAMP) == (True, True, False)  # the light is nearer
    assert judged(TABLE, TABLE) == (True, False, False)
    assert judged(LIGHT, TABLE) == (True, False, False)
    assert judged(TABLE, LIGHT) == (True, False, False)
    assert judged(LIGHT, LIGHT, 3) == (False, False, False)
    elsewhere = replace(pronoun_match(LIGHT, LIGHT), target=1)
    assert not judge(gold, pair, elsewhere, truth).pair
    item = judge(gold, pair, pronoun_match(LIGHT, LIGHT), truth)
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


Pairs = list[tuple[GoldPair, AnnotatedPair]]


@pytest.fixture(scope="module")
def pairs(data: Callable[[str], Path], annotator: Callable[[str], Any]) -> Pairs:
    gold = list(read_gold(data("parcorfull") / "parcorfull.en-de.jsonl.gz", "en", "de"))
    return list(annotated(gold, annotator("en"), annotator("de")))


def test_parcorfull_gold_agrees_with_independently_extracted_pairs(data: Callable[[str], Path], pairs: Pairs) -> None:
    """`it_items`: aligned pronouns with flags, made from the same corpus by another program; ours has nearly all."""
    folder = data("parcorfull")
    with (folder / "it_items.en-de.jsonl").open(encoding="utf-8") as stream:
        others = [json.loads(line) for line in stream]
    phenomenon = Pronouns("en", "de", oblique=True)
    ours = set()
    for truth, pair in pairs[:4]:
        items = gold_items(truth, pair, phenomenon.translations)
        ours |= {(truth.name, *position, target) for position, targets in items.items() for target in targets}
    names = {truth.name for truth, _ in pairs[:4]}
    linked = [i for i in others if i["antecedents_linked"] and i["doc"] in names]
    theirs = {(i["doc"], i["en_sent"], i["en_tok"], i["tgt_tok"]) for i in linked}
    assert len(theirs) > 40
    assert len(theirs & ours) >= 0.9 * len(theirs)


# Figures.


def item(label: str, confidence: float, *right: bool) -> JudgedItem:
    return JudgedItem("a", label, confidence, *right)


ITEMS = [
    item("er", 0.9, True, True, True),
    item("sie", 0.8, True, True, False),
    item("sie", 0.6, True, False, False),
    item("es", 0.5, False, False, False),
]
EVALUATION = Evaluation(ITEMS, 5, 2, Counter(pronouns=20, items=3, **{"no target pronoun": 10, "not sure enough": 7}))


def test_shares() -> None:
    actual = share(ITEMS, 5)
    assert (actual.items, actual.pairs, actual.right, actual.near) == (4, 3, 2, 1)
    assert (actual.precision, actual.recall) == (0.5, 0.4)
    assert actual.f == pytest.approx(2 * 0.5 * 0.4 / 0.9)
    surer = share(ITEMS, 5, 0.6)
    assert (surer.items, surer.precision, surer.recall) == (3, pytest.approx(2 / 3), 0.4)


def test_of_nothing() -> None:
    document = share([], 0).to_dict()
    assert [document[name] for name in ("precision", "recall", "f", "antecedent_accuracy", "items")] == [0, 0, 0, 0, 0]


def test_the_curve() -> None:
    rows = [(row.items, row.right) for row in curve(EVALUATION, (0, 0.6, 0.9, 0.95))]
    assert rows == [(4, 2), (3, 2), (1, 1), (0, 0)]


def test_by_class() -> None:
    actual = shares(EVALUATION, 0.6)
    assert {label: (part.items, part.right) for label, part in actual.items()} == {
        "er": (1, 1),
        "es": (0, 0),
        "sie": (2, 1),
    }


def test_the_document() -> None:
    document = document_of(EVALUATION, 0.6, {"languages": "en-de", "chains": "builtin"})
    assert document["precision"] == pytest.approx(2 / 3)
    assert document["pair_precision"] == 1
    assert document["antecedent_accuracy"] == pytest.approx(2 / 3)
    assert document["distance_accuracy"] == 0.5
    assert (document["items"], document["right"], document["gold"], document["pronouns"]) == (3, 2, 5, 20)
    assert document["intervals"]["precision"] == wilson(2, 3)
    assert document["intervals"]["recall"] == wilson(2, 5)
    assert document["rejections"] == {"no target pronoun": 10, "not sure enough": 7}
    assert sum(document["rejections"].values()) + document["items"] == document["pronouns"]
    assert json.loads(json.dumps(document))["labels"]["sie"] == {"items": 2, "right": 1, "precision": 0.5}


def test_the_table() -> None:
    document = document_of(EVALUATION, 0.6, {"languages": "en-de", "chains": "builtin"})
    text = quality_table(document).render("table")
    assert text.startswith("en-de · builtin chains · 2 documents · 3 items of 20 pronouns · 5 in the gold")
    lines = [line.split() for line in text.splitlines()]
    assert ["and", "antecedents", "right", "(precision)", "0.667", "[0.208,", "0.939]"] in lines
    assert ["sie", "0.500", "1", "of", "2"] in lines
    assert ["≥", "0.9", "1.000", "1", "items"] in lines
    assert ["not", "sure", "enough", "7"] in lines


def test_chains_that_are_sure_have_no_curve() -> None:
    sure = Evaluation([item("er", 1.0, True, True, True)], 1, 1, Counter(pronouns=1, items=1))
    text = quality_table(document_of(sure, 0.6, {"languages": "en-de", "chains": "gold"})).render("table")
    assert "≥" not in text


# The whole evaluation.


def test_with_the_chains_of_people(pairs: Pairs) -> None:
    """The upper bound: what alignment, tagging and the rules of the language leave to be found."""
    chains = {"link_source": "chains", "link_target": "chains", "neuter": "both"}
    result = evaluate([(gold, with_gold_chains(gold, pair)) for gold, pair in pairs], Pronouns("en", "de", **chains))
    actual = share(result.items, result.gold)
    assert actual.precision >= 0.95
    assert actual.recall >= 0.35
    assert all(actual.labels[label] >= least for label, least in (("er", 7), ("sie", 25), ("es", 35)))


def test_with_the_built_in_resolver(pairs: Pairs) -> None:
    """It was fitted on these documents; cross-validated figures are in docs/mining-quality.md."""
    result = evaluate(pairs, Pronouns("en", "de"))
    actual = share(result.items, result.gold)
    assert actual.precision >= 0.8
    assert actual.items >= 40
    assert all(item.confidence >= CONFIDENCE for item in result.items)


class Words:
    """An annotator that knows nothing but the tokens."""

    language, needs_all = "", False

    def settings(self) -> dict[str, str]:
        return {"annotator": "words"}

    def annotate(self, documents: Any) -> Any:
        for lines in documents:
            yield Document(tuple(Sentence(tuple(Token(word) for word in line)) for line in lines))


def test_progress_and_what_it_was_made_with(data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.build.mine.quality.load_annotator", lambda spec, language: Words())
    path = data("parcorfull") / "parcorfull.en-de.jsonl.gz"
    steps: list[tuple[int, int]] = []
    document = evaluate_mining(
        path,
        chains="gold",
        languages=None,
        annotate=("a", "b"),
        progress=lambda done, total: steps.append((done, total)),
    )
    assert steps == [(n, 29) for n in range(1, 30)]
    assert document["annotation"] == {"source": {"annotator": "words"}, "target": {"annotator": "words"}}
    assert (document["languages"], document["chains"], document["items"]) == ("en-de", "gold", 0)
    assert document["settings"]["link_source"] == {"linker": "chains"}


# ParCorFull's records as documents in both languages: beads become lines, mentions and links go along


def mention(sentence: int, start: int, end: int, kind: str, chain: str | None) -> dict[str, Any]:
    return {"sent": sentence, "start": start, "end": end, "type": kind, "chain": chain, "attributes": {}, "text": ""}


RECORD: dict[str, Any] = {
    "doc": "talk",
    "langs": ["en", "de"],
    "alignment": [[[0, 1], [0]], [[2], []], [[3], [1]]],
    "en": {
        "sentences": [["The", "dog"], ["It", "slept"], ["Hm"], ["It", "is", "fun", "."]],
        "mentions": [
            mention(1, 0, 1, "pronoun", "a"),
            mention(0, 0, 2, "np", "a"),
            mention(3, 0, 1, "pronoun", None),
            mention(3, 2, 9, "np", "b"),  # crosses the end
            mention(3, 1, 2, "np", "a"),  # after the pronoun
        ],
    },
    "de": {
        "sentences": [["Der", "Hund", "schlief"], ["Es", "ist", "lustig"]],
        "mentions": [mention(0, 0, 2, "np", "x"), mention(1, 0, 1, "pronoun", "x")],
    },
    "word_alignment": [
        [[0, 1], [0, 1], "i"],
        [[1, 1], [0, 2], "f"],
        [[3, 0], [1, 0], "i"],
        [[3, 0], [0, 0], "i"],  # of different lines
    ],
}


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_beads_become_lines(tmp_path: Path) -> None:
    (pair,) = read_gold(write(tmp_path / "gold.jsonl", RECORD), "en", "de")
    assert pair.name == "talk"
    assert pair.source.lines == (("The", "dog", "It", "slept"), ("Hm",), ("It", "is", "fun", "."))
    assert pair.target.lines == (("Der", "Hund", "schlief"), (), ("Es", "ist", "lustig"))
    assert pair.alignments == (((1, 1), (3, 2)), (), ((0, 0),))


def test_mentions_and_chains(tmp_path: Path) -> None:
    (pair,) = read_gold(write(tmp_path / "gold.jsonl", RECORD), "en", "de")
    dog, first = GoldMention((0, 0, 2), True, "a"), GoldMention((0, 2, 3), False, "a")
    nothing, fun = GoldMention((2, 0, 1), False, None), GoldMention((2, 2, 4), True, "b")
    later = GoldMention((2, 1, 2), True, "a")
    assert pair.source.mentions == (dog, first, nothing, later, fun)
    assert pair.source.chains == {"a": (dog, first, later), "b": (fun,)}
    assert pair.source.words == {(0, 2): first, (2, 0): nothing}
    assert pair.source.nouns_before((0, 2)) == [dog]
    assert pair.source.nouns_before((2, 0)) == []  # no chain
    assert pair.source.nouns_before((0, 0)) == []  # no pronoun
    assert [m.span for m in pair.target.nouns_before((2, 0))] == [(0, 0, 2)]


def test_chains_of_people_in_an_annotation(tmp_path: Path, parsed: Parsed) -> None:
    (pair,) = read_gold(write(tmp_path / "gold.jsonl", RECORD), "en", "de")
    lines = (
        parsed("The/DET/2/det dog/NOUN/4/nsubj It/PRON/4/nsubj slept/VERB/0/root"),
        parsed("Hm/INTJ/0/root"),
        parsed("It/PRON/3/expl is/AUX/3/cop fun/NOUN/0/root ./PUNCT/3/punct"),
    )
    chained = pair.source.annotated(Document(lines))
    assert chained.sentences is lines
    assert chained.chains == ((Mention(0, 0, 2, 1), Mention(0, 2, 3, 2), Mention(2, 1, 2, 1)),)  # b is alone


def test_the_languages_of_a_file(tmp_path: Path) -> None:
    assert languages_of(write(tmp_path / "gold.jsonl", RECORD)) == ("en", "de")
    with pytest.raises(BadInput, match="the file has no documents"):
        languages_of(write(tmp_path / "empty.jsonl"))
    with pytest.raises(BadInput, match="line 1: not a record"):
        languages_of(write(tmp_path / "bad.jsonl", {"langs": ["en"]}))


def test_other_languages_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "gold.jsonl", RECORD)
    with pytest.raises(BadInput, match="line 1: a record of en-de, not en-fr"):
        list(read_gold(path, "en", "fr"))


@pytest.mark.parametrize("record", [{"doc": "x"}, [1], "text", RECORD | {"word_alignment": [[0, 1]]}])
def test_what_is_no_record(tmp_path: Path, record: object) -> None:
    path = write(tmp_path / "gold.jsonl", RECORD, record)
    with pytest.raises(BadInput, match="line 2: not a record of ParCorFull"):
        list(read_gold(path, "en", "de"))


@pytest.mark.parametrize(("target", "documents", "lines"), [("de", 29, 2298), ("fr", 10, 1733)])
def test_the_real_files(data: Callable[[str], Path], target: str, documents: int, lines: int) -> None:
    pairs = list(read_gold(data("parcorfull") / f"parcorfull.en-{target}.jsonl.gz", "en", target))
    assert len(pairs) == documents
    assert sum(len(pair.source.lines) for pair in pairs) == lines
    for pair in pairs:
        assert len(pair.source.lines) == len(pair.target.lines) == len(pair.alignments)
        for ours, theirs, links in zip(pair.source.lines, pair.target.lines, pair.alignments, strict=True):
            assert all(i < len(ours) and j < len(theirs) for i, j in links)
