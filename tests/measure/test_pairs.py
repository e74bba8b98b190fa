"""From two translations to pairs: aligned words, differing pronouns, pairs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.languages.pair_list import PairJudgments, read_pair_list
from anaphora.languages.pronouns import load_readings
from anaphora.measure.config import read_config
from anaphora.measure.pairs import (
    Difference,
    Links,
    PairMaker,
    Settings,
    count_pairs,
    differences,
    linked_differences,
    match,
    write_example,
)
from anaphora.measure.texts import Line, replace_pronoun, words_of
from anaphora.reports.data_tables import pair_counts_table
from anaphora.suites.example import Example
from anaphora.suites.formats import read_suite
from anaphora.suites.suite import Header, Suite, suite_of

# The alignment of two translations: equal words, pronouns for pronouns, never crossing.

PRONOUNS = frozenset({"he", "she", "it"})
SENTENCES = st.lists(st.sampled_from(["he", "she", "it", "was", "old", "and", "."]), max_size=9)


def test_a_pronoun_stands_for_another() -> None:
    links = match(["and", "he", "was", "old"], ["and", "she", "was", "very", "old"], PRONOUNS)
    assert links == [(0, 0), (1, 1), (2, 2), (3, 4)]


def test_a_pronoun_does_not_stand_for_another_word() -> None:
    assert match(["he", "slept"], ["John", "slept"], PRONOUNS) == [(0, 0), (1, 1)]
    assert match(["he", "slept"], ["well", "slept", "she"], PRONOUNS) == [(0, 0), (1, 1)]


def test_equal_words_go_before_pronoun_pairs() -> None:
    links = match(["he", "saw", "it"], ["it", "saw"], PRONOUNS)
    assert (1, 1) in links


@given(SENTENCES, SENTENCES)
def test_links_are_monotone_and_within_the_texts(one: list[str], other: list[str]) -> None:
    links = match(one, other, PRONOUNS)
    assert all(0 <= i < len(one) and 0 <= j < len(other) for i, j in links)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(links))


@given(SENTENCES)
def test_a_text_is_itself(words: list[str]) -> None:
    assert match(words, words, PRONOUNS) == [(n, n) for n in range(len(words))]


@given(SENTENCES, SENTENCES)
def test_the_order_of_the_texts_does_not_change_the_cost(one: list[str], other: list[str]) -> None:
    def cost(a: list[str], b: list[str]) -> float:
        links = match(a, b, PRONOUNS)
        pairs = sum(0.0 if a[i] == b[j] else 0.7 if {a[i], b[j]} <= PRONOUNS else 1.1 for i, j in links)
        return pairs + 0.6 * (len(a) + len(b) - 2 * len(links))

    assert abs(cost(one, other) - cost(other, one)) < 1e-9


# Differing pronouns: in the same surroundings, or linked by another alignment as well.

ENGLISH = load_readings("en")


def differing(reference: str, system: str, rescue: Links = ()) -> list[str]:
    one, other = words_of(reference, ENGLISH), words_of(system, ENGLISH)
    return [difference.pair for difference in differences(one, other, ENGLISH.pronouns, rescue)]


def test_differences_of_figure_1() -> None:
    reference = "He was creative, generous, funny, loving and talented, and I will miss him dearly."
    system = "It was creative, generous, funny, affectionate and talented, and we will greatly miss."
    assert differing(reference, system) == ["he:it", "i:we"]


def test_the_same_pronouns_are_no_difference() -> None:
    assert differing("He saw it.", "he sees IT!") == []
    assert differing("No pronoun.", "None here.") == []


def test_other_surroundings_are_chance() -> None:
    assert differing("They guess that many come.", "She counted with many.") == []
    assert differing('"They stated.', '"It was said.') == []  # a sign is no surrounding


def test_what_another_alignment_links_is_rescued() -> None:
    assert differing("They guess well.", "She counted on.", rescue=[(0, 0)]) == ["they:she"]


def test_words_that_are_linked_to_several_do_not_count() -> None:
    one, other = words_of("He left."), words_of("It and she left.")
    assert linked_differences([(0, 0), (0, 2)], one, other, ENGLISH.pronouns) == []
    assert linked_differences([(0, 2)], one, other, ENGLISH.pronouns) == [Difference(0, 2, "he", "she")]


def test_empty_texts_have_none() -> None:
    assert differing("", "He left.") == []
    assert differing("He left.", "") == []


@pytest.mark.parametrize("language", ["german", "french", "russian"])
def test_the_annotated_pairs_differ_in_their_pronoun(data: Callable[[str], Path], language: str) -> None:
    """The published noisy references, each against its reference: what was exchanged is what is found."""
    suite = read_suite(data("eval-anaphora") / f"test_data_{language}.jsonl.gz", "eval-anaphora")
    right = total = 0
    for example in suite:
        expected = example.tags.get("pronoun_pair")
        pronouns = {example.tags.get("reference_pronoun"), example.tags.get("system_pronoun")}
        if not pronouns <= ENGLISH.pronouns:
            continue
        total += 1
        right += differing(example.candidates[0][-1], example.candidates[1][-1]) == [expected]
    assert total > 480
    assert right == total


def test_the_noisy_reference_is_made_as_published(data: Callable[[str], Path]) -> None:
    suite = read_suite(data("eval-anaphora") / "test_data_german.jsonl.gz", "eval-anaphora")
    for example in islice(suite, 100):
        reference, noisy = (candidate[-1] for candidate in example.candidates)
        words = words_of(reference, ENGLISH)
        for difference in differences(words, words_of(noisy, ENGLISH), ENGLISH.pronouns):
            assert replace_pronoun(reference, words, difference.position, difference.system, ENGLISH) == noisy


# Pairs of lines.

FIGURE_1 = {
    "source": "Il était créatif, généreux, drôle, affectueux et talentueux, et il va beaucoup me manquer.",
    "reference": "He was creative, generous, funny, loving and talented, and I will miss him dearly.",
    "system": "It was creative, generous, funny, affectionate and talented, and we will greatly miss.",
}


def made(lines: list[Line], systems: int = 1, **settings: Any) -> tuple[list[Example], PairMaker]:
    maker = PairMaker(ENGLISH, [f"s{k}" for k in range(systems)], Settings(**settings))
    return list(maker.pairs(lines)), maker


def line(reference: str, *systems: str, number: int = 1) -> Line:
    return Line(number, "1", ("Before.", reference), tuple((f"Own {k}.", text) for k, text in enumerate(systems)), None)


def test_pairs_of_figure_1() -> None:
    texts = [(FIGURE_1[name],) for name in ("reference", "system", "source")]
    examples, _ = made([Line(1, "1", texts[0], (texts[1],), texts[2])])
    assert [example.candidates[1][-1] for example in examples] == [
        "It was creative, generous, funny, loving and talented, and I will miss him dearly.",
        "He was creative, generous, funny, loving and talented, and we will miss him dearly.",
        FIGURE_1["system"],
    ]
    assert {example.candidates[0] for example in examples} == {(FIGURE_1["reference"],)}
    assert {example.source for example in examples} == {(FIGURE_1["source"],)}
    assert [example.tags["kind"] for example in examples] == ["noisy", "noisy", "system"]
    assert [example.tags.get("error") for example in examples] == ["gender", "number", None]
    assert examples[2].tags["pronoun_pairs"] == ["he:it", "i:we"]
    assert all(example.gold == 0 for example in examples)
    assert len({example.id for example in examples}) == 3


def test_contexts() -> None:
    noisy, system = made([line("He left.", "It left.")])[0]
    assert noisy.candidates == (("Before.", "He left."), ("Before.", "It left."))
    assert system.candidates == (("Before.", "He left."), ("Own 0.", "It left."))
    assert system.source == ("", "")
    _, common = made([line("He left.", "It left.")], own_context=False)[0]
    assert common.candidates[1] == ("Before.", "It left.")


def test_what_systems_do_alike_is_one_pair() -> None:
    lines = [line("He left.", "It left.", "It left.", "It  gone left."), line("He left.", "It left.", "", "", number=2)]
    examples, maker = made(lines, systems=3)
    noisy = [example for example in examples if example.tags["kind"] == "noisy"]
    assert len(noisy) == 1
    assert noisy[0].tags["systems"] == ["s0", "s1"]
    assert maker.statistics.duplicates == {"noisy": 2, "system": 2}  # the second line repeats the first
    assert maker.statistics.pairs == {"noisy": 1, "system": 1}
    assert maker.statistics.to_dict()["pronoun_pairs"] == {"he:it": 1}


def test_only_pairs_that_annotators_agree_on() -> None:
    judged = {
        "he:it": PairJudgments(0.9, 9, 1, 0),
        "i:we": PairJudgments(0.7, 9, 1, 0),
        "she:he": PairJudgments(1.0, 0, 5, 0),
    }
    lines = [line("He left and I stayed and she slept.", "It left and we stayed and he slept.")]
    noisy, system = made(lines, judged=judged)[0]
    assert noisy.tags["pronoun_pair"] == "he:it"
    assert (noisy.tags["human_agreement"], noisy.tags["human_reference"], noisy.tags["human_system"]) == (0.9, 9, 1)
    assert system.tags["pronoun_pair"] == "he:it"
    _, maker = made(lines, judged=judged)
    assert (maker.statistics.differing, maker.statistics.left_out) == (3, 2)
    assert made(lines, judged={"they:it": PairJudgments(1.0, 1, 0, 0)})[0] == []


def test_kinds_and_years() -> None:
    lines = [line("He left.", "It left.")]
    (noisy,), _ = made(lines, kind="noisy", year="2013")
    assert (noisy.tags["kind"], noisy.tags["year"], noisy.id) == ("noisy", "2013", "2013/1/noisy/0-he-it")
    (system,), _ = made(lines, kind="system")
    assert system.tags["kind"] == "system"
    with pytest.raises(AnaphoraError, match="unknown kind of pairs 'x'"):
        Settings(kind="x")


def test_links_of_an_aligner_decide_alone_if_asked() -> None:
    def pairs_with(aligner: str) -> list[str]:
        maker = PairMaker(ENGLISH, ["s"], Settings(kind="noisy", aligner=aligner), [[[(0, 2)]]])
        lines = [line("He left town.", "It left she.")]
        return [str(example.tags["pronoun_pair"]) for example in maker.pairs(lines)]

    assert pairs_with("statistical") == ["he:she"]
    assert pairs_with("rescued") == ["he:it"]  # which the edit distance finds by itself


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
    actual = {name: counts.to_dict() for name, counts in count_pairs([german, french]).items()}
    assert actual == {
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
