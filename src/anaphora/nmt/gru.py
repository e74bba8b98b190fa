"""A gated recurrent unit whose products are layer-normalised, as Nematus has it (Sennrich et al. 2017).

The reset gate comes after the product with the state, so that without layer normalisation it is cuDNN's GRU.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from anaphora.nmt.layers import Product

KEEP = 2.0  # the update gate's bias before training


class Read(NamedTuple):
    """What a step makes of its input alone. gates: (…, 2 hidden), reset and update; new: (…, hidden)."""

    gates: Tensor
    new: Tensor


class GRU(nn.Module):
    """One step of a GRU, in two parts: what depends on inputs alone can be computed for all steps at once.

    [r; u] = σ(LN(W x) + LN(U h)),  n = tanh(LN(Wₙ x) + r ⊙ LN(Uₙ h)),  h′ = u ⊙ h + (1 − u) ⊙ n

    LN has a gain and a bias of its own for each of the four products (Ba et al. 2016); without it there is a bias.

    A new unit mostly keeps its state (u ≈ 0.88). The conditional GRU goes through two units at every step: with u = 0.5
    a quarter of the state would be left after one word, nothing after a sentence, and a TO-2 model would have no
    gradient from a pronoun to the noun it has written before (Jozefowicz et al. 2015 say the same of LSTMs).
    """

    def __init__(self, inputs: int, hidden: int, layer_norm: bool) -> None:
        super().__init__()
        self.input_gates = Product(inputs, 2 * hidden, layer_norm)
        self.input_new = Product(inputs, hidden, layer_norm)
        self.state_gates = Product(hidden, 2 * hidden, layer_norm)
        self.state_new = Product(hidden, hidden, layer_norm)
        for square in (*self.state_gates.linear.weight.data.chunk(2), self.state_new.linear.weight.data):
            nn.init.orthogonal_(square)
        gates = self.state_gates
        bias = gates.linear.bias if gates.norm is None else gates.norm.bias
        nn.init.constant_(bias[hidden:], KEEP)

    def read(self, inputs: Tensor) -> Read:
        """(…, inputs) → the part of a step that does not depend on the state."""
        return Read(self.input_gates(inputs), self.input_new(inputs))

    def forward(self, read: Read, state: Tensor, seen: Tensor | None = None) -> Tensor:
        """The state before, (b, hidden) → the state after, (b, hidden).

        seen: what the products see of the state where that is less than all of it (dropout)
        """
        seen = state if seen is None else seen
        reset, update = torch.sigmoid(read.gates + self.state_gates(seen)).chunk(2, dim=1)
        new = torch.tanh(torch.addcmul(read.new, reset, self.state_new(seen)))
        return torch.lerp(new, state, update)
