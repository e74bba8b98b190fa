"""A diagnosis in words and as a table; the items in files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from anaphora.evaluation.diagnosis import Check, Diagnosis, Statement
from anaphora.evaluation.diagnosis_evidence import Measured, load_rules
from anaphora.evaluation.result import Settings
from anaphora.reports.diagnosis import diagnosis_table, diagnosis_words, letter_of, write_items

FAILS = Check(
    "overlap",
    "coreference resolution",
    "overlap of words",
    "set",
    Measured(1200, 0.48, (0.45, 0.51), "fails", ("o/1", "o/2")),
    "fails",
)
PART = replace(FAILS, name="overlap/verb", part=True)
DROP = Check(
    "attacks",
    "robustness",
    "set: x",
    "set",
    Measured(1200, -0.1, (-0.12, -0.08), "brittle", ("7",), ("x",), (0.7, 0.6), p=0.001),
    "brittle",
)
ONE = Diagnosis(
    system="hf:x",
    context="1+1",
    languages="en-de",
    suites=("set@abcdef",),
    statements=(
        Statement("overlap", "fails", "failure", "It does not resolve. " + "word " * 30, (FAILS,)),
        Statement("attacks", "brittle", "weakness", "It is brittle.", (DROP,)),
        Statement("prior/verb", "none", "note", "Nothing is preferred.", (PART,)),
    ),
    checks=(FAILS, PART, DROP),
    advice=(("anaphora x …", "one reason", ("overlap",)), ("anaphora y", "why", ()), ("anaphora x …", "another", ())),
    thresholds=load_rules().thresholds,
    settings=Settings(),
    version="1.2.3",
)
TWO = replace(ONE, system="hf:y", context=None, statements=(), checks=(DROP,), advice=())


def test_words() -> None:
    lines = diagnosis_words([ONE]).splitlines()
    assert lines[0] == "hf:x · en→de · context 1+1"
    assert lines[1].startswith("✗ It does not resolve. word")
    assert lines[2].startswith("  word")
    assert max(map(len, lines)) <= 110
    assert lines[-4:] == [
        "~ It is brittle.",
        "· Nothing is preferred.",
        "→ what to try: anaphora x … (one reason; another)",
        "→ what to try: anaphora y (why)",
    ]


def test_words_of_several_systems_and_in_markdown() -> None:
    text = diagnosis_words([ONE, TWO], "markdown")
    assert text.startswith("**hf:x · en→de · context 1+1**\n\n- ✗ It does not resolve.")
    assert text.endswith("\n\n**hf:y · en→de**\n\n- · Nothing can be said: there are too few items.")


def test_the_table_of_one_system() -> None:
    assert diagnosis_table([ONE]).render("table").splitlines() == [
        "which step fails, and why",
        "                            n  figure     95 % interval  verdict",
        "coreference resolution",
        "  overlap of words      1,200   0.480    [0.450, 0.510]    fails",
        "    overlap/verb        1,200   0.480    [0.450, 0.510]    fails",
        "robustness",
        "  set: x                1,200  −0.100  [−0.120, −0.080]  brittle",
        "known: interval above 0.9; fails: interval not above chance; nothing is said of fewer than 50 items; "
        "the rules: docs/diagnosis.md",
        "signature dia|s:set@abcdef|ctx:1+1|norm:sum|v:1.2.3",
    ]


def test_systems_side_by_side() -> None:
    table = diagnosis_table([ONE, TWO])
    assert table.columns[1:] == tuple(f"{k} {c}" for k in "AB" for c in ("n", "figure", "95 % interval", "verdict"))
    rows = {row.cells[0]: row.cells[1:] for row in table.rows}
    assert rows["overlap of words"][3:] == ("fails", "–", "–", "–", "–")
    assert rows["set: x"][4:] == ("1,200", "−0.100", "[−0.120, −0.080]", "brittle")
    assert table.notes[:2] == ("A: hf:x · en→de · context 1+1", "B: hf:y · en→de")
    assert table.notes[-1] == "B signature dia|s:set@abcdef|norm:sum|v:1.2.3"


def test_items_are_written_by_rule(tmp_path: Path) -> None:
    written = write_items([ONE], tmp_path / "one")
    assert [path.name for path in written] == ["overlap.jsonl", "attacks.jsonl", "prior-verb.jsonl"]
    rows = [json.loads(line) for line in written[0].read_text(encoding="utf-8").splitlines()]
    assert rows == [{"id": i, "rule": "overlap", "verdict": "fails", "suite": "set"} for i in ("o/1", "o/2")]
    two = write_items([TWO, ONE], tmp_path / "two")
    assert {path.parent.name for path in two} == {"B"}


def test_letters() -> None:
    assert [letter_of(k) for k in (0, 1, 25, 26, 27, 52)] == ["A", "B", "Z", "A2", "B2", "A3"]
