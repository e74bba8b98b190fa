"""`anaphora measure` end to end: pairs from files, a measure from pairs, accuracy, ranking, a chart of attention."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from anaphora import api
from anaphora.cli.measure import measure
from anaphora.core.errors import AnaphoraError

NOUNS = {"king": "he", "uncle": "he", "queen": "she", "aunt": "she", "stone": "it", "table": "it"}
ENDS = ("was old.", "looked fine.", "has gone.", "came back.")
WRONG = {"he": "it", "she": "he", "it": "she"}


def document(right: bool) -> str:
    """Two sentences per document: a noun, and the pronoun for it or another one."""
    lines = []
    for noun, pronoun in NOUNS.items():
        for end in ENDS:
            lines += [f"I saw the {noun}.", f"{(pronoun if right else WRONG[pronoun]).capitalize()} {end}", ""]
    return "\n".join(lines) + "\n"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    (tmp_path / "ref.en").write_text(document(True))
    (tmp_path / "bad.en").write_text(document(False))
    (tmp_path / "good.en").write_text(document(True))
    (tmp_path / "src.de").write_text(document(True).upper())
    (tmp_path / "empty.toml").touch()
    return tmp_path


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(measure, [str(argument) for argument in arguments])


def ok(*arguments: str | Path) -> Any:
    """What a command says with --json."""
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return json.loads(result.stdout)


def made(texts: Path, *more: str | Path) -> Path:
    ok("pairs", "-r", texts / "ref.en", "-t", texts / "bad.en", "-l", "de-en", "-o", texts / "p.jsonl", *more)
    return texts / "p.jsonl"


def test_pairs(texts: Path) -> None:
    common = ("pairs", "-s", texts / "src.de", "-r", texts / "ref.en", "-t", texts / "bad.en", "-t", texts / "good.en")
    actual = ok(*common, "-l", "de-en", "-o", texts / "p.jsonl", "--year", "2013")
    assert actual["pairs"] == {"noisy": 24, "system": 24}
    assert actual["errors"] == {"gender": 24}
    assert actual["pronoun_pairs"] == {"he:it": 8, "she:he": 8, "it:she": 8}
    suite = list(api.load_suite(texts / "p.jsonl"))
    assert suite[0].source == ("", "I SAW THE KING.", "HE WAS OLD.")
    assert suite[0].candidates == (("", "I saw the king.", "He was old."), ("", "I saw the king.", "It was old."))
    assert suite[0].tags["systems"] == ["bad.en"]
    table = invoke("counts", texts / "p.jsonl", "--by-year")
    assert table.exit_code == 0
    assert table.stdout.splitlines()[2].split() == ["de-en", "2013", "2013", "24", "24", "24"]
    assert ok("counts", texts / "p.jsonl")["de-en"] == {"years": ["2013"], "contexts": 24, "noisy": 24, "system": 24}


def test_pairs_that_people_agree_on(texts: Path) -> None:
    (texts / "list.json").write_text('{"he_it": [[0.9, {"REF": 9}]], "it_she": [[0.5, {"REF": 9}]]}')
    actual = ok(
        "pairs", "-r", texts / "ref.en", "-t", texts / "bad.en", "-l", "de-en", "--kind", "noisy", "--pair-list",
        texts / "list.json", "-o", texts / "p.jsonl",
    )  # fmt: skip
    assert actual["pronoun_pairs"] == {"he:it": 8}
    assert actual["left_out_by_pair_list"] == 16


def test_statistical_alignment(texts: Path) -> None:
    pytest.importorskip("thot", reason="sil-thot is not installed: pip install 'anaphora[align]'")
    made(texts, "--aligner", "rescued", "--kind", "noisy")
    assert len(list(api.load_suite(texts / "p.jsonl"))) >= 24


@pytest.fixture
def model(texts: Path) -> Path:
    pytest.importorskip("torch")
    pairs = made(texts)
    (texts / "c.toml").write_text(
        f'[data]\ntrain = "{pairs}"\ndev = "{pairs}"\ntrain_kind = "noisy"\n[model]\nwidth = 16\nsentences = 1\n'
        "[training]\nrate = 0.01\nbatch = 8\nepochs = 25\npatience = 25\n"
    )
    actual = ok("train", texts / "c.toml", "-o", texts / "m", "--threads", "1")
    assert actual["best"]["dev_accuracy"] > 0.9
    assert (actual["pairs"], actual["dev_pairs"]) == (24, 24)
    return texts / "m"


def test_train_evaluate_score_and_why(model: Path, texts: Path) -> None:
    pairs = texts / "p.jsonl"
    actual = ok("evaluate", pairs, "--model", model)
    assert actual["total"] == 48
    assert actual["accuracy"] == actual["correct"] / 48 > 0.9
    assert actual["interval"][0] < actual["accuracy"]
    assert actual["human"] is None
    assert set(actual["breakdowns"]) >= {"pronoun_pair", "error", "kind"}

    systems = ("-t", texts / "bad.en", "-t", texts / "good.en", "--details", texts / "d.tsv")
    ranked = ok("score", model, "-r", texts / "ref.en", *systems, "--why", texts / "why.svg", "--line", "2")
    assert ranked["sentences"] == 48
    assert ranked["systems"]["good.en"]["mean"] == ranked["systems"]["reference"]["mean"]
    assert ranked["systems"]["good.en"]["mean"] > ranked["systems"]["bad.en"]["mean"]
    assert list(ranked["systems"])[-1] == "bad.en"
    assert len((texts / "d.tsv").read_text().splitlines()) == 49
    titles = [e.text or "" for e in ET.parse(texts / "why.svg").getroot().iter("{http://www.w3.org/2000/svg}text")]
    assert [t.partition(" ")[0] for t in titles if ".en " in t or "reference" in t] == [
        "reference",
        "bad.en",
        "good.en",
    ]

    rows = ok("score", model, "He was old.", "It was old.", "Nobody.", "--before", "I saw the king.")["sentences"]
    assert rows[0]["score"] > rows[1]["score"]
    assert rows[2] == {"sentence": "Nobody.", "score": 0.0, "pronouns": []}
    assert rows[0]["pronouns"][0]["pronoun"] == "he"
    table = invoke("score", model, "He was old.")
    assert "He was old." in table.stdout


def test_any_system_on_the_same_pairs(texts: Path) -> None:
    pairs = made(texts, "--kind", "noisy")
    (texts / "scores").write_text("2\n1\n" * 20 + "1\n2\n" * 4)
    actual = ok("evaluate", pairs, "--system", f"scores:{texts / 'scores'}")
    assert (actual["total"], actual["correct"]) == (24, 20)
    api.score(pairs, f"scores:{texts / 'scores'}", texts / "run")
    (texts / "list.json").write_text('{"he_it": [[0.9, {"REF": 9}]]}')
    again = ok("evaluate", pairs, "--run", texts / "run", "--pair-list", texts / "list.json", "--by", "error")
    assert (again["correct"], list(again["breakdowns"])) == (20, ["error"])
    assert again["human"]["pairs"] == 8


def test_the_current_folder_is_refused_before_the_work(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that appears as a whole replaces an empty one: the shell would stand in one that is gone."""
    (texts / "c.toml").write_text("[data]\n")
    (texts / "empty").mkdir()
    monkeypatch.chdir(texts / "empty")
    for command in (["train", texts / "c.toml"], ["adapt", "lm:none", texts / "c.toml"]):
        result = invoke(*command, "-o", ".")
        assert "is the current folder, which cannot be replaced" in str(result.exception)


def test_nothing_is_overwritten(model: Path, texts: Path) -> None:
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    result = invoke("train", texts / "c.toml", "-o", model)
    assert isinstance(result.exception, AnaphoraError)
    assert "already exists" in str(result.exception)
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("pairs", "-r", "ref.en", "-l", "de-en", "-o", "p.jsonl"), "pass translations (-t)"),
        (
            ("pairs", "-r", "ref.en", "-t", "bad.en", "-l", "de-en", "-o", "ref.en"),
            "ref.en is an input of this command",
        ),
        (("pairs", "-r", "ref.en", "-t", "bad.en", "-l", "english", "-o", "p"), "not a language pair: 'english'"),
        (("pairs", "-r", "ref.en", "-t", "bad.en", "-l", "en-xx", "-o", "p"), "no list of pronouns for language 'xx'"),
        (("pairs", "-r", "ref.en", "-t", "no", "-l", "de-en", "-o", "p"), "no: no such file"),
        (
            ("pairs", "-r", "ref.en", "-t", "bad.en", "-t", "bad.en", "-l", "de-en", "-o", "p"),
            "Give each system a different name",
        ),
        (("train", "nothing.toml", "-o", "m"), "nothing.toml: no such file"),
        (("train", "empty.toml", "-o", "m"), "data.train names no pairs"),
        (("train", "empty.toml", "-o", "m", "--set", "epochs"), "--set epochs: write section.key=value"),
        (("tune", "lm:x", "--train", "p.jsonl", "-o", "m"), "`measure tune` was removed in version 0.2.0"),
        (("table", "--train", "p.jsonl"), "See CHANGELOG.md and experiments/eval-anaphora-2019."),
        (
            ("pairs", "-r", "ref.en", "-t", "bad.en", "-l", "de-en", "-o", "p", "--context", str(2**63 - 1)),
            "at most 1,000 are possible",
        ),
        (("evaluate", "p.jsonl"), "pass one judge"),
        (("evaluate", "ref.en", "--model", "nowhere"), "not a suite file"),
        (("score", "nowhere", "It."), "nowhere: no such folder"),
        (("score", "."), "pass sentences, or translations of systems (-t)"),
        (("score", ".", "It."), "measure.json is missing"),
    ],
)
def test_wrong_input_is_one_line(
    refused: Callable[..., str], texts: Path, arguments: tuple[str, ...], problem: str
) -> None:
    if arguments[0] in ("train", "score"):
        pytest.importorskip("torch")
    before = (texts / "ref.en").read_text()
    assert problem in refused("measure", *arguments)
    assert (texts / "ref.en").read_text() == before


@pytest.mark.parametrize(
    "arguments",
    [("train", "empty.toml", "-o", "m"), ("score", "m", "It."), ("evaluate", "p.jsonl", "--model", "m")],
)
def test_what_is_not_installed_is_named(
    refused: Callable[..., str], texts: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    made(texts)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert 'pip install "anaphora[measure]"' in refused("measure", *arguments)
