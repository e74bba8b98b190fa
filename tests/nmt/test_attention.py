"""Attention is Bahdanau's formula, and gives nothing to padding."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from anaphora.nmt.attention import Attention

STATE, SIZE, BATCH, TOKENS = 3, 4, 2, 5


def random_attention(layer_norm: bool = False) -> Attention:
    torch.manual_seed(2)
    attention = Attention(STATE, SIZE, layer_norm).double()
    for parameter in attention.parameters():
        torch.nn.init.normal_(parameter)
    return attention


def test_the_formula() -> None:
    """Without normalisation, for two rows of which one is two tokens shorter, one energy after the other."""
    attention = random_attention()
    s, h = torch.randn(BATCH, STATE).double(), torch.randn(BATCH, TOKENS, SIZE).double()
    lengths = [5, 3]
    mask = torch.arange(TOKENS)[None] < torch.tensor(lengths)[:, None]
    context, weights = attention(s, attention.prepare(h, mask))
    w, w_bias = attention.of_state.linear.weight.detach().numpy(), attention.of_state.linear.bias.detach().numpy()
    u = attention.of_annotation.linear.weight.detach().numpy()
    u_bias = attention.of_annotation.linear.bias.detach().numpy()
    v = attention.energy.detach().numpy()
    for row, length in enumerate(lengths):
        query = w @ s[row].numpy() + w_bias
        energies = np.array([v @ np.tanh(query + u @ h[row, j].numpy() + u_bias) for j in range(length)])
        alphas = np.exp(energies) / np.exp(energies).sum()
        expected = sum(alphas[j] * h[row, j].numpy() for j in range(length))
        assert np.allclose(weights[row, :length].detach(), alphas, atol=1e-12)
        assert weights[row, length:].abs().sum() == 0
        assert np.allclose(context[row].detach(), expected, atol=1e-12)


def test_keys_and_queries_are_normalised_where_asked() -> None:
    attention = random_attention(layer_norm=True)
    memory = attention.prepare(torch.randn(BATCH, TOKENS, SIZE).double(), torch.ones(BATCH, TOKENS, dtype=torch.bool))
    gain, bias = attention.of_annotation.norm.weight, attention.of_annotation.norm.bias
    plain = (memory.keys - bias) / gain
    assert torch.allclose(plain.mean(-1), torch.zeros(BATCH, TOKENS).double(), atol=1e-9)
    assert torch.allclose(plain.std(-1, unbiased=False), torch.ones(BATCH, TOKENS).double(), atol=1e-3)
    assert attention.of_annotation.linear.bias is None  # the normalisation has one


def test_what_stands_in_padding_does_not_matter() -> None:
    attention = random_attention(layer_norm=True)
    s, h = torch.randn(1, STATE).double(), torch.randn(1, TOKENS, SIZE).double()
    mask = torch.tensor([[True, True, True, False, False]])
    other = h.clone()
    other[:, 3:] = 1e6
    one, _ = attention(s, attention.prepare(h, mask))
    two, _ = attention(s, attention.prepare(other, mask))
    assert torch.equal(one, two)
