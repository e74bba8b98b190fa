"""A tree holds every proper prefix of the candidates once, in an order in which "is on the way to" is a range."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.scoring.tree import Tree, build_tree, saved_work

# Few different tokens, so that candidates share much, diverge anywhere, repeat, and are prefixes of each other.
tokens = st.integers(0, 2)
prompts = st.lists(tokens, min_size=1, max_size=4)
candidate_sets = st.lists(st.lists(tokens, min_size=1, max_size=6), min_size=1, max_size=5)


def prefixes(tree: Tree) -> list[tuple[int, ...]]:
    """What stands at each node when one walks up to it: the tokens on its way, by depth alone."""
    actual: list[tuple[int, ...]] = []
    for token, depth in zip(tree.tokens.tolist(), tree.depth.tolist(), strict=True):
        before = next((p for p in reversed(actual) if len(p) == depth), ())
        actual.append((*before, token))
    return actual


@given(prompts, candidate_sets)
def test_the_nodes_are_the_distinct_proper_prefixes(prompt: list[int], candidates: list[list[int]]) -> None:
    expected = {tuple(prompt[:n]) for n in range(1, len(prompt) + 1)}
    for candidate in candidates:
        expected |= {(*prompt, *candidate[:n]) for n in range(len(candidate))}
    actual = prefixes(build_tree(prompt, candidates))
    assert len(actual) == len(set(actual))
    assert set(actual) == expected


@given(prompts, candidate_sets)
def test_a_path_predicts_its_candidate_token_by_token(prompt: list[int], candidates: list[list[int]]) -> None:
    tree = build_tree(prompt, candidates)
    at = prefixes(tree)
    assert len(tree.paths) == len(candidates)
    for candidate, (nodes, predicted) in zip(candidates, tree.paths, strict=True):
        assert predicted.tolist() == candidate
        assert [at[node] for node in nodes] == [(*prompt, *candidate[:n]) for n in range(len(candidate))]


@given(prompts, candidate_sets)
def test_a_node_is_on_the_way_to_a_range(prompt: list[int], candidates: list[list[int]]) -> None:
    tree = build_tree(prompt, candidates)
    at = prefixes(tree)
    here = np.arange(len(tree))
    by_range = (here[None, :] <= here[:, None]) & (here[:, None] < tree.end[None, :])
    naive = [[prefix[: len(other)] == other for other in at] for prefix in at]
    assert by_range.tolist() == naive
    assert tree.depth.tolist() == [len(prefix) - 1 for prefix in at]


@given(prompts, candidate_sets)
def test_it_never_reads_more_than_plain_scoring(prompt: list[int], candidates: list[list[int]]) -> None:
    plain = sum(len(prompt) + len(candidate) - 1 for candidate in candidates)
    assert len(build_tree(prompt, candidates)) <= plain


@given(st.lists(st.tuples(prompts, candidate_sets), max_size=4))
def test_what_it_saves(questions: list[tuple[list[int], list[list[int]]]]) -> None:
    """Counted by distinct prefixes, which are what a tree computes."""
    plain = sum(len(source) + len(candidate) for source, candidates in questions for candidate in candidates)
    tree = sum(
        len(source) + len({tuple(c[: n + 1]) for c in candidates for n in range(len(c))})
        for source, candidates in questions
    )
    assert saved_work(questions) == pytest.approx(1 - tree / plain if plain else 0.0)


def test_what_it_saves_of_a_contrastive_pair() -> None:
    assert saved_work([(["a", "b", "c"], [["x", "y", "z"], ["x", "w", "z"]])]) == pytest.approx(1 - (3 + 5) / 12)


def test_a_contrastive_pair() -> None:
    """0 | 5 6 7 8 against 5 9 8: the start and 5 are shared; the last tokens are predicted, never read."""
    tree = build_tree([0], [[5, 6, 7, 8], [5, 9, 8]])
    assert tree.tokens.tolist() == [0, 5, 6, 7, 9]
    assert tree.depth.tolist() == [0, 1, 2, 3, 2]
    assert tree.end.tolist() == [5, 5, 4, 4, 5]
    assert [nodes.tolist() for nodes, _ in tree.paths] == [[0, 1, 2, 3], [0, 1, 4]]


def test_branches_in_turns_still_stand_in_preorder() -> None:
    """Candidates that come back to an earlier branch: what follows from a node stays together."""
    tree = build_tree([0], [[1, 2, 9], [3, 4, 9], [1, 5, 9]])
    assert tree.tokens.tolist() == [0, 1, 2, 5, 3, 4]
    assert tree.end.tolist() == [6, 4, 3, 4, 6, 6]


@pytest.mark.parametrize(
    ("candidates", "nodes"),
    [
        ([[7], [8]], 1),  # nothing but what the prompt predicts
        ([[7, 8], [7, 8]], 2),  # the same twice
        ([[7, 8], [7, 8, 9], [7]], 3),  # prefixes of each other
        ([[]], 1),  # nothing to predict
    ],
)
def test_small_ones(candidates: list[list[int]], nodes: int) -> None:
    tree = build_tree([3], candidates)
    assert len(tree) == nodes
    assert [predicted.tolist() for _, predicted in tree.paths] == candidates


def test_a_prompt_that_repeats_itself_is_not_folded() -> None:
    tree = build_tree([4, 4, 4], [[4, 4], [4, 5]])
    assert tree.tokens.tolist() == [4, 4, 4, 4]
    assert [nodes.tolist() for nodes, _ in tree.paths] == [[2, 3], [2, 3]]
