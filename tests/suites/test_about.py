"""`suites show` tells what is known of a suite before its figures are reported: whom to cite, under which license,
how large it is, what can be broken down, and which bytes exactly these are."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.suites.example import Example
from anaphora.suites.get import about
from anaphora.suites.suite import Header, suite_of

EXAMPLES = [
    Example("a", ("It.",), (("Er.",), ("Sie.",)), 0, {"pronoun": "er", "distance": 1}),
    Example("b", ("It.",), (("Er.",), ("Sie.",), ("Es.",)), 2, {"block": "x", "pronoun": "es"}),
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def written(path: Path, header: Header) -> Path:
    suite_of(header, lambda: EXAMPLES).write(path)
    return path


def test_a_file_is_counted(tmp_path: Path) -> None:
    header = Header("mine", "en", "de", ("pronoun",), citation="@misc{me}", licence="CC0")
    path = written(tmp_path / "mine.jsonl", header)
    assert about(str(path)) == {
        "name": "mine",
        "path": str(path),
        "languages": "en-de",
        "examples": 2,
        "candidates": 5,
        "breakdowns": ["pronoun"],
        "tags": ["block", "distance", "pronoun"],
        "licence": "CC0",
        "sha256": hashlib.sha256(path.read_bytes().split(b"\n", 1)[1]).hexdigest(),
        "citation": "@misc{me}",
    }


def test_a_missing_license_comes_from_the_catalog(tmp_path: Path) -> None:
    known = written(tmp_path / "known.jsonl", Header("lopes-en-fr-1", "en", "fr"))
    assert about(str(known))["licence"].startswith("MIT")
    unknown = written(tmp_path / "unknown.jsonl", Header("mine", "en", "fr"))
    assert about(str(unknown))["licence"] == ""


def test_a_published_suite_is_known_before_it_is_here() -> None:
    facts = about("bawden-coreference")
    assert (facts["name"], facts["languages"], facts["examples"], facts["candidates"]) == (
        "bawden-coreference",
        "en-fr",
        200,
        400,
    )
    assert "Bawden" in facts["paper"]
    assert facts["citation"].startswith("@inproceedings{bawden")
    assert facts["page"].startswith("https://")
    assert any(file.endswith("anaphora.json") for file in facts["files"])
    assert facts["licence"]
    assert not {"path", "sha256"} & set(facts)


def test_an_installed_suite_has_counts_and_hash(home: Path) -> None:
    path = written(home / "suites" / "bawden-coreference.jsonl", Header("x", "en", "fr", ("form",)))
    facts = about("bawden-coreference")
    assert facts["path"] == str(path)
    assert facts["sha256"] == about(str(path))["sha256"]
    assert facts["breakdowns"] == ["form", "correctness"]
    assert (facts["examples"], facts["candidates"]) == (2, 5)
    assert (facts["name"], facts["title"] != "") == ("bawden-coreference", True)


def test_a_file_comes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "contrapro", Header("mine", "en", "de"))
    assert about("contrapro")["name"] == "mine"


def test_an_unknown_name_is_met_with_a_near_one() -> None:
    with pytest.raises(AnaphoraError, match=r"'contrapo' \(did you mean contrapro.*anaphora suites list"):
        about("contrapo")


def test_a_file_that_is_not_a_suite_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(BadInput, match="not a suite file"):
        about(str(tmp_path / "x.jsonl"))


def test_the_command_line_shows_the_same(anaphora, tmp_path: Path) -> None:
    path = written(tmp_path / "mine.jsonl", Header("mine", "en", "de", citation="@misc{me}"))
    assert json.loads(anaphora("suites", "show", path, "--json").stdout) == about(str(path))
    shown = anaphora("suites", "show", path).stdout
    assert "@misc{me}" in shown
    assert "block, distance, pronoun" in shown
