"""What is right without understanding, counted by hand."""

from __future__ import annotations

import pytest

from anaphora.evaluation.guessing import guessing


def test_at_random() -> None:
    assert guessing([(2, {}), (3, {}), (2, {})]) == pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 3)


def test_always_the_most_frequent_answer() -> None:
    answers = ["es", "es", "er", "sie"]
    assert guessing((3, {"reference_pronoun": answer}) for answer in answers) == 0.5


def test_where_answers_are_balanced_it_is_chance() -> None:
    assert guessing((3, {"reference_gender": gender}) for gender in ("f", "m", "n")) == pytest.approx(1 / 3)


def test_nothing_is_asked() -> None:
    assert guessing([]) is None
