"""Packed and padded: every token has its place, and sees what the tree lets it see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from anaphora.systems.huggingface.layout import Layout, packed_rows  # noqa: E402
from anaphora.systems.huggingface.tree import build_tree  # noqa: E402

CPU = torch.device("cpu")
candidates = st.lists(st.lists(st.integers(3, 5), min_size=1, max_size=6), min_size=1, max_size=4)


@given(sizes=st.lists(st.integers(1, 7), min_size=1, max_size=6))
def test_padding_and_packing_are_inverse(sizes: list[int]) -> None:
    rows = packed_rows([np.arange(n) for n in sizes], [np.full(n, n) for n in sizes], CPU)
    packed = torch.arange(sum(sizes))
    padded = packed[rows.pad]
    assert padded[rows.unpad].tolist() == packed.tolist()
    assert padded.view(len(sizes), max(sizes))[:, 0].tolist() == np.cumsum([0, *sizes[:-1]]).tolist()
    assert rows.positions.tolist() == [place for n in sizes for place in range(n)]
    assert (rows.end > 0).sum(1).tolist() == sizes


@given(asked=st.lists(candidates, min_size=1, max_size=3))
def test_a_node_sees_its_path_and_nothing_else(asked: list[list[list[int]]]) -> None:
    trees = [build_tree((0,), tuple(map(tuple, one))) for one in asked]
    layout = Layout(packed_rows([tree.depth for tree in trees], [tree.end for tree in trees], CPU))
    mask = layout.mask("decoder")[:, 0]
    for number, tree in enumerate(trees):
        for path, _ in tree.paths:
            for depth, node in enumerate(path):
                assert np.flatnonzero(mask[number, node].numpy()).tolist() == sorted(path[: depth + 1].tolist())
        for beyond in range(len(tree), mask.shape[1]):
            assert mask[number, beyond].sum() == 1  # itself: attention over nothing is not a number
    assert layout.mask("decoder") is layout.mask("decoder")


@given(asked=candidates, window=st.integers(1, 4))
def test_a_window_limits_how_far_back(asked: list[list[int]], window: int) -> None:
    tree = build_tree((0,), tuple(map(tuple, asked)))
    mask = Layout(packed_rows([tree.depth], [tree.end], CPU)).mask("decoder", window)[0, 0]
    for path, _ in tree.paths:
        for depth, node in enumerate(path):
            seen = path[max(0, depth - window + 1) : depth + 1]
            assert np.flatnonzero(mask[node].numpy()).tolist() == sorted(seen.tolist())
