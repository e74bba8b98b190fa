"""Who is asked what: every item as often as designed, equal loads, mixed pairs, balanced orders, the same by seed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.study.assignment import assign


@given(st.integers(1, 40), st.integers(1, 7), st.data())
def test_the_design_is_kept(items: int, people: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(1, people))
    names = [f"p{k}" for k in range(people)]
    found = assign([f"i{k}" for k in range(items)], names, overlap, 2, data.draw(st.integers(0, 5)))
    assert [annotator.name for annotator in found] == names
    asked = Counter(one.item for annotator in found for one in annotator.assignments)
    assert asked == {f"i{k}": overlap for k in range(items)}
    loads = [len(annotator.assignments) for annotator in found]
    assert max(loads) - min(loads) <= 1
    for annotator in found:
        items_of_one = [one.item for one in annotator.assignments]
        assert len(set(items_of_one)) == len(items_of_one)
        swapped = sum(one.order == (1, 0) for one in annotator.assignments)
        assert abs(2 * swapped - len(items_of_one)) <= 1


def test_pairs_of_people_are_mixed() -> None:
    found = assign([str(k) for k in range(120)], list("abcd"), 2, 2, seed=3)
    items = {annotator.name: {one.item for one in annotator.assignments} for annotator in found}
    shared = [len(items[a] & items[b]) for a, b in combinations("abcd", 2)]
    assert sum(shared) == 120
    assert min(shared) >= 15  # 20 each would be even


def test_everybody_has_an_order_of_their_own_and_the_seed_decides() -> None:
    items = [str(k) for k in range(50)]
    first, second = assign(items, ["a", "b"], 2, 2, seed=1)
    assert [one.item for one in first.assignments] != items
    assert [one.item for one in first.assignments] != [one.item for one in second.assignments]
    orders = {one.item: one.order for one in first.assignments}
    assert any(orders[one.item] != one.order for one in second.assignments)
    assert assign(items, ["a", "b"], 2, 2, seed=1) == [first, second]
    assert assign(items, ["a", "b"], 2, 2, seed=2) != [first, second]


@pytest.mark.parametrize("candidates", [1])
def test_a_gap_has_one_order(candidates: int) -> None:
    (found,) = assign(["x", "y"], ["a"], 1, candidates, seed=1)
    assert {one.order for one in found.assignments} == {(0,)}
