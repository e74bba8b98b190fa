"""From a suite to scores, runs, attacks, diagnosis and a report: each command reads what the one before it wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anaphora.suites.suite import read_native

Run = Callable[..., str]
Json = Callable[[str], Any]


def prefer(suite: Path, words: set[str], scores: Path) -> None:
    """Scores of a system that likes candidates whose current sentence has one of these words."""
    lines = [
        0.0 if words & set(candidate[-1].lower().replace(".", "").split()) else -1.0 - 0.1 * number
        for example in read_native(suite)
        for number, candidate in enumerate(example.candidates)
    ]
    scores.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_score_files_follow_the_exported_lines(run: Run, run_json: Json, tmp_path: Path) -> None:
    """Another toolkit scores the lines of `suites convert --to text`; `evaluate` takes one score per line."""
    run("demo --stand-ins -o demo")
    run("suites convert demo/suite.jsonl --to text -o lines")
    (targets,) = (path for path in (tmp_path / "lines").iterdir() if path.name.endswith(".text.de"))
    lines = targets.read_text(encoding="utf-8").splitlines()
    (tmp_path / "my.scores").write_text("".join(f"{-len(line)}\n" for line in lines), encoding="utf-8")
    result = run_json("evaluate demo/suite.jsonl --scores my.scores")
    by_hand = 0
    for example in read_native(tmp_path / "demo" / "suite.jsonl"):
        lengths = [len(candidate[-1]) for candidate in example.candidates]
        by_hand += lengths.count(min(lengths)) == 1 and lengths.index(min(lengths)) == example.gold
    assert result["correct"] == by_hand


def test_an_imported_run_evaluates_like_its_scores(run: Run, run_json: Json) -> None:
    run("demo --stand-ins -o demo")
    run("score demo/suite.jsonl --system scores:demo/context-aware.scores -o runs/imported")
    of_run, of_file = (
        run_json("evaluate runs/imported"),
        run_json("evaluate demo/suite.jsonl --scores demo/context-aware.scores"),
    )
    assert of_run["correct"] == of_file["correct"]
    assert of_run["breakdowns"] == of_file["breakdowns"]
    compared = run_json("compare demo/runs/context-aware runs/imported")
    assert json.dumps(compared).count('"delta": 0.0') >= 1


def test_attacked_suite_is_scored_and_set_against_the_original(run: Run, run_json: Json, tmp_path: Path) -> None:
    run("demo --stand-ins -o demo")
    run("build attack phrase demo/suite.jsonl --preset true_colon -o attacked.jsonl")
    for name in ("demo/suite", "attacked"):
        prefer(tmp_path / f"{name}.jsonl", {"es"}, tmp_path / f"{Path(name).name}.scores")
    run("score demo/suite.jsonl --system scores:suite.scores -o runs/before")
    run("score attacked.jsonl --system scores:attacked.scores -o runs/after")
    result = json.dumps(run_json("robustness runs/before runs/after"))
    assert "true_colon" in result
    before, after = run_json("evaluate runs/before"), run_json("evaluate runs/after")
    assert before["correct"] == after["correct"] > 0  # it does not read context: the phrase changes nothing
    run(
        "report runs/before runs/after --name es --name es --suite demo/suite.jsonl --suite attacked.jsonl -o page.html"
    )
    assert "true_colon" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_templates_are_scored_and_diagnosed(run: Run, run_json: Json, tmp_path: Path) -> None:
    run("build templates -l en-de --only gender --only event --only pleonastic -o templates.jsonl")
    prefer(tmp_path / "templates.jsonl", {"es"}, tmp_path / "es.scores")
    run("score templates.jsonl --system scores:es.scores -o runs/templates")
    accuracy = run_json("evaluate runs/templates --by template")["breakdowns"]["template"]
    assert accuracy["event"]["accuracy"] == accuracy["pleonastic"]["accuracy"] == 1
    assert accuracy["gender"]["accuracy"] < 0.5
    assert "gender" in run("diagnose runs/templates --system always-es")


def test_mined_items_are_attacked_scored_and_compared(
    run: Run, run_json: Json, tmp_path: Path, pipeline: Callable[[str], str]
) -> None:
    english = ["Where is the cup?", "It is in the kitchen.", "", "The car is old.", "It does not start any more."]
    german = ["Wo ist die Tasse?", "Sie ist in der Küche.", "", "Der Wagen ist alt.", "Er springt nicht mehr an."]
    links = ["0-0 1-1 2-2 3-3", "0-0 1-1 2-2 3-3 4-4", "", "0-0 1-1 2-2 3-3", "0-0 3-1 2-2 4-3 5-3"]
    for name, lines in (("x.en", english), ("x.de", german), ("x.align", links)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    specs = f"--annotate-source {pipeline('en')} --annotate-target {pipeline('de')}"
    options = "--alignments x.align --confidence 0.1 --context 1 --workers 1 -l en-de"
    run(f"build mine --source x.en --target x.de {specs} {options} -o mined.jsonl")
    mined = list(read_native(tmp_path / "mined.jsonl"))
    assert mined
    run("build attack phrase mined.jsonl --preset he_said -o attacked.jsonl")
    assert {example.tags["attacked"] for example in read_native(tmp_path / "attacked.jsonl")} <= {e.id for e in mined}
    for name in ("mined", "attacked"):
        prefer(tmp_path / f"{name}.jsonl", {"sie"}, tmp_path / f"{name}.scores")
        run(f"score {name}.jsonl --system scores:{name}.scores -o runs/{name}")
    assert "he_said" in json.dumps(run_json("robustness runs/mined runs/attacked"))
