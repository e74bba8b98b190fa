"""Alignments are compared with given ones by precision, recall and F of their points."""

from __future__ import annotations

import pytest

from anaphora.align.agreement import agreement


def test_points_are_counted_over_all_pairs() -> None:
    """Found 4, given 5, both 3: two in the first pair, one in the second."""
    found = [((0, 0), (1, 1), (2, 2)), ((0, 1),), ()]
    given = [((0, 0), (1, 1), (2, 3)), ((0, 1),), ((5, 5),)]
    got = agreement(found, given)
    assert (got.found, got.given, got.both) == (4, 5, 3)
    assert (got.precision, got.recall) == (3 / 4, 3 / 5)
    assert got.f == pytest.approx(2 / (4 / 3 + 5 / 3))  # the harmonic mean
    assert got.to_dict() == {"found": 4, "given": 5, "both": 3, "precision": 0.75, "recall": 0.6, "f": got.f}


def test_a_point_given_twice_counts_once() -> None:
    assert agreement([((0, 0), (0, 0))], [((0, 0),)]).precision == 1.0


def test_nothing_is_no_figure() -> None:
    nothing = agreement([()], [((0, 0),)])
    assert (nothing.precision, nothing.recall, nothing.f) == (None, 0.0, None)
    assert agreement([((0, 0),)], [()]).recall is None


def test_lists_of_different_lengths_do_not_belong_together() -> None:
    with pytest.raises(ValueError, match="longer"):
        agreement([()], [(), ()])
