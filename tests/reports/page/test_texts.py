"""The texts of runs: from files, from the catalogue, of a part of a suite; and what to do where they are not found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora import api
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.reports.page.texts import Missing, Texts, texts_of
from anaphora.runs import Run
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of

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


def found(run: Run, *named: str | Path) -> Texts:
    texts = texts_of(run, named)
    assert isinstance(texts, Texts)
    return texts


def test_a_file_that_is_named(run: Callable[[str], Run], tmp_path: Path) -> None:
    texts = found(run("context"), tmp_path / "small.jsonl")
    assert list(texts.examples) == ["a", "b", "c", "d"]
    assert texts.file == "small.jsonl"


def test_a_run_of_the_first_examples_has_their_texts(limited: Run, tmp_path: Path) -> None:
    assert list(found(limited, tmp_path / "small.jsonl").examples) == ["a", "b"]


def test_a_run_of_a_sample_has_its_texts(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    run = api.score(suite, f"command:python3 {tmp_path}/program.py", tmp_path / "sampled", sample=2, seed=3)
    assert list(found(run, tmp_path / "small.jsonl").examples) == [item.id for item in run]


def test_the_suite_of_the_catalogue_is_found(limited: Run, run: Callable[[str], Run], suite: Suite, home: Path) -> None:
    suite.write(home / "suites" / "small.jsonl")
    assert len(found(run("context")).examples) == 4
    assert len(found(limited).examples) == 2
    assert found(limited).file is None


def test_names_of_the_catalogue_are_taken(
    run: Callable[[str], Run], suite: Suite, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write(home / "suites" / "contrapro.jsonl")
    assert len(found(run("context"), "contrapro").examples) == 4
    with pytest.raises(AnaphoraError, match="no such file or catalogue name"):
        texts_of(run("context"), ["contrapor"])


def test_a_catalogue_suite_that_has_changed_is_not_taken(run: Callable[[str], Run], suite: Suite, home: Path) -> None:
    suite.write(home / "suites" / "small.jsonl")
    text = (home / "suites" / "small.jsonl").read_text("utf-8").replace("Löffel", "Teller")
    (home / "suites" / "small.jsonl").write_text(text, encoding="utf-8")
    missing = texts_of(run("context"), [])
    assert isinstance(missing, Missing)
    assert missing.remedy.startswith("the small of this machine is another one now: add --suite FILE")


def test_a_suite_that_is_named_and_was_not_scored_is_refused(run: Callable[[str], Run], tmp_path: Path) -> None:
    other = suite_of(Header("small", "en", "de"), lambda: [Example("a", ("x",), (("y",), ("z",)), 0)])
    other.write(tmp_path / "other.jsonl")
    with pytest.raises(BadInput, match="not the suite that was scored"):
        texts_of(run("context"), [tmp_path / "other.jsonl"])
    assert found(run("context"), tmp_path / "other.jsonl", tmp_path / "small.jsonl").examples


def test_the_remedy_is_the_right_one(run: Callable[[str], Run]) -> None:
    made = run("context")
    assert texts_of(made, []) == Missing("small", "add --suite FILE, the file that was scored")
    object.__setattr__(made.header, "suite", "contrapro")
    missing = texts_of(made, [])
    assert isinstance(missing, Missing)
    assert missing.remedy == "get them with anaphora suites get contrapro, or add --suite FILE"
