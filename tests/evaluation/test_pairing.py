"""Answers that belong together: in step on one suite, by the tag `attacked` between a suite and attacks on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.evaluation.pairing import original_of, together
from anaphora.systems.run import Run, RunHeader, open_run, write_run
from anaphora.systems.scored import Scored

ABOUT = RunHeader("base", "ab" * 32, "en", "de", "scores:x", "1.2.3")
Make = Callable[..., Run]


@pytest.fixture
def run(tmp_path: Path) -> Make:
    """A run of examples by their ids; `x<a` is an example x that was made from a."""

    def make(name: str, ids: str, sha: str = "ab") -> Run:
        items = []
        for word in ids.split():
            identifier, _, original = word.partition("<")
            items.append(Scored(identifier, 0, {"attacked": original} if original else {}, [-1.0, -2.0]))
        return open_run(write_run(tmp_path / name, replace(ABOUT, suite=name, sha256=sha * 32), items))

    return make


def ids(*runs: Run) -> list[tuple[str, ...]]:
    return [tuple(item.id for item in row) for row in together(runs)]


def test_one_suite_goes_in_step(run: Make) -> None:
    assert ids(run("one", "a b"), run("two", "a b")) == [("a", "a"), ("b", "b")]
    with pytest.raises(AnaphoraError, match=r"not have the same examples in the same order \(.*three/run\.jsonl: b"):
        ids(run("one", "a b"), run("three", "b a"))
    with pytest.raises(AnaphoraError, match=r"four/run\.jsonl: ended"):
        ids(run("one", "a b"), run("four", "a"))


def test_an_attack_is_paired_with_its_originals(run: Make) -> None:
    base, attack = run("base", "a b c"), run("attack", "y<c x<a", "cd")
    assert ids(base, attack) == [("a", "x"), ("c", "y")]
    assert ids(attack, base) == [("y", "c"), ("x", "a")]


def test_two_attacks_and_two_systems(run: Make) -> None:
    one, two = run("one", "x1<a x2<b", "cd"), run("two", "y2<b y3<c", "ef")
    assert ids(one, two) == [("x2", "y2")]
    assert ids(run("base", "a b c"), one, two, run("again", "a b c")) == [("b", "x2", "y2", "b")]


def test_an_attack_on_an_attack_is_paired_with_what_it_attacked(run: Make) -> None:
    first, second = run("first", "x<a y<b", "cd"), run("second", "z<x", "ef")
    assert ids(first, second) == [("x", "z")]


def test_a_tag_that_is_no_name(run: Make) -> None:
    assert original_of(Scored("x", 0, {"attacked": ["a"]}, [1.0])) is None
    assert original_of(Scored("x", 0, {"attacked": "a"}, [1.0])) == "a"


def test_suites_that_have_nothing_to_do_with_each_other(run: Make) -> None:
    base, other = run("base", "a b"), run("other", "a b", "cd")
    with pytest.raises(
        AnaphoraError, match=r"other/run\.jsonl: a run of other@cdcdcd, but .* is one of base@ababab\. Score"
    ):
        together([base, other])
    with pytest.raises(AnaphoraError, match=r"stranger/run\.jsonl: a run of stranger@"):
        together([base, run("attack", "x<a", "ef"), run("stranger", "q<r", "cd")])


def test_attacks_without_an_example_in_common(run: Make) -> None:
    with pytest.raises(AnaphoraError, match="the runs have no example in common"):
        together([run("base", "a b"), run("one", "x<a", "cd"), run("two", "y<b", "ef")])


def test_several_attacks_in_one_run(run: Make) -> None:
    with pytest.raises(AnaphoraError, match=r"both/run\.jsonl: several attacks on one example .* anaphora robustness"):
        together([run("base", "a b"), run("both", "x<a y<a", "cd")])


def test_parts_of_one_suite_are_said_in_words(run: Make) -> None:
    """newcomer.md B16: of runs with different limits only hashes were told."""
    whole, first = run("base", "a b c"), run("first", "a b", "cd")
    header = replace(first.header, suite=whole.header.suite, examples=2, settings={"limit": 2})
    cut = replace(first, header=header)
    with pytest.raises(
        AnaphoraError, match=r"first/run\.jsonl has the first 2 examples of base, but .* has all .*--limit or --sample"
    ):
        together([whole, cut])
    sampled = replace(first, header=replace(header, settings={"sample": "2@7", "limit": None}))
    with pytest.raises(AnaphoraError, match=r"has a random sample of 2 examples \(seed 7\) of base"):
        together([whole, sampled])
