"""Chapters of a report."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from anaphora.evaluation.compare import Comparison, Difference, Pair, compare_runs
from anaphora.evaluation.contrastive import evaluate_run
from anaphora.evaluation.diagnosis import diagnose
from anaphora.evaluation.diagnosis_evidence import PIPELINE
from anaphora.evaluation.result import Proportion, Result, Settings
from anaphora.evaluation.robustness import Robustness, robustness
from anaphora.reports.chapters import (
    Chapter,
    _steps_table,
    attack_chapter,
    diagnosis_chapter,
    overview,
    suite_chapter,
    suite_summary,
)
from anaphora.reports.charts import assign_styles
from anaphora.runs import Run

# The chapter of a suite.

STYLES = assign_styles(["sentence", "context"])


@pytest.fixture
def results(runs: list[Run]) -> dict[str, Result]:
    return dict(zip(STYLES, map(evaluate_run, runs), strict=True))


@pytest.fixture
def chapter(results: dict[str, Result], runs: list[Run]) -> Chapter:
    breakdowns = list(next(iter(results.values())).breakdowns)
    named = [replace(run, header=replace(run.header, system=name)) for run, name in zip(runs, STYLES, strict=True)]
    return suite_chapter(results, compare_runs(named, breakdowns=breakdowns), STYLES)


def test_every_breakdown_has_a_chart_and_a_table(chapter: Chapter) -> None:
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
    chapter = suite_chapter({"context": results["context"]}, None, STYLES)
    assert "Differences overall" not in [part.title for part in chapter.parts]
    assert len(chapter.summary) == 1


def test_overview_has_a_group_for_each_suite(results: dict[str, Result]) -> None:
    part = overview([results, results], STYLES)
    assert part is not None
    assert part.table is not None
    assert [row.cells[:3] for row in part.table.rows] == 2 * [
        ("small: sentence", "4", "0.500"),
        ("small: context", "4", "1.000"),
    ]


def test_overview_without_right_answers_is_none() -> None:
    result = Result("p", "ab" * 32, "en-de", "x", Proportion(0, 0, (0, 1)), 0, {}, Settings(), "1")
    assert overview([{"x": result}], assign_styles(["x"])) is None


def test_stars_stand_at_the_system_that_differs() -> None:
    def pair(first: str, second: str, p: float) -> Pair:
        difference = Difference(10, 0.1, 0.2, (0, 0.2), {}, p, p)
        return Pair(first, second, difference, {"tag": {"er": difference, "es": difference}}, (), ())

    pairs = (pair("a", "b", 0.2), pair("a", "c", 0.002), pair("b", "c", 0.0001))
    comparison = Comparison("s", "ab" * 32, "en-de", ("a", "b", "c"), pairs, "mcnemar", Settings(), "1")
    figure = Proportion(10, 5, (0.3, 0.7))
    result = Result("s", "ab" * 32, "en-de", "x", figure, 0, {"tag": {"er": figure, "es": figure}}, Settings(), "1")
    (part, *_) = suite_chapter(dict.fromkeys("abc", result), comparison, assign_styles("abc")).parts
    assert part.table is not None
    assert part.table.rows[0].cells[2::2] == ("0.500", "0.500", "0.500 **")
    assert [word for word in str(part.svg).split(">") if "**" in word] == ["50.0 **</text"] * 2
    assert part.marks[0].startswith("Stars: the system differs from a, p < 0.05\u00a0*")
    assert "(McNemar’s test, corrected" in part.marks[0]


def test_a_breakdown_that_repeats_another_is_not_drawn(results: dict[str, Result], runs: list[Run]) -> None:
    copies = dict.fromkeys(("location", "location×reference_pronoun"), "reference_pronoun")
    chapter = suite_chapter(results, None, STYLES, copies)
    assert not [part for part in chapter.parts if "location" in part.title]
    assert all("antecedent location" not in str(part.table) for part in chapter.parts)
    assert chapter.remarks[0].startswith("Left out: antecedent location (the same groups as reference pronoun), ant")


def test_one_group_says_what_all_examples_say(results: dict[str, Result]) -> None:
    result = results["context"]
    alone = replace(result, breakdowns={"corpus": {"news": result.figure}})
    chapter = suite_chapter({"context": alone}, None, STYLES)
    assert [part.title for part in chapter.parts] == ["All figures of context"]


def test_what_is_never_chosen_is_drawn_at_zero(results: dict[str, Result]) -> None:
    figure = Proportion(10, 5, (0.3, 0.7))
    first, second = ({"subject": figure, "object": figure}, {"subject": Proportion(10, 10, (0.7, 1.0))})
    priors = {"sentence": first, "context": second}
    chosen = {name: replace(result, priors={"prior/role": priors[name]}) for name, result in results.items()}
    (part,) = [part for part in suite_chapter(chosen, None, STYLES).parts if part.title.startswith("prior/role")]
    assert part.table is not None
    assert part.table.rows[1].cells[::2] == ("object", "0.500", "0.000")
    assert "context 0.0 %" in str(part.svg)


# What is said of a suite: the best against the second best first, then the others, in percent.


def sentences_of(
    right: Mapping[str, int], p: Mapping[str, float], groups: Mapping[str, Proportion] | None = None
) -> list[str]:
    """The summary of systems that are right so often in 1,000; p: of each pair, written as "ab"."""
    results = {
        name: Result(
            "s",
            "ab" * 32,
            "en-de",
            name,
            Proportion(1000, n, (n / 1000 - 0.03, n / 1000 + 0.03)),
            0,
            {"reference_pronoun": dict(groups or {})},
            Settings(),
            "1",
        )
        for name, n in right.items()
    }
    pairs = [
        Pair(
            a,
            b,
            Difference(1000, right[a] / 1000, right[b] / 1000, (0, 0), {}, p[a + b], p[a + b]),
            {},
            (),
            (),
        )
        for a, b in itertools.combinations(right, 2)
    ]
    made = (
        Comparison("s", "ab" * 32, "en-de", tuple(right), tuple(pairs), "mcnemar", Settings(), "1") if pairs else None
    )
    return list(suite_summary(results, made))


def test_two_systems() -> None:
    assert sentences_of({"a": 395, "b": 839}, {"ab": 0.0001}) == [
        "On s (1,000 examples) b is right in 83.9 % [80.9, 86.9] and a is right in 39.5 % [36.5, 42.5].",
        "b is better than a, by 44.4 points (p < 0.001).",
    ]


def test_differences_that_are_not_significant_are_called_so() -> None:
    assert (
        sentences_of({"a": 500, "b": 503}, {"ab": 0.4})[1]
        == "b is not significantly better than a, by 0.3 points (p = 0.400)."
    )


def test_equal_systems_are_neither_better_nor_worse() -> None:
    assert sentences_of({"a": 500, "b": 500}, {"ab": 1.0})[1] == "a and b are right equally often."


def test_the_best_is_compared_with_the_second_best_first() -> None:
    words = sentences_of(
        {"a": 500, "b": 700, "c": 690, "d": 600}, dict.fromkeys(("ab", "ac", "ad", "bd", "cd"), 0.001) | {"bc": 0.3}
    )
    assert words[0].endswith("and d is right in 60.0 % [57.0, 63.0]; the other 1 is below that.")
    assert words[1] == "b is not significantly better than c, by 1.0 points (p = 0.300)."
    assert words[2] == "d and a are significantly worse than b, by 10.0 to 20.0 points."


def test_many_systems_take_no_more_sentences() -> None:
    names = "abcdefgh"
    words = sentences_of(
        {name: 500 + 20 * k for k, name in enumerate(names)},
        {a + b: 0.001 for a, b in itertools.combinations(names, 2)},
    )
    assert len(words) == 3
    assert words[2] == "The others are significantly worse than h, by 4.0 to 14.0 points."


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (0.5, "No other system is significantly worse than c."),
        (0.01, "a is significantly worse than c, by 20.0 points."),
    ],
)
def test_the_third(p: float, expected: str) -> None:
    assert sentences_of({"a": 500, "b": 600, "c": 700}, {"ab": p, "ac": p, "bc": 0.01})[2] == expected


def test_where_the_best_is_weakest() -> None:
    groups = {
        "er": Proportion(40, 20, (0.4, 0.6)),
        "sie": Proportion(40, 10, (0.1, 0.4)),
        "es": Proportion(4, 0, (0.0, 0.5)),
    }
    assert sentences_of({"a": 500}, {}, groups)[1:] == ["a is weakest at reference pronoun sie: 25.0 % [10.0, 40.0]."]


# Attacks and diagnosis in a report.

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
    chapter = attack_chapter([attacked, other], assign_styles([SYSTEM, "other"]), {})
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
    chapter = attack_chapter([surely(attacked, p)], assign_styles([SYSTEM]), {attacked.sha256: chance})
    assert chapter.summary == (expected,)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("possessive-extension/maria", "under Maria’s A (A: the antecedent), the only attack."),
        ("phrase-addition/true_colon", "under it is true: C (C: the previous sentence), the only attack."),
    ],
)
def test_the_letters_of_an_attack_are_explained(attacked: Robustness, name: str, expected: str) -> None:
    certain = surely(attacked, 0.0001)
    one = replace(certain, attacks=(replace(certain.attacks[0], name=name),))
    (sentence,) = attack_chapter([one], assign_styles([SYSTEM]), {}).summary
    assert sentence.endswith(expected)


def test_a_diagnosis_without_templates_is_words_and_a_table(
    run: Callable[[str], Run], attack: Callable[[str], Run]
) -> None:
    diagnoses = diagnose([run("context"), attack("context")])
    chapter = diagnosis_chapter(diagnoses, assign_styles(["scores:context.scores"]))
    assert [part.name for part in chapter.parts] == ["diagnosis"]
    (message,) = chapter.statements.values()
    assert message
    assert chapter.summary == ()  # accuracy on suites and under attacks is in other chapters


def test_the_steps_of_systems_as_a_table() -> None:
    def check(value: float) -> Any:
        return SimpleNamespace(measured=SimpleNamespace(value=value, interval=(value - 0.1, value + 0.1), total=1200))

    steps = {"nouns": {"first": check(0.25), "second": check(0.5)}, "people": {"second": check(0.75)}}
    table = _steps_table("Step by step", steps, ["first", "second", "third"])
    assert table.columns == ("", "n", "first", "interval", "second", "interval")
    assert [row.cells for row in table.rows] == [
        ("nouns", "1,200", "0.250", "[0.150, 0.350]", "0.500", "[0.400, 0.600]"),
        ("people", "1,200", "–", "", "0.750", "[0.650, 0.850]"),
    ]


def test_steps_are_headings_so_that_names_are_whole() -> None:
    def check(name: str) -> Any:
        actual = SimpleNamespace(value=0.5, interval=(0.4, 0.6), total=10)
        return SimpleNamespace(
            rule=name, step=PIPELINE[1], name=name, signed=False, measured=actual, shown="fails", part=False
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
    svg = str(diagnosis_chapter([diagnosis], assign_styles(["x"])).parts[0].svg)  # type: ignore[list-item]
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert shown.count(PIPELINE[1]) == 1
    assert shown.index(PIPELINE[1]) < shown.index(names[1])
