"""The chapter of a suite."""

from __future__ import annotations

from dataclasses import replace

import pytest

from anaphora.evaluation.compare import Comparison, Difference, Pair, compare_runs
from anaphora.evaluation.contrastive import evaluate_run
from anaphora.evaluation.result import Proportion, Result, Settings
from anaphora.reports.page.part import Chapter
from anaphora.reports.page.suite_chapter import overview, suite_chapter
from anaphora.reports.page.systems import looks
from anaphora.runs import Run

LOOKS = looks(["sentence", "context"])


@pytest.fixture
def results(runs: list[Run]) -> dict[str, Result]:
    return dict(zip(LOOKS, map(evaluate_run, runs), strict=True))


@pytest.fixture
def chapter(results: dict[str, Result], runs: list[Run]) -> Chapter:
    breakdowns = list(next(iter(results.values())).breakdowns)
    named = [replace(run, header=replace(run.header, system=name)) for run, name in zip(runs, LOOKS, strict=True)]
    return suite_chapter(results, compare_runs(named, breakdowns=breakdowns), LOOKS)


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
        "Differences overall",
        "Differences by breakdown",
        "All figures of sentence",
        "All figures of context",
    ]
    assert all(part.svg is None and part.table is not None for part in chapter.parts[3:])
    assert len({part.name for part in chapter.parts}) == len(chapter.parts)


def test_differences_overall_are_a_row_for_each_pair(chapter: Chapter) -> None:
    table = chapter.parts[3].table
    assert table is not None
    assert [row.cells[:5] for row in table.rows] == [("sentence → context", "4", "0.500", "1.000", "+0.500")]
    assert chapter.parts[3].printed


def test_one_system_alone_has_no_differences(results: dict[str, Result]) -> None:
    chapter = suite_chapter({"context": results["context"]}, None, LOOKS)
    assert "Differences overall" not in [part.title for part in chapter.parts]
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
    result = Result("p", "ab" * 32, "en-de", "x", Proportion(0, 0, (0, 1)), 0, {}, Settings(), "1")
    assert overview([{"x": result}], looks(["x"])) is None


def test_stars_stand_at_the_system_that_differs() -> None:
    def pair(first: str, second: str, p: float) -> Pair:
        difference = Difference(10, 0.1, 0.2, (0, 0.2), {}, p, p)
        return Pair(first, second, difference, {"tag": {"er": difference, "es": difference}}, (), ())

    pairs = (pair("a", "b", 0.2), pair("a", "c", 0.002), pair("b", "c", 0.0001))
    comparison = Comparison("s", "ab" * 32, "en-de", ("a", "b", "c"), pairs, "mcnemar", Settings(), "1")
    figure = Proportion(10, 5, (0.3, 0.7))
    result = Result("s", "ab" * 32, "en-de", "x", figure, 0, {"tag": {"er": figure, "es": figure}}, Settings(), "1")
    (part, *_) = suite_chapter(dict.fromkeys("abc", result), comparison, looks("abc")).parts
    assert part.table is not None
    assert part.table.rows[0].cells[2::2] == ("0.500", "0.500", "0.500 **")
    assert [word for word in str(part.svg).split(">") if "**" in word] == ["50.0 **</text"] * 2
    assert part.marks[0].startswith("Stars: the system differs from a, p < 0.05\u00a0*")
    assert "(McNemar’s test, corrected" in part.marks[0]


def test_a_breakdown_that_repeats_another_is_not_drawn(results: dict[str, Result], runs: list[Run]) -> None:
    copies = dict.fromkeys(("location", "location×reference_pronoun"), "reference_pronoun")
    chapter = suite_chapter(results, None, LOOKS, copies)
    assert not [part for part in chapter.parts if "location" in part.title]
    assert all("antecedent location" not in str(part.table) for part in chapter.parts)
    assert chapter.remarks[0].startswith("Left out: antecedent location (the same groups as reference pronoun), ant")


def test_one_group_says_what_all_examples_say(results: dict[str, Result]) -> None:
    result = results["context"]
    alone = replace(result, breakdowns={"corpus": {"news": result.figure}})
    chapter = suite_chapter({"context": alone}, None, LOOKS)
    assert [part.title for part in chapter.parts] == ["All figures of context"]


def test_what_is_never_chosen_is_drawn_at_zero(results: dict[str, Result]) -> None:
    figure = Proportion(10, 5, (0.3, 0.7))
    first, second = ({"subject": figure, "object": figure}, {"subject": Proportion(10, 10, (0.7, 1.0))})
    priors = {"sentence": first, "context": second}
    chosen = {name: replace(result, priors={"prior/role": priors[name]}) for name, result in results.items()}
    (part,) = [part for part in suite_chapter(chosen, None, LOOKS).parts if part.title.startswith("prior/role")]
    assert part.table is not None
    assert part.table.rows[1].cells[::2] == ("object", "0.500", "0.000")
    assert "context 0.0 %" in str(part.svg)
