"""How the context vectors of several encoders become one: Bawden et al. 2018 §3.2, eqs. 1–6.

Every combination is called with the state of the decoder, (b, state), and one context vector for each encoder,
(b, encoders, size), that of the main encoder first; it gives one vector, (b, size).

The paper writes the state as z₍ᵢ₋₁₎. In the conditional GRU of Nematus that is the state attention asks with: the last
one after it has read the last word, and before it has seen the source.

These are the paper's equations. The authors' program, rbawden/nematus, computes something else (docs/training.md).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anaphora.nmt.layers import Product


class Concatenation(nn.Module):
    """Eq. 1: c = W_c [c⁽¹⁾; c⁽²⁾; …] + b_c."""

    def __init__(self, encoders: int, state: int, size: int) -> None:
        super().__init__()
        self.linear = Product(encoders * size, size)

    def forward(self, state: Tensor, contexts: Tensor) -> Tensor:
        found: Tensor = self.linear(contexts.flatten(1))
        return found


class Gate(nn.Module):
    """Eqs. 2–3: r = tanh(W_r c⁽¹⁾ + W_s c⁽²⁾) + b_r,  c = r ⊙ (W_t c⁽¹⁾) + (1 − r) ⊙ (W_u c⁽²⁾).

    The paper has it for two encoders. A third one is gated in the same way against the result of the first two, by
    weights of its own.
    """

    def __init__(self, encoders: int, state: int, size: int) -> None:
        super().__init__()
        self.first = nn.ModuleList(_linear(size, 2 * size) for _ in range(encoders - 1))  # W_r, W_t
        self.second = nn.ModuleList(_linear(size, 2 * size) for _ in range(encoders - 1))  # W_s, W_u
        self.bias = nn.Parameter(torch.zeros(encoders - 1, size))  # b_r

    def forward(self, state: Tensor, contexts: Tensor) -> Tensor:
        combined = contexts[:, 0]
        for number, (first, second) in enumerate(zip(self.first, self.second, strict=True)):
            gate_one, one = first(combined).chunk(2, dim=1)
            gate_two, two = second(contexts[:, number + 1]).chunk(2, dim=1)
            gate = torch.tanh(gate_one + gate_two) + self.bias[number]
            combined = two + gate * (one - two)
        return combined


class Hierarchical(nn.Module):
    """Eqs. 4–6, for any number of encoders: attention over them.

    e⁽ᵏ⁾ = v_bᵀ tanh(W_b z + U_b⁽ᵏ⁾ c⁽ᵏ⁾) + b_e,  β = softmax(e),  c = Σₖ β⁽ᵏ⁾ U_c⁽ᵏ⁾ c⁽ᵏ⁾

    b_e is the same for all k, and so changes nothing; it is here because it is in the paper.
    """

    def __init__(self, encoders: int, state: int, size: int) -> None:
        super().__init__()
        self.of_state = _linear(state, size)  # W_b
        self.of_contexts = nn.ModuleList(_linear(size, size) for _ in range(encoders))  # U_b
        self.energy = nn.Parameter(torch.empty(size).uniform_(-(size**-0.5), size**-0.5))  # v_b
        self.bias = nn.Parameter(torch.zeros(()))  # b_e
        self.outputs = _linear(encoders * size, size)  # U_c of all encoders side by side

    def weights(self, state: Tensor, contexts: Tensor) -> Tensor:
        """β, (b, encoders)."""
        parts = zip(self.of_contexts, contexts.unbind(1), strict=True)
        products = torch.stack([linear(context) for linear, context in parts], 1)
        energies = torch.tanh(self.of_state(state)[:, None] + products) @ self.energy + self.bias
        return torch.softmax(energies, dim=1)

    def forward(self, state: Tensor, contexts: Tensor) -> Tensor:
        weighted = contexts * self.weights(state, contexts)[:, :, None].to(contexts.dtype)
        found: Tensor = self.outputs(weighted.flatten(1))  # the sum over k is in the product
        return found


COMBINATIONS = {"concatenation": Concatenation, "gate": Gate, "hierarchical": Hierarchical}


def _linear(inputs: int, outputs: int) -> nn.Linear:
    linear = nn.Linear(inputs, outputs, bias=False)
    nn.init.xavier_uniform_(linear.weight)
    return linear
