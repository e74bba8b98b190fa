"""`anaphora diagnose`: templates, scored by a system that always says es, and what is said of it, from end to end."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.api import import_scores
from anaphora.build.templates.suite import template_suite
from anaphora.evaluation.diagnosis_evidence import load_rules

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]


@pytest.fixture(scope="module")
def always_es(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a system that says es whatever comes."""
    folder = tmp_path_factory.mktemp("always-es")
    suite = template_suite(only=("markable", "event", "prior/verb")).suite
    genders = [gender for example in suite for gender in example.tags["candidate_genders"]]  # type: ignore[union-attr]
    scores = folder / "es.scores"
    scores.write_text("".join("-1\n" if gender == "n" else "-2\n" for gender in genders), encoding="utf-8")
    return import_scores(suite, scores, folder / "run").path


def test_words_and_table(anaphora: Run, always_es: Path, tmp_path: Path) -> None:
    done = anaphora("diagnose", always_es, "--system", "mine", "--items", tmp_path / "items")
    lines = done.stdout.splitlines()
    assert lines[0] == "mine · en→de"
    assert lines[1].startswith("✗ The pipeline breaks first at markable detection: which noun can be meant 0.4")
    assert "→ what to try: anaphora build augment" in done.stdout
    assert "which step fails, and why" in lines
    row = next(line for line in lines if line.startswith("  gender, only a verb given"))
    assert row.split()[-5:] == ["1.000", "[0.994,", "1.000]", "prefers", "neuter"]
    assert done.stderr == f"the items behind 6 statements: {tmp_path / 'items'}\n"
    fallback = (tmp_path / "items" / "fallback.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(fallback[0])["id"].startswith("markable/")


def test_json(as_json: AsJson, always_es: Path) -> None:
    (found,) = as_json("diagnose", always_es, "--max-items", "2")["systems"]
    verdicts = {said["rule"]: said["verdict"] for said in found["statements"]}
    assert verdicts == {
        "first-failure": "fails",
        "by-default": "default",
        "markable": "fails",
        "event": "known",
        "fallback": "prefers",
        "prior/verb": "prefers",
    }
    assert {len(said["items"]) for said in found["statements"]} == {2}
    (prior,) = [check for check in found["checks"] if check["rule"] == "prior/verb"]
    assert (prior["total"], prior["figure"], prior["what"]) == (600, 1.0, ["neuter"])
    assert found["thresholds"]["minimum"] == load_rules().thresholds.minimum
    assert found["signature"].startswith("dia|s:contracat-en-de@")


def test_lower_is_better_and_confidence(as_json: AsJson, always_es: Path) -> None:
    (found,) = as_json("diagnose", always_es, "--minimize", "--confidence", "0.99")["systems"]
    assert "event" not in {said["rule"] for said in found["statements"] if said["verdict"] == "known"}
    assert "99" in found["signature"]


def test_formats(anaphora: Run, always_es: Path) -> None:
    assert anaphora("diagnose", always_es, "--format", "markdown").stdout.startswith("**scores:")
    tsv = anaphora("diagnose", always_es, "--format", "tsv").stdout.splitlines()
    assert tsv[0] == "section\t\tn\tfigure\t95 % interval\tverdict"
    assert tsv[1].startswith("markable detection\twhich noun can be meant\t2,560\t")
    assert "\\toprule" in anaphora("diagnose", always_es, "--format", "latex").stdout


def test_bad_input(refused: Refused, always_es: Path) -> None:
    assert "no such file" in refused("diagnose", "nowhere")
    assert "RUN…" in refused("diagnose")
    assert "a second run of contracat-en-de" in refused("diagnose", always_es, always_es)


def test_released_templates(anaphora: Run, data: Callable[[str], Path], as_json: AsJson, tmp_path: Path) -> None:
    """The release, by a system that always says es: right where genders.txt says n, on no other item."""
    folder = data("contracat") / "templates"
    suite, scores = tmp_path / "release.jsonl", tmp_path / "es.scores"
    anaphora("suites", "convert", folder, "--from", "contracat", "-o", suite)
    examples = [json.loads(line) for line in suite.read_text(encoding="utf-8").splitlines()[1:]]
    scores.write_text("-2\n-2\n-1\n" * len(examples), encoding="utf-8")
    anaphora("score", suite, "--system", f"scores:{scores}", "-o", tmp_path / "run")
    (found,) = as_json("diagnose", tmp_path / "run")["systems"]
    figures = {check["name"]: check for check in found["checks"]}
    for name, template in (("which noun can be meant", "markable"), ("world knowledge", "world-knowledge")):
        golds = [e["gold"] for e in examples if e["tags"]["template"] == template]
        assert figures[name]["total"] == len(golds)
        assert figures[name]["figure"] == pytest.approx(golds.count(2) / len(golds))
    competing = ("markable", "overlap", "world-knowledge")
    wrong = [e for e in examples if e["tags"]["template"].split("/")[0] in competing and e["gold"] != 2]
    (fallback,) = [said for said in found["statements"] if said["rule"] == "fallback"]
    assert (fallback["verdict"], fallback["item_count"]) == ("prefers", len(wrong))
