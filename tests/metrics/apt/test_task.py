"""A confusion matrix is put in an order that a reader can follow."""

from __future__ import annotations

from collections import Counter

from anaphora.metrics.apt.task import NONE, confusion_of


def test_the_most_often_right_comes_first_then_the_most_frequent_then_the_alphabet() -> None:
    pairs = Counter({("b", "b"): 2, ("a", "a"): 2, ("a", "c"): 1, ("z", NONE): 5, (NONE, "d"): 1, (NONE, NONE): 9})
    confusion = confusion_of(pairs)
    assert confusion.labels == ("a", "b", "z", "c", "d", NONE)
    assert confusion.counts[0] == (2, 0, 0, 1, 0, 0)
    assert confusion.counts[2] == (0, 0, 0, 0, 0, 5)
    assert confusion.counts[5] == (0, 0, 0, 0, 1, 9)


def test_nothing_is_an_empty_matrix() -> None:
    assert confusion_of(Counter()).labels == ()
