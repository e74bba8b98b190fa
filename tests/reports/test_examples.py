"""The examples of a report: packed columns, and their texts from suites."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example as also
from hypothesis import given
from hypothesis import strategies as st

from anaphora import api
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.result import Settings
from anaphora.reports.examples import Missing, Texts, TextSources, between, columns, highlights, packed, source_pronouns
from anaphora.runs import Run
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of

# The packed examples: what a script unpacks is what the runs and the suite hold.


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
    actual = columns(named, of(suite), ["reference_pronoun", "nothing"], Settings())
    assert actual["ids"] == ["a", "b", "c", "d"]
    assert actual["gold"] == [0, 1, 2, 1]
    assert actual["scores"][0] == [[-3, -2, -1], [-1, -2, -3]]
    assert actual["chosen"] == [[2, 0], [2, 1], [2, 2], [1, 1]]
    assert actual["right"] == [[0, 1], [0, 1], [1, 1], [1, 1]]
    assert actual["tags"] == {"reference_pronoun": {"values": ["er", "sie", "es"], "codes": [0, 1, 2, 1]}}
    assert actual["source"][0] == "I have a spoon.\nIt is old."
    assert actual["target"][1] == "Ich habe eine Lampe.\nSie ist alt."
    start, end, middle = actual["others"][1][0]
    right = actual["target"][1]
    assert right[:start] + middle + right[len(right) - end :] == "Ich habe eine Lampe.\nEr ist alt."
    assert actual["antecedents"]["source_antecedent"][3] == "The cup"
    assert actual["differences"][0] == [[0, 2], [0, 3], [0, 2]]
    assert actual["pronoun"][0] == [0, 2]
    assert actual["languages"] == ["en", "de"]


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


def test_a_run_that_does_not_fit_the_suite_is_refused(suite: Suite, runs: list[Run]) -> None:
    first, *others = suite
    longer = replace(first, candidates=(*first.candidates, first.candidates[0]))
    for examples in (others, [longer, *others]):
        texts = Texts(("en", "de"), {example.id: example for example in examples}, "small.jsonl")
        with pytest.raises(BadInput, match=f"the suite has no example '{first.id}' with . candidates. Score the suite"):
            columns({"sentence": runs[0]}, texts, [], Settings())


def test_lower_is_better_with_minimize(runs: list[Run], suite: Suite) -> None:
    assert columns({"sentence": runs[0]}, of(suite), [], Settings(minimize=True))["right"] == [[1], [0], [0], [0]]


def test_examples_without_a_right_answer(suite: Suite, runs: list[Run]) -> None:
    from anaphora.runs import ScoredExample

    class Priors(Run):
        def __iter__(self):  # type: ignore[no-untyped-def]
            return iter([ScoredExample("a", None, {}, [-1.0, -2.0, -3.0])])

    actual = columns({"x": Priors(runs[0].header, runs[0].path)}, of(suite), [], Settings())
    assert (actual["gold"], actual["right"], actual["chosen"]) == ([None], [None], [[0]])


def test_packed_is_gzip_in_base64_and_always_the_same(runs: list[Run], suite: Suite) -> None:
    actual = [columns({"sentence": runs[0]}, of(suite), [], Settings())]
    text = packed(actual)
    assert json.loads(gzip.decompress(base64.b64decode(text))) == actual
    assert packed(actual) == text


# The texts of runs: from files, from the catalog, of a part of a suite; and what to do where they are not found.

PROGRAM = """import sys
for line in sys.stdin:
    print(-len(line), flush=True)
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def limited(suite: Suite, tmp_path: Path) -> Run:
    """What everybody's first try is: a run of a few examples."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    return api.score(suite, f"command:python3 {tmp_path}/program.py", tmp_path / "limited", limit=2)


def texts_of_run(run: Run, *named: str | Path) -> Texts:
    texts = TextSources(named).texts_of(run)
    assert isinstance(texts, Texts)
    return texts


def test_a_file_that_is_named(run: Callable[[str], Run], tmp_path: Path) -> None:
    texts = texts_of_run(run("context"), tmp_path / "small.jsonl")
    assert list(texts.examples) == ["a", "b", "c", "d"]
    assert texts.file == "small.jsonl"


def test_a_run_of_the_first_examples_has_their_texts(limited: Run, tmp_path: Path) -> None:
    assert list(texts_of_run(limited, tmp_path / "small.jsonl").examples) == ["a", "b"]


def test_a_run_of_a_sample_has_its_texts(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    run = api.score(suite, f"command:python3 {tmp_path}/program.py", tmp_path / "sampled", sample=2, seed=3)
    assert list(texts_of_run(run, tmp_path / "small.jsonl").examples) == [item.id for item in run]


def test_the_suite_of_the_catalog_is_found(limited: Run, run: Callable[[str], Run], suite: Suite, home: Path) -> None:
    suite.write(home / "suites" / "small.jsonl")
    assert len(texts_of_run(run("context")).examples) == 4
    assert len(texts_of_run(limited).examples) == 2
    assert texts_of_run(limited).file is None


def test_names_of_the_catalog_are_taken(
    run: Callable[[str], Run], suite: Suite, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write(home / "suites" / "contrapro.jsonl")
    assert len(texts_of_run(run("context"), "contrapro").examples) == 4
    with pytest.raises(AnaphoraError, match="no such file or catalog name"):
        TextSources(["contrapor"]).texts_of(run("context"))


def test_a_catalog_suite_that_has_changed_is_not_taken(run: Callable[[str], Run], suite: Suite, home: Path) -> None:
    suite.write(home / "suites" / "small.jsonl")
    text = (home / "suites" / "small.jsonl").read_text("utf-8").replace("Löffel", "Teller")
    (home / "suites" / "small.jsonl").write_text(text, encoding="utf-8")
    missing = TextSources([]).texts_of(run("context"))
    assert isinstance(missing, Missing)
    assert missing.remedy.startswith("the small of this machine is another one now: add --suite FILE")


def test_a_named_suite_that_was_not_scored_is_refused(run: Callable[[str], Run], tmp_path: Path) -> None:
    other = suite_of(Header("small", "en", "de"), lambda: [Example("a", ("x",), (("y",), ("z",)), 0)])
    other.write(tmp_path / "other.jsonl")
    with pytest.raises(BadInput, match="not the suite that was scored"):
        TextSources([tmp_path / "other.jsonl"]).texts_of(run("context"))
    assert texts_of_run(run("context"), tmp_path / "other.jsonl", tmp_path / "small.jsonl").examples


def test_the_remedy_is_the_right_one(run: Callable[[str], Run]) -> None:
    made = run("context")
    assert TextSources([]).texts_of(made) == Missing("small", "add --suite FILE, the file that was scored")
    object.__setattr__(made.header, "suite", "contrapro")
    missing = TextSources([]).texts_of(made)
    assert isinstance(missing, Missing)
    assert missing.remedy == "get them with anaphora suites get contrapro, or add --suite FILE"
