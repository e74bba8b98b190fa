"""An ensemble of one is the model itself; of several, the mean of their log-probabilities."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from anaphora.nmt.arrangement import Marks
from anaphora.nmt.config import ModelConfig
from anaphora.nmt.ensemble import Ensemble
from anaphora.nmt.recurrent import build
from anaphora.scoring.padded import pad


def random_model(seed: int, hidden: int) -> Any:
    torch.manual_seed(seed)
    config = ModelConfig(kind="recurrent", embedding=5, hidden=hidden, dropout=0.0)
    model = build(config, 7, 7, Marks(2, 0, 6, 6)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


def test_the_mean_of_log_probabilities_and_states_of_their_own() -> None:
    models = [random_model(1, 4), random_model(2, 6)]
    ensemble = Ensemble(models)
    inputs = (pad([(3, 4, 0), (5, 0)], 6),)
    memory = ensemble.encode(inputs)
    state = ensemble.start(memory)
    rows, tokens = torch.tensor([1, 0, 1]), torch.tensor([3, 4, 5])
    found, after = ensemble.step(ensemble.select(memory, rows), ensemble.select(state, rows), tokens)
    expected = []
    for number, model in enumerate(models):
        own = model.encode((pad([(5, 0), (3, 4, 0), (5, 0)], 6),))
        output, next_state = model.step(own, model.start(own), tokens)
        expected.append(torch.log_softmax(model.project(output), 1))
        assert torch.allclose(after[number], next_state, atol=1e-5)
    assert torch.allclose(found, (expected[0] + expected[1]) / 2, atol=1e-5)
    assert ensemble.device == torch.device("cpu")
