"""`anaphora build mine-evaluate`, as a user calls it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def small(data: Callable[[str], Path], tmp_path: Path) -> Path:
    """One document of ParCorFull."""
    path = tmp_path / "gold.jsonl"
    with gzip.open(data("parcorfull") / "parcorfull.en-de.jsonl.gz", "rt", encoding="utf-8") as stream:
        path.write_text("".join(islice(stream, 1, 2)), encoding="utf-8")
    return path


@pytest.fixture
def annotators(pipeline: Callable[[str], str]) -> list[str]:
    return ["--annotate-source", pipeline("en"), "--annotate-target", pipeline("de")]


def test_json(anaphora: Run, small: Path, annotators: list[str]) -> None:
    document = json.loads(anaphora("build", "mine-evaluate", small, "-l", "en-de", *annotators, "--json").stdout)
    assert {"precision", "recall", "f", "antecedent_accuracy", "items", "intervals", "labels", "curve"} <= set(document)
    assert (document["documents"], document["languages"], document["chains"]) == (1, "en-de", "builtin")
    assert document["settings"]["confidence"] == 0.6
    assert document["items"] == next(row["items"] for row in document["curve"] if row["confidence"] == 0.6) > 0
    assert sum(document["rejections"].values()) + document["items"] == document["pronouns"]
    assert document["rejections"]["not sure enough"] > 0


def test_a_table(anaphora: Run, small: Path, annotators: list[str]) -> None:
    done = anaphora("build", "mine-evaluate", small, "--chains", "gold", "--neuter", "source", *annotators)
    assert done.stdout.startswith("en-de · gold chains · 1 document ·")
    assert "gender does not agree" in done.stdout


def test_bad_input(anaphora: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"langs": ["en", "de"]}\n', encoding="utf-8")
    done = anaphora("build", "mine-evaluate", bad, check=2)
    assert "bad.jsonl: line 1: not a record of ParCorFull" in done.stderr
    assert done.stdout == ""
    done = anaphora("build", "mine-evaluate", bad, "-l", "ende", check=2)
    assert "not a language pair: 'ende'" in done.stderr
    done = anaphora("build", "mine-evaluate", bad, "-l", "en-xx", check=2)
    assert "en-xx cannot be mined" in done.stderr
