"""A gated recurrent unit whose products are layer-normalised, as Nematus has it (Sennrich et al. 2017).

The reset gate comes after the product with the state, so that without layer normalisation it is cuDNN's GRU.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class GRU(nn.Module):
    """One step of a GRU, in two parts: what depends on inputs alone can be computed for all steps at once.

    [r; u] = σ(LN(W x) + LN(U h)),  n = tanh(LN(Wₙ x) + r ⊙ LN(Uₙ h)),  h′ = u ⊙ h + (1 − u) ⊙ n

    LN has a gain and a bias of its own for each of the four products (Ba et al. 2016); without it it is a bias.
    """

    def __init__(self, inputs: int, hidden: int, layer_norm: bool) -> None:
        super().__init__()
        self.hidden = hidden
        self.of_input = nn.Linear(inputs, 3 * hidden, bias=False)
        self.of_state = nn.Linear(hidden, 3 * hidden, bias=False)
        self.norm_input = GateNorm(hidden, layer_norm)
        self.norm_state = GateNorm(hidden, layer_norm)
        nn.init.xavier_uniform_(self.of_input.weight)
        for part in self.of_state.weight.data.split(hidden):
            nn.init.orthogonal_(part)

    def read(self, inputs: Tensor) -> Tensor:
        """(…, inputs) → (…, 3 hidden), the part of a step that does not depend on the state."""
        found: Tensor = self.norm_input(self.of_input(inputs))
        return found

    def forward(self, read: Tensor, state: Tensor, seen: Tensor | None = None) -> Tensor:
        """(b, 3 hidden) and the state before, (b, hidden) → the state after, (b, hidden).

        seen: what the products see of the state where that is less than all of it (dropout)
        """
        product = self.norm_state(self.of_state(state if seen is None else seen))
        gates = torch.sigmoid(read[:, : 2 * self.hidden] + product[:, : 2 * self.hidden])
        reset, update = gates.chunk(2, dim=1)
        new = torch.tanh(read[:, 2 * self.hidden :] + reset * product[:, 2 * self.hidden :])
        return new + update * (state - new)


class GateNorm(nn.Module):
    """Layer normalisation of a product (…, 3 hidden): of the two gates together, and of the new state."""

    def __init__(self, hidden: int, layer_norm: bool) -> None:
        super().__init__()
        self.hidden, self.layer_norm = hidden, layer_norm
        self.bias = nn.Parameter(torch.zeros(3 * hidden))
        self.gain = nn.Parameter(torch.ones(3 * hidden)) if layer_norm else None

    def forward(self, product: Tensor) -> Tensor:
        if self.gain is None:
            return product + self.bias
        gates, new = product.split([2 * self.hidden, self.hidden], dim=-1)
        normed = [nn.functional.layer_norm(part, part.shape[-1:]) for part in (gates, new)]
        return torch.addcmul(self.bias, torch.cat(normed, -1), self.gain)
