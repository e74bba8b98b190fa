"""`anaphora apt`: the contract of its options, its JSON, its files and its refusals."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import instead

Run = Callable[..., subprocess.CompletedProcess[str]]

SOURCE = "The system is so healthy that it purifies the water .\nThey sleep .\nIt rains .\n\n"
REFERENCE = "Le système est si sain qu' il purifie l' eau .\nIls dorment .\nIl pleut .\n\n"
FIRST = REFERENCE.replace("Il pleut", "C' est")  # equivalent in one
SECOND = REFERENCE.replace("qu' il", "qu' elle").replace("Ils dorment", "On dort")  # different in two
MISSED = "0-0 1-1 2-2 3-3 4-4 5-5 7-7 8-8 9-9 10-10\n0-0 1-1 2-2\n0-0 1-1 2-2\n\n"  # Table 1: "it" has no link


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, ...]:
    """Options for one system, whose files are in the current folder."""
    for name, text in {"s": SOURCE, "r": REFERENCE, "a": FIRST, "b": SECOND, "al": MISSED}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return (
        "-s",
        "s",
        "-r",
        "r",
        "-t",
        "a",
        "--ref-align",
        "al",
        "--hyp-align",
        "al",
        "-l",
        "en-fr",
        "--samples",
        "100",
    )


TWO = ("-t", "b", "--hyp-align", "al")


def test_the_json_of_the_contract(as_json: Callable[..., Any], texts: tuple[str, ...]) -> None:
    document = as_json("apt", *texts)
    assert document["apt"] == pytest.approx(2.5 / 3)
    assert document["cases"] == [2, 1, 0, 0, 0, 0]
    assert document["weights"] == [1, 0.5, 0, 0, 0, 0]
    assert document["discarded"] == []
    assert document["signature"].startswith("apt|l:en-fr|var:paper|")
    assert list(document["systems"]) == ["a"]
    assert document["rescued"] == {"reference": 1, "candidate": 1}


def test_several_systems(as_json: Callable[..., Any], texts: tuple[str, ...]) -> None:
    document = as_json("apt", *texts, *TWO, "--name", "one", "--name", "two", "--by-pronoun")
    assert {name: system["cases"] for name, system in document["systems"].items()} == {
        "one": [2, 1, 0, 0, 0, 0],
        "two": [1, 0, 2, 0, 0, 0],
    }
    (pair,) = document["pairs"]
    assert pair["delta"] == pytest.approx(1 / 3 - 2.5 / 3)
    assert list(pair["breakdowns"]["pronoun"]) == ["it", "they"]


@pytest.mark.parametrize(
    ("options", "apt", "cases"),
    [
        (["--weights", "1,1,0,0,0,0"], 1.0, [2, 1, 0, 0, 0, 0]),
        (["--no-rescue"], 1.5 / 3, [1, 1, 0, 0, 0, 1]),
        (["--no-rescue", "--discard", "5,6"], 1.5 / 2, [1, 1, 0, 0, 0, 1]),
        (["--pronouns", "They"], 1.0, [1, 0, 0, 0, 0, 0]),
        (["--variant", "idiap"], 1.5 / 3, [1, 1, 0, 0, 0, 1]),
        (["--variant", "reference-side", "--pronouns", "il,ils"], 0.5, [1, 0, 1, 0, 0, 0]),
    ],
)
def test_options(
    as_json: Callable[..., Any], texts: tuple[str, ...], options: list[str], apt: float, cases: list[int]
) -> None:
    document = as_json("apt", *texts, *options)
    assert (document["apt"], document["cases"]) == (pytest.approx(apt), cases)


def test_tables_and_the_confusion_matrix(anaphora: Run, texts: tuple[str, ...]) -> None:
    shown = anaphora("apt", *texts, *TWO, "--confusion").stdout
    assert shown.startswith("APT en→fr · paper\n")
    assert "a → b" in shown
    assert "a: reference (rows) and candidate (columns)" in shown
    assert "a: rescued 1 in the reference, 1 in the candidate" in shown
    markdown = anaphora("apt", *texts, "--format", "markdown").stdout
    assert "| a | 3 | 0.8333 |" in markdown


def test_details_and_score_files(anaphora: Run, texts: tuple[str, ...], tmp_path: Path) -> None:
    anaphora(
        "apt",
        *texts,
        *TWO,
        "--details",
        "d.tsv",
        "--score-file",
        "a.score",
        "--score-file",
        "b.score",
        "--matrix-length",
        "1",
    )
    rows = [line.split("\t") for line in (tmp_path / "d.tsv").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 7
    assert dict(zip(rows[0], rows[1], strict=True))["reference_found"] == "rescued"
    assert [row[rows[0].index("case")] for row in rows[1:]] == ["1", "1", "2", "3", "3", "1"]
    assert (tmp_path / "b.score").read_text(encoding="utf-8").startswith("Score: 0.3333\nCases: 1,2,3,4,5,6\n")
    assert "\til\t...\t-sum-\n" in (tmp_path / "b.score").read_text(encoding="utf-8")


def test_lists_of_ones_own(as_json: Callable[..., Any], texts: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "l.toml").write_text("equivalent = []\n", encoding="utf-8")
    assert as_json("apt", *texts, "--lists", "l.toml")["cases"] == [2, 0, 1, 0, 0, 0]


def test_pronouns_by_tags(as_json: Callable[..., Any], texts: tuple[str, ...], tmp_path: Path) -> None:
    tags = "X X X X X X PRP X X X X\nPRP X X\nPRP X X\n\n"
    (tmp_path / "tags").write_text(tags, encoding="utf-8")
    options = ["--source-tags", "tags", "--ref-tags", "tags", "--hyp-tags", "tags"]
    assert as_json("apt", *texts, *options, "--pronoun-tags", "PRP")["cases"] == [2, 1, 0, 0, 0, 0]
    assert as_json("apt", *texts, *options)["cases"] == [0] * 6


def test_texts_without_alignments_are_aligned(as_json: Callable[..., Any], texts: tuple[str, ...]) -> None:
    files = ["-s", "s", "-r", "r", "-t", "a", "-t", "b", "-l", "en-fr", "--samples", "100"]
    document = as_json("apt", *files, "--align-backend", "builtin", "--corpus", "s", "r")
    assert "|align:builtin-" in document["signature"]
    assert all(sum(system["cases"]) == 3 for system in document["systems"].values())
    assert document["systems"]["a"]["apt"] > document["systems"]["b"]["apt"]


def test_a_config_of_the_original_program(
    anaphora: Run, data: Callable[[str], Path], tmp_path: Path, as_json: Callable[..., Any]
) -> None:
    published = data("apt-es-en") / "data_es-en"
    shutil.copytree(published, tmp_path / "data_es-en", ignore=shutil.ignore_patterns("output*"))
    done = anaphora("apt", "--config", "data_es-en/config_2", "--variant", "idiap", "--json", "--details", "d.tsv")
    assert done.stderr == "wrote data_es-en/output2.score and data_es-en/output2.detail\n"
    for name in ("output2.score", "output2.detail"):
        assert (tmp_path / "data_es-en" / name).read_bytes() == (published / name).read_bytes()
    document = json.loads(done.stdout)
    assert (f"{document['apt']:.4f}", document["cases"]) == ("0.6316", [60, 0, 20, 10, 2, 3])
    assert len((tmp_path / "d.tsv").read_text(encoding="utf-8").splitlines()) == 96


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-l", "en-ru"], "no pronoun lists for en-ru. There are lists for"),
        (["-l", "french"], "not a language pair: 'french'"),
        (["--weights", "1,0.5"], "not weights: 1,0.5. They are six numbers from 0 to 1"),
        (["--weights", "1,0.5,x,0,0,0"], "not weights: '1,0.5,x,0,0,0'"),
        (["--discard", "7"], "cannot discard 7: no case 7"),
        (["--hyp-align", "al"], "one alignment file (--translation-alignments) is needed for each translation"),
        (["-t", "a", "--hyp-align", "al"], "two translations have the same name"),
        (["--lists", "nowhere.toml"], "nowhere.toml: no such file"),
        (["-r", "short"], "short: 1 lines, but s has 3"),
        (["--ref-align", "outside"], "outside: line 2: point 3-0 is outside the sentences of 3 and 3 words"),
        (["--config", "c"], "--config runs a config of the original program. Add --variant idiap"),
        (["--config", "c", "--variant", "idiap"], "--source cannot be combined with --config"),
        (["--score-file", "x", "--score-file", "y"], "one score file (--score-file) is needed for each translation"),
        (["--variant", "idiap", "--tokenize", "moses"], "the variant idiap divides words at single spaces"),
    ],
)
def test_what_is_refused(
    refused: Callable[..., str], texts: tuple[str, ...], tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "short").write_text("il\n", encoding="utf-8")
    (tmp_path / "outside").write_text("0-0\n3-0\n\n\n", encoding="utf-8")
    one_value = options[0] in ("-l", "-r", "--ref-align")
    assert message in refused("apt", *(instead(texts, *options) if one_value else [*texts, *options]))


def test_what_is_missing_is_named(refused: Callable[..., str], texts: tuple[str, ...]) -> None:
    assert refused("apt", "-s", "s", "-t", "a").startswith("missing -r, -l")
    assert "there is no list of source pronouns for de-en" in refused("apt", *instead(texts, "-l", "de-en"))


def test_a_config_that_is_none(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "c").write_text("[lang]\nsource: es\n", encoding="utf-8")
    message = refused("apt", "--config", "c", "--variant", "idiap")
    assert message.startswith("c: [cases] cases_to_use is missing")
