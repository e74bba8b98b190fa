"""Annotations are the states of two GRUs, one from either end; padding is not there for them."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from anaphora.nmt.recurrent_encoder import Encoder
from anaphora.scoring.padded import pad

HIDDEN = 4


@pytest.fixture
def encoder() -> Encoder:
    torch.manual_seed(1)
    return Encoder(torch.nn.Embedding(9, 6), HIDDEN, layer_norm=True, dropout=0.5).eval()


def cell(encoder: Encoder, suffix: str) -> torch.nn.GRUCell:
    found = torch.nn.GRUCell(6, HIDDEN)
    with torch.no_grad():
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(found, name).copy_(getattr(encoder.gru, f"{name}_l0{suffix}"))
    return found


def test_both_directions_token_by_token(encoder: Encoder) -> None:
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    rows = [(3, 1, 4, 1, 5), (2, 6), (7,)]
    found = encoder(pad(rows, 0))
    forward, backward = cell(encoder, ""), cell(encoder, "_reverse")
    for row, ids in enumerate(rows):
        embedded = encoder.norm_input(encoder.embedding(torch.tensor(ids)))
        ahead, back, state = [], [], torch.zeros(1, HIDDEN)
        for vector in embedded:
            state = forward(vector[None], state)
            ahead.append(state[0])
        state = torch.zeros(1, HIDDEN)
        for vector in embedded.flip(0):
            state = backward(vector[None], state)
            back.append(state[0])
        states = torch.cat([torch.stack(ahead), torch.stack(back[::-1])], 1)
        assert torch.allclose(found[row, : len(ids)], encoder.norm_output(states), atol=1e-5)


def test_a_row_is_the_same_in_any_company(encoder: Encoder) -> None:
    alone = encoder(pad([(2, 6)], 0))
    together = encoder(pad([(2, 6), (1, 2, 3, 4)], 5))
    assert torch.allclose(alone[0], together[0, :2], atol=1e-6)


def test_dropout_only_in_training(encoder: Encoder) -> None:
    tokens = pad([(2, 6, 3)], 0)
    assert torch.equal(encoder(tokens), encoder(tokens))
    assert not torch.equal(encoder.train()(tokens), encoder(tokens))
