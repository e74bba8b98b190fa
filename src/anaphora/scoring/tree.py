"""The prefix tree of an example's candidates, laid out in one row: what they share is computed once.

Candidates are sequences of token ids. Each distinct prefix of a candidate is a node; a node's row asks for the
probabilities of what may follow it. Nodes stand in preorder, so that a node and all that follow from it are a
contiguous range, and "node j is on the way to node i" is j ≤ i < end[j]: the attention mask of the whole tree is one
comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anaphora.suites.example import common_prefix

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree of n nodes.

    tokens: (n,), the token read at each node; the first is what the model starts from
    depth: (n,), how many tokens come before it: its position
    end: (n,), one past the last node that follows from it
    paths: for each candidate, the nodes that predict its tokens and the tokens that they predict, one for one
    """

    tokens: Ints
    depth: Ints
    end: Ints
    paths: tuple[tuple[Ints, Ints], ...]

    def __len__(self) -> int:
        return len(self.tokens)


def build_tree(prompt: Sequence[int], candidates: Sequence[Sequence[int]]) -> Tree:
    """Return the tree of a prompt (at least one token: the start symbol) and what may follow it.

    The prompt is read, not predicted. The last token of a candidate is predicted and never read.
    """
    children: list[dict[int, int]] = [{} for _ in prompt]
    tokens, depth = list(prompt), list(range(len(prompt)))
    for node, token in enumerate(prompt[1:]):
        children[node][token] = node + 1
    paths: list[tuple[list[int], Sequence[int]]] = []
    for candidate in candidates:
        node, nodes = len(prompt) - 1, []
        for position, token in enumerate(candidate):
            nodes.append(node)
            if position == len(candidate) - 1:
                break
            following = children[node].get(token)
            if following is None:
                following = len(tokens)
                tokens.append(token)
                depth.append(depth[node] + 1)
                children[node][token] = following
                children.append({})
            node = following
        paths.append((nodes, candidate))
    return _in_preorder(tokens, depth, children, paths)


def _in_preorder(
    tokens: list[int],
    depth: list[int],
    children: list[dict[int, int]],
    paths: list[tuple[list[int], Sequence[int]]],
) -> Tree:
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(children[node].values()))
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    depths = np.array(depth, np.int64)[order]
    return Tree(
        tokens=np.array(tokens, np.int64)[order],
        depth=depths,
        end=_ends(depths),
        paths=tuple((position[np.array(nodes, np.int64)], np.array(ids, np.int64)) for nodes, ids in paths),
    )


def _ends(depth: Ints) -> Ints:
    """Return where the range of each node ends: at the next node that is not deeper."""
    n = len(depth)
    end = np.full(n, n, np.int64)
    open_nodes: list[int] = []
    for node, d in enumerate(depth.tolist()):
        while open_nodes and depth[open_nodes[-1]] >= d:
            end[open_nodes.pop()] = node
        open_nodes.append(node)
    return end


def saved_work(questions: Iterable[tuple[Sequence[Any], Sequence[Sequence[Any]]]]) -> float:
    """Return the share of tokens that need not be computed, given sources (or prompts) and their candidates.

    Sorted, a candidate shares with the one before it what it shares with any: a tree has no more nodes than that.
    """
    plain = tree = 0
    for source, candidates in questions:
        ordered = sorted(map(tuple, candidates))
        sizes = sum(map(len, ordered))
        shared = sum(common_prefix(pair) for pair in pairwise(ordered))
        plain += len(source) * len(ordered) + sizes
        tree += len(source) + sizes - shared
    return 1 - tree / plain if plain else 0.0


def predictions(trees: Sequence[Tree], margins: bool) -> tuple[Ints, Ints, Ints]:
    """Return what is predicted for the candidates of all trees, one after the other.

    margins: leave out what all candidates of a tree share
    Returns the node of each predicted token, numbered over all trees; the token; and the number of each candidate's.
    """
    nodes, tokens, lengths = [], [], []
    start = 0
    for tree in trees:
        shared = common_prefix([candidate.tolist() for _, candidate in tree.paths]) if margins else 0
        for path, candidate in tree.paths:
            nodes.append(path[shared:] + start)
            tokens.append(candidate[shared:])
            lengths.append(len(candidate) - shared)
        start += len(tree)
    return np.concatenate(nodes), np.concatenate(tokens), np.array(lengths, np.int64)
