"""From runs to chapters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anaphora.runs
import anaphora.suites.suite
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.reports.charts import assign_styles
from anaphora.reports.page import make_report
from anaphora.runs import Run


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_runs_of_one_suite(runs: list[Run], tmp_path: Path) -> None:
    report = make_report(runs, suites=[tmp_path / "small.jsonl"])
    assert [chapter.title for chapter in report.chapters] == ["small en→de"]
    assert report.overview is not None
    assert [p.name for p in report.provenance] == ["sentence", "context"]
    assert report.provenance[0].command == "anaphora score small.jsonl --system scores:sentence.scores -o runs/sentence"
    assert report.provenance[0].signature.startswith("ctr|s:small@")
    assert report.examples[0]["systems"] == ["sentence", "context"]
    assert list(report.examples[0]["tags"]) == ["reference_pronoun", "location"]
    assert report.suites_without_text == ()


def test_each_run_and_suite_is_parsed_once(
    run: Callable[[str], Run], attack: Callable[[str], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: Counter[str] = Counter()
    for module, name in ((anaphora.runs, "parse_record"), (anaphora.suites.suite, "parse_example")):
        parse = getattr(module, name)

        def counted(line: str, path: Path, number: int, parse: Any = parse) -> Any:
            parsed[f"{path}:{number}"] += 1
            return parse(line, path, number)

        monkeypatch.setattr(module, name, counted)
    runs = [run("sentence"), run("context"), attack("sentence"), attack("context")]
    make_report(runs, suites=[tmp_path / "small.jsonl"])
    assert len(parsed) == 20, "four records in each of four runs, four examples"
    assert set(parsed.values()) == {1}


def test_attacks_are_next_to_their_suite(run: Callable[[str], Run], attack: Callable[[str], Run]) -> None:
    report = make_report([run("context"), attack("context")])
    assert [chapter.title for chapter in report.chapters] == ["small en→de", "Attacks", "Diagnosis"]
    assert report.examples == ()
    assert [missing.suite for missing in report.suites_without_text] == ["small"]


def test_more_breakdowns_can_be_asked_for(runs: list[Run], tmp_path: Path) -> None:
    report = make_report(runs, by=["corpus"], suites=[tmp_path / "small.jsonl"])
    assert "By corpus" in [part.title for part in report.chapters[0].parts]
    assert "corpus" in report.examples[0]["tags"]


def test_names_join_the_runs_of_one_system(run: Callable[[str], Run], attack: Callable[[str], Run]) -> None:
    report = make_report([run("context"), attack("sentence")], names=["mine", "mine"])
    assert report.chapters[1].summary == ("The attack does not significantly lower the accuracy of mine on small.",)


def test_what_does_not_go_together_is_an_error(run: Callable[[str], Run], attack: Callable[[str], Run]) -> None:
    with pytest.raises(BadInput, match="a second run of small by context"):
        make_report([run("context"), run("context")])
    with pytest.raises(BadInput, match="an attack, but no run has the originals"):
        make_report([run("context"), attack("sentence")])
    with pytest.raises(AnaphoraError, match="name one or more runs"):
        make_report([])


def test_results_join_the_runs_of_their_systems(run: Callable[[str], Run], tmp_path: Path) -> None:
    """A result calls its system by the file of its translations, or by its spec."""
    written = {
        "total": 4,
        "accuracy": 0.75,
        "interval": [0.3, 0.9],
        "found_by": {},
        "suite": "small",
        "signature": "gen|x",
    }
    systems = {name: {**written, "system": name} for name in ("out/sentence.de", "other.v2")}
    (tmp_path / "gen.json").write_text(json.dumps({"systems": systems}), encoding="utf-8")
    conditions = {
        "none": {"sentences": 0, "total": 4, "accuracy": 0.25, "interval": [0.1, 0.6]},
        "1 sentence": {"sentences": 1, "total": 4, "accuracy": 0.75, "interval": [0.4, 0.9]},
    }
    usage = {"suite": "small", "system": "scores:context.scores", "conditions": conditions}
    (tmp_path / "usage.json").write_text(json.dumps(usage), encoding="utf-8")
    results = [tmp_path / "gen.json", tmp_path / "usage.json"]
    report = make_report([run("sentence"), run("context")], names=["base", "new", "other.v2=third"], results=results)
    written_chapter, usage_chapter = report.chapters[-2:]
    tables = [part.table for chapter in (written_chapter, usage_chapter) for part in chapter.parts]
    assert [row.cells[0] for row in tables[0].rows] == ["base", "third"]  # type: ignore[union-attr]
    colors = [style.color for style in assign_styles(["base", "new", "third"]).values()]
    svg = str(written_chapter.parts[0].svg)
    assert colors[0] in svg
    assert colors[1] not in svg, "the color of another system"
    assert colors[2] in svg
    assert colors[1] in str(usage_chapter.parts[0].svg)
    assert written_chapter.summary[0] == (
        "In its own translations of small (4 examples) base writes the right word in 75.0 %."
    )
    assert usage_chapter.summary == (
        "new is right in 25.0 % of small without context, in 75.0 % with 1 sentence of context.",
    )


def test_a_system_that_guesses_is_not_called_robust(run: Callable[[str], Run], attack: Callable[[str], Run]) -> None:
    report = make_report([run("sentence"), attack("sentence")])
    (message,) = report.chapters[1].summary
    assert "50.0 % of small before any attack" in message  # two of four, as always "sie" would be
    assert "nothing that attacks could take away" in message
    assert not [word for chapter in report.chapters for word in chapter.summary if "robust" in word]
