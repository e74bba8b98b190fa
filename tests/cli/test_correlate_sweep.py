"""`anaphora correlate-sweep`: Table 4 and Figure 2 of the paper from case counts and human scores."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]
HUMAN = {"a": 0.2, "b": 0.5, "c": 0.4, "d": 0.9}
BASIC = {"a": [10, 10, 10, 10, 5, 5], "b": [20, 0, 10, 10, 5, 5], "c": [15, 20, 5, 5, 0, 5], "d": [40, 2, 3, 0, 0, 5]}
RESCUED = {name: [n[0] + n[4], n[1], n[2], n[3], 0, n[5]] for name, n in BASIC.items()}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "human.tsv").write_text("system\thuman\n" + "".join(f"{k}\t{v}\n" for k, v in HUMAN.items()))
    for name, cases in (("basic", BASIC), ("rescued", RESCUED)):
        systems = {system: {"apt": 0.5, "cases": numbers, "discarded": []} for system, numbers in cases.items()}
        (tmp_path / f"{name}.json").write_text(json.dumps({"systems": systems}))
    return "human.tsv", "--cases", "basic.json", "--cases", "with heuristics=rescued.json", "--samples", "200"


def test_table_4(as_json: AsJson, files: tuple[str, ...]) -> None:
    found = as_json("correlate-sweep", *files)
    assert list(found["cases"]) == ["basic", "with heuristics"]
    weights = [(0, 0), (1, 0), (0.5, 0), (1, 1), (0.5, 0.5)]
    rows = found["settings"]
    assert [(row["alignment"], row["w2"], row["w6"]) for row in rows] == [
        (alignment, *pair) for alignment in ("basic", "with heuristics") for pair in weights
    ]
    for row, cases in zip(rows, [BASIC] * 5 + [RESCUED] * 5, strict=True):
        scores = [(n[0] + row["w2"] * n[1] + row["w6"] * n[5]) / 50 for n in cases.values()]
        assert row["pearson"]["value"] == pytest.approx(stats.pearsonr(list(HUMAN.values()), scores).statistic)
        assert row["kendall"]["value"] == pytest.approx(stats.kendalltau(list(HUMAN.values()), scores).statistic)


def test_every_weight_and_discarded_cases(as_json: AsJson, files: tuple[str, ...]) -> None:
    found = as_json("correlate-sweep", *files, "--weights", "all", "--discard", "none", "--discard", "5,6")
    assert len(found["settings"]) == 2 * (9 + 3)
    one = as_json("correlate-sweep", *files, "--weights", "0.25,0.75", "--discard", "4", "--without", "d")
    assert [(row["w2"], row["w6"], row["discarded"]) for row in one["settings"]] == [(0.25, 0.75, [4])] * 2
    assert one["removed"] == ["d"]
    assert one["settings"][0]["without"]["pearson"]["value"] is not None


def test_the_table_and_the_picture(anaphora: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    done = anaphora("correlate-sweep", *files, "--plot", "cases.svg")
    assert "alignment with heuristics\n  w2 = 0, w6 = 0 " in done.stdout
    assert done.stderr == "chart: cases.svg\n"
    picture = (tmp_path / "cases.svg").read_text(encoding="utf-8")
    assert "basic: 42.5 %, 16.0 %, 14.0 %, 12.5 %, 5.0 %, 10.0 %; with heuristics: 47.5 %" in picture


def test_a_file_for_each_system(as_json: AsJson, files: tuple[str, ...], tmp_path: Path) -> None:
    options = []
    for name, numbers in BASIC.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"apt": 0.5, "cases": numbers}))
        options += ["--cases", f"basic={name}.json"]
    assert as_json("correlate-sweep", "human.tsv", *options)["cases"] == {"basic": BASIC}


# it is found twice; the second reference pronoun is not aligned, but its neighbours are
TEXTS = {
    "src": "it is late .\nso it works here .\n",
    "ref": "il est tard .\ndonc il marche ici .\n",
    "a": "il est tard .\ndonc il marche ici .\n",
    "b": "ce est tard .\ndonc il marche ici .\n",
    "c": "elle est tard .\ndonc elle marche ici .\n",
}
FULL, HOLE = "0-0 1-1 2-2 3-3\n0-0 1-1 2-2 3-3 4-4\n", "0-0 1-1 2-2 3-3\n0-0 2-2 3-3 4-4\n"


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    """Three translations, one pronoun of the reference unaligned."""
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
        (tmp_path / f"{name}.align").write_text(HOLE if name == "ref" else FULL)
    (tmp_path / "human.tsv").write_text("system\thuman\na\t0.9\nb\t0.6\nc\t0.1\n")
    options = ["-s", "src", "-r", "ref", "--ref-align", "ref.align", "-l", "en-fr"]
    for name in "abc":
        options += ["-t", name, "--name", name, "--hyp-align", f"{name}.align"]
    return options


def test_the_documents_of_apt_are_swept(anaphora: Run, as_json: AsJson, texts: list[str], tmp_path: Path) -> None:
    for name, more in (("basic", ["--no-rescue"]), ("heuristics", [])):
        done = anaphora("apt", *texts, *more, "--samples", "100", "--json")
        (tmp_path / f"{name}.json").write_text(done.stdout)
    documents = ("--cases", "basic.json", "--cases", "heuristics.json", "--samples", "200")
    found = as_json("correlate-sweep", "human.tsv", *documents)
    assert found["cases"] == {
        "basic": {"a": [1, 0, 0, 0, 1, 0], "b": [0, 1, 0, 0, 1, 0], "c": [0, 0, 1, 0, 1, 0]},
        "heuristics": {"a": [2, 0, 0, 0, 0, 0], "b": [1, 1, 0, 0, 0, 0], "c": [0, 0, 2, 0, 0, 0]},
    }
    (row,) = [s for s in found["settings"] if (s["alignment"], s["w2"], s["w6"]) == ("heuristics", 0.5, 0)]
    assert row["scores"] == {"a": 1.0, "b": 0.75, "c": 0.0}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["human.tsv"], "Missing option '--cases'"),
        (["human.tsv", "--cases", "=basic.json"], "'=basic.json' is not NAME=FILE"),
        (["human.tsv", "--cases", "nowhere.json"], "nowhere.json: no such file"),
        (["human.tsv", "--cases", "human.tsv"], "human.tsv: line 1: not JSON"),
        (["human.tsv", "--cases", "basic.json", "--weights", "0.5"], "'0.5' is not two numbers"),
        (["human.tsv", "--cases", "basic.json", "--weights", "2,0"], "weights are numbers from 0 to 1"),
        (["human.tsv", "--cases", "basic.json", "--weights=-1,0"], "weights are numbers from 0 to 1"),
        (["human.tsv", "--cases", "basic.json", "--weights", "nan,0"], "weights are numbers from 0 to 1"),
        (["human.tsv", "--cases", "basic.json", "--discard", "7"], "'7' is not a list of some of the cases"),
        (["human.tsv", "--cases", "basic.json", "--discard", "1,2,3,4,5,6"], "is not a list of some of the cases"),
        (["few.tsv", "--cases", "basic.json"], "basic: no human score for d"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_refused(
    refused: Refused, files: tuple[str, ...], tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "few.tsv").write_text("system\thuman\na\t1\nb\t2\nc\t3\n")
    assert said in refused("correlate-sweep", *arguments)
