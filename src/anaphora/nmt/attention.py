"""Attention of Bahdanau et al. (2015), with the product of the keys computed once and not at every step."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from anaphora.nmt.layers import Product


class Annotated(NamedTuple):
    """What a decoder needs of one encoder.

    annotations: (b, t, size), a vector for each token; keys: (b, t, attention), their products; mask: (b, t)
    """

    annotations: Tensor
    keys: Tensor
    mask: Tensor


class Attention(nn.Module):
    """eⱼ = vᵀ tanh(LN(W s) + LN(U hⱼ)),  α = softmax(e),  c = Σⱼ αⱼ hⱼ

    s is the state that asks, of `state` numbers; hⱼ are annotations of `size` numbers, and so is c. The tanh has `size`
    numbers too, as in Nematus.
    """

    def __init__(self, state: int, size: int, layer_norm: bool) -> None:
        super().__init__()
        self.of_state = Product(state, size, layer_norm)
        self.of_annotation = Product(size, size, layer_norm)
        self.energy = nn.Parameter(torch.empty(size).uniform_(-(size**-0.5), size**-0.5))

    def prepare(self, annotations: Tensor, mask: Tensor) -> Annotated:
        """(b, t, size) and (b, t) → what every step attends to."""
        return Annotated(annotations, self.of_annotation(annotations), mask)

    def forward(self, state: Tensor, memory: Annotated) -> tuple[Tensor, Tensor]:
        """(b, state) → the context vector (b, size) and the weights (b, t); nothing is given to padding."""
        energies = (memory.keys + self.of_state(state)[:, None]).tanh_() @ self.energy
        weights = torch.softmax(energies.masked_fill(~memory.mask, float("-inf")), dim=1)
        context = torch.bmm(weights[:, None].to(memory.annotations.dtype), memory.annotations)[:, 0]
        return context, weights
