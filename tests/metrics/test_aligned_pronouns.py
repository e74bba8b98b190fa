"""Source pronouns and the words aligned to them: in any case, in the order of the text, each word once."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.metrics.aligned_pronouns import Aligned, Occurrence, aligned_text, occurrences

PATH = Path("hyp.align")


def test_words_of_each_occurrence() -> None:
    source = ["It works , and they know it", "no pronoun here", "IT"]
    candidate = Aligned(["Cela marche et ils le savent", "rien", "Il"], [((0, 0), (4, 3), (5, 5), (5, 4)), (), ()])
    reference = Aligned(["Il marche , ils le savent", "rien", "Il"], [((0, 0), (4, 3), (4, 3)), (), ((0, 0),)])
    assert list(occurrences(source, candidate, reference, ["it", "They"])) == [
        Occurrence(0, "it", ("Cela",), ("Il",)),
        Occurrence(0, "they", ("ils",), ("ils",)),
        Occurrence(0, "it", (), ()),
        Occurrence(2, "it", (), ("Il",)),
    ]


def test_words_are_in_the_order_of_the_text_and_counted_once() -> None:
    text = Aligned(["a b c"], [((0, 2), (0, 0), (0, 2))])
    (found,) = occurrences(["it"], text, text, ["it"])
    assert found.candidate == ("a", "c")


def test_case_of_the_target_counts_unless_told_otherwise() -> None:
    candidate, reference = Aligned(["Il"], [((0, 0),)]), Aligned(["il"], [((0, 0),)])
    (strict,) = occurrences(["it"], candidate, reference, ["it"])
    (lenient,) = occurrences(["it"], candidate, reference, ["it"], lowercase=True)
    assert (strict.matches, lenient.matches) == (0, 1)


@pytest.mark.parametrize(
    ("candidate", "reference", "matches"),
    [("", "a", 0), ("a", "a", 1), ("a a a", "a a", 2), ("a b b", "b a b", 3), ("a b", "c", 0)],
)
def test_matches_are_clipped_counts(candidate: str, reference: str, matches: int) -> None:
    assert Occurrence(0, "it", tuple(candidate.split()), tuple(reference.split())).matches == matches


def test_points_past_the_source_are_passed_over_and_counted() -> None:
    found = aligned_text(["it is", "so"], ["il est", "ainsi"], ["0-0 1-1 2-1 7-0", "0-0"], PATH)
    assert found.outside == 1
    (one,) = occurrences(["it is", "so"], found, found, ["it"])
    assert one.candidate == ("il",)


def test_points_outside_the_translation_are_an_error() -> None:
    with pytest.raises(BadInput, match=r"hyp.align: line 2: point 0-3 is outside the translation of 1 words\. Align"):
        aligned_text(["it", "so"], ["il", "ainsi"], ["0-0", "0-3"], PATH)


def test_a_line_that_is_no_alignment() -> None:
    with pytest.raises(BadInput, match=r"hyp.align: line 1: not an alignment point: '0:0'"):
        aligned_text(["it"], ["il"], ["0:0"], PATH)
