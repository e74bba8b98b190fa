"""`anaphora autoprf`: the contract's JSON, the figures of the original program, several systems, refusals."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]


@pytest.fixture
def texts(tmp_path: Path) -> list[str | Path]:
    """Three sentences; of the three words for pronouns two are the reference's. One alignment has a line more."""
    lines = {
        "src": "It works .\nthey know it .\nNo .\n",
        "ref": "Il marche .\nils le savent .\nNon .\n",
        "hyp": "Il marche .\nils la savent .\nNon .\n",
        "ref.align": "0-0 1-1\n0-0 1-2 2-1\n\n",
        "hyp.align": "0-0 1-1\n0-0 1-2 2-1\n\n\n",
    }
    for name, text in lines.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return ["-s", "src", "-r", "ref", "-t", "hyp", "--ref-align", "ref.align", "--hyp-align", "hyp.align"]


def test_the_contract(as_json: AsJson, texts: list[str]) -> None:
    document = as_json("autoprf", *texts, "--pronouns", "it,they")
    assert (document["precision"], document["recall"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert document["f"] == pytest.approx(2 / 3)
    assert document["by_pronoun"]["it"]["precision"] == 0.5
    assert document["by_pronoun"]["they"]["f"] == 1
    assert document["systems"] == {"hyp": {key: document[key] for key in document["systems"]["hyp"]}}
    assert (document["pairs"], document["outside"]) == ([], {})
    assert as_json("autoprf", *texts)["signature"] == document["signature"]  # it and they are the default


def test_table(anaphora: Run, texts: list[str]) -> None:
    lines = anaphora("autoprf", *texts, "--pronouns", "IT").stdout.splitlines()
    assert lines[0] == "AutoPRF"
    assert lines[2].split()[:6] == ["hyp", "2", "2", "2", "1", "0.5000"]
    assert lines[3].split()[0] == "it"
    assert lines[-1].startswith("signature autoprf|clip:occurrence|pron:IT|case:mixed|tok:none|norm:signs|align:given|")


def test_options(as_json: AsJson, texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "hyp").write_text("il marche .\nils la savent .\nNon .\n", encoding="utf-8")
    assert as_json("autoprf", *texts)["matches"] == 1
    assert as_json("autoprf", *texts, "--lowercase")["matches"] == 2
    (tmp_path / "hyp").write_text("le marche .\nils Il savent .\nNon .\n", encoding="utf-8")
    assert as_json("autoprf", *texts)["matches"] == 1
    assert as_json("autoprf", *texts, "--clip", "corpus")["matches"] == 3


def test_several_systems_and_gzip(as_json: AsJson, anaphora: Run, texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "other.gz").write_bytes(gzip.compress(b"Il marche .\nils le savent .\nNon .\n"))
    more = [*texts, "-t", "other.gz", "--hyp-align", "ref.align", "--name", "one", "--name", "two"]
    document = as_json("autoprf", *more)
    assert document["system"] == "one"
    assert {name: system["matches"] for name, system in document["systems"].items()} == {"one": 2, "two": 3}
    assert [pair["figure"] for pair in document["pairs"]] == ["precision", "recall", "f"]
    text = anaphora("autoprf", *more, "--format", "markdown").stdout
    assert "*one → two*" in text
    assert "| +0.3333 |" in text


def test_points_past_the_source_are_noted(anaphora: Run, texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "hyp.align").write_text("0-0 1-1 3-2\n0-0\n\n", encoding="utf-8")
    done = anaphora("autoprf", *texts, "--json")
    assert done.stderr == "hyp: 1 alignments have indices beyond the end of the source; these links are ignored\n"


def test_refusals(refused: Refused, texts: list[str], tmp_path: Path) -> None:
    assert "both --reference-alignments and --translation-alignments" in refused("autoprf", *texts[:-2])
    assert "2 translations, but 1" in refused("autoprf", *texts, "-t", "ref")
    assert "has none of the pronouns she" in refused("autoprf", *texts, "--pronouns", "she")
    assert "'--clip'" in refused("autoprf", *texts, "--clip", "sentence")
    assert "'-s'" in refused("autoprf", *texts[2:])
    (tmp_path / "hyp.align").write_text("0-0\n0-9\n\n", encoding="utf-8")
    assert refused("autoprf", *texts).startswith("hyp.align: line 2: point 0-9 is outside the translation of 4 words")
    (tmp_path / "hyp").write_text("Il .\n", encoding="utf-8")
    assert refused("autoprf", *texts).startswith("hyp: 1 lines, but src has 3")


def test_the_original_program_on_its_data(as_json: AsJson, data: Callable[[str], Path]) -> None:
    folder = data("autoprf-en-fr") / "examples"
    names = {"-s": "pronoun-test.tok.en", "-r": "pronoun-test.tok.fr", "-t": "mt-output.fr"}
    names |= {"--ref-align": "pronoun-test.tok.en-fr.alig", "--hyp-align": "mt-output.en-fr.alig"}
    options = [part for option, name in names.items() for part in (option, folder / f"{name}.gz")]
    document = as_json("autoprf", *options, "--pronouns", "it")
    assert [round(document[key], 4) for key in ("precision", "recall", "f")] == [0.2973, 0.3108, 0.3039]
    assert list(document["outside"].values()) == [37]
