"""A content word changes places with the function word above it; nothing gets lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.annotate.trees import Tree, promote


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A random forest: each word depends on an earlier one of a random order, or is a root."""
    size = draw(st.integers(2, 8))
    order = draw(st.permutations(range(size)))
    heads: list[int | None] = [None] * size
    for place, word in enumerate(order):
        if place:
            heads[word] = order[draw(st.integers(0, place - 1))]
    return Tree(heads, [f"r{i}" for i in range(size)])


def test_a_noun_takes_the_place_of_its_preposition() -> None:
    tree = Tree([None, 0, 1, 1], ["root", "prep", "pobj", "advmod"])  # walked / in / gardens / right
    promote(tree, 2, "case")
    assert tree.heads == [None, 2, 0, 2]
    assert tree.relations == ["root", "case", "prep", "advmod"]


def test_a_root_has_no_place_to_take() -> None:
    with pytest.raises(ValueError, match="root"):
        promote(Tree([None], ["root"]), 0, "case")


@given(trees(), st.data())
def test_a_tree_stays_a_tree(tree: Tree, data: st.DataObject) -> None:
    child = data.draw(st.sampled_from([i for i, head in enumerate(tree.heads) if head is not None]))
    parent, above = tree.heads[child], tree.heads[tree.heads[child] or 0]
    promote(tree, child, "function")
    assert tree.heads[parent or 0] == child
    assert tree.heads[child] == above
    assert tree.heads.count(None) == 1
    for word in range(len(tree.heads)):
        way, place = set(), word
        while (head := tree.heads[place]) is not None:
            assert place not in way
            way.add(place)
            place = head
