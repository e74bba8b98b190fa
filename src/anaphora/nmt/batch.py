"""What a model is given: padded ids, with their lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from anaphora.nmt.arrangement import Ids


@dataclass(frozen=True, slots=True)
class Padded:
    """ids: (b, t), padded on the right; lengths: (b,), at least 1."""

    ids: Tensor
    lengths: Tensor

    @property
    def mask(self) -> Tensor:
        """(b, t), true where there is a token."""
        return torch.arange(self.ids.shape[1], device=self.ids.device)[None, :] < self.lengths[:, None]

    def to(self, device: torch.device | str) -> Padded:
        return Padded(self.ids.to(device), self.lengths.to(device))

    def __getitem__(self, rows: Tensor | slice) -> Padded:
        return Padded(self.ids[rows], self.lengths[rows])


@dataclass(frozen=True, slots=True)
class Batch:
    """Training examples: what the encoders read, what the decoder reads, and what it is to predict.

    inputs: the main input and one for each further encoder
    read: (b, t), the start and the target without its end; predict: (b, t), the target with its end
    """

    inputs: tuple[Padded, ...]
    read: Padded
    predict: Padded

    @property
    def tokens(self) -> int:
        """Target tokens that are predicted: what a loss is divided by."""
        return int(self.predict.lengths.sum())

    def to(self, device: torch.device | str) -> Batch:
        return Batch(tuple(x.to(device) for x in self.inputs), self.read.to(device), self.predict.to(device))


def pad(rows: Sequence[Ids], padding: int) -> Padded:
    """Sequences of ids side by side."""
    lengths = torch.tensor([len(row) for row in rows])
    longest = int(lengths.max())
    return Padded(torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows]), lengths)


def make_batch(inputs: Sequence[tuple[Ids, ...]], targets: Sequence[Ids], start: int, padding: int) -> Batch:
    """Examples, each with as many inputs as the model has encoders, and a target that ends with the end."""
    columns = tuple(pad(column, padding) for column in zip(*inputs, strict=True))
    return Batch(columns, pad([(start, *target[:-1]) for target in targets], padding), pad(targets, padding))
