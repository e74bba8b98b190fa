"""What a model is given: padded ids, with their lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from anaphora.nmt.arrangement import Ids
from anaphora.scoring.padded import Padded, pad


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


def make_batch(inputs: Sequence[tuple[Ids, ...]], targets: Sequence[Ids], start: int, padding: int) -> Batch:
    """Examples, each with as many inputs as the model has encoders, and a target that ends with the end."""
    columns = tuple(pad(column, padding) for column in zip(*inputs, strict=True))
    return Batch(columns, pad([(start, *target[:-1]) for target in targets], padding), pad(targets, padding))
