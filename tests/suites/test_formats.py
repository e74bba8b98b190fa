"""Formats and rows that suites are read from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anaphora import api
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.suites.example import Example
from anaphora.suites.formats import FORMATS, read_suite, suite_of_rows
from anaphora.suites.suite import Header, suite_of

# Every published format is read by its name; a wrong name or an option that means nothing is said, not ignored.

# the contract's list (INTERFACE), and our own file
NAMES = [
    "native",
    "contrapro",
    "contrapro-rebuilt",
    "contracat",
    "contracat-attack",
    "disceval",
    "lopes",
    "voita",
    "scat",
    "eval-anaphora",
    "text",
    "ctxpro",
    "mt-geneval",
    "winomt",
    "diabla",
]


def test_the_formats_are_those_of_the_contract() -> None:
    assert sorted(FORMATS) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_has_a_reader_that_names_missing_files(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="absent"):
        list(read_suite(tmp_path / "absent", name))


def test_native_is_what_is_read_by_default(tmp_path: Path) -> None:
    example = Example("a", ("It.",), (("Er.",), ("Sie.",)), 0)
    suite_of(Header("tiny", "en", "de"), lambda: [example]).write(tmp_path / "tiny.jsonl")
    assert list(read_suite(tmp_path / "tiny.jsonl")) == [example]


def test_a_wrong_name_is_met_with_a_near_one() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown format 'contrapo' \(did you mean contrapro"):
        read_suite(Path("x"), "contrapo")


def test_an_option_unknown_to_the_format_is_an_error() -> None:
    with pytest.raises(AnaphoraError) as caught:
        read_suite(Path("x"), "contrapro", split="test")
    assert str(caught.value) == (
        "--split is not an option of the format 'contrapro', which takes --context-from, --context"
    )
    with pytest.raises(
        AnaphoraError, match="--context is not an option of the format 'native', which takes no options"
    ):
        read_suite(Path("x"), context=1)


def test_an_option_reaches_the_reader(tmp_path: Path) -> None:
    (tmp_path / "set.json").write_text('{"1": {"examples": []}}', encoding="utf-8")
    assert read_suite(tmp_path / "set.json", "disceval", target_language="cs").header.target_language == "cs"


def test_the_command_line_prints_the_same(anaphora, tmp_path: Path) -> None:
    done = anaphora("suites", "convert", tmp_path, "--from", "lops", "-o", tmp_path / "out.jsonl", check=2)
    assert done.stderr.startswith("error: unknown format 'lops' (did you mean lopes")


# Rows as a suite.

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


def test_an_iterator_is_refused_as_it_is_read_once() -> None:
    with pytest.raises(AnaphoraError, match="more than once"):
        suite_of_rows(iter(ROWS))
