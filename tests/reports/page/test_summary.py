"""What is said of a suite: the best against the second best first, then the others, in percent."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest

from anaphora.evaluation.compare import Comparison, Difference, Pair
from anaphora.evaluation.result import Proportion, Result, Settings
from anaphora.reports.page.summary import suite_summary


def said(right: Mapping[str, int], p: Mapping[str, float], groups: Mapping[str, Proportion] | None = None) -> list[str]:
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
    assert said({"a": 395, "b": 839}, {"ab": 0.0001}) == [
        "On s (1,000 examples) b is right in 83.9 % [80.9, 86.9] and a is right in 39.5 % [36.5, 42.5].",
        "b is better than a, by 44.4 points (p < 0.001).",
    ]


def test_what_is_not_significant_is_said_to_be_so() -> None:
    assert (
        said({"a": 500, "b": 503}, {"ab": 0.4})[1] == "b is not significantly better than a, by 0.3 points (p = 0.400)."
    )


def test_equal_systems_are_neither_better_nor_worse() -> None:
    assert said({"a": 500, "b": 500}, {"ab": 1.0})[1] == "a and b are right equally often."


def test_the_best_is_compared_with_the_second_best_first() -> None:
    words = said(
        {"a": 500, "b": 700, "c": 690, "d": 600}, dict.fromkeys(("ab", "ac", "ad", "bd", "cd"), 0.001) | {"bc": 0.3}
    )
    assert words[0].endswith("and d is right in 60.0 % [57.0, 63.0]; the other 1 is below that.")
    assert words[1] == "b is not significantly better than c, by 1.0 points (p = 0.300)."
    assert words[2] == "d and a are significantly worse than b, by 10.0 to 20.0 points."


def test_many_systems_take_no_more_sentences() -> None:
    names = "abcdefgh"
    words = said(
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
    assert said({"a": 500, "b": 600, "c": 700}, {"ab": p, "ac": p, "bc": 0.01})[2] == expected


def test_where_the_best_is_weakest() -> None:
    groups = {
        "er": Proportion(40, 20, (0.4, 0.6)),
        "sie": Proportion(40, 10, (0.1, 0.4)),
        "es": Proportion(4, 0, (0.0, 0.5)),
    }
    assert said({"a": 500}, {}, groups)[1:] == ["a is weakest at reference pronoun sie: 25.0 % [10.0, 40.0]."]
