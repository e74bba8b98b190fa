"""`anaphora apt-judgements`: the cases of APT by what people said of the same pronouns."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]


@pytest.fixture
def details(tmp_path: Path) -> Path:
    path = tmp_path / "details.tsv"
    rows = ["system sentence position case candidate", "a 1 3 1 il", "a 2 1 1 c'", "a 2 7 3 elle", "b 1 3 4 "]
    path.write_text("".join(row.replace(" ", "\t") + "\n" for row in rows), encoding="utf-8")
    return path


def test_judgements(as_json: AsJson, anaphora: Run, details: Path, tmp_path: Path) -> None:
    rows = ["system sentence position judgement", "a 1 3 correct", "a 2 1 incorrect", "b 1 3 bad", "c 1 1 bad"]
    (tmp_path / "j.tsv").write_text("".join(row.replace(" ", "\t") + "\n" for row in rows))
    found = as_json("apt-judgements", details, "j.tsv")
    one, four = found["cases"]["c1"], found["cases"]["c4"]
    assert {key: one[key] for key in ("correct", "incorrect", "bad", "total")} == {
        "correct": 1,
        "incorrect": 1,
        "bad": 0,
        "total": 2,
    }
    assert four["shares"] == {"correct": 0, "incorrect": 0, "bad": 1}
    assert (found["unjudged"], found["unmatched"]) == (1, 1)
    table = anaphora("apt-judgements", details, "j.tsv").stdout
    assert re.search(r"\nc1 \(same\) +2 +50 % +\[\d+, \d+\] +50 % +0 %\n", table)
    assert "judgments of pronouns that APT does not have: 1" in table


def test_gaps(as_json: AsJson, details: Path, tmp_path: Path) -> None:
    rows = ["system sentence position answers", "a 1 3 il|ce", "a 2 1 ce", "a 2 7 other", "b 1 3 elle"]
    (tmp_path / "gaps.tsv").write_text("".join(row.replace(" ", "\t") + "\n" for row in rows))
    plain = as_json("apt-judgements", details, "gaps.tsv")
    french = as_json("apt-judgements", details, "gaps.tsv", "-l", "en-fr")
    assert [found["cases"]["c1"]["correct"] for found in (plain, french)] == [1, 2]
    assert french["cases"]["c3"]["correct"] == 0, "elle was an option that was not chosen"
    named = as_json("apt-judgements", details, "gaps.tsv", "-l", "en-fr", "--options", "il, ce")
    assert named["cases"]["c3"]["correct"] == 1, "elle was no option"


def test_the_details_of_apt_are_taken_as_they_are(anaphora: Run, as_json: AsJson, tmp_path: Path) -> None:
    """Two pronouns of one system: il for il, elle for il."""
    for name, text in {
        "src": "it is late .\nit works .\n",
        "ref": "il est tard .\nil marche .\n",
        "hyp": "il est tard .\nelle marche .\n",
        "align": "0-0 1-1\n0-0 1-1\n",
    }.items():
        (tmp_path / name).write_text(text)
    texts = ("-s", "src", "-r", "ref", "-t", "hyp", "--ref-align", "align", "--hyp-align", "align", "-l", "en-fr")
    anaphora("apt", *texts, "--name", "mine", "--details", "details.tsv", "--samples", "100")
    header, *rows = (line.split("\t") for line in (tmp_path / "details.tsv").read_text().splitlines())
    places = [[row[header.index(name)] for name in ("system", "sentence", "position")] for row in rows]
    assert len(places) == 2
    lines = ["system\tsentence\tposition\tanswers", *("\t".join([*place, "elle|other"]) for place in places)]
    (tmp_path / "gaps.tsv").write_text("\n".join(lines))
    found = as_json("apt-judgements", "details.tsv", "gaps.tsv", "-l", "en-fr", "--options", "il,elle")
    assert [found["cases"][case]["correct"] for case in ("c1", "c3")] == [0, 1]
    assert [found["cases"][case]["incorrect"] for case in ("c1", "c3")] == [1, 0]


def test_what_is_refused(refused: Refused, details: Path, tmp_path: Path) -> None:
    (tmp_path / "j.tsv").write_text("system\tsentence\tposition\tjudgement\na\t1\t3\tgood\n")
    assert "j.tsv: line 2: unknown judgement 'good'" in refused("apt-judgements", details, "j.tsv")
    assert "JUDGMENTS" in refused("apt-judgements", details)
    assert "no pronoun lists for xx-yy" in refused("apt-judgements", details, "gaps.tsv", "-l", "xx-yy")
