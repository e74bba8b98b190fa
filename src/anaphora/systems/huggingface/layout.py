"""Where the tokens of a batch are: packed for the linear layers, padded for attention, with the masks of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from anaphora.systems.huggingface.tree import Ints


@dataclass(frozen=True)
class Rows:
    """Where the tokens of b sequences are in the packed row and in a padded (b, t) layout.

    pad: (b·t,), the packed token for each padded place (the sequence's last one beyond its end)
    unpad: (n,), the padded place of each packed token
    depth: (b, t), positions; end: (b, t), where what follows from a node ends, 0 beyond the sequence
    """

    pad: Tensor
    unpad: Tensor
    depth: Tensor
    end: Tensor
    positions: Tensor  # (n,), depth of the packed tokens


@dataclass
class Layout:
    """One batch: the sources (None for a causal model) and the trees, with the masks of each kind of attention."""

    target: Rows
    source: Rows | None = None
    masks: dict[tuple[str, int | None], Tensor] = field(default_factory=dict)
    biases: dict[Any, Tensor] = field(default_factory=dict)

    def mask(self, kind: str, window: int | None = None) -> Tensor:
        """(b, 1, queries, keys), true where a query sees a key; a window limits how far back."""
        if (kind, window) not in self.masks:
            self.masks[kind, window] = self._mask(kind, window)
        return self.masks[kind, window]

    def _mask(self, kind: str, window: int | None) -> Tensor:
        if kind != "decoder":
            assert self.source is not None
            return (self.source.end > 0)[:, None, None, :]
        rows = self.target
        here = torch.arange(rows.end.shape[1], device=rows.end.device)
        mask = (here[None, None, :] <= here[None, :, None]) & (here[None, :, None] < rows.end[:, None, :])
        mask |= here[None, None, :] == here[None, :, None]  # what is beyond the end sees itself, and nobody sees it
        if window is not None:
            mask &= rows.depth[:, :, None] - rows.depth[:, None, :] < window
        return mask[:, None]


def packed_rows(depths: Sequence[Ints], ends: Sequence[Ints], device: torch.device) -> Rows:
    """Sequences behind each other; depths and ends as in a Tree."""
    sizes = np.array([len(depth) for depth in depths])
    starts = np.cumsum(sizes) - sizes
    here = np.arange(sizes.max())
    inside = here[None, :] < sizes[:, None]
    pad = starts[:, None] + np.minimum(here[None, :], sizes[:, None] - 1)
    depth, end = np.zeros((2, len(sizes), len(here)), np.int64)
    depth[inside], end[inside] = np.concatenate(depths), np.concatenate(ends)

    def index(values: Ints) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    return Rows(
        pad=index(pad.reshape(-1)),
        unpad=index(np.flatnonzero(inside)),
        depth=index(depth),
        end=index(end),
        positions=index(np.concatenate(depths)),
    )
