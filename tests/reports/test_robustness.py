"""The robustness report: rows like those of ContraCAT's Tables 4 and 5, and a picture like its Figure 1."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from anaphora.evaluation.compare import Difference, Pair
from anaphora.evaluation.result import Proportion, Settings
from anaphora.evaluation.robustness import Attack, Robustness
from anaphora.reports.page.systems import looks
from anaphora.reports.robustness import label_of, robustness_chart, robustness_table


def attack(name: str, total: int, before: float, after: float, p: float, **groups: tuple[float, float]) -> Attack:
    def difference(n: int, first: float, second: float) -> Difference:
        return Difference(n, first, second, (second - first - 0.01, second - first + 0.01), {}, p, p)

    parts = {group: difference(10, *values) for group, values in groups.items()}
    breakdowns = {"reference_pronoun": parts} if parts else {}
    return Attack(name, f"{name}@123456", Pair("a", "b", difference(total, before, after), breakdowns, (), ()))


@pytest.fixture
def found() -> Robustness:
    """The figures of the paper, with p-values made up."""
    attacks = (
        attack("phrase-addition/true_colon", 12_000, 0.754, 0.635, 0.0001, er=(0.64, 0.5), sie=(0.67, 0.6)),
        attack("phrase-addition/mine", 12_000, 0.754, 0.75, 0.4),
        attack("possessive-extension/maria", 3_838, 0.729, 0.583, 0.004),
        attack("no-context", 12_000, 0.754, 0.5, 0.02),
    )
    figure = Proportion(12_000, 9_048, (0.746, 0.762))
    return Robustness(
        "contrapro", "ab" * 32, "en-de", "nmt:<x>", "1+1", figure, attacks, "mcnemar", Settings(), "1.0.0"
    )


def test_table(found: Robustness) -> None:
    lines = robustness_table(found).render("table").splitlines()
    assert lines[0] == "contrapro en→de · nmt:<x>"
    assert lines[1].split() == ["n", "before", "after", "change", "95", "%", "interval", "p"]
    assert [re.split(r"\s{2,}", line.strip()) for line in lines[2:11]] == [
        ["not attacked", "12,000", "0.754"],
        ["phrase addition"],
        ["true_colon", "it is true: C", "12,000", "0.754", "0.635", "−0.119", "[−0.129, −0.109]", "<0.001***"],
        ["reference pronoun: er", "10", "0.640", "0.500", "−0.140", "[−0.150, −0.130]", "<0.001***"],
        ["reference pronoun: sie", "10", "0.670", "0.600", "−0.070", "[−0.080, −0.060]", "<0.001***"],
        ["mine", "12,000", "0.754", "0.750", "−0.004", "[−0.014, +0.006]", "0.400"],
        ["possessive extension"],
        ["maria", "Maria’s A", "3,838", "0.729", "0.583", "−0.146", "[−0.156, −0.136]", "0.004**"],
        ["no context", "12,000", "0.754", "0.500", "−0.254", "[−0.264, −0.244]", "0.020*"],
    ]
    assert lines[-1].startswith("signature rob|s:contrapro@ababab|")


def test_other_formats(found: Robustness) -> None:
    table = robustness_table(found)
    assert "& 3,838 & 0.729 & 0.583 & $-$0.146 &" in table.render("latex")
    assert "possessive extension\tmaria Maria’s A\t3,838\t0.729" in table.render("tsv")
    assert "\n\tno context\t12,000" in table.render("tsv")  # no longer below the heading of the kind before
    assert "| &nbsp;&nbsp;mine | 12,000 |" in table.render("markdown")


def test_labels(found: Robustness) -> None:
    assert [label_of(a) for a in found.attacks] == [
        "true_colon  it is true: C",
        "mine",
        "maria  Maria’s A",
        "no context",
    ]


def test_the_picture_says_the_figures_too(found: Robustness) -> None:
    root = ElementTree.fromstring(robustness_chart([found]))
    assert "possessive-extension/maria: 72.9 to 58.3 %" in root.attrib["aria-label"]
    circles = [e for e in root.iter() if e.tag.endswith("circle")]
    assert len(circles) == 2 * len(found.attacks)
    for before, after in zip(circles[::2], circles[1::2], strict=True):
        assert before.attrib["fill"] == "white"
        assert before.attrib["cy"] == after.attrib["cy"]
        assert float(after.attrib["cx"]) < float(before.attrib["cx"])  # every attack costs accuracy here
    texts = [e.text for e in root.iter() if e.tag.endswith("text")]
    assert "Attacks on contrapro" in texts
    assert "it is true: C" in texts  # once, in the paper's words
    assert "75.4 → 63.5 ***" in texts
    headings = ["A phrase is added to the sentence before (C)", "The antecedent (A) gets an owner"]
    assert [text for text in texts if text in headings] == headings  # what was done to the text


def test_all_systems_and_attacks_share_one_axis(found: Robustness) -> None:
    other = replace(found, system="b", attacks=(attack("phrase-addition/true_colon", 12_000, 0.395, 0.395, 1.0),))
    drawn = looks(["nmt:<x>", "b"])
    root = ElementTree.fromstring(robustness_chart([found, other], drawn))
    texts = [e.text for e in root.iter() if e.tag.endswith("text")]
    assert [text for text in texts if text in ("0", "20", "40", "60", "80", "100 %")] == [
        "0",
        "20",
        "40",
        "60",
        "80",
        "100 %",
    ]
    fills = {e.attrib.get("fill") for e in root.iter() if e.tag.endswith(("circle", "rect"))}
    assert fills == {"white", *(look.colour for look in drawn.values())}
