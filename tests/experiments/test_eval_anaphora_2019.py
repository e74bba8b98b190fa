"""The report of the experiment: the paper's figures are the paper's, and what is printed is what was computed."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "experiments" / "eval-anaphora-2019"


@pytest.fixture(scope="module")
def report() -> ModuleType:
    spec = importlib.util.spec_from_file_location("_report_of_eval_anaphora", FOLDER / "_report.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    return found


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|\n ").split("|")]


def test_the_paper_is_averaged_over_the_languages_shown(report: ModuleType) -> None:
    """Table 5: German 81.6, French 82.0, Russian 79.4, Chinese 82.4; overall 81.35, which is the mean of the four."""
    assert cells(report.paper_row(["de", "fr", "ru"]))[1:6] == ["1,500", "81.6", "82.0", "79.4", "81.00"]
    assert cells(report.paper_row(["de", "fr", "ru", "zh"]))[1:7] == ["2,000", "81.6", "82.0", "79.4", "82.4", "81.35"]


def test_rows_of_an_earlier_run_are_marked(report: ModuleType, results: dict[str, Any]) -> None:
    kept = {name for name, found in results["models"].items() if "options" not in found}
    table = report.table5(results["models"])
    assert {cells(line)[0] for line in table if cells(line)[0].endswith("†")} == {f"{name} †" for name in kept}
    assert any(line.startswith("† Kept from a run of version") for line in table) is bool(kept)


def test_what_is_printed_is_what_was_computed(report: ModuleType, results: dict[str, Any]) -> None:
    assert (FOLDER / "RESULT.md").read_text(encoding="utf-8") == report.report(results)


def test_rows_that_had_the_wrong_scale_are_new_or_withdrawn(report: ModuleType, results: dict[str, Any]) -> None:
    page = (FOLDER / "RESULT.md").read_text(encoding="utf-8")
    for name in report.DEPENDENT:
        found = results["models"].get(name)
        assert "options" in found if found else f"*{name}*" in page.partition("Withdrawn:")[2]


ROWS = {
    "a language model of 135 million parameters": "language model, text as it is",
    "the same with recased text": "language model, text restored",
    "the same, adapted to text without capitals and punctuation": "language model, text as it is, and adapted",
}


def test_the_figures_of_the_docs_are_those_of_the_run(results: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "measure.md").read_text(encoding="utf-8")
    for said, name in ROWS.items():
        found = results["models"][name]
        expected = [found["languages"][code]["accuracy"] for code in ("de", "fr", "ru")] + [found["all"]["accuracy"]]
        (line,) = re.findall(rf"^\| {re.escape(said)} \|.*$", page, re.MULTILINE)
        assert [cell.strip("*") for cell in cells(line)[1:5]] == [f"{100 * value:.1f}" for value in expected]
    (paper,) = re.findall(r"^\| the paper's measure .*$", page, re.MULTILINE)
    assert cells(paper)[1:5] == ["81.6", "82.0", "79.4", "81.0"]
