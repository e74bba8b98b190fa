"""Small layers that the recurrent models are made of."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Product(nn.Module):
    """W x + b, or with layer normalisation its gain and bias around W x: (…, inputs) → (…, outputs)."""

    def __init__(self, inputs: int, outputs: int, layer_norm: bool = False) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=not layer_norm)
        self.norm = nn.LayerNorm(outputs) if layer_norm else None
        nn.init.xavier_uniform_(self.linear.weight)
        if self.linear.bias is not None:
            nn.init.zeros_(self.linear.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        found: Tensor = self.linear(inputs)
        return found if self.norm is None else self.norm(found)


class SequenceDropout(nn.Module):
    """Dropout that is the same at every step of a sequence (Gal and Ghahramani 2016), as in Nematus."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def mask(self, vector: Tensor) -> Tensor | None:
        """By which a vector (b, size) is multiplied at every step; none where nothing is dropped."""
        if not self.training or not self.rate:
            return None
        return torch.empty_like(vector).bernoulli_(1 - self.rate).div_(1 - self.rate)

    def forward(self, sequence: Tensor) -> Tensor:
        """(b, t, size) with one mask for all t."""
        mask = self.mask(sequence[:, 0])
        return sequence if mask is None else sequence * mask[:, None]


def masked(vector: Tensor, mask: Tensor | None) -> Tensor:
    return vector if mask is None else vector * mask
