"""`anaphora demo`: what it leaves behind, and that every command it prints does what it shows."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
SYSTEMS = ["sentence-level", "context-aware"]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_left_behind(anaphora: Run, tmp_path: Path) -> None:
    done = anaphora("demo", "--stand-ins", "-o", "demo")
    assert done.stderr == ""
    scores, runs = ([f.format(name) for name in SYSTEMS] for f in ("{}.scores", "runs/{}/run.jsonl"))
    assert set(files_of(tmp_path / "demo")) == {"suite.jsonl", "results.json", *scores, *runs}
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]
    assert "demo/" in done.stdout.splitlines()[-1]


def test_the_folder_it_takes_unless_told(anaphora: Run, tmp_path: Path) -> None:
    anaphora("demo", "--stand-ins")
    assert [path.name for path in tmp_path.iterdir()] == ["anaphora-demo"]


def test_results(anaphora: Run, as_json: Callable[..., Any], tmp_path: Path) -> None:
    anaphora("demo", "--stand-ins", "-o", "demo")
    systems = json.loads((tmp_path / "demo" / "results.json").read_text(encoding="utf-8"))["systems"]
    assert list(systems) == SYSTEMS
    for name, figures in systems.items():
        assert figures == as_json("evaluate", f"demo/runs/{name}")
        assert figures["total"] == 432
    # the demo has a story to tell: the system that knows the context is better, but on er and sie still not good
    assert systems["context-aware"]["accuracy"] > systems["sentence-level"]["accuracy"] + 0.2
    groups = systems["context-aware"]["breakdowns"]["reference_pronoun"]
    assert groups["es"]["accuracy"] > groups["er"]["accuracy"]


def test_json(anaphora: Run, as_json: Callable[..., Any], tmp_path: Path) -> None:
    found = as_json("demo", "--stand-ins", "-o", "demo")
    results = json.loads((tmp_path / "demo" / "results.json").read_text(encoding="utf-8"))
    assert found["systems"] == results["systems"]
    assert found["comparison"]["pairs"][0]["delta"] > 0.2


def test_the_same_files_every_time(anaphora: Run, tmp_path: Path) -> None:
    first = anaphora("demo", "--stand-ins", "-o", "demo").stdout
    files = files_of(tmp_path / "demo")
    assert anaphora("demo", "--stand-ins", "-o", "demo").stdout == first
    assert files_of(tmp_path / "demo") == files


@pytest.mark.parametrize("folder", ["demo", "my first demo"])
def test_printed_commands_give_what_is_printed_below_them(anaphora: Run, folder: str) -> None:
    printed = anaphora("demo", "--stand-ins", "-o", folder).stdout
    blocks = printed.split("$ anaphora ")[1:]
    assert [block.split()[0] for block in blocks] == ["evaluate", "evaluate", "compare"]
    for block in blocks:
        command, _, below = block.partition("\n")
        shown = below.partition("\n\n")[0].rstrip("\n")
        assert anaphora(*shlex.split(command)).stdout.rstrip("\n") == shown


def test_the_suite_is_sound(as_json: Callable[..., Any], anaphora: Run) -> None:
    anaphora("demo", "--stand-ins", "-o", "demo")
    assert as_json("suites", "validate", "demo/suite.jsonl") == {"valid": True, "problems": []}
    facts = as_json("suites", "show", "demo/suite.jsonl")
    assert (facts["examples"], facts["candidates"], facts["languages"]) == (432, 1296, "en-de")


def test_a_folder_that_cannot_be_made(refused: Callable[..., str], suite: Path) -> None:
    assert "cannot be written" in refused("demo", "--stand-ins", "-o", suite)


def test_models_that_come_with_the_package(anaphora: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = anaphora("demo", "--pretrained", "-o", "demo", "--json")
    document = json.loads(done.stdout)
    assert document["report"] == "demo/report.html"
    assert (tmp_path / "demo" / "report.html").is_file()
    accuracies = [figures["accuracy"] for figures in document["systems"].values()]
    assert accuracies[0] < 0.5 < 0.8 < accuracies[1]
    assert "Asking the context-aware model" in done.stderr
