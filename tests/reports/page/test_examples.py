"""The packed examples: what a script unpacks is what the runs and the suite hold."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
from hypothesis import example as also
from hypothesis import given
from hypothesis import strategies as st

from anaphora.evaluation.result import Settings
from anaphora.reports.page.examples import between, columns, highlights, packed, source_pronouns
from anaphora.reports.page.texts import Texts
from anaphora.runs import Run
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite


def of(suite: Suite) -> Texts:
    return Texts(("en", "de"), {example.id: example for example in suite}, "small.jsonl")


TEXT = st.text("ab\n", max_size=6)


@given(TEXT, TEXT)
@also("aa", "aaa")
@also("aba", "aa")
def test_what_is_between_gives_the_other_text_back(text: str, other: str) -> None:
    start, end, middle = between(text, other)
    assert text[:start] + middle + text[len(text) - end :] == other
    assert start + end <= min(len(text), len(other))


def test_columns_hold_texts_scores_and_outcomes(runs: list[Run], suite: Suite) -> None:
    named = {"sentence": runs[0], "context": runs[1]}
    found = columns(named, of(suite), ["reference_pronoun", "nothing"], Settings())
    assert found["ids"] == ["a", "b", "c", "d"]
    assert found["gold"] == [0, 1, 2, 1]
    assert found["scores"][0] == [[-3, -2, -1], [-1, -2, -3]]
    assert found["chosen"] == [[2, 0], [2, 1], [2, 2], [1, 1]]
    assert found["right"] == [[0, 1], [0, 1], [1, 1], [1, 1]]
    assert found["tags"] == {"reference_pronoun": {"values": ["er", "sie", "es"], "codes": [0, 1, 2, 1]}}
    assert found["source"][0] == "I have a spoon.\nIt is old."
    assert found["target"][1] == "Ich habe eine Lampe.\nSie ist alt."
    start, end, middle = found["others"][1][0]
    right = found["target"][1]
    assert right[:start] + middle + right[len(right) - end :] == "Ich habe eine Lampe.\nEr ist alt."
    assert found["antecedents"]["source_antecedent"][3] == "The cup"
    assert found["differences"][0] == [[0, 2], [0, 3], [0, 2]]
    assert found["pronoun"][0] == [0, 2]
    assert found["languages"] == ["en", "de"]


def test_only_words_that_differ_are_highlighted() -> None:
    """Two words apart from each other: what lies between them is the same in all candidates."""
    texts = (
        "Er ist alt, und ich mag ihn sehr.",
        "Sie ist alt, und ich mag sie sehr.",
        "Er ist alt, und ich mag es sehr.",
    )
    made = Example("x", ("It is old, and I like it a lot.",), tuple((text,) for text in texts), 0)
    words = [[text[a:b] for a, b in spans] for text, spans in zip(texts, highlights(made), strict=True)]
    assert words == [["Er", "ihn"], ["Sie", "sie"], ["es"]]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [({"source_pronoun": "it"}, ["It", "it"]), ({"source_pronoun": "I"}, ["I"]), ({}, []), ({"source_pronoun": 3}, [])],
)
def test_the_source_pronoun_is_where_the_suite_says(tags: dict[str, Any], expected: list[str]) -> None:
    source = "It is old, and I like it."
    made = Example("x", ("It was here.", source), (("Er.",), ("Sie.",)), 0, tags)
    assert [source[a:b] for a, b in source_pronouns(made)] == expected


def test_lower_is_better_where_it_is_said(runs: list[Run], suite: Suite) -> None:
    assert columns({"sentence": runs[0]}, of(suite), [], Settings(minimize=True))["right"] == [[1], [0], [0], [0]]


def test_examples_without_a_right_answer(suite: Suite, runs: list[Run]) -> None:
    from anaphora.runs import ScoredExample

    class Priors(Run):
        def __iter__(self):  # type: ignore[no-untyped-def]
            return iter([ScoredExample("a", None, {}, [-1.0, -2.0, -3.0])])

    found = columns({"x": Priors(runs[0].header, runs[0].path)}, of(suite), [], Settings())
    assert (found["gold"], found["right"], found["chosen"]) == ([None], [None], [[0]])


def test_packed_is_gzip_in_base64_and_always_the_same(runs: list[Run], suite: Suite) -> None:
    found = [columns({"sentence": runs[0]}, of(suite), [], Settings())]
    text = packed(found)
    assert json.loads(gzip.decompress(base64.b64decode(text))) == found
    assert packed(found) == text
