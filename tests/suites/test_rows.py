"""Rows as a suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anaphora import api
from anaphora.core.errors import AnaphoraError
from anaphora.suites.rows import suite_of_rows

ROWS = [
    {"id": "x", "source": ["A cup.", "It fell."], "candidates": ["Sie fiel.", "Er fiel."], "gold": 0, "pronoun": "sie"},
    {"source": "It fell.", "candidates": [["Er fiel."], ["Sie fiel."]], "gold": -1, "tags": {"a": 1}, "none": None},
]


def test_rows_become_examples() -> None:
    suite = suite_of_rows(ROWS, "mine", "en-de", ("pronoun",))
    first, second = suite
    assert (suite.header.name, suite.header.languages, suite.header.breakdowns) == ("mine", "en-de", ("pronoun",))
    assert first.id == "x"
    assert first.source == ("A cup.", "It fell.")
    assert first.candidates == (("", "Sie fiel."), ("", "Er fiel."))
    assert (first.gold, first.tags) == (0, {"pronoun": "sie"})
    assert (second.id, second.gold, second.tags) == ("1", None, {"a": 1})
    assert list(suite) == [first, second]


def test_they_are_scored_and_evaluated_as_any_suite(tmp_path: Path) -> None:
    scores = tmp_path / "scores"
    scores.write_text("-1\n-2\n-1\n-2\n", encoding="utf-8")
    result = api.evaluate(api.load_suite(ROWS, name="mine", languages="en-de"), scores=scores)
    assert (result.suite, result.figure.total, result.figure.correct) == ("mine", 1, 1)


def test_a_dataset_of_hugging_face_is_taken_as_it_is() -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    dataset = datasets.Dataset.from_list([{**ROWS[0], "candidates": [["", "Sie fiel."], ["", "Er fiel."]]}])
    assert list(suite_of_rows(dataset)) == list(suite_of_rows(ROWS[:1]))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"candidates": ["x"]}, "row 0: no 'source'"),
        ({"source": "x", "candidates": []}, "row 0: 'candidates' must be"),
        ({"source": "x", "candidates": ["y"], "gold": 3}, "row 0: gold is 3"),
        ({"source": [1], "candidates": ["y"], "gold": 0}, "row 0: 'source' must be"),
    ],
)
def test_bad_rows_are_named(row: dict[str, Any], problem: str) -> None:
    with pytest.raises(AnaphoraError, match=problem):
        list(suite_of_rows([row]))


def test_an_iterator_is_refused_as_it_is_used_up_by_the_first_reader() -> None:
    with pytest.raises(AnaphoraError, match="more than once"):
        suite_of_rows(iter(ROWS))
