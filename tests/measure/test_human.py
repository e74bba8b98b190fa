"""Agreement with people: ties left out, AC1 by its definition."""

from __future__ import annotations

import pytest

from anaphora.measure.human import ac1, human_agreement
from anaphora.suites.example import Tag
from anaphora.systems.scored import Scored


def item(better: float, worse: float, **tags: Tag) -> Scored:
    return Scored("x", 0, tags, [better, worse])


def test_ac1_by_hand() -> None:
    # 8 of 10 alike; "reference" is 8 of the first rater and 8 of the second: q = 0.8, e = 0.32
    ratings = [(True, True)] * 7 + [(False, False)] + [(True, False), (False, True)]
    assert ac1(ratings) == pytest.approx((0.8 - 0.32) / (1 - 0.32))
    assert ac1([(True, True)] * 5) == 1.0  # where κ is not defined
    assert ac1([(True, False), (False, True)]) == pytest.approx(-1.0)


def test_ties_of_people_are_left_out() -> None:
    items = [
        item(2, 1, preference="REF"),
        item(1, 2, preference="SYS"),
        item(1, 2, preference="REF"),
        item(1, 1, preference="REF"),  # a tie of the scores is no preference for the reference
        item(2, 1, preference="Tie"),
    ]
    found = human_agreement(items)
    assert found is not None
    assert (found.pairs, found.ties, found.accuracy) == (4, 1, 0.5)


def test_counts_of_a_pronoun_pair() -> None:
    counts = {"human_reference": 3, "human_system": 5, "human_ties": 1}
    found = human_agreement([item(1, 2, **counts), item(2, 1, **{**counts, "human_ties": 9}), item(2, 1)])
    assert found is not None
    assert (found.pairs, found.ties, found.accuracy) == (1, 1, 1.0)
    losses = human_agreement([item(1, 2, **counts)], minimize=True)
    assert losses is not None
    assert losses.accuracy == 0.0


def test_nobody_was_asked() -> None:
    assert human_agreement([item(1, 2)]) is None
    only_ties = human_agreement([item(1, 2, preference="Tie")])
    assert only_ties is not None
    assert (only_ties.pairs, only_ties.accuracy, only_ties.ac1) == (0, None, None)
