"""`anaphora apt-equivalences`: judged samples in, a list for `anaphora apt --lists` out."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.languages.pronouns import pronoun_lists

Run = Callable[..., subprocess.CompletedProcess[str]]
ROWS = ["il\til\t1"] * 12 + ["c'\til\t1"] * 3 + ["ce\til\t0"] * 2 + ["elle\til\t0"] * 3


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    path = tmp_path / "judged.tsv"
    path.write_text("\n".join(["candidate\treference\tcorrect", *ROWS]) + "\n", encoding="utf-8")
    return path


def test_a_list_is_learned_written_and_used(anaphora: Run, samples: Path, tmp_path: Path) -> None:
    done = anaphora("apt-equivalences", samples, "-l", "en-fr", "-o", "learned.toml")
    assert "ce for il" in done.stdout
    assert done.stderr == "wrote learned.toml\n"
    lists = pronoun_lists("en-fr", tmp_path / "learned.toml")
    assert lists.equivalent == (("ce", "il"),)
    assert lists.sources[0] == "learned from 20 samples in judged.tsv, as in APT §2.5"
    assert lists.identical == pronoun_lists("en-fr").identical


def test_json_and_limits(as_json: Callable[..., Any], samples: Path) -> None:
    document = as_json("apt-equivalences", samples)
    assert document["samples"] == 20
    assert document["equivalent"] == [["c'", "il"]]
    assert as_json("apt-equivalences", samples, "--least-share", "0.2")["equivalent"] == []


def test_what_is_refused(refused: Callable[..., str], samples: Path, tmp_path: Path) -> None:
    assert (
        refused("apt-equivalences", samples, "--lists", "x.toml") == "--lists goes with -l: which language pair is it?"
    )
    (tmp_path / "no.tsv").write_text("candidate\treference\nil\tce\n", encoding="utf-8")
    assert "no.tsv: line 1: no column 'correct'" in refused("apt-equivalences", "no.tsv")
