"""`anaphora discomt`: measures from a table of annotations."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]

ROWS = [
    "a 1 il il,ce",
    "a 2 ça cela",
    "a 3 lui il",
    "a 4 il bad",
    "b 1 ce il,ce",
    "b 2 il cela",
    "b 3 il il",
    "b 4 il il",
]


@pytest.fixture
def annotations(tmp_path: Path) -> Path:
    lines = ["system item translation accepted", *ROWS]
    path = tmp_path / "gaps.tsv"
    path.write_text("".join("\t".join(line.split(" ")) + "\n" for line in lines), encoding="utf-8")
    return path


def test_json(as_json: AsJson, annotations: Path) -> None:
    document = as_json("discomt", annotations, "-l", "en-fr")
    assert document["system"] == "a"
    assert document["accuracy"]["value"] == 0.5
    assert document["precision"]["value"] == pytest.approx(2 / 3)
    assert (document["items"], document["bad"]) == (4, 1)
    assert set(document["classes"]) == {"ce", "cela", "il", "other"}
    assert document["systems"]["b"]["accuracy"]["value"] == 0.75
    assert document["pairs"][0]["measure"] == "accuracy"
    assert document["pairs"][0]["delta"] == 0.25
    # without a language ça and cela are two classes, and `lui` is one
    assert set(as_json("discomt", annotations)["classes"]) == {"ce", "cela", "il", "lui", "other", "ça"}


def test_tables(anaphora: Run, annotations: Path) -> None:
    lines = anaphora("discomt", annotations, "-l", "en-fr", "--samples", "200").stdout.splitlines()
    assert lines[0] == "DiscoMT"
    assert lines[1].split() == ["a", "b"]
    assert any(line.startswith("accuracy without OTHER") for line in lines)
    assert "By class" in lines
    assert "a → b" in lines


def test_systems_with_other_items_are_not_compared(anaphora: Run, annotations: Path) -> None:
    text = annotations.read_text(encoding="utf-8")
    annotations.write_text(text.replace("b\t4", "b\t5"), encoding="utf-8")
    done = anaphora("discomt", annotations, "--json")
    assert done.stderr == "the systems do not have the same items: they are not compared\n"
    assert '"pairs": []' in done.stdout


def test_the_example(as_json: AsJson, tmp_path: Path) -> None:
    """Counted by hand: of ten pronouns six and eight are right; both have one that is not judged without OTHER."""
    assert as_json("discomt", "--example", "made-up.tsv") == {"files": ["made-up.tsv"]}
    document = as_json("discomt", "made-up.tsv", "-l", "en-fr")
    systems = document["systems"]
    assert {name: found["accuracy"]["value"] for name, found in systems.items()} == {
        "sentence-level": 0.6,
        "document-level": 0.8,
    }
    assert systems["sentence-level"]["accuracy_without_other"]["value"] == pytest.approx(5 / 9)
    assert systems["document-level"]["accuracy_without_other"]["value"] == pytest.approx(7 / 9)
    assert [systems[name]["bad"] for name in systems] == [1, 0]


def test_refusals(refused: Refused, annotations: Path) -> None:
    assert "no such file" in refused("discomt", "nowhere.tsv")
    annotations.write_text("item\ttranslation\n1\til\n", encoding="utf-8")
    assert "no column 'accepted'" in refused("discomt", annotations)
