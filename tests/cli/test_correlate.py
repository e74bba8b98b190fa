"""`anaphora correlate`: from a table of scores to correlations, with and without outliers, and to a picture."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]
HUMAN = (0.68, 0.66, 0.62, 0.64, 0.58, 0.42, 0.08)
APT = (0.61, 0.6, 0.55, 0.57, 0.5, 0.35, 0.1)
BLEU = (37.2, 36.4, 36.9, 32.6, 36.7, 20.9, 4.1)


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.tsv"
    rows = zip(("a", "b", "c", "d", "e", "f", "far off"), HUMAN, APT, BLEU, strict=True)
    lines = ["system\thuman\tapt\tbleu", *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_document_of_the_contract(as_json: AsJson, scores: Path) -> None:
    found = as_json("correlate", scores)
    assert found["systems"] == ["a", "b", "c", "d", "e", "f", "far off"]
    assert found["human"] == "human"
    assert list(found["metrics"]) == ["apt", "bleu"]
    for name, values in (("apt", APT), ("bleu", BLEU)):
        for coefficient, test in (
            ("pearson", stats.pearsonr),
            ("spearman", stats.spearmanr),
            ("kendall", stats.kendalltau),
        ):
            said = found["metrics"][name][coefficient]
            assert said["value"] == pytest.approx(test(HUMAN, values).statistic)
            low, high = said["interval"]
            assert -1 <= low <= high <= 1
    assert found["without"] is None
    assert "far off" in found["outliers"]
    (test,) = found["williams"]
    assert (test["first"], test["second"]) == ("apt", "bleu")
    assert test["t"] > 0
    assert 0 < test["p_value"] < 1


def test_with_and_without_outliers(as_json: AsJson, scores: Path) -> None:
    found = as_json("correlate", scores, "--without", "far off", "--without", "f", "--samples", "200")
    assert found["without"]["removed"] == ["f", "far off"]
    assert found["without"]["systems"] == ["a", "b", "c", "d", "e"]
    said = found["without"]["metrics"]["bleu"]["pearson"]["value"]
    assert said == pytest.approx(stats.pearsonr(HUMAN[:5], BLEU[:5]).statistic)
    automatic = as_json("correlate", scores, "--without", "auto", "--samples", "200")
    assert automatic["without"]["removed"] == automatic["outliers"] == ["f", "far off"]
    assert automatic["without"] == found["without"]


def test_columns_and_settings(as_json: AsJson, scores: Path) -> None:
    packed = scores.with_suffix(".tsv.gz")
    packed.write_bytes(gzip.compress(scores.read_bytes()))
    options = (
        "--human",
        "apt",
        "--metric",
        "bleu",
        "--minimize",
        "bleu",
        "--interval",
        "fisher",
        "--confidence",
        "0.8",
    )
    found = as_json("correlate", packed, *options)
    assert list(found["metrics"]) == ["bleu"]
    assert found["minimized"] == ["bleu"]
    assert found["williams"] == []
    expected = stats.pearsonr(APT, [-value for value in BLEU])
    pearson = found["metrics"]["bleu"]["pearson"]
    assert pearson["value"] == pytest.approx(expected.statistic)
    assert pearson["interval"] == pytest.approx(list(expected.confidence_interval(0.8)))
    assert found["signature"].startswith("cor|n:7|human:apt|lower:bleu|ci:fisher|conf:0.8|v:")


@pytest.mark.parametrize("format", ["table", "markdown", "latex", "tsv"])
def test_tables(anaphora: Run, scores: Path, format: str) -> None:
    done = anaphora("correlate", scores, "--without", "auto", "--samples", "200", "--format", format)
    assert f"{stats.pearsonr(HUMAN, BLEU).statistic:.3f}" in done.stdout
    assert f"{stats.pearsonr(HUMAN[:5], APT[:5]).statistic:.3f}" in done.stdout
    assert "without f, far off" in done.stdout
    assert done.stderr == ""


def test_a_picture(anaphora: Run, as_json: AsJson, scores: Path, tmp_path: Path) -> None:
    done = anaphora("correlate", scores, "--plot", "figures/one.svg")
    assert done.stderr == "chart: figures/one.svg\n"
    text = (tmp_path / "figures" / "one.svg").read_text(encoding="utf-8")
    assert f"r = {stats.pearsonr(HUMAN, APT).statistic:.3f}, ρ = 1.000" in text
    assert as_json("correlate", scores, "--plot", "two.svg")["metrics"]
    assert (tmp_path / "two.svg").is_file()


def test_example_files_for_every_command(anaphora: Run, as_json: AsJson, tmp_path: Path) -> None:
    done = anaphora("correlate", "--example", "example")
    assert done.stdout == ""
    assert "example/scores.tsv" in done.stderr
    assert as_json("correlate", "--example", "example")["files"][0] == "example/scores.tsv"
    assert as_json("correlate", "example/scores.tsv", "--samples", "200")["outliers"] == ["broken"]
    cases = ("--cases", "basic=example/basic.json", "--cases", "example/rescued.json")
    assert as_json("correlate-sweep", "example/scores.tsv", *cases, "--samples", "200")["settings"]
    assert as_json("apt-judgements", "example/details.tsv", "example/judgements.tsv")["total"]["total"] == 7 * 210


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "SCORES.tsv"),
        (["nowhere.tsv"], "nowhere.tsv: no such file"),
        (["scores.tsv", "--human", "humans"], "did you mean human?"),
        (["scores.tsv", "--metric", "blue"], "did you mean bleu?"),
        (["scores.tsv", "--without", "g"], "no system 'g' to leave out"),
        (
            ["scores.tsv", "--without", "a", "--without", "b", "--without", "c", "--without", "d", "--without", "e"],
            "3 are",
        ),
        (["scores.tsv", "--interval", "wilson"], "fisher"),
        (["scores.tsv", "--confidence", "nan"], "--confidence"),
        (["scores.tsv", "--samples", "0"], "--samples"),
        (["scores.tsv", "--plot", "x.pdf"], "x.pdf: the name of a chart must end in .svg or .png"),
        (["bad.tsv"], "bad.tsv: line 3: not a number: 'n/a' in the column 'human'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_refused(refused: Refused, scores: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "bad.tsv").write_text("system\thuman\tapt\na\t1\t1\nb\tn/a\t2\nc\t1\t1\n")
    assert said in refused("correlate", *arguments)
