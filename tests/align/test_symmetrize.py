"""Two directions are merged as the Moses manual says; small cases are worked out by hand."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anaphora.align.alignment import Alignment, Point
from anaphora.align.symmetrize import DEFAULT, HEURISTICS, symmetrize
from anaphora.core.errors import AnaphoraError

FIXED = settings(derandomize=True, deadline=None, max_examples=200)
GROWN = ("grow-diag", "grow-diag-final", "grow-diag-final-and")
SIDE = st.integers(1, 6)
Both = tuple[frozenset[Point], frozenset[Point]]


@st.composite
def directions(draw: st.DrawFn) -> Both:
    """As models give them: forward one source word per target word, backward one target word per source word."""
    sources, targets = draw(SIDE), draw(SIDE)
    forward = [draw(st.integers(-1, sources - 1)) for _ in range(targets)]
    backward = [draw(st.integers(-1, targets - 1)) for _ in range(sources)]
    one = frozenset((s, t) for t, s in enumerate(forward) if s >= 0)
    return one, frozenset((s, t) for s, t in enumerate(backward) if t >= 0)


@st.composite
def any_sets(draw: st.DrawFn) -> Both:
    """As files of other programs may have them."""
    points = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14)
    return draw(points), draw(points)


BOTH = directions() | any_sets()


def turned(points: Iterable[Point]) -> frozenset[Point]:
    return frozenset((t, s) for s, t in points)


# ------------------------------------------------------------------------------------------------- worked by hand

# forward    T0 T1 T2     backward   T0 T1 T2
#        S0  .  .  .             S0  .  .  x
#        S1  .  x  x             S1  .  x  .
FORWARD, BACKWARD = ((1, 1), (1, 2)), ((0, 2), (1, 1))


def test_intersection_and_union() -> None:
    assert symmetrize(FORWARD, BACKWARD, "intersection") == ((1, 1),)
    assert symmetrize(FORWARD, BACKWARD, "union") == ((0, 2), (1, 1), (1, 2))
    assert symmetrize(FORWARD, BACKWARD, "forward") == FORWARD
    assert symmetrize(FORWARD, BACKWARD, "backward") == BACKWARD


def test_neighbours_are_tried_straight_ones_first() -> None:
    """From 1-1, the next target word is tried before the diagonals: T2 is free, 1-2 joins. Then 0-2 joins for S0.

    With diagonals first 0-2 would join and 1-2 would not: S1 and T2 would have links.
    """
    assert symmetrize(FORWARD, BACKWARD, "grow-diag") == ((0, 2), (1, 1), (1, 2))


def test_points_grow_from_points_that_have_grown() -> None:
    """3-3 is not beside 0-0, but beside 2-2, which is beside 1-1, which is beside 0-0."""
    chain = ((1, 1), (2, 2), (3, 3))
    assert symmetrize(((0, 0), *chain), ((0, 0),), "grow-diag") == ((0, 0), *chain)
    assert symmetrize(((0, 0), (2, 2)), ((0, 0),), "grow-diag") == ((0, 0),)  # a gap ends it


def test_a_point_whose_words_have_links_does_not_join() -> None:
    """0-1 is beside 0-0 and 1-1, but S0 and T1 are taken."""
    assert symmetrize(((0, 0), (1, 1)), ((0, 0), (1, 1), (0, 1)), "grow-diag-final") == ((0, 0), (1, 1))


def test_final_takes_what_leaves_a_word_free_and_final_and_what_leaves_both() -> None:
    """2-4 is beside nothing: T4 is free, S2 has its link 2-0. Final takes it, final-and does not. 4-2 has both free."""
    forward, backward = ((2, 0), (2, 4)), ((2, 0), (4, 2))
    assert symmetrize(forward, backward, "grow-diag") == ((2, 0),)
    assert symmetrize(forward, backward, "grow-diag-final-and") == ((2, 0), (4, 2))
    assert symmetrize(forward, backward, "grow-diag-final") == ((2, 0), (2, 4), (4, 2))


def test_final_takes_forward_points_first() -> None:
    """Nothing is shared. 0-2 of the forward direction takes S0 and T2, so that 2-2 comes too late for `and`."""
    assert symmetrize(((0, 2),), ((2, 2),), "grow-diag-final-and") == ((0, 2),)
    assert symmetrize(((2, 2),), ((0, 2),), "grow-diag-final-and") == ((2, 2),)
    assert symmetrize(((0, 2),), ((2, 2),), "grow-diag-final") == ((0, 2), (2, 2))  # S2 is free


def test_final_goes_through_target_words_in_order() -> None:
    """T0 comes before T2: 2-0 joins, and leaves S2 no longer free for 2-2."""
    assert symmetrize(((2, 2), (2, 0)), (), "grow-diag-final-and") == ((2, 0),)


def test_the_default_is_that_of_apt() -> None:
    assert DEFAULT == "grow-diag-final"
    forward, backward = ((2, 0), (2, 4)), ((2, 0), (4, 2))
    assert symmetrize(forward, backward) == symmetrize(forward, backward, "grow-diag-final")


def test_an_unknown_heuristic() -> None:
    with pytest.raises(
        AnaphoraError, match=r"unknown symmetrisation 'grow-diag-finale' \(did you mean grow-diag-final"
    ):
        symmetrize((), (), "grow-diag-finale")


# --------------------------------------------------------------------------------- against the manual, cell by cell


def by_the_manual(forward: frozenset[Point], backward: frozenset[Point], heuristic: str) -> Alignment:
    """The pseudo-code of the Moses manual, its English being the target: every cell is looked at in every pass."""
    cells = range(1 + max((max(p) for p in forward | backward), default=0))
    alignment = set(forward & backward)

    def source_aligned(s: int) -> bool:
        return any(p[0] == s for p in alignment)

    def target_aligned(t: int) -> bool:
        return any(p[1] == t for p in alignment)

    neighbouring = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))
    new_points = True
    while new_points:
        new_points = False
        for e in cells:
            for f in cells:
                if (f, e) in alignment:
                    for e_step, f_step in neighbouring:
                        e_new, f_new = e + e_step, f + f_step
                        if not (target_aligned(e_new) and source_aligned(f_new)) and (
                            (f_new, e_new) in forward or (f_new, e_new) in backward
                        ):
                            alignment.add((f_new, e_new))
                            new_points = True
    for direction in (forward, backward) if "final" in heuristic else ():
        for e in cells:
            for f in cells:
                if (f, e) in direction:
                    taken = [target_aligned(e), source_aligned(f)]
                    if not (any(taken) if heuristic.endswith("and") else all(taken)):
                        alignment.add((f, e))
    return tuple(sorted(alignment))


@FIXED
@given(BOTH, st.sampled_from(GROWN))
def test_grown_alignments_are_those_of_the_manual(both: Both, heuristic: str) -> None:
    assert symmetrize(*both, heuristic) == by_the_manual(*both, heuristic)


# ------------------------------------------------------------------------------------------------------- properties


@FIXED
@given(BOTH, st.sampled_from(HEURISTICS))
def test_every_result_lies_between_intersection_and_union(both: Both, heuristic: str) -> None:
    found = symmetrize(*both, heuristic)
    assert both[0] & both[1] <= set(found) <= both[0] | both[1]
    assert list(found) == sorted(set(found))


@FIXED
@given(BOTH)
def test_final_steps_only_add(both: Both) -> None:
    grown = set(symmetrize(*both, "grow-diag"))
    assert grown <= set(symmetrize(*both, "grow-diag-final"))
    assert grown <= set(symmetrize(*both, "grow-diag-final-and"))


@FIXED
@given(BOTH)
def test_final_links_every_word_that_the_union_links(both: Both) -> None:
    found, union = symmetrize(*both, "grow-diag-final"), both[0] | both[1]
    for side in (0, 1):
        assert {p[side] for p in found} == {p[side] for p in union}
    some = symmetrize(*both, "grow-diag-final-and")  # here, of every point of the union at least one word
    assert all(p[0] in {s for s, _ in some} or p[1] in {t for _, t in some} for p in union)


@FIXED
@given(BOTH, st.sampled_from(HEURISTICS))
def test_directions_that_agree_are_left_as_they_are(both: Both, heuristic: str) -> None:
    assert set(symmetrize(both[0], both[0], heuristic)) == both[0]


@FIXED
@given(BOTH)
def test_intersection_and_union_are_symmetric_under_transposition(both: Both) -> None:
    for heuristic in ("intersection", "union"):
        there = symmetrize(*both, heuristic)
        assert turned(symmetrize(turned(both[1]), turned(both[0]), heuristic)) == set(there)


@FIXED
@given(BOTH, st.sampled_from(GROWN[1:]))
def test_the_final_step_is_symmetric_under_transposition_if_the_same_direction_comes_first(
    both: Both, heuristic: str
) -> None:
    other = turned(both[0]), turned(both[1])  # what was forward is still the first argument
    assume(turned(symmetrize(*other, "grow-diag")) == set(symmetrize(*both, "grow-diag")))
    assert turned(symmetrize(*other, heuristic)) == set(symmetrize(*both, heuristic))


def test_grow_diag_is_not_symmetric_where_points_compete() -> None:
    """As published: the scan is by target words, so that the transposed scan may come to another point first."""
    forward, backward = {(0, 0), (2, 1), (1, 2)}, {(0, 1), (1, 0), (2, 1)}
    here = symmetrize(forward, backward, "grow-diag")
    there = turned(symmetrize(turned(backward), turned(forward), "grow-diag"))
    assert here == ((0, 1), (1, 0), (1, 2), (2, 1))
    assert there == {(0, 0), (1, 0), (1, 2), (2, 1)}
