"""From runs to chapters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.errors import AnaphoraError, BadInput
from anaphora.reports.page.contents import make_report
from anaphora.suites.suite import Suite
from anaphora.systems.run import Run


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_runs_of_one_suite(runs: list[Run], tmp_path: Path) -> None:
    report = make_report(runs, suites=[tmp_path / "small.jsonl"])
    assert [chapter.title for chapter in report.chapters] == ["small en→de"]
    assert report.overview is not None
    assert [p.name for p in report.provenance] == ["sentence", "context"]
    assert report.provenance[0].command.startswith("anaphora score small --system scores:sentence.scores")
    assert report.provenance[0].signature.startswith("ctr|s:small@")
    assert report.examples[0]["systems"] == ["sentence", "context"]
    assert list(report.examples[0]["tags"]) == ["reference_pronoun", "location"]
    assert report.silent == ()


def test_attacks_are_set_beside_their_suite(run: Callable[[str], Run], attack: Callable[[str], Run]) -> None:
    report = make_report([run("context"), attack("context")])
    assert [chapter.title for chapter in report.chapters] == ["small en→de", "Attacks", "Diagnosis"]
    assert len(report.examples) == 1


def test_the_suite_of_the_catalogue_is_found(runs: list[Run], suite: Suite, home: Path) -> None:
    assert make_report(runs).silent == ("small",)
    suite.write(home / "suites" / "small.jsonl")
    report = make_report(runs)
    assert report.silent == ()
    assert report.examples[0]["source"]


def test_a_suite_of_the_same_name_that_was_not_scored_is_not_taken(runs: list[Run], suite: Suite, home: Path) -> None:
    suite.write(home / "suites" / "small.jsonl")
    text = (home / "suites" / "small.jsonl").read_text("utf-8").replace("Löffel", "Teller")
    (home / "suites" / "small.jsonl").write_text(text, encoding="utf-8")
    assert make_report(runs).silent == ("small",)


def test_more_breakdowns_can_be_asked_for(runs: list[Run]) -> None:
    report = make_report(runs, by=["source_antecedent"])
    assert "By source_antecedent" in [part.title for part in report.chapters[0].parts]
    assert "source_antecedent" in report.examples[0]["tags"]


def test_names_join_the_runs_of_one_system(run: Callable[[str], Run], attack: Callable[[str], Run]) -> None:
    report = make_report([run("context"), attack("sentence")], names=["mine", "mine"])
    assert report.chapters[1].words[0].startswith("mine goes from 1.000 to 0.000")


def test_what_does_not_go_together_is_an_error(run: Callable[[str], Run], attack: Callable[[str], Run]) -> None:
    with pytest.raises(BadInput, match="a second run of small by context"):
        make_report([run("context"), run("context")])
    with pytest.raises(BadInput, match="an attack, but no run has the originals"):
        make_report([run("context"), attack("sentence")])
    with pytest.raises(AnaphoraError, match="name one or more runs"):
        make_report([])
