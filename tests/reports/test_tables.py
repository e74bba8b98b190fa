"""Tables of evaluation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from anaphora.evaluation.compare import Comparison, Difference, Pair
from anaphora.evaluation.diagnosis import Check, Diagnosis, Statement
from anaphora.evaluation.diagnosis_evidence import Measured, load_rules
from anaphora.evaluation.generative import Counts, Gap, Generative
from anaphora.evaluation.result import Proportion, Result, Settings
from anaphora.reports.tables import (
    comparison_table,
    diagnosis_table,
    diagnosis_text,
    generative_table,
    letter_of,
    result_table,
    title_of,
    write_items,
)
from anaphora.table import RENDERERS

# The tables people read: every figure of a Result and of a Comparison, with its interval, in the papers' words.

RESULT = Result(
    suite="contrapro",
    sha256="1f3c9a" + "0" * 58,
    languages="en-de",
    system="hf:some_model",
    figure=Proportion(12_000, 7_824, (0.643, 0.6604)),
    ties=1,
    breakdowns={
        "reference_pronoun": {
            "er": Proportion(4_000, 1_988, (0.482, 0.513)),
            "es": Proportion(4_000, 3_628, (0.898, 0.916)),
        },
        "distance×location": {
            "0×intrasegmental": Proportion(2_400, 1_922, (0.784, 0.816)),
            ">3×external": Proportion(1, 0, (0, 0.8)),
        },
    },
    settings=Settings(),
    version="0.3.0",
    context="1+1",
    untagged={"distance×location": 9_599},
)


def test_a_result_on_a_terminal() -> None:
    assert result_table(RESULT).render("table") == "\n".join(
        [
            "contrapro en→de · hf:some_model · context 1+1",
            "                                                n  accuracy   95 % interval",
            "all                                        12,000     0.652  [0.643, 0.660]",
            "reference pronoun",
            "  er                                        4,000     0.497  [0.482, 0.513]",
            "  es                                        4,000     0.907  [0.898, 0.916]",
            "antecedent distance × antecedent location",
            "  0×intrasegmental                          2,400     0.801  [0.784, 0.816]",
            "  >3×external                                   1     0.000  [0.000, 0.800]",
            "antecedent distance × antecedent location: 9,599 without a value",
            "1 tie · signature ctr|s:contrapro@1f3c9a|ctx:1+1|norm:sum|tie:wrong|v:0.3.0",
        ]
    )


def test_all_four_formats_have_the_same_figures() -> None:
    for format in RENDERERS:
        text = result_table(RESULT).render(format)
        for figure in ("12,000", "0.652", "[0.643, 0.660]", "0.907", "0.801", "[0.000, 0.800]"):
            assert figure in text, (format, figure)
        assert text.count("0.497") == 1


def test_latex_tables_have_balanced_braces_and_escaped_characters() -> None:
    text = result_table(RESULT).render("latex")
    assert r"\quad 0$\times$intrasegmental & 2,400 & 0.801 & [0.784, 0.816] \\" in text
    assert r"\quad $>$3$\times$external" in text
    assert r"hf:some\_model" in text
    assert r"95 \% interval" in text
    assert r"ctr\textbar{}s:contrapro" in text


def test_a_result_in_a_spreadsheet_has_every_row_complete() -> None:
    lines = [line.split("\t") for line in result_table(RESULT).render("tsv").split("\n")]
    assert {len(cells) for cells in lines} == {5}
    assert ["reference pronoun", "er", "4,000", "0.497", "[0.482, 0.513]"] in lines


def test_blocks_and_priors_have_their_rows() -> None:
    result = replace(
        RESULT,
        figure=Proportion(0, 0, (0.0, 1.0)),
        breakdowns={},
        untagged={},
        ties=0,
        blocks=Proportion(50, 6, (0.056, 0.238)),
        priors={"prior/role": {"object": Proportion(1_000, 723, (0.694, 0.75))}},
    )
    assert result_table(result).render("table").splitlines()[1:] == [
        "                                                  n  accuracy   95 % interval",
        "blocks entirely right                            50     0.120  [0.056, 0.238]",
        "prior/role: what is chosen (no right answer)",
        "  object                                      1,000     0.723  [0.694, 0.750]",
        "0 ties · signature ctr|s:contrapro@1f3c9a|ctx:1+1|norm:sum|tie:wrong|v:0.3.0",
    ]


def test_a_group_without_examples_has_no_accuracy() -> None:
    result = replace(RESULT, breakdowns={"form": {"m.sg": Proportion(0, 0, (0.0, 1.0))}})
    assert "m.sg" in result_table(result).render("table")
    assert "–  [0.000, 1.000]" in result_table(result).render("table")


@pytest.mark.parametrize(
    ("confidence", "head"), [(0.95, "95 % interval"), (0.999, "99.9 % interval"), (0.57, "57 % interval")]
)
def test_the_head_says_how_sure_an_interval_is(confidence: float, head: str) -> None:
    result = replace(RESULT, settings=Settings(confidence=confidence))
    assert result_table(result).columns[-1] == head


def test_breakdowns_are_called_as_in_their_papers() -> None:
    assert title_of("pronoun_pair") == "pronoun pair"  # true of ContraPro (it:er) and of eval-anaphora (he:it)
    assert title_of("form×correctness") == "gender and number × translation of the antecedent"
    assert title_of("anything") == "anything"


def difference(delta: float, p: float, total: int = 432) -> Difference:
    tests = {"mcnemar": p, "randomization": p, "bootstrap": p}
    return Difference(total, 0.5, 0.5 + delta, (delta - 0.05, delta + 0.05), tests, p, p)


COMPARISON = Comparison(
    suite="demo",
    sha256="abcdef" + "0" * 58,
    languages="en-de",
    systems=("scores:a", "scores:b"),
    pairs=(
        Pair(
            "scores:a",
            "scores:b",
            difference(0.25, 0.0004),
            {"reference_pronoun": {"er": difference(-0.125, 0.02, 144), "sie": difference(0.0, 1.0, 1_440)}},
            gained=tuple(map(str, range(1_200))),
            lost=("7",),
        ),
    ),
    test="mcnemar",
    settings=Settings(),
    version="0.3.0",
)


def test_a_comparison_on_a_terminal() -> None:
    assert comparison_table(COMPARISON).render("table") == "\n".join(
        [
            "demo en→de",
            "                                  n  first  second  difference     95 % interval          p",
            "scores:a → scores:b",
            "  all                           432  0.500   0.750      +0.250  [+0.200, +0.300]  <0.001***",
            "    reference pronoun: er       144  0.500   0.375      −0.125  [−0.175, −0.075]     0.020*",
            "    reference pronoun: sie    1,440  0.500   0.500      +0.000  [−0.050, +0.050]      1.000",
            "  1,200 items gained, 1 lost",
            "p: mcnemar, corrected (Holm); * < 0.05, ** < 0.01, *** < 0.001",
            "signature cmp|s:demo@abcdef|norm:sum|tie:wrong|test:mcnemar|by:items|n:10000|seed:12345|adj:holm|v:0.3.0",
        ]
    )


@pytest.mark.parametrize(
    ("p", "shown"), [(0.05, "0.050"), (0.049, "0.049*"), (0.0099, "0.010**"), (0.00099, "<0.001***")]
)
def test_stars_are_for_what_is_below_a_limit(p: float, shown: str) -> None:
    pair = replace(COMPARISON.pairs[0], overall=difference(0.1, p))
    table = comparison_table(replace(COMPARISON, pairs=(pair,)))
    assert table.rows[1].cells[-1] == shown


def test_the_p_value_shown_is_the_corrected_one() -> None:
    pair = replace(COMPARISON.pairs[0], overall=replace(difference(0.1, 0.01), p_adjusted=0.03))
    assert comparison_table(replace(COMPARISON, pairs=(pair,))).rows[1].cells[-1] == "0.030*"


def test_a_comparison_has_as_many_columns_in_every_format() -> None:
    table = comparison_table(COMPARISON)
    assert {line.count("\t") for line in table.render("tsv").split("\n")} == {7}
    markdown = [line for line in table.render("markdown").split("\n") if line.startswith("|")]
    assert {line.count("|") for line in markdown} == {8}
    latex = [line for line in table.render("latex").split("\n") if line.endswith("\\\\") and "multicolumn" not in line]
    assert {line.count("&") for line in latex} == {6}


def test_two_pairs_are_two_sections() -> None:
    other = replace(COMPARISON.pairs[0], first="scores:b", second="scores:c")
    table = comparison_table(replace(COMPARISON, pairs=(COMPARISON.pairs[0], other)))
    assert [row.cells[0] for row in table.rows if row.section] == ["scores:a → scores:b", "scores:b → scores:c"]


# The table of generative accuracy: how contrastive accuracy compares with it, in words.


@pytest.mark.parametrize(
    ("gap", "message"),
    [
        (Gap(0.444, -0.07, (-0.12, -0.02)), "0.444, lower by 0.070 (difference −0.070 [−0.120, −0.020])"),
        (Gap(0.8, 0.1, (-0.01, 0.2)), "0.800, higher by 0.100 (difference +0.100 [−0.010, +0.200])"),
        (Gap(0.5, 0.0, (-0.1, 0.1)), "0.500, the same (difference +0.000 [−0.100, +0.100])"),
    ],
)
def test_higher_lower_or_the_same(gap: Gap, message: str) -> None:
    """newcomer.md B16: it said "higher by −0.070"."""
    result = Generative("suite", "en-de", "x", Counts(1, 1, 0, (0.1, 0.9)), {}, (), "gen|x", gap=gap)
    assert f"contrastive accuracy on the same examples {message}" in generative_table([result]).render("table")


# A diagnosis in words and as a table; the items in files.

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
    lines = diagnosis_text([ONE]).splitlines()
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
    text = diagnosis_text([ONE, TWO], "markdown")
    assert text.startswith("**hf:x · en→de · context 1+1**\n\n- ✗ It does not resolve.")
    assert text.endswith("\n\n**hf:y · en→de**\n\n- · Nothing can be said: there are too few items.")


def test_the_table_of_one_system() -> None:
    assert diagnosis_table([ONE]).render("table").splitlines() == [
        "which step fails, and why",
        "                            n  figure     95 % interval  verdict",
        "coreference resolution",
        "  overlap of words      1,200   0.480    [0.450, 0.510]  fails",
        "    overlap/verb        1,200   0.480    [0.450, 0.510]  fails",
        "robustness",
        "  set: x                1,200  −0.100  [−0.120, −0.080]  brittle",
        "known: interval above 0.9; fails: interval not above chance; figures of fewer than 50 items are not "
        "interpreted; rules: docs/diagnosis.md",
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
