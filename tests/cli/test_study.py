"""`anaphora study`: create, agreement, export, and what they refuse. The pages are tested in tests/study."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.study.model import read_study
from anaphora.study.store import Answer, open_log

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]

HEADER = {"anaphora": 1, "name": "pairs", "source_language": "de", "target_language": "en"}


def write(path: Path, *rows: Any) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in (HEADER, *rows)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def pair(identifier: str, right: str = "He", wrong: str = "It") -> dict[str, Any]:
    candidates = [["Before.", f"{right} was there."], ["Before.", f"{wrong} was there."]]
    return {"id": identifier, "source": ["Davor.", "Da."], "candidates": candidates, "gold": 0, "tags": {}}


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write(
        tmp_path / "pairs.jsonl", *(pair(f"p{k}") for k in range(4)), *(pair(f"q{k}", "She") for k in range(2))
    )


@pytest.fixture
def study(anaphora: Run, pairs: Path, tmp_path: Path) -> Path:
    anaphora("study", "create", pairs, "-o", "study", "--annotators", "anna,ben")
    return tmp_path / "study"


def answer(folder: Path, plan: dict[str, str]) -> None:
    """What anna and ben say: r the reference, s the other one, t a tie."""
    study = read_study(folder)
    log = open_log(study, folder)
    for item, both in plan.items():
        for name, what in zip(("anna", "ben"), both, strict=True):
            order = study.orders[name, item]
            choice = "equal" if what == "t" else "ab"[order.index(0 if what == "r" else 1)]
            log.append(Answer(name, item, (choice,), order, f"request-{item}"))
    log.close()


PLAN = {"p0": "rr", "p1": "rr", "p2": "rr", "p3": "rr", "q0": "rs", "q1": "st"}


def test_create(as_json: AsJson, anaphora: Run, pairs: Path, tmp_path: Path) -> None:
    made = as_json("study", "create", pairs, "-o", "one", "--annotators", "anna,ben,carla", "--overlap", "2")
    assert made["annotators"] == {"anna": 4, "ben": 4, "carla": 4}
    assert (made["items"], made["overlap"], made["mode"]) == (6, 2, "pairs")
    done = anaphora("study", "create", pairs, "-o", "two", "--sample", "3", "--no-source", "--title", "Ours")
    assert done.stdout == ""
    assert "3 items, 3 annotators, 3 answers each" in done.stderr
    study = read_study(tmp_path / "two")
    assert (study.show_source, study.title, study.annotators[0].name) == (False, "Ours", "annotator 1")


def test_pairs_may_be_a_name_of_the_catalog(as_json: AsJson, pairs: Path, tmp_path: Path) -> None:
    home = tmp_path / "home" / "suites"
    home.mkdir(parents=True)
    (home / "contrapro.jsonl").write_bytes(pairs.read_bytes())
    assert as_json("study", "create", "contrapro", "-o", "named")["items"] == 6


def test_instructions_of_ones_own(anaphora: Run, pairs: Path, tmp_path: Path) -> None:
    (tmp_path / "how.txt").write_text("First do this.\n\n Then that. \n", encoding="utf-8")
    anaphora("study", "create", pairs, "-o", "study", "--instructions", "how.txt")
    assert read_study(tmp_path / "study").instructions == ("First do this.", "Then that.")


def test_agreement(as_json: AsJson, anaphora: Run, study: Path) -> None:
    answer(study, PLAN)
    document = as_json("study", "agreement", study, "--samples", "200")
    assert document["annotators"] == ["anna", "ben"]
    assert document["with_ties"]["percent"]["value"] == pytest.approx(4 / 6)
    assert document["without_ties"]["items"] == 5
    assert document["preferred"] == pytest.approx((5 / 6 + 4 / 6) / 2)
    assert document["pairs"]["he:it"]["with_ties"]["ac1"]["value"] == 1
    printed = anaphora("study", "agreement", study, "--samples", "200").stdout
    assert printed.splitlines()[0] == "Which pronoun fits? · de→en"
    assert "Gwet’s AC1" in printed
    latex = anaphora("study", "agreement", study, "--samples", "200", "--format", "latex").stdout
    assert latex.startswith("\\begin{table}")


def test_export(as_json: AsJson, anaphora: Run, study: Path, tmp_path: Path) -> None:
    answer(study, PLAN)
    rows = [json.loads(line) for line in anaphora("study", "export", study).stdout.splitlines()]
    assert len(rows) == 12
    assert sum(row["meaning"] == "reference" for row in rows) == 9
    document = as_json("study", "export", study, "-o", "answers.tsv", "--pairs", "list.json")
    assert document["answers"] == rows
    assert document["files"] == ["answers.tsv", "list.json"]
    assert len((tmp_path / "answers.tsv").read_text(encoding="utf-8").splitlines()) == 13
    listed = json.loads((tmp_path / "list.json").read_text(encoding="utf-8"))
    assert listed["he_it"] == [[1.0, {"REF": 8}]]
    anaphora("study", "export", study, "--pairs", "good.json", "--min-agreement", "0.8")
    assert list(json.loads((tmp_path / "good.json").read_text(encoding="utf-8"))) == ["he_it"]


def test_nobody_has_answered(as_json: AsJson, anaphora: Run, study: Path) -> None:
    assert as_json("study", "agreement", study)["with_ties"]["ac1"] == {"value": None, "interval": None}
    assert anaphora("study", "export", study).stdout == ""
    assert not (study / "answers.sqlite").exists()


def test_broken_suites(refused: Refused, tmp_path: Path) -> None:
    broken = write(tmp_path / "broken.jsonl", pair("a"), '{"id": "b", "source"')
    assert refused("study", "create", broken, "-o", "study").startswith(f"{broken}: line 3: not JSON")
    shape = write(tmp_path / "shape.jsonl", pair("a"), {**pair("b"), "candidates": "none"})
    assert "line 3: 'candidates' must be a list" in refused("study", "create", shape, "-o", "study")
    twice = write(tmp_path / "twice.jsonl", pair("a"), pair("a", "She"))
    assert "the id 'a' occurs twice" in refused("study", "create", twice, "-o", "study")
    same = write(tmp_path / "same.jsonl", pair("a", "He", "He"))
    assert "does not have two distinct candidates" in refused("study", "create", same, "-o", "study")
    assert "no such file" in refused("study", "create", "nothing.jsonl", "-o", "study")
    assert not (tmp_path / "study").exists()


def test_designs_that_cannot_be(refused: Refused, pairs: Path, tmp_path: Path) -> None:
    make = ("study", "create", pairs, "-o", "study")
    assert "an overlap of 3 is not possible with 2" in refused(*make, "--annotators", "anna,ben", "--overlap", "3")
    assert "must differ" in refused(*make, "--annotators", "anna,anna")
    assert "at least one" in refused(*make, "--annotators", "0")
    assert "at least one" in refused(*make, "--annotators", "-1")
    assert "3.5 is not a number of annotators" in refused(*make, "--annotators", "3.5")
    assert "100,000 annotators: at most 1,000 are possible" in refused(*make, "--annotators", "100000")
    assert "has no tag pronoun" in refused(*make, "--mode", "gaps")
    assert "need --mode gaps" in refused(*make, "-s", "src")
    assert not (tmp_path / "study").exists()


def test_a_study_is_not_overwritten(refused: Refused, study: Path, pairs: Path) -> None:
    before = {path.name: path.read_bytes() for path in study.iterdir()}
    assert "already exists" in refused("study", "create", pairs, "-o", study)
    assert {path.name: path.read_bytes() for path in study.iterdir()} == before


def test_answers_of_another_study_or_version(refused: Refused, anaphora: Run, study: Path, pairs: Path) -> None:
    answer(study, PLAN)
    anaphora("study", "create", pairs, "-o", "other", "--annotators", "anna,ben")
    other = study.parent / "other"
    (other / "answers.sqlite").write_bytes((study / "answers.sqlite").read_bytes())
    for command in ("agreement", "export", "serve"):
        assert "these are answers to another study" in refused("study", command, other)
    with sqlite3.connect(study / "answers.sqlite", isolation_level=None) as db:
        db.execute("UPDATE anaphora_study_schema SET version = 9")
    db.close()
    for command in ("agreement", "export", "serve"):
        assert "a database of version 9" in refused("study", command, study)


def test_a_database_that_is_none(refused: Refused, study: Path) -> None:
    assert "unknown database 'mysql'" in refused("study", "agreement", study, "--database", "mysql://x/y")
    (study / "answers.sqlite").write_text("no database " * 100, encoding="utf-8")
    assert "not a database" in refused("study", "export", study)
    assert "no such folder" in refused("study", "serve", "nothing")


def test_an_error_writes_nothing(refused: Refused, study: Path, tmp_path: Path) -> None:
    answer(study, PLAN)
    refused("study", "export", study, "-o", "answers.jsonl", "--pairs", "list.json", "--human", "human.tsv")
    assert not (tmp_path / "answers.jsonl").exists()
    assert not (tmp_path / "list.json").exists()


def test_gaps_from_apt_to_judgments(as_json: AsJson, anaphora: Run, tmp_path: Path) -> None:
    """apt --details → study → apt-judgments and discomt, with one answer for each gap."""
    texts = {
        "src": "I had a key .\nIt was here .\nIt rains .\n",
        "ref": "J'avais une clé .\nElle était ici .\nIl pleut .\n",
        "hyp": "J'avais une clé .\nIl était ici .\nIl pleut .\n",
        "align": "0-0 1-1 2-2\n0-0 1-1 2-2\n0-0 1-1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    align = ("--ref-align", "align", "--hyp-align", "align")
    anaphora("apt", "-s", "src", "-r", "ref", "-t", "hyp", "--name", "a", *align, "-l", "en-fr", "--details", "details")
    make = ("details", "-o", "study", "--mode", "gaps", "-s", "src", "-t", "hyp", "--name", "a", "-l", "en-fr")
    anaphora("study", "create", *make, "--annotators", "anna")
    study = read_study(tmp_path / "study")
    assert [item.candidates[0][-1] for item in study.items] == ["Il était ici.", "Il pleut."]
    log = open_log(study, tmp_path / "study")
    for item, choice in zip(study.items, (("elle",), ("il", "cela")), strict=True):
        log.append(Answer("anna", item.id, choice, (0,), f"request-{len(choice)}"))
    log.close()
    anaphora("study", "export", "study", "--judgments", "j.tsv", "--annotations", "g.tsv", "--human", "h.tsv")
    joined = as_json("apt-judgements", "details", "j.tsv", "-l", "en-fr", "--options", ",".join(study.options))
    assert joined["cases"]["c1"]["correct"] == 1
    assert joined["cases"]["c3"]["incorrect"] == 1
    assert as_json("discomt", "g.tsv", "-l", "en-fr")["accuracy"]["value"] == 0.5
    assert (tmp_path / "h.tsv").read_text(encoding="utf-8") == "system\thuman\na\t0.500000\n"
