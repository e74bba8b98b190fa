"""Attacks and diagnosis in a report."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from anaphora.evaluation.diagnosis import diagnose
from anaphora.evaluation.diagnosis_evidence import PIPELINE
from anaphora.evaluation.result import Settings
from anaphora.evaluation.robustness import Robustness, robustness
from anaphora.reports.page.attack_chapter import _steps_table, attack_chapter, diagnosis_chapter
from anaphora.reports.page.systems import looks
from anaphora.runs import Run

SYSTEM = "scores:context.scores"


@pytest.fixture
def attacked(run: Callable[[str], Run], attack: Callable[[str], Run]) -> Robustness:
    return robustness(run("context"), [attack("context")])


def surely(one: Robustness, p: float) -> Robustness:
    """With another p-value: four examples are too few for a small one."""
    (only,) = one.attacks
    pair = replace(only.pair, overall=replace(only.pair.overall, p_adjusted=p))
    return replace(one, attacks=(replace(only, pair=pair),))


def test_an_attack_is_drawn_with_all_systems(attacked: Robustness) -> None:
    other = replace(attacked, system="other")
    chapter = attack_chapter([attacked, other], looks([SYSTEM, "other"]))
    chart, *tables = chapter.parts
    assert chart.svg is not None
    assert chart.table is not None
    assert chart.table.columns[2::3] == (f"{SYSTEM} before", "other before")
    assert chart.table.rows[0].cells[:4] == ("x", "4", "1.000", "0.000")
    assert [part.svg for part in tables] == [None, None]
    assert len({part.name for part in chapter.parts}) == 3


@pytest.mark.parametrize(
    ("p", "chance", "expected"),
    [
        (0.0001, 0.3, f"{SYSTEM} loses 100.0 points on small (100.0 → 0.0 %, p < 0.001) under x, the only attack."),
        (0.2, 0.3, f"The attack does not significantly lower the accuracy of {SYSTEM} on small."),
        (
            0.0001,
            0.6,
            f"{SYSTEM} is right in 100.0 % of small before any attack. That is not significantly more than guessing, "
            "or always the same pronoun, would get (60.0 %): there is nothing that attacks could take away.",
        ),
    ],
)
def test_an_attack_in_words(attacked: Robustness, p: float, chance: float, expected: str) -> None:
    chapter = attack_chapter([surely(attacked, p)], looks([SYSTEM]), {attacked.sha256: chance})
    assert chapter.words == (expected,)


def test_a_diagnosis_without_templates_is_words_and_a_table(
    run: Callable[[str], Run], attack: Callable[[str], Run]
) -> None:
    diagnoses = diagnose([run("context"), attack("context")])
    chapter = diagnosis_chapter(diagnoses, looks(["scores:context.scores"]))
    assert [part.name for part in chapter.parts] == ["diagnosis"]
    (said,) = chapter.said.values()
    assert said


def test_the_steps_of_systems_as_a_table() -> None:
    def check(value: float) -> Any:
        return SimpleNamespace(found=SimpleNamespace(value=value, interval=(value - 0.1, value + 0.1), total=1200))

    steps = {"nouns": {"first": check(0.25), "second": check(0.5)}, "people": {"second": check(0.75)}}
    table = _steps_table("Step by step", steps, ["first", "second", "third"])
    assert table.columns == ("", "n", "first", "interval", "second", "interval")
    assert [row.cells for row in table.rows] == [
        ("nouns", "1,200", "0.250", "[0.150, 0.350]", "0.500", "[0.400, 0.600]"),
        ("people", "1,200", "–", "", "0.750", "[0.650, 0.850]"),
    ]


def test_steps_are_headings_so_that_names_are_whole() -> None:
    def check(name: str) -> Any:
        found = SimpleNamespace(value=0.5, interval=(0.4, 0.6), total=10)
        return SimpleNamespace(
            rule=name, step=PIPELINE[1], name=name, signed=False, found=found, shown="fails", part=False
        )

    names = ["which of the nouns before it can be meant", "overlap/subject-verb"]
    diagnosis = SimpleNamespace(
        **{"system": "x", "languages": "en-de", "context": None, "protocol": {}, "statements": (), "advice": ()},
        **{
            "checks": [check(name) for name in names],
            "settings": Settings(),
            "thresholds": SimpleNamespace(known=0.9, minimum=10),
        },
        signature="",
    )
    svg = str(diagnosis_chapter([diagnosis], looks(["x"])).parts[0].svg)  # type: ignore[list-item]
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert shown.count(PIPELINE[1]) == 1
    assert shown.index(PIPELINE[1]) < shown.index(names[1])
