"""`anaphora report` from end to end."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]


@pytest.fixture
def run(make_run: Callable[..., Path], suite: Path, scores: Path) -> Path:
    return make_run(suite, scores, "before")


def test_a_page_is_written_and_said(anaphora: Run, run: Path, suite: Path, tmp_path: Path) -> None:
    done = anaphora("report", run, "--suite", suite, "-o", tmp_path / "report.html", "--title", "Mine & yours")
    assert done.stdout == ""
    assert "On small (6 examples)" in done.stderr
    assert "report: " in done.stderr
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "<h1>Mine &amp; yours</h1>" in text


def test_json_names_the_files(as_json: AsJson, run: Path, suite: Path, tmp_path: Path) -> None:
    document = as_json("report", run, "--suite", suite, "--format", "csv", "-o", tmp_path / "tables")
    assert all(Path(file).is_file() and file.endswith(".csv") for file in document["files"])
    assert document["summary"][0].startswith("On small (6 examples)")


def test_texts_that_are_missing_are_said(anaphora: Run, run: Path, tmp_path: Path) -> None:
    done = anaphora("report", run, "-o", tmp_path / "report.html")
    message = "the report has no examples of small, whose texts were not found: add --suite FILE"
    assert message in done.stderr


def test_bad_input_is_one_line(refused: Refused, run: Path, suite: Path, tmp_path: Path) -> None:
    assert "name one or more runs" in refused("report", "-o", tmp_path / "r.html")
    assert "is a suite" in refused("report", suite, "-o", tmp_path / "r.html")
    bad = tmp_path / "bad.json"
    bad.write_text("{", encoding="utf-8")
    assert "bad.json" in refused("report", run, "--result", bad, "-o", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
