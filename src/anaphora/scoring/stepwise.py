"""Prefix trees through any model that decodes step by step: its state is branched where candidates part.

All trees of a batch go down together, level by level; what candidates share is computed once, and the vocabulary is
projected once for each node. Models of the Marian architecture have a scorer of their own, which computes all levels at
once (`scoring/packed.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from anaphora.scoring.batching import pad, select_rows
from anaphora.scoring.encoded import CandidateScore, Ids
from anaphora.scoring.tree import Ints, Tree, predictions

ROWS = 256  # of the logits held at a time


class StepwiseScorer:
    """Scores the trees of a TranslationModel, which is in evaluation mode."""

    def __init__(self, model: Any, padding: int) -> None:
        self.model, self.padding = model, padding
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def score(
        self, trees: Sequence[Tree], inputs: Sequence[tuple[Ids, ...]], margins: bool = False
    ) -> list[list[CandidateScore]]:
        """Return the log-probabilities of every candidate of every tree.

        inputs: for each tree what the encoders read
        margins: leave out what all candidates of a tree share; the differences stay the same
        """
        columns = tuple(pad(column, self.padding).to(self.device) for column in zip(*inputs, strict=True))
        outputs = self._outputs(self.model.encode(columns), trees)
        nodes, tokens, lengths = predictions(trees, margins)
        values = self._log_probabilities(outputs, nodes, tokens)
        sums = iter([float(part.sum()) for part in np.split(values, np.cumsum(lengths)[:-1])])
        return [[(next(sums), len(candidate)) for _, candidate in tree.paths] for tree in trees]

    def _outputs(self, memory: Any, trees: Sequence[Tree]) -> Tensor:
        """(nodes of all trees, size), the decoder's output at each node."""
        parents = np.concatenate([_parents(tree.depth) for tree in trees])
        depth = np.concatenate([tree.depth for tree in trees])
        owner = np.repeat(np.arange(len(trees)), [len(tree) for tree in trees])
        tokens = np.concatenate([tree.tokens for tree in trees])
        first = np.repeat(np.cumsum([0, *(len(tree) for tree in trees)])[:-1], [len(tree) for tree in trees])
        rank = np.zeros(len(depth), np.int64)  # of each node among those of its level
        outputs: list[Tensor] = []
        order: list[Ints] = []
        rows, here, state = np.arange(len(trees)), memory, self.model.start(memory)
        for level in range(int(depth.max()) + 1):
            nodes = np.flatnonzero(depth == level)
            rank[nodes] = np.arange(len(nodes))
            if level:
                above = rank[first[nodes] + parents[nodes]]
                if not np.array_equal(above, np.arange(len(outputs[-1]))):
                    state = select_rows(state, self._index(above))
            if not np.array_equal(owner[nodes], rows):  # it is large, and mostly the same as one level above
                rows = owner[nodes]
                here = select_rows(memory, self._index(rows))
            output, state = self.model.step(here, state, self._index(tokens[nodes]))
            outputs.append(output)
            order.append(nodes)
        return torch.cat(outputs)[self._index(np.argsort(np.concatenate(order)))]

    def _log_probabilities(self, outputs: Tensor, nodes: Ints, tokens: Ints) -> Any:
        """Return the log-probability of each token; a node is projected once, however many candidates share it."""
        distinct, rows = np.unique(nodes, return_inverse=True)
        order = np.argsort(rows, kind="stable")
        values = np.empty(len(nodes))
        for start in range(0, len(distinct), ROWS):
            part = distinct[start : start + ROWS]
            logits = self.model.project(outputs[self._index(part)]).float()
            normalizers = logits.logsumexp(1)
            low, high = np.searchsorted(rows[order], [start, start + len(part)])
            asked = order[low:high]
            at, what = self._index(rows[asked] - start), self._index(tokens[asked])
            values[asked] = (logits[at, what] - normalizers[at]).double().cpu().numpy()
        return values

    def _index(self, values: Ints) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)


def _parents(depth: Ints) -> Ints:
    """Return the parent of each node in preorder: the last one that is less deep by one."""
    last: dict[int, int] = {}
    parents = np.zeros(len(depth), np.int64)
    for node, level in enumerate(depth.tolist()):
        parents[node] = last.get(level - 1, 0)
        last[level] = node
    return parents
