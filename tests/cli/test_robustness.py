"""`anaphora robustness` and `compare`: a suite, an attack on it, and what the attack costs, from end to end."""

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
def runs(anaphora: Run, make_run: Callable[..., Path], suite: Path, scores: Path, tmp_path: Path) -> tuple[Path, Path]:
    """The six examples, of which a, b and e are right; attacked, only b and c are."""
    attacked = tmp_path / "attacked.jsonl"
    anaphora("build", "attack", "phrase", suite, "--preset", "true_colon", "-o", attacked)
    after = tmp_path / "after.scores"
    after.write_text("".join(f"{n}\n" for n in (-2, -1, -3, -1, -2, -1, -2, -1, -1, -5, -1, -5, -1)), encoding="utf-8")
    return make_run(suite, scores, "before"), make_run(attacked, after, "after")


def test_what_an_attack_costs(as_json: AsJson, runs: tuple[Path, Path]) -> None:
    document = as_json("robustness", *runs)
    assert (document["suite"], document["before"]["correct"], document["test"]) == ("small", 3, "mcnemar")
    (attack,) = document["attacks"]
    assert attack["attack"] == "phrase-addition/true_colon"
    assert [attack["total"], attack["before"], attack["after"], attack["delta"]] == pytest.approx(
        [6, 3 / 6, 2 / 6, -1 / 6]
    )
    assert (attack["lost"], attack["gained"]) == (["a", "e"], ["c"])
    assert attack["p_value"] == 1.0  # one coin of three


def test_compare_shows_the_same(as_json: AsJson, runs: tuple[Path, Path]) -> None:
    document = as_json("compare", *runs)
    (pair,) = document["pairs"]
    assert [pair["total"], pair["first"], pair["second"]] == pytest.approx([6, 3 / 6, 2 / 6])
    assert pair["lost"] == ["a", "e"]
    assert "|vs:small-phrase-addition-true_colon@" in document["signature"]


def test_table_and_picture(anaphora: Run, runs: tuple[Path, Path], tmp_path: Path) -> None:
    done = anaphora("robustness", *runs, "--by", "pronoun", "--figure", tmp_path / "drop.svg")
    lines = done.stdout.splitlines()
    assert lines[2].split() == ["not", "attacked", "6", "0.500"]
    assert lines[4].split()[:7] == ["true_colon", "it", "is", "true:", "C", "6", "0.500"]
    assert lines[5].split()[:3] == ["pronoun:", "er", "2"]
    assert done.stderr == f"chart: {tmp_path / 'drop.svg'}\n"
    assert (tmp_path / "drop.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "| --: |" in anaphora("robustness", *runs, "--format", "markdown").stdout
    assert "\\toprule" in anaphora("robustness", *runs, "--format", "latex").stdout


def test_settings_are_passed_on(as_json: AsJson, runs: tuple[Path, Path]) -> None:
    document = as_json("robustness", *runs, "--resample", "document", "--by", "pronoun", "--samples", "500")
    assert document["test"] == "randomisation"
    assert "|by:document|n:500|" in document["signature"]
    assert set(document["attacks"][0]["breakdowns"]) == {"pronoun"}


def test_bad_input(refused: Refused, runs: tuple[Path, Path]) -> None:
    assert "does not name its original" in refused("robustness", runs[0], runs[0])
    assert "no such file" in refused("robustness", runs[0], "nowhere")
    assert "ATTACKED_RUN" in refused("robustness", runs[0])
    assert "McNemar" in refused("robustness", *runs, "--resample", "document", "--test", "mcnemar")
    assert "no example has the tag 'pronon'" in refused("robustness", *runs, "--by", "pronon")
