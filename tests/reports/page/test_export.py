"""The parts of a report as files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from anaphora.reports.page.contents import Report, make_report
from anaphora.reports.page.export import export
from anaphora.systems.run import Run


@pytest.fixture
def report(runs: list[Run]) -> Report:
    return make_report(runs)


@pytest.mark.parametrize(("format", "ending", "begins"), [("md", ".md", "**"), ("latex", ".tex", "\\begin{table}")])
def test_tables(report: Report, tmp_path: Path, format: str, ending: str, begins: str) -> None:
    files = export(report, format, tmp_path / "out")
    assert len(files) == 8
    assert {file.suffix for file in files} == {ending}
    assert all(file.read_text("utf-8").startswith(begins) for file in files)


def test_csv_is_read_by_others(report: Report, tmp_path: Path) -> None:
    files = {file.stem: file for file in export(report, "csv", tmp_path / "out")}
    with files["small-en-de-reference-pronoun"].open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row[""], row["n"], row["sentence"], row["context"]) for row in rows] == [
        ("er", "1", "0.000", "1.000"),
        ("es", "1", "1.000", "1.000"),
        ("sie", "2", "0.500", "1.000"),
    ]


def test_pictures(report: Report, tmp_path: Path) -> None:
    files = export(report, "svg", tmp_path / "out")
    assert [file.name for file in files][:2] == ["accuracy.svg", "small-en-de-reference-pronoun.svg"]
    assert all(file.read_text("utf-8").startswith("<svg") for file in files)


def test_pixels(report: Report, tmp_path: Path) -> None:
    pytest.importorskip("cairosvg", exc_type=ImportError, reason="needs CairoSVG")
    files = export(report, "png", tmp_path / "out")
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
