"""Antecedents: from the tags of ContraPro and of mined items, and where their words are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.build.attacks.antecedent import Antecedent, check_tags, find, from_tags, sentence_of
from anaphora.core.errors import BadInput
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite

Make = Callable[..., Example]


def test_from_tags(example: Make) -> None:
    assert from_tags(example()) == Antecedent(1, "the hat", "den Hut", None)
    tagged = example(source_antecedent_head_pos="NN", source_antecedent="The bullet--", target_antecedent="die Kugel .")
    assert from_tags(tagged) == Antecedent(1, "The bullet", "die Kugel", "NN")


@pytest.mark.parametrize("missing", ["source_antecedent", "target_antecedent", "distance"])
def test_all_three_tags_are_needed(example: Make, missing: str) -> None:
    assert from_tags(example(**{missing: None})) is None


@pytest.mark.parametrize("bad", [{"distance": "1"}, {"source_antecedent": ["the", "hat"]}])
def test_tags_of_another_kind_are_none(example: Make, bad: dict[str, Any]) -> None:
    assert from_tags(example(**bad)) is None


def test_one_example_with_tags_is_enough(example: Make, suite: Callable[..., Suite]) -> None:
    check_tags(suite(example(distance=None), example("2")), "…")
    with pytest.raises(BadInput, match=r"small\.jsonl: no example has the tags source_antecedent, .* Do this\."):
        check_tags(suite(example(distance=None)), "Do this.")


@pytest.mark.parametrize(("distance", "index"), [(0, 2), (1, 1), (2, 0), (3, None), (-1, None)])
def test_the_sentence_is_counted_from_the_current_one(distance: int, index: int | None) -> None:
    assert sentence_of(("a", "b", "c"), Antecedent(distance, "x", "y")) == index


@pytest.mark.parametrize(
    ("words", "sentence", "place"),
    [
        ("The hat", "look, the hat.", (6, 13)),  # truecased text, records that are not
        ("the map", "in contrast to other maps, the map shows", (27, 34)),  # the release takes "o-the-r maps"
        ("a hat", "an extra hat, a hat", (14, 19)),
        ("my garden 's", "my garden's dying", (0, 11)),
        ("die Karte", "die Karten, die Karte", (12, 21)),
        ("the hat", "the hat and the hat", (0, 7)),
        ("the hat", "the old hat", None),
        ("the ( hat", "the (hat", (0, 8)),
        ("", "the hat", None),
    ],
)
def test_find(words: str, sentence: str, place: tuple[int, int] | None) -> None:
    found = find(words, sentence)
    assert (found.span() if found else None) == place


@given(st.lists(st.from_regex(r"[a-zäöü]{1,6}", fullmatch=True), min_size=1, max_size=4), st.text(), st.text())
def test_words_that_are_there_are_found(words: list[str], before: str, after: str) -> None:
    phrase = " ".join(words)
    found = find(phrase, f"{before} {phrase} {after}")
    assert found is not None
    assert re.sub(r"\s", "", found.group()).lower() == "".join(words).lower()
