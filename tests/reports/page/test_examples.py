"""The packed examples: what a script unpacks is what the runs and the suite hold."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import example as also
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import BadInput
from anaphora.evaluation.result import Settings
from anaphora.reports.page.examples import between, check_suite, columns, packed
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of
from anaphora.systems.run import Run

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
    found = columns(named, suite, ["reference_pronoun", "nothing"], Settings())
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
    assert found["marks"]["source_antecedent"][3] == "The cup"
    assert found["languages"] == ["en", "de"]


def test_templates_do_not_name_the_pronoun_that_all_of_them_are_about(runs: list[Run], suite: Suite) -> None:
    for language, marked in (("en", "it"), ("fr", "")):
        header = Header(suite.header.name, language, "de")
        bare = suite_of(header, lambda: (Example(e.id, e.source, e.candidates, e.gold) for e in suite))
        found = columns({"one": runs[0]}, bare, [], Settings())
        assert found["marks"]["source_pronoun"] == [marked] * 4
        assert found["marks"]["reference_pronoun"] == [""] * 4


def test_without_the_suite_there_are_figures_only(runs: list[Run]) -> None:
    found = columns({"sentence": runs[0]}, None, [], Settings())
    assert "source" not in found
    assert found["right"] == [[0], [0], [1], [1]]


def test_lower_is_better_where_it_is_said(runs: list[Run]) -> None:
    assert columns({"sentence": runs[0]}, None, [], Settings(minimize=True))["right"] == [[1], [0], [0], [0]]


def test_examples_without_a_right_answer(suite: Suite, runs: list[Run]) -> None:
    from anaphora.systems.scored import Scored

    class Priors(Run):
        def __iter__(self):  # type: ignore[no-untyped-def]
            return iter([Scored("a", None, {}, [-1.0, -2.0])])

    found = columns({"x": Priors(runs[0].header, runs[0].path)}, None, [], Settings())
    assert (found["gold"], found["right"], found["chosen"]) == ([None], [None], [[0]])


def test_packed_is_gzip_in_base64_and_always_the_same(runs: list[Run], suite: Suite) -> None:
    found = [columns({"sentence": runs[0]}, suite, [], Settings())]
    text = packed(found)
    assert json.loads(gzip.decompress(base64.b64decode(text))) == found
    assert packed(found) == text


def test_another_suite_is_refused(runs: list[Run], tmp_path: Path) -> None:
    other = suite_of(Header("small", "en", "de"), lambda: [Example("a", ("x",), (("y",), ("z",)), 0)])
    with pytest.raises(BadInput, match="not the suite that was scored"):
        check_suite(other, runs, tmp_path / "other.jsonl")
