"""Which pronouns differ: found in the same surroundings, or where another alignment links them as well."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from anaphora.languages.pronouns import load_readings
from anaphora.measure.differences import Difference, Links, differences, linked_differences
from anaphora.measure.words import exchanged, words_of
from anaphora.suites.formats import read_suite

ENGLISH = load_readings("en")


def found(reference: str, system: str, rescue: Links = ()) -> list[str]:
    one, other = words_of(reference, ENGLISH), words_of(system, ENGLISH)
    return [difference.pair for difference in differences(one, other, ENGLISH.pronouns, rescue)]


def test_figure_1() -> None:
    reference = "He was creative, generous, funny, loving and talented, and I will miss him dearly."
    system = "It was creative, generous, funny, affectionate and talented, and we will greatly miss."
    assert found(reference, system) == ["he:it", "i:we"]


def test_the_same_pronouns_are_no_difference() -> None:
    assert found("He saw it.", "he sees IT!") == []
    assert found("No pronoun.", "None here.") == []


def test_other_surroundings_are_chance() -> None:
    assert found("They guess that many come.", "She counted with many.") == []
    assert found('"They stated.', '"It was said.') == []  # a sign is no surrounding


def test_what_another_alignment_links_is_rescued() -> None:
    assert found("They guess well.", "She counted on.", rescue=[(0, 0)]) == ["they:she"]


def test_words_that_are_linked_to_several_do_not_count() -> None:
    one, other = words_of("He left."), words_of("It and she left.")
    assert linked_differences([(0, 0), (0, 2)], one, other, ENGLISH.pronouns) == []
    assert linked_differences([(0, 2)], one, other, ENGLISH.pronouns) == [Difference(0, 2, "he", "she")]


def test_empty_texts_have_none() -> None:
    assert found("", "He left.") == []
    assert found("He left.", "") == []


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
        right += found(example.candidates[0][-1], example.candidates[1][-1]) == [expected]
    assert total > 480
    assert right == total


def test_the_noisy_reference_is_made_as_published(data: Callable[[str], Path]) -> None:
    suite = read_suite(data("eval-anaphora") / "test_data_german.jsonl.gz", "eval-anaphora")
    for example in islice(suite, 100):
        reference, noisy = (candidate[-1] for candidate in example.candidates)
        words = words_of(reference, ENGLISH)
        for difference in differences(words, words_of(noisy, ENGLISH), ENGLISH.pronouns):
            assert exchanged(reference, words, difference.place, difference.system, ENGLISH) == noisy
