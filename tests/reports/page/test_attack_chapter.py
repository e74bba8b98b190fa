"""Attacks and diagnosis in a report."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from anaphora.evaluation.diagnosis import diagnose
from anaphora.evaluation.robustness import robustness
from anaphora.reports.page.attack_chapter import _steps_table, attack_chapter, diagnosis_chapter
from anaphora.reports.page.systems import looks
from anaphora.systems.run import Run


def test_an_attack_is_drawn_and_said(run: Callable[[str], Run], attack: Callable[[str], Run]) -> None:
    chapter = attack_chapter([robustness(run("context"), [attack("context")])])
    (part,) = chapter.parts
    assert part.svg is not None
    assert part.table is not None
    assert chapter.words == (
        "scores:context.scores goes from 1.000 to 0.000 on small when attacked by phrase/x "
        "(not significantly; 4 items), the worst of 1 attacks.",
    )


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
