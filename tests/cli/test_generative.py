"""`anaphora generative`, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("sacremoses")
pytest.importorskip("anaphora.align.thot")

from anaphora.cli.app import app
from anaphora.demo.stand_ins import demo_suite
from anaphora.suites.suite import suite_of


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    examples = list(demo_suite())[:90]
    suite_of(demo_suite().header, lambda: examples).write(tmp_path / "suite.jsonl")
    right = [e.candidates[e.gold or 0][-1] for e in examples]
    (tmp_path / "right.de").write_text("\n".join(right) + "\n", encoding="utf-8")
    (tmp_path / "same.de").write_text("Es war alt.\n" * len(examples), encoding="utf-8")
    return {name: str(tmp_path / name) for name in ("suite.jsonl", "right.de", "same.de", "details.tsv")}


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["generative", *arguments, "--model", "fast_align"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_table_and_details(files: dict[str, str]) -> None:
    output = run(files["suite.jsonl"], "-t", files["right.de"], "--details", files["details.tsv"])
    assert "not found" in output
    assert "the references themselves" in output
    rows = [line.split("\t") for line in Path(files["details.tsv"]).read_text(encoding="utf-8").splitlines()]
    assert rows[0][:3] == ["system", "id", "outcome"]
    assert len(rows) == 91
    assert {row[0] for row in rows[1:]} == {"right.de"}


def test_several_systems_as_json(files: dict[str, str]) -> None:
    document = json.loads(run(files["suite.jsonl"], "-t", files["right.de"], "-t", files["same.de"], "--json"))
    right, same = (document["systems"][name] for name in ("right.de", "same.de"))
    assert right["accuracy"] > 0.9 > 0.5 > same["accuracy"]
    for figures in (right, same):
        assert figures["correct"] + figures["wrong"] + figures["not_found"] == figures["total"] == 90


def test_the_result_does_not_depend_on_other_systems(files: dict[str, str]) -> None:
    alone = json.loads(run(files["suite.jsonl"], "-t", files["right.de"], "--json"))
    both = json.loads(run(files["suite.jsonl"], "-t", files["same.de"], "-t", files["right.de"], "--json"))
    assert alone["systems"]["right.de"] == both["systems"]["right.de"]
    assert alone["accuracy"] == alone["systems"]["right.de"]["accuracy"]


@pytest.mark.parametrize("layout", [(), ("--documents",), ("--documents", "--context", "1")])
def test_translated_sources_are_judged_line_by_line(
    files: dict[str, str], tmp_path: Path, layout: tuple[str, ...]
) -> None:
    """The recipe of docs/evaluation.md: sources out, translations back, one per example in either layout."""
    sources = tmp_path / "sources.en"
    arguments = ["suites", "convert", files["suite.jsonl"], "--to", "sources", *layout, "-o", str(sources)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    translations = {
        source: target
        for example in list(demo_suite())[:90]
        for source, target in zip(example.source, example.candidates[example.gold or 0], strict=True)
    }
    lines, current = [], iter(Path(files["right.de"]).read_text(encoding="utf-8").splitlines())
    for line in sources.read_text(encoding="utf-8").splitlines():
        lines.append(next(current) if line in {example.source[-1] for example in demo_suite()} else translations[line])
    (tmp_path / "mine.de").write_text("\n".join(lines) + "\n", encoding="utf-8")
    document = json.loads(run(files["suite.jsonl"], "-t", str(tmp_path / "mine.de"), "--json"))
    by_line = json.loads(run(files["suite.jsonl"], "-t", files["right.de"], "--json"))
    assert (document["correct"], document["total"]) == (by_line["correct"], 90)
