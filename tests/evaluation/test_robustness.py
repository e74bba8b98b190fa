"""Before and after attacks, on the very same items; the figures are counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.result import Settings
from anaphora.evaluation.robustness import robustness
from anaphora.reports.tables import robustness_table
from anaphora.runs import Run, RunHeader, ScoredExample, open_run, write_run
from anaphora.stats.paired import holm, mcnemar

ABOUT = RunHeader("base", "ab" * 32, "en", "de", "hf:x", "1.2.3", breakdowns=("pronoun",), context="1+1")
SETTINGS = Settings(samples=1_000)
Make = Callable[..., Run]


@pytest.fixture
def run(tmp_path: Path) -> Make:
    """Outcomes R and W of items 0, 1, 2 …; `.`: this item was not attacked. Items have er and sie in turn."""

    def make(name: str, outcomes: str, attack: str | None = None, sha: str = "cd", **about: Any) -> Run:
        items = []
        for k, outcome in enumerate(outcomes):
            if outcome != ".":
                tags: dict[str, Any] = {"pronoun": "er" if k % 2 else "sie", "gender": "m" if k % 2 else "f"}
                if attack:
                    tags |= {"attack": attack, "attacked": str(k)}
                scores = [-1.0, -2.0] if outcome == "R" else [-2.0, -1.0]
                items.append(ScoredExample(f"{attack}/{k}" if attack else str(k), 0, tags, scores))
        header = replace(ABOUT, suite=name, sha256=(sha if attack else "ab") * 32, **about)
        return open_run(write_run(tmp_path / name, header, items))

    return make


def test_counted_by_hand(run: Make) -> None:
    """items   0123456789"""
    before = run("base", "RRRRRRRWWW")
    phrase = run("p", "WWWRRRRRWW", "phrase-addition/x")  # loses 0, 1, 2, gains 7
    owner = run("o", "WW..RRR...", "possessive-extension/y", "ef")  # loses 0 and 1 of five, all right before
    result = robustness(before, [phrase, owner], settings=SETTINGS)
    assert (result.suite, result.system, result.before.total, result.before.correct) == ("base", "hf:x", 10, 7)
    one, two = result.attacks
    assert (one.name, one.kind, one.suite) == ("phrase-addition/x", "phrase-addition", "p@cdcdcd")
    assert (one.pair.overall.total, one.pair.overall.first, one.pair.overall.second) == (10, 0.7, 0.5)
    assert (one.pair.lost, one.pair.gained) == (("0", "1", "2"), ("7",))
    assert (two.pair.overall.total, two.pair.overall.first, two.pair.overall.second) == (5, 1.0, 0.6)
    assert (two.pair.lost, two.pair.gained) == (("0", "1"), ())
    p_values = [mcnemar(3, 1), mcnemar(2, 0)]
    assert [a.pair.overall.p_value for a in result.attacks] == pytest.approx(p_values)
    assert [a.pair.overall.p_adjusted for a in result.attacks] == pytest.approx(holm(p_values))
    assert result.test == "mcnemar"


def test_by_pronoun_when_asked_for(run: Make) -> None:
    before, after = run("base", "RRRRRRRR"), run("p", "WRWRWRRR", "a/x")
    assert robustness(before, [after], settings=SETTINGS).attacks[0].pair.breakdowns == {}
    (attack,) = robustness(before, [after], breakdowns=["pronoun"], settings=SETTINGS).attacks
    groups = attack.pair.breakdowns["pronoun"]
    assert {g: (d.total, d.first, d.second) for g, d in groups.items()} == {"er": (4, 1, 1), "sie": (4, 1, 0.25)}
    assert groups["sie"].p_adjusted == pytest.approx(min(1, 2 * groups["sie"].p_value))


def test_a_breakdown_that_repeats_another_is_left_out_and_named(run: Make) -> None:
    before, after = run("base", "RRRRRRRR"), run("p", "WRWRWRRR", "a/x")
    result = robustness(before, [after], breakdowns=["pronoun", "gender"], settings=SETTINGS)
    assert list(result.attacks[0].pair.breakdowns) == ["pronoun"]
    assert result.to_dict()["repeated"] == {"gender": "pronoun"}
    assert "left out: gender (the same groups as pronoun)" in robustness_table(result).render("table")
    assert robustness(before, [after], settings=SETTINGS).repeated == {}


def test_a_run_with_several_attacks(run: Make, tmp_path: Path) -> None:
    before = run("base", "RRRR")
    parts = [run("one", "WRRR", "a/x"), run("two", "WW..", "a/y")]
    both = write_run(tmp_path / "both", parts[0].header, [item for part in parts for item in part])
    result = robustness(before, [open_run(both)], settings=SETTINGS)
    assert [(a.name, a.pair.overall.total, a.pair.overall.second) for a in result.attacks] == [
        ("a/x", 4, 0.75),
        ("a/y", 2, 0.0),
    ]


def test_json(run: Make) -> None:
    result = robustness(run("base", "RRRW"), [run("p", "RWRW", "a/x")], breakdowns=["pronoun"], settings=SETTINGS)
    document = result.to_dict()
    assert set(document) == {"suite", "sha256", "system", "before", "attacks", "repeated", "test"} | {
        "correction",
        "signature",
    }
    (attack,) = document["attacks"]
    assert set(attack) == {
        "attack",
        "suite",
        "total",
        "before",
        "after",
        "delta",
        "interval",
        "p_value",
        "p_adjusted",
    } | {
        "tests",
        "breakdowns",
        "gained",
        "lost",
    }
    assert (attack["attack"], attack["before"], attack["after"], attack["delta"]) == ("a/x", 0.75, 0.5, -0.25)
    assert set(attack["breakdowns"]["pronoun"]["er"]) >= {"before", "after", "delta", "p_value"}
    assert attack["lost"] == ["1"]
    assert document["before"]["accuracy"] == 0.75
    assert document["signature"] == (
        "rob|s:base@ababab|vs:p@cdcdcd|ctx:1+1|norm:sum|tie:wrong|test:mcnemar|by:items|n:1000|seed:12345|adj:holm"
        "|v:1.2.3"
    )


# what cannot be set against each other


def test_a_run_that_is_not_an_attack(run: Make) -> None:
    before = run("base", "RRRR")
    with pytest.raises(BadInput, match=r"example 0 does not name its original \(tag 'attacked'\).*build attack"):
        robustness(before, [before], settings=SETTINGS)
    with pytest.raises(AnaphoraError, match="name the runs of one or more attacks"):
        robustness(before, [], settings=SETTINGS)
    with pytest.raises(BadInput, match="the run has no examples"):
        robustness(before, [run("empty", "....", "a/x")], settings=SETTINGS)


def test_a_run_on_an_attack_is_not_compared_with_itself(run: Make) -> None:
    """The drop would be 0, whatever the system."""
    attacked = run("attacked", "RRWW", "a/x")
    with pytest.raises(BadInput, match=r"a run of the same suite as .*, not of an attack on it"):
        robustness(attacked, [attacked], settings=SETTINGS)


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        ({"system": "hf:y"}, "system hf:y, but .* has hf:x"),
        ({"context": "0+0"}, r"context 0\+0, but .* has 1\+1"),
    ],
)
def test_another_system_or_context(run: Make, about: dict[str, str], problem: str) -> None:
    with pytest.raises(AnaphoraError, match=problem):
        robustness(run("base", "RRRR"), [run("p", "RRRR", "a/x", **about)], settings=SETTINGS)


def test_score_files_do_not_say_whose_they_are(run: Make) -> None:
    before = run("base", "RR", system="scores:a", context=None)
    assert robustness(before, [run("p", "RW", "a/x", system="scores:b", context=None)], settings=SETTINGS).attacks
    assert robustness(before, [run("q", "RW", "a/x")], settings=SETTINGS).attacks


def test_an_attack_on_another_suite(run: Make, tmp_path: Path) -> None:
    stranger = ScoredExample("a/x/99", 0, {"attack": "a/x", "attacked": "99"}, [-1.0, -2.0])
    other = open_run(write_run(tmp_path / "other", replace(ABOUT, suite="other", sha256="ef" * 32), [stranger]))
    with pytest.raises(AnaphoraError, match=r"a run of other@efefef, but .* is one of base@ababab"):
        robustness(run("base", "RR"), [other], settings=SETTINGS)


def test_runs_that_were_scored_with_other_settings_are_refused(run: Make) -> None:
    before, after = run("base", "RRRW"), run("p", "RWRW", "a/x")
    header = replace(after.header, settings={"separator": " <SEP> "})
    with pytest.raises(AnaphoraError, match=r'separator " <SEP> ", but .* has " "'):
        robustness(before, [replace(after, header=header)], settings=SETTINGS)
