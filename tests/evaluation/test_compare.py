"""Two systems on the same items: what differs, how surely, on which items; and what cannot be compared is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.compare import Comparison, check_examples, compare_runs, original_of, zip_runs
from anaphora.evaluation.result import Settings
from anaphora.runs import Run, RunHeader, ScoredExample, open_run, write_run
from anaphora.stats.paired import holm, mcnemar
from anaphora.suites.example import Example

ABOUT = RunHeader("made-up", "ab" * 32, "en", "de", "scores:x", "1.2.3", breakdowns=("pronoun", "pronoun×distance"))
SETTINGS = Settings(samples=1_000)
Make = Callable[..., Run]


@pytest.fixture
def run(tmp_path: Path) -> Make:
    """A run whose outcomes are written as R and W; the pronoun of every third item is sie, documents have four."""

    def make(name: str, outcomes: str, ids: Sequence[str] = (), **about: Any) -> Run:
        items = []
        for k, outcome in enumerate(outcomes):
            tags = {"pronoun": "er" if k % 3 else "sie", "distance": k % 5, "document": f"d{k // 4}"}
            scores = [-1.0, -2.0] if outcome == "R" else [-2.0, -1.0]
            items.append(ScoredExample(ids[k] if ids else str(k), 0, tags, scores))
        header = replace(ABOUT, **{"system": f"scores:{name}"} | about)
        return open_run(write_run(tmp_path / name, header, items))

    return make


def test_flips_are_those_counted_by_hand(run: Make) -> None:
    """items  0123456789"""
    first = run("one", "RRRRWWWWRW")
    second = run("two", "RWRRRRWRRW")
    pair = compare_runs([first, second], settings=SETTINGS).pairs[0]
    assert pair.gained == ("4", "5", "7")
    assert pair.lost == ("1",)
    overall = pair.overall
    assert (overall.total, overall.first, overall.second) == (10, 0.5, 0.7)
    assert overall.delta == pytest.approx(0.2)
    assert overall.tests["mcnemar"] == pytest.approx(mcnemar(1, 3)) == pytest.approx(10 / 16)
    assert overall.p_value == overall.tests["mcnemar"]
    assert overall.tests["randomization"] == pytest.approx(10 / 16, abs=0.07)
    assert overall.interval[0] < 0.2 < overall.interval[1]
    # sie: items 0, 3, 6, 9; er: 1, 2, 4, 5, 7, 8
    groups = pair.breakdowns["pronoun"]
    assert list(groups) == ["er", "sie"]
    assert (groups["sie"].total, groups["sie"].first, groups["sie"].second) == (4, 0.5, 0.5)
    assert (groups["er"].total, groups["er"].first, groups["er"].second) == (6, 0.5, pytest.approx(5 / 6))
    assert groups["sie"].p_value == 1.0
    assert list(pair.breakdowns) == ["pronoun"]  # the suite's crosses only when asked for


def test_breakdowns_can_be_crossed_when_asked_for(run: Make) -> None:
    pair = compare_runs(
        [run("one", "RWRW" * 5), run("two", "RRRW" * 5)],
        breakdowns=["pronoun*distance>2", "distance"],
        settings=SETTINGS,
    ).pairs[0]
    groups = pair.breakdowns["pronoun×distance"]
    assert sum(difference.total for difference in groups.values()) == 20
    assert next(iter(groups)) == "er×0"
    assert list(groups)[-1] == "sie×>2"
    # items 1, 5, 9, 13, 17 are gained: one of the four items at each distance
    assert {g: (d.total, d.delta) for g, d in pair.breakdowns["distance"].items()} == {
        str(d): (4, 0.25) for d in range(5)
    }


def test_three_runs_are_three_pairs_each_against_the_later_ones(run: Make) -> None:
    runs = [run("a", "RRWW" * 10), run("b", "RWRW" * 10), run("c", "RRRW" * 10)]
    comparison = compare_runs(runs, settings=SETTINGS)
    assert comparison.systems == ("scores:a", "scores:b", "scores:c")
    assert [(p.first, p.second) for p in comparison.pairs] == [
        ("scores:a", "scores:b"),
        ("scores:a", "scores:c"),
        ("scores:b", "scores:c"),
    ]
    assert [round(p.overall.delta, 9) for p in comparison.pairs] == [0, 0.25, 0.25]
    assert [(len(p.gained), len(p.lost)) for p in comparison.pairs] == [(10, 10), (10, 0), (10, 0)]


def test_p_values_are_corrected_over_pairs_and_over_groups(run: Make) -> None:
    runs = [run("a", "RRWWWW" * 4), run("b", "RWRRWW" * 4), run("c", "RRRRRW" * 4)]
    pairs = compare_runs(runs, breakdowns=["pronoun"], settings=SETTINGS).pairs
    assert [p.overall.p_adjusted for p in pairs] == pytest.approx(holm([p.overall.p_value for p in pairs]))
    groups = [d for p in pairs for d in p.breakdowns["pronoun"].values()]
    assert len(groups) == 6
    assert [d.p_adjusted for d in groups] == pytest.approx(holm([d.p_value for d in groups]))
    assert pairs[1].overall.p_adjusted > pairs[1].overall.p_value  # there is something to correct


def test_a_breakdown_that_repeats_another_is_tested_once(run: Make) -> None:
    runs = [run("a", "RRWWWW" * 4), run("b", "RWRRWW" * 4)]
    for made in runs:  # pair says what pronoun says, even what distance says
        items = [
            i._replace(tags={**i.tags, "pair": f"it:{i.tags['pronoun']}", "even": i.tags["distance"]}) for i in made
        ]
        write_run(made.path, made.header, items)
    asked = ["pronoun", "pair", "distance", "even", "pronoun×distance", "pair×distance"]
    comparison = compare_runs(runs, breakdowns=asked, settings=SETTINGS)
    (pair,) = comparison.pairs
    assert list(pair.breakdowns) == ["pronoun", "distance", "pronoun×distance"]
    groups = [d for actual in pair.breakdowns.values() for d in actual.values()]
    assert [d.p_adjusted for d in groups] == pytest.approx(holm([d.p_value for d in groups]))
    left_out = {"pair": "pronoun", "even": "distance", "pair×distance": "pronoun×distance"}
    assert comparison.repeated == comparison.to_dict()["repeated"] == left_out
    assert "left out: pair (the same groups as pronoun), even (" in str(comparison)


def test_systems_that_agree_on_every_item_do_not_differ(run: Make) -> None:
    overall = compare_runs([run("a", "RWRRW"), run("b", "RWRRW")], settings=SETTINGS).pairs[0].overall
    assert (overall.delta, overall.interval) == (0.0, (0.0, 0.0))
    assert overall.tests == {"mcnemar": 1.0, "randomization": 1.0, "bootstrap": 1.0}


def test_a_tie_is_wrong_here_too(run: Make, tmp_path: Path) -> None:
    tied = [ScoredExample(str(k), 0, {"pronoun": "er"}, [-1.0, -1.0]) for k in range(5)]
    other = open_run(write_run(tmp_path / "tied", replace(ABOUT, system="scores:tied"), tied))
    overall = compare_runs([run("a", "RRRRR"), other], settings=SETTINGS).pairs[0].overall
    assert (overall.first, overall.second) == (1.0, 0.0)


def test_lower_is_better_on_request(run: Make) -> None:
    runs = [run("a", "RRWWR"), run("b", "RWWWR")]
    pair = compare_runs(runs, settings=replace(SETTINGS, minimize=True)).pairs[0]
    assert (pair.overall.first, pair.overall.second) == (0.4, 0.6)
    assert pair.gained == ("1",)


def test_the_same_seed_gives_the_same_comparison(run: Make) -> None:
    runs = [run("a", "RRWRW" * 8), run("b", "RWRRR" * 8)]

    def compared(seed: int) -> Comparison:
        return compare_runs(runs, settings=replace(SETTINGS, seed=seed))

    assert compared(1) == compared(1)
    assert compared(1).pairs[0].overall.tests["bootstrap"] != compared(2).pairs[0].overall.tests["bootstrap"]
    assert compared(1).pairs[0].overall.tests["mcnemar"] == compared(2).pairs[0].overall.tests["mcnemar"]


def test_resampling_documents_is_more_careful(run: Make) -> None:
    """Four items of a document always flip together, so that 16 gains are worth no more than four."""
    runs = [run("a", "WWWW" * 4 + "RRRR" * 6), run("b", "RRRR" * 10)]
    items = compare_runs(runs, settings=SETTINGS)
    documents = compare_runs(runs, settings=replace(SETTINGS, resample="document"))
    assert (items.test, documents.test) == ("mcnemar", "randomization")
    one, other = items.pairs[0].overall, documents.pairs[0].overall
    assert one.delta == other.delta == pytest.approx(0.4)
    assert one.p_value == pytest.approx(2 / 2**16)
    assert other.p_value == pytest.approx(2 / 2**4, abs=0.04)
    assert other.interval[1] - other.interval[0] > 1.7 * (one.interval[1] - one.interval[0])
    assert 0 <= other.interval[0] < 0.4 < other.interval[1] <= 0.8  # shares of items, not sums of documents
    assert "|by:document|" in documents.signature


@pytest.mark.parametrize("test", ["mcnemar", "randomization", "bootstrap"])
def test_the_p_value_is_that_of_the_test_asked_for(run: Make, test: str) -> None:
    comparison = compare_runs([run("a", "RRWRW" * 4), run("b", "RWRRR" * 4)], settings=SETTINGS, test=test)
    overall = comparison.pairs[0].overall
    assert overall.p_value == overall.tests[test]
    assert comparison.test == test
    assert f"|test:{test}|" in comparison.signature


def test_the_british_name_of_a_test_is_taken(run: Make) -> None:
    runs = [run("a", "RRWRW" * 4), run("b", "RWRRR" * 4)]
    assert compare_runs(runs, settings=SETTINGS, test="randomisation").test == "randomization"


def test_runs_of_different_suites_are_refused(run: Make) -> None:
    one, other = run("one", "RW"), run("other", "RW", suite="else", sha256="cd" * 32)
    with pytest.raises(AnaphoraError, match=r"other.*a run of else@cdcdcd, but .*one.* made-up@ababab\. Score both"):
        compare_runs([one, other])


@pytest.mark.parametrize(
    ("outcomes", "ids", "seen"),
    [("RW", ["1", "0"], "run.jsonl: 0, .*run.jsonl: 1"), ("RWR", [], "one.*: ended, .*two.*: 2")],
)
def test_runs_with_other_examples_or_parts_of_them_are_refused(
    run: Make, outcomes: str, ids: list[str], seen: str
) -> None:
    with pytest.raises(AnaphoraError, match=rf"same examples in the same order \(.*{seen}"):
        compare_runs([run("one", "RW"), run("two", outcomes, ids)])
    with pytest.raises(AnaphoraError, match="same examples in the same order"):
        compare_runs([run("two", outcomes, ids), run("one", "RW")])


def test_what_cannot_be_asked_is_refused(run: Make) -> None:
    one, two = run("one", "RW"), run("two", "RR")
    with pytest.raises(AnaphoraError, match="two or more runs"):
        compare_runs([one])
    with pytest.raises(AnaphoraError, match=r"unknown test 'sign'.*mcnemar, randomization, bootstrap"):
        compare_runs([one, two], test="sign")
    with pytest.raises(AnaphoraError, match=r"independent items\. With --resample, choose another --test"):
        compare_runs([one, two], test="mcnemar", settings=Settings(resample="document"))
    with pytest.raises(AnaphoraError, match=r"no example has the tag 'pronun' \(did you mean pronoun\?\)"):
        compare_runs([one, two], breakdowns=["pronun"], settings=SETTINGS)
    with pytest.raises(AnaphoraError, match="example 0 has no single value of the tag 'chapter'"):
        compare_runs([one, two], settings=Settings(resample="chapter"))


def test_priors_have_nothing_to_compare(tmp_path: Path) -> None:
    items = [ScoredExample("p", None, {"pronoun": "er"}, [-1.0, -2.0])]
    runs = [open_run(write_run(tmp_path / name, replace(ABOUT, system=name), items)) for name in "ab"]
    pair = compare_runs(runs, settings=SETTINGS).pairs[0]
    assert (pair.overall.total, pair.overall.delta, pair.overall.p_value) == (0, 0.0, 1.0)
    assert pair.breakdowns == {}


def test_a_system_that_occurs_twice_goes_by_its_path(run: Make) -> None:
    one, two = run("one", "RW", system="hf:model"), run("two", "RR", system="hf:model")
    assert compare_runs([one, two], settings=SETTINGS).systems == (str(one.path), str(two.path))


def test_json_has_delta_and_p_value_per_pair_and_group(run: Make) -> None:
    document = compare_runs(
        [run("a", "RRW" * 4), run("b", "RWR" * 4), run("c", "RRR" * 4)], settings=SETTINGS
    ).to_dict()
    assert set(document) == {"suite", "sha256", "systems", "pairs", "test", "correction", "repeated", "signature"}
    assert document["signature"] == (
        "cmp|s:made-up@ababab|norm:sum|tie:wrong|test:mcnemar|by:items|n:1000|seed:12345|adj:holm|v:1.2.3"
    )
    assert [pair["systems"] for pair in document["pairs"]] == [
        ["scores:a", "scores:b"],
        ["scores:a", "scores:c"],
        ["scores:b", "scores:c"],
    ]
    assert [round(pair["first"], 9) for pair in document["pairs"]] == [round(2 / 3, 9)] * 3  # accuracies
    figures = {"total", "first", "second", "delta", "interval", "p_value", "p_adjusted", "tests"}
    for pair in document["pairs"]:
        assert set(pair) == figures | {"systems", "breakdowns", "gained", "lost"}
        assert set(pair["breakdowns"]["pronoun"]) == {"er", "sie"}
        for group in pair["breakdowns"]["pronoun"].values():
            assert set(group) == figures
            assert group["delta"] == pytest.approx(group["second"] - group["first"])


def test_the_signature_names_what_is_unusual(run: Make) -> None:
    runs = [run("a", "RRW"), run("b", "RWR")]
    signature = compare_runs(runs, settings=replace(SETTINGS, minimize=True, confidence=0.9)).signature
    assert "|tie:wrong|better:lower|conf:0.9|test:mcnemar|" in signature


def test_the_signature_names_the_context_of_each_run(run: Make) -> None:
    alike = [run("a", "RRW", context="1+1"), run("b", "RWR", context="1+1")]
    assert "@ababab|ctx:1+1|norm:sum|" in compare_runs(alike, settings=SETTINGS).signature
    unlike = [alike[0], run("c", "RWR", context="0+0", settings={"mode": "choose"}, version="1.3.0")]
    signature = compare_runs(unlike, settings=SETTINGS).signature
    assert f"|ctx:1+1,0+0|set:plain,{unlike[1].header.measurement.code}|" in signature
    assert signature.endswith("|v:1.2.3,1.3.0")


# Answers that belong together: in step on one suite, by the tag `attacked` between a suite and attacks on it.

ABOUT_PAIRING = RunHeader("base", "ab" * 32, "en", "de", "scores:x", "1.2.3")


@pytest.fixture
def run_pairing(tmp_path: Path) -> Make:
    """A run of examples by their ids; `x<a` is an example x that was made from a."""

    def make(name: str, ids: str, sha: str = "ab") -> Run:
        items = []
        for word in ids.split():
            identifier, _, original = word.partition("<")
            items.append(ScoredExample(identifier, 0, {"attacked": original} if original else {}, [-1.0, -2.0]))
        return open_run(write_run(tmp_path / name, replace(ABOUT_PAIRING, suite=name, sha256=sha * 32), items))

    return make


def ids(*runs: Run) -> list[tuple[str, ...]]:
    return [tuple(item.id for item in row) for row in zip_runs(runs)]


def test_one_suite_goes_in_step(run_pairing: Make) -> None:
    assert ids(run_pairing("one", "a b"), run_pairing("two", "a b")) == [("a", "a"), ("b", "b")]
    with pytest.raises(AnaphoraError, match=r"not have the same examples in the same order \(.*three/run\.jsonl: b"):
        ids(run_pairing("one", "a b"), run_pairing("three", "b a"))
    with pytest.raises(AnaphoraError, match=r"four/run\.jsonl: ended"):
        ids(run_pairing("one", "a b"), run_pairing("four", "a"))


def test_an_attack_is_paired_with_its_originals(run_pairing: Make) -> None:
    base, attack = run_pairing("base", "a b c"), run_pairing("attack", "y<c x<a", "cd")
    assert ids(base, attack) == [("a", "x"), ("c", "y")]
    assert ids(attack, base) == [("y", "c"), ("x", "a")]


def test_two_attacks_and_two_systems(run_pairing: Make) -> None:
    one, two = run_pairing("one", "x1<a x2<b", "cd"), run_pairing("two", "y2<b y3<c", "ef")
    assert ids(one, two) == [("x2", "y2")]
    assert ids(run_pairing("base", "a b c"), one, two, run_pairing("again", "a b c")) == [("b", "x2", "y2", "b")]


def test_an_attack_on_an_attack_is_paired_with_its_original(run_pairing: Make) -> None:
    first, second = run_pairing("first", "x<a y<b", "cd"), run_pairing("second", "z<x", "ef")
    assert ids(first, second) == [("x", "z")]


def test_a_tag_that_is_not_a_name(run_pairing: Make) -> None:
    assert original_of(ScoredExample("x", 0, {"attacked": ["a"]}, [1.0])) is None
    assert original_of(ScoredExample("x", 0, {"attacked": "a"}, [1.0])) == "a"


def test_suites_that_have_nothing_to_do_with_each_other(run_pairing: Make) -> None:
    base, other = run_pairing("base", "a b"), run_pairing("other", "a b", "cd")
    with pytest.raises(
        AnaphoraError, match=r"other/run\.jsonl: a run of other@cdcdcd, but .* is one of base@ababab\. Score"
    ):
        zip_runs([base, other])
    with pytest.raises(AnaphoraError, match=r"stranger/run\.jsonl: a run of stranger@"):
        zip_runs([base, run_pairing("attack", "x<a", "ef"), run_pairing("stranger", "q<r", "cd")])


def test_attacks_without_an_example_in_common(run_pairing: Make) -> None:
    with pytest.raises(AnaphoraError, match="the runs have no example in common"):
        zip_runs([run_pairing("base", "a b"), run_pairing("one", "x<a", "cd"), run_pairing("two", "y<b", "ef")])


def test_several_attacks_in_one_run(run_pairing: Make) -> None:
    with pytest.raises(
        AnaphoraError, match=r"both/run\.jsonl: it has several attacks on one example.*anaphora robustness"
    ):
        zip_runs([run_pairing("base", "a b"), run_pairing("both", "x<a y<a", "cd")])


def test_parts_of_one_suite_are_reported_in_words(run_pairing: Make) -> None:
    """newcomer.md B16: of runs with different limits only hashes were told."""
    whole, first = run_pairing("base", "a b c"), run_pairing("first", "a b", "cd")
    header = replace(first.header, suite=whole.header.suite, examples=2, settings={"limit": 2})
    cut = replace(first, header=header)
    with pytest.raises(
        AnaphoraError, match=r"first/run\.jsonl has the first 2 examples of base, but .* has all .*--limit or --sample"
    ):
        zip_runs([whole, cut])
    sampled = replace(first, header=replace(header, settings={"sample": "2@7", "limit": None}))
    with pytest.raises(AnaphoraError, match=r"has a random sample of 2 examples \(seed 7\) of base"):
        zip_runs([whole, sampled])


def test_examples_of_another_suite_are_refused(run: Make) -> None:
    """The ids alone do not tell: many suites count from 0."""
    scored = run("one", "RWR")
    examples = [Example(item.id, ("It .",), (("Er .",), ("Sie .",)), item.gold, item.tags) for item in scored]
    check_examples(scored, examples)
    check_examples(scored, examples[1:])  # a part of the suite
    changed = {
        "example '9' is not in the run, which is of made-up": replace(examples[1], id="9"),
        r"another suite \(made-up\), in which example '1' has other tags": replace(examples[1], tags={"distance": 4}),
        r"another suite \(made-up\), in which example '1' has another right answer": replace(examples[1], gold=1),
    }
    for message, example in changed.items():
        with pytest.raises(BadInput, match=message):
            check_examples(scored, [examples[0], example])


def test_tags_are_compared_as_they_are_written(tmp_path: Path) -> None:
    """A tuple is a list in the file of the run."""
    example = Example("0", ("It .",), (("Er .",), ("Sie .",)), 0, {"span": (1, 2)})  # type: ignore[dict-item]
    scored = open_run(write_run(tmp_path / "run", ABOUT, [ScoredExample("0", 0, example.tags, [-1.0, -2.0])]))
    check_examples(scored, [example])
