"""Suites of pairs: sampled by the confusion of pronouns, counted, and made from the example."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import load_readings
from anaphora.measure.config import read_config
from anaphora.measure.pair_list import read_pair_list
from anaphora.measure.pair_suite import (
    Confusion,
    balanced,
    count_confusion,
    count_pairs,
    sampled_pairs,
    write_example,
)
from anaphora.measure.texts import Line
from anaphora.reports.data_tables import pair_counts_table
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, Suite, suite_of

ENGLISH = load_readings("en")


def noisy(reference: str, system: str, systems: list[Tag], kind: str = "noisy") -> Example:
    tags: dict[str, Tag] = {"kind": kind, "reference_pronoun": reference, "system_pronoun": system, "systems": systems}
    return Example("x", ("",), (("a",), ("b",)), 0, tags)


def test_confusion_is_counted_by_system() -> None:
    found = count_confusion(
        [noisy("he", "it", ["a", "b"]), noisy("he", "she", ["a"]), noisy("he", "they", ["a"], "system")]
    )
    assert found.counts == {"he": {"it": 2, "she": 1}}
    with pytest.raises(AnaphoraError, match="no noisy pairs"):
        count_confusion([noisy("he", "it", ["a"], "system")])


def test_pairs_follow_the_confusion() -> None:
    lines = [Line(n, "1", ("Before.", "He saw them, I say."), (), None) for n in range(1, 2001)]
    confusion = Confusion({"he": {"it": 3, "she": 1}, "them": {"it": 4}, "whom": {"who": 50}})
    examples = list(sampled_pairs(lines, ENGLISH, confusion, seed=3))
    assert len(examples) == 2000
    pairs = Counter(str(example.tags["pronoun_pair"]) for example in examples)
    assert set(pairs) == {"he:it", "he:she", "them:it"}
    assert pairs["he:it"] / 2000 == pytest.approx(3 / 8, abs=0.04)
    assert pairs["them:it"] / 2000 == pytest.approx(4 / 8, abs=0.04)
    first = next(example for example in examples if example.tags["pronoun_pair"] == "he:it")
    assert first.candidates == (("Before.", "He saw them, I say."), ("Before.", "It saw them, I say."))
    assert first.tags["error"] == "gender"
    again = list(sampled_pairs(lines, ENGLISH, confusion, seed=3))
    assert again == examples
    assert list(sampled_pairs(lines, ENGLISH, confusion, seed=4)) != examples


def test_a_share_of_the_sentences() -> None:
    lines = [Line(n, "1", ("He left.",), (), None) for n in range(1000)]
    confusion = Confusion({"he": {"it": 1}})
    assert len(list(sampled_pairs(lines, ENGLISH, confusion, share=0.25))) == pytest.approx(250, abs=60)
    assert list(sampled_pairs([Line(1, "1", ("Nobody.",), (), None)], ENGLISH, confusion)) == []


def test_both_directions_are_as_frequent() -> None:
    pairs = [("he", "it")] * 3 + [("it", "he")] * 2 + [("who", "which")] * 4
    found = balanced([noisy(one, other, ["a"]) for one, other in pairs])
    directions = [(example.tags["reference_pronoun"], example.tags["system_pronoun"]) for example in found]
    assert directions == [("he", "it")] * 2 + [("it", "he")] * 2


# Tables 2 and 3: unique contexts and pairs by language and year.


def suite(language: str, *examples: Example) -> Suite:
    return suite_of(Header("x", language, "en"), lambda: iter(examples))


def pair(source: str, wrong: str, kind: str, year: str = "2013") -> Example:
    return Example("x", (source,), (("Right.",), (wrong,)), 0, {"kind": kind, "year": year})


def test_unique_pairs_and_contexts() -> None:
    german = suite(
        "de",
        pair("a", "It.", "noisy"),
        pair("a", "We.", "noisy"),
        pair("a", "All.", "system"),
        pair("a", "It.", "noisy"),
    )
    french = suite("fr", pair("b", "It.", "noisy", "2014"), pair("", "He.", "noisy", "2015"))
    found = {name: counts.to_dict() for name, counts in count_pairs([german, french]).items()}
    assert found == {
        "de-en": {"years": ["2013"], "contexts": 1, "noisy": 2, "system": 1},
        "fr-en": {"years": ["2014", "2015"], "contexts": 2, "noisy": 2, "system": 0},
    }
    assert list(count_pairs([german, french], by_year=True)) == ["de-en 2013", "fr-en 2014", "fr-en 2015"]


def test_the_sum_counts_what_two_languages_share_once() -> None:
    table = pair_counts_table(
        count_pairs([suite("de", pair("", "It.", "noisy")), suite("fr", pair("", "It.", "noisy"))])
    )
    assert table.rows[-1].cells == ("all", "", "1", "0", "1")


# The example files.


def test_made_up_files(tmp_path: Path) -> None:
    files = {path.name: path for path in write_example(tmp_path / "a")}
    reference, first, second = (
        files[name].read_text().splitlines() for name in ("reference.en", "first.en", "second.en")
    )
    wrong = [sum(a != b for a, b in zip(reference, other, strict=True)) for other in (first, second)]
    assert wrong[0] > wrong[1] > 0
    assert read_config(files["measure.toml"]).data.train == (f"{tmp_path / 'a'}/pairs.jsonl",)
    assert read_pair_list(files["annotators.json"])["he:it"].reference == 60
