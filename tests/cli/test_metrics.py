"""`anaphora metrics`: scores, signatures, pairs of systems, what each metric needs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sacrebleu", reason="the surface metrics need the extra metrics")

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]


@pytest.fixture(autouse=True)
def _texts(tmp_path: Path) -> None:
    lines = {
        "src": "The apple is green.\nIt is good.\nThey know it.\n",
        "ref": "La pomme est verte.\nElle est bonne.\nIls le savent.\n",
        "a": "La pomme est verte.\nIl est bon.\nIls la savent.\n",
        "b": "La pomme est verte.\nElle est bonne.\nIls le savent.\n",
    }
    for name, text in lines.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


def test_two_systems(as_json: AsJson) -> None:
    document = as_json("metrics", "-r", "ref", "-t", "a", "-t", "b", "-l", "en-fr")
    assert list(document["scores"]) == ["bleu", "chrf", "ter", "meteor"]
    assert document["systems"]["b"]["bleu"]["score"] == pytest.approx(100)
    assert document["systems"]["b"]["ter"]["score"] == 0
    assert document["systems"]["b"]["meteor"]["score"] == pytest.approx(1)
    assert document["scores"]["meteor"]["score"] < 1
    assert document["scores"]["bleu"]["signature"].startswith("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|")
    assert [pair["metric"] for pair in document["pairs"]] == ["bleu", "chrf", "ter", "meteor"]
    assert document["sentences"] == 3


def test_metrics_by_name(as_json: AsJson) -> None:
    options = ["-r", "ref", "-t", "a", "-l", "en-fr", "--metric", "chrf,meteor-pronouns", "--metric", "chrf++"]
    assert list(as_json("metrics", *options)["scores"]) == ["chrf", "meteor-pronouns", "chrf++"]
    il = as_json("metrics", *options, "--pronouns", "ils,la")["scores"]["meteor-pronouns"]
    assert "|fw:ils,la|" in il["signature"]


def test_table(anaphora: Run) -> None:
    done = anaphora(
        "metrics",
        "-r",
        "ref",
        "-t",
        "a",
        "-t",
        "b",
        "-l",
        "en-fr",
        "--metric",
        "bleu,ter",
        "--name",
        "one",
        "--name",
        "two",
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "en→fr · 3 sentences"
    assert " ".join(lines[1].split()) == "bleu 95 % interval ter (lower is better) 95 % interval"
    assert lines[3].startswith("two  100.00")
    assert any(line.startswith("TER|nrefs:1|") for line in lines)
    assert "one → two" in lines
    assert done.stderr == ""


def test_tokenised_texts_need_no_language(as_json: AsJson, refused: Refused) -> None:
    options = ["metrics", "-r", "ref", "-t", "a", "--metric", "meteor"]
    assert "depend on the language" in refused(*options)
    scores = as_json(*options, "--tokenised")["scores"]
    assert "|match:exact:1,stem:off,synonym:off|" in scores["meteor"]["signature"]


def test_refusals(refused: Refused, tmp_path: Path) -> None:
    options = ["metrics", "-r", "ref", "-t", "a", "-l", "en-fr"]
    assert "unknown metric 'blue' (did you mean bleu" in refused(*options, "--metric", "blue")
    assert "give it with -s" in refused(*options, "--metric", "comet")
    assert "pip install unbabel-comet" in refused(*options, "--metric", "comet", "-s", "src")
    assert "the same name" in refused(*options, "-t", "a")
    assert "nowhere: no such directory" in refused(*options[:-1], "fr-en", "--metric", "meteor", "--wordnet", "nowhere")
    (tmp_path / "a").write_text("La pomme.\n", encoding="utf-8")
    assert refused(*options).startswith("a: 1 lines, but ref has 3")
    for name in ("a", "ref"):
        (tmp_path / name).write_text("", encoding="utf-8")
    assert "the texts are empty" in refused(*options)
