"""Figures of an evaluation, counted by hand."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from anaphora.build.mine.evaluate import Evaluation, JudgedItem
from anaphora.build.mine.quality import curve, document_of, share, shares, table_of
from anaphora.stats.intervals import wilson


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
    found = share(ITEMS, 5)
    assert (found.items, found.pairs, found.right, found.near) == (4, 3, 2, 1)
    assert (found.precision, found.recall) == (0.5, 0.4)
    assert found.f == pytest.approx(2 * 0.5 * 0.4 / 0.9)
    surer = share(ITEMS, 5, 0.6)
    assert (surer.items, surer.precision, surer.recall) == (3, pytest.approx(2 / 3), 0.4)


def test_of_nothing() -> None:
    found = share([], 0).to_dict()
    assert [found[name] for name in ("precision", "recall", "f", "antecedent_accuracy", "items")] == [0, 0, 0, 0, 0]


def test_the_curve() -> None:
    rows = [(row.items, row.right) for row in curve(EVALUATION, (0, 0.6, 0.9, 0.95))]
    assert rows == [(4, 2), (3, 2), (1, 1), (0, 0)]


def test_by_class() -> None:
    found = shares(EVALUATION, 0.6)
    assert {label: (part.items, part.right) for label, part in found.items()} == {
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
    text = table_of(document).render("table")
    assert text.startswith("en-de · builtin chains · 2 documents · 3 items of 20 pronouns · 5 in the gold")
    lines = [line.split() for line in text.splitlines()]
    assert ["and", "antecedents", "right", "(precision)", "0.667", "[0.208,", "0.939]"] in lines
    assert ["sie", "0.500", "1", "of", "2"] in lines
    assert ["≥", "0.9", "1.000", "1", "items"] in lines
    assert ["not", "sure", "enough", "7"] in lines


def test_chains_that_are_sure_have_no_curve() -> None:
    sure = Evaluation([item("er", 1.0, True, True, True)], 1, 1, Counter(pronouns=1, items=1))
    text = table_of(document_of(sure, 0.6, {"languages": "en-de", "chains": "gold"})).render("table")
    assert "≥" not in text
