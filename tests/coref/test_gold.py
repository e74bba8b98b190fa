"""ParCorFull's records: pronouns of one word, and what they stand for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.build.mine.quality import names
from anaphora.core.errors import BadInput
from anaphora.coref import Link
from benchmarks.linking_gold import GoldPronoun, accuracy, judge, precision, read_parcorfull


def mention(
    position: tuple[int, int, int], text: str, kind: str, chain: str | None, **attributes: str
) -> dict[str, Any]:
    sent, start, end = position
    return {
        "sent": sent,
        "start": start,
        "end": end,
        "text": text,
        "type": kind,
        "chain": chain,
        "attributes": attributes,
    }


ENGLISH = {
    "sentences": [["The", "dog", "barked", "."], ["It", "rained", ",", "and", "it", "slept", "."]],
    "mentions": [
        mention((1, 4, 5), "it", "pronoun", "set_1", type="anaphoric", agreement="singular"),
        mention((0, 0, 2), "The dog", "np", "set_1"),
        mention((0, 2, 3), "barked", "vp", "set_1"),
        mention((1, 0, 1), "It", "pronoun", None, type="pleonastic"),
        mention((1, 3, 4), "and", "pronoun", "set_1", type="anaphoric", agreement="plural"),
        mention((1, 5, 6), "slept", "pronoun", "set_1", type="extratextual reference"),
        mention((1, 1, 3), "rained ,", "pronoun", "set_1", type="anaphoric"),
    ],
}
RECORD = {"doc": "x/1", "langs": ["en", "de"], "en": ENGLISH, "de": {"sentences": [], "mentions": []}}


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_record(tmp_path: Path) -> None:
    (document,) = read_parcorfull(write(tmp_path / "gold.jsonl", RECORD))
    assert document.name == "x/1"
    english = document.sides["en"]
    assert english.sentences[0] == ("The", "dog", "barked", ".")
    rained, slept = english.pronouns
    assert rained == GoldPronoun(1, 0, "It", (), ())
    assert slept == GoldPronoun(1, 4, "it", ((0, 0, 2),), ((0, 0, 2), (0, 2, 3), (1, 1, 3), (1, 3, 4)))
    assert document.sides["de"].pronouns == ()
    (plural,) = english.plurals
    assert (plural.text, plural.phrases) == ("and", ((0, 0, 2),))


@pytest.mark.parametrize("record", [{"doc": "x"}, {"langs": ["en"], "en": {}}, [1], "text"])
def test_what_is_not_a_record(tmp_path: Path, record: object) -> None:
    path = write(tmp_path / "gold.jsonl", RECORD, record)
    with pytest.raises(BadInput, match="line 2: not a record of ParCorFull"):
        list(read_parcorfull(path))


def test_the_real_file(data: Callable[[str], Path]) -> None:
    """29 documents; the counts are those of the corpus: 592 anaphoric, 8 cataphoric and 138 pleonastic *it*, of which
    one is said to be plural."""
    documents = list(read_parcorfull(data("parcorfull") / "parcorfull.en-de.jsonl.gz"))
    assert len(documents) == 29
    words = Counter(p.text.lower() for d in documents for p in d.sides["en"].pronouns)
    assert words["it"] == 737


# Links that miss the truth.


DOG, OWNER, CAT = Mention(0, 0, 5, 1), Mention(0, 3, 5, 4), Mention(0, 6, 7, 6)
IT = Mention(1, 0, 1, 0)


@pytest.fixture
def document(parsed: Callable[[str], Sentence]) -> Document:
    return Document(
        (
            parsed(
                "The/DET/2/det dog/NOUN/6/nsubj of/ADP/5/case my/PRON/5/nmod:poss aunt/NOUN/2/nmod saw/VERB/0/root "
                "Tom/PROPN/6/obj"
            ),
            parsed("It/PRON/2/nsubj slept/VERB/0/root"),
        )
    )


@pytest.mark.parametrize(
    ("mention", "span", "expected"),
    [
        (DOG, (0, 0, 5), True),
        (DOG, (0, 0, 2), True),  # the same head
        (Mention(0, 0, 2, 1), (0, 0, 5), True),
        (OWNER, (0, 0, 5), False),  # within it, but not it
        (DOG, (0, 3, 5), False),
        (CAT, (0, 0, 5), False),
        (DOG, (1, 0, 5), False),
        (Mention(0, 0, 1, 0), (0, 0, 5), True),  # begins alike: the parser's head is wrong
        (DOG, (0, 0, 99), True),  # a span that crosses the end of the sentence
    ],
)
def test_a_phrase_and_an_annotated_span(
    document: Document, mention: Mention, span: tuple[int, int, int], expected: bool
) -> None:
    assert names(document, mention, [span]) is expected


TRUE = GoldPronoun(1, 0, "It", ((0, 0, 5),), ((0, 0, 5),))
NOTHING = GoldPronoun(1, 0, "It", (), ())


@pytest.mark.parametrize(
    ("link", "gold", "linked", "right", "best_right", "confidence"),
    [
        (Link(IT, DOG, 0.8, ((DOG, 0.8),)), TRUE, True, True, True, 0.8),
        (Link(IT, CAT, 0.8, ((CAT, 0.8), (DOG, 0.1))), TRUE, True, False, False, 0.8),
        (Link(IT, None, 0.6, ((DOG, 0.4),)), TRUE, False, False, True, 0.4),
        (Link(IT, None, 0.6, ((DOG, 0.4),)), NOTHING, False, True, False, 0.4),
        (Link(IT, DOG, 0.6, ((DOG, 0.6),)), NOTHING, True, False, False, 0.6),
        (Link(IT, DOG), TRUE, True, True, True, 1.0),
        (Link(IT, None), TRUE, False, False, False, 0.0),
        (None, TRUE, False, False, False, 0.0),
        (None, NOTHING, False, True, False, 0.0),
    ],
)
def test_a_link_is_judged(
    document: Document,
    link: Link | None,
    gold: GoldPronoun,
    linked: bool,
    right: bool,
    best_right: bool,
    confidence: float,
) -> None:
    (judged,) = judge(document, [link] if link else [], [gold])
    assert (judged.linked, judged.right, judged.best_right, judged.confidence) == (
        linked,
        right,
        best_right,
        confidence,
    )
    assert judged.noun is bool(gold.phrases)
    assert judged.word == "it"


def test_shares(document: Document) -> None:
    right = judge(document, [Link(IT, DOG, 0.9, ((DOG, 0.9),))], [TRUE])
    wrong = judge(document, [Link(IT, CAT, 0.4, ((CAT, 0.4),))], [TRUE])
    assert accuracy([*right, *right, *wrong]) == pytest.approx(2 / 3)
    assert precision([*right, *wrong], 0.3) == (2, 0.5)
    assert precision([*right, *wrong], 0.9) == (1, 1.0)
    assert precision(right, 0.95) == (0, 0.0)
