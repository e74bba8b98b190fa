"""`anaphora build attack synonym`, end to end with resources of a few lines."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.skipif(
    find_spec("german_nouns") is None, reason="german-nouns is not installed: pip install german-nouns"
)

HEADER = {"anaphora": 1, "name": "stage", "source_language": "en", "target_language": "de", "breakdowns": []}
TAGS = {
    "source_antecedent": "the curtain",
    "target_antecedent": "Der Vorhang",
    "distance": 1,
    "reference_pronoun": "er",
}
THESAURUS = "UTF-8\nvorhang|1\n-|Gardine|Vorhang\ngardine|1\n-|Gardine|Vorhang\n"


def row(identifier: str, tags: dict[str, Any]) -> dict[str, Any]:
    candidates = [["Der Vorhang ist alt.", f"{word} geht hoch."] for word in ("Er", "Sie", "Es")]
    source = ["The curtain is old.", "It rises."]
    return {"id": identifier, "source": source, "candidates": candidates, "gold": 0, "tags": tags}


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    (tmp_path / "th.dat").write_text(THESAURUS, encoding="utf-8")
    (tmp_path / "agree.txt").write_text("Vorhang {m}; Gardine {f} :: curtain\n", encoding="utf-8")
    (tmp_path / "differ.txt").write_text("Vorhang {m} :: curtain\nGardine {f} :: net curtain\n", encoding="utf-8")
    path = tmp_path / "stage.jsonl"
    lines = [HEADER, row("a", TAGS), row("b", {})]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("more", [(), ("--dictionary", "agree.txt", "--shared", "1")])
def test_a_suite_is_attacked(anaphora: Run, stage: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    command = ("build", "attack", "synonym", stage, "--thesaurus", "mythes:th.dat", *more, "-o", "out.jsonl", "--json")
    document = json.loads(anaphora(*command).stdout)
    assert (document["suite"], document["examples"]) == ("stage-synonym-replacement", 1)
    assert document["left_alone"] == {"no antecedent known": 1}
    example = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()[1])
    assert example["gold"] == 1
    assert example["candidates"][1] == ["Die Gardine ist alt.", "Sie geht hoch."]
    assert example["tags"]["attacked"] == "a"
    anaphora("suites", "validate", "out.jsonl")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (("--thesaurus", "mythes:th.dat", "--dictionary", "differ.txt"), "1: no synonym of another gender"),
        (("--thesaurus", "th.dat"), "names no resource that can be read. Write one of: mythes:PATH"),
        (("--thesaurus", "mythes:none.dat"), "none.dat: no such file"),
        (("--thesaurus", "mythes:th.dat", "--wordnet", "nowhere"), "nowhere"),
        (("--thesaurus", "mythes:th.dat", "--dictionary", "th.dat"), "th.dat: no entry of a noun in it"),
        (("--thesaurus", "mythes:th.dat", "--annotate-target", "nothing"), "not an annotator: 'nothing'"),
    ],
)
def test_errors_are_one_line(anaphora: Run, stage: Path, more: tuple[str, ...], problem: str) -> None:
    done = anaphora("build", "attack", "synonym", stage, *more, "-o", "out.jsonl", check=2)
    assert done.stdout == ""
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("error: ")]) == 1


def test_the_default_is_that_of_the_library() -> None:
    from anaphora.build.attacks.synonym import SHARED
    from anaphora.cli.attack import synonym

    assert next(option.default for option in synonym.params if option.name == "shared") == SHARED
