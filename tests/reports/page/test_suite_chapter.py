"""The chapter of a suite."""

from __future__ import annotations

import pytest

from anaphora.evaluation.compare import Comparison, Difference, compare_runs
from anaphora.evaluation.contrastive import evaluate_run
from anaphora.evaluation.result import Figure, Result, Settings
from anaphora.reports.page.part import Chapter
from anaphora.reports.page.suite_chapter import overview, stars, suite_chapter
from anaphora.reports.page.systems import looks
from anaphora.systems.run import Run

LOOKS = looks(["sentence", "context"])


@pytest.fixture
def results(runs: list[Run]) -> dict[str, Result]:
    return dict(zip(LOOKS, map(evaluate_run, runs), strict=True))


@pytest.fixture
def chapter(results: dict[str, Result], runs: list[Run]) -> Chapter:
    breakdowns = list(next(iter(results.values())).breakdowns)
    return suite_chapter(results, compare_runs(runs, breakdowns=breakdowns), LOOKS)


def test_every_breakdown_has_a_picture_and_a_table(chapter: Chapter) -> None:
    parts = {part.title: part for part in chapter.parts}
    assert list(parts)[:3] == [
        "By reference pronoun",
        "By antecedent location",
        "By antecedent location × reference pronoun",
    ]
    table = parts["By reference pronoun"].table
    assert table is not None
    rows = {row.cells[0]: row.cells[1:] for row in table.rows}
    assert (rows["er"][0], rows["er"][1], rows["er"][3]) == ("1", "0.000", "1.000")
    assert (rows["sie"][0], rows["sie"][1], rows["sie"][3]) == ("2", "0.500", "1.000")
    assert parts["By reference pronoun"].svg is not None


def test_tables_of_differences_and_of_each_system_follow(chapter: Chapter) -> None:
    assert [part.title for part in chapter.parts[3:]] == [
        "Differences",
        "All figures of sentence",
        "All figures of context",
    ]
    assert all(part.svg is None and part.table is not None for part in chapter.parts[3:])
    assert len({part.name for part in chapter.parts}) == len(chapter.parts)


def test_the_summary_says_who_is_better_and_how_surely(chapter: Chapter) -> None:
    first, second = chapter.words[:2]
    assert first.startswith("On small (4 examples) context is right in 100.0 %")
    assert "sentence is right in 50.0 %" in first
    assert second.endswith(
        "is 0.500 better than scores:sentence.scores; the difference is not significant (p = 0.500)."
    )


def test_one_system_alone_has_no_differences(results: dict[str, Result]) -> None:
    chapter = suite_chapter({"context": results["context"]}, None, LOOKS)
    assert "Differences" not in [part.title for part in chapter.parts]
    assert len(chapter.words) == 1


def test_overview_has_a_group_for_each_suite(results: dict[str, Result]) -> None:
    part = overview([results, results], LOOKS)
    assert part is not None
    assert part.table is not None
    assert [row.cells[:3] for row in part.table.rows] == 2 * [
        ("small: sentence", "4", "0.500"),
        ("small: context", "4", "1.000"),
    ]


def test_overview_without_right_answers_is_none() -> None:
    result = Result("p", "ab" * 32, "en-de", "x", Figure(0, 0, (0, 1)), 0, {}, Settings(), "1")
    assert overview([{"x": result}], looks(["x"])) is None


@pytest.mark.parametrize(("p", "expected"), [(0.0009, "***"), (0.009, "**"), (0.049, "*"), (0.05, "")])
def test_stars(p: float, expected: str) -> None:
    assert stars(Difference(10, 0.1, 0.2, (0, 0.2), {}, p, p)) == expected


def test_stars_are_those_of_the_surest_difference_from_the_first() -> None:
    from anaphora.evaluation.compare import Pair
    from anaphora.reports.page.suite_chapter import _stars

    def pair(first: str, second: str, p: float) -> Pair:
        difference = Difference(10, 0.1, 0.2, (0, 0.2), {}, p, p)
        return Pair(first, second, difference, {"tag": {"er": difference}}, (), ())

    pairs = (pair("a", "b", 0.2), pair("a", "c", 0.002), pair("b", "c", 0.0001))
    comparison = Comparison("s", "ab" * 32, "en-de", ("a", "b", "c"), pairs, "mcnemar", Settings(), "1")
    assert _stars(comparison, "tag", "er") == "**"
    assert _stars(comparison, "tag", "sie") == ""
