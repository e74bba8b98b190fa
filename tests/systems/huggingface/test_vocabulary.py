"""Tile by tile, the projection gives what torch gives at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from anaphora.systems.huggingface.vocabulary import Vocabulary  # noqa: E402

SIZE, WORDS, STATES = 8, 37, 11


def model(bias: Any = None, **config: Any) -> Any:
    """As much of a model as a vocabulary looks at."""
    torch.manual_seed(0)
    config = {"model_type": "llama", "tie_word_embeddings": True} | config
    head = torch.nn.Linear(SIZE, WORDS, bias=False).requires_grad_(False)
    return SimpleNamespace(
        config=SimpleNamespace(**config), get_output_embeddings=lambda: head, final_logits_bias=bias, head=head
    )


def expected(asked: Any, hidden: Any, rows: Any, tokens: Any) -> Any:
    logits = (hidden.double() @ asked.head.weight.double().T) + (
        0 if asked.final_logits_bias is None else asked.final_logits_bias[0].double()
    )
    return torch.log_softmax(logits, -1)[rows, tokens].numpy()


@pytest.mark.parametrize(("height", "width"), [(1, 1), (3, 5), (11, 36), (100, 100)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_tiles_of_any_size(height: int, width: int, with_bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.systems.huggingface.vocabulary.ROWS", height)
    monkeypatch.setattr("anaphora.systems.huggingface.vocabulary.COLUMNS", width)
    asked = model(torch.randn(1, WORDS) if with_bias else None)
    hidden = torch.randn(STATES, SIZE) * 5
    rows, tokens = torch.randint(STATES, (50,)), torch.randint(WORDS, (50,))
    found = Vocabulary(asked).log_probabilities(hidden, rows, tokens)
    assert found == pytest.approx(expected(asked, hidden, rows, tokens), abs=1e-5)


def test_a_tile_of_impossible_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Padding may be ruled out by a bias of minus infinity, and be the only word of the last tile."""
    monkeypatch.setattr("anaphora.systems.huggingface.vocabulary.COLUMNS", WORDS - 1)
    bias = torch.zeros(1, WORDS)
    bias[0, -1] = float("-inf")
    asked = model(bias)
    hidden = torch.randn(STATES, SIZE)
    rows, tokens = torch.arange(STATES), torch.arange(STATES)
    found = Vocabulary(asked).log_probabilities(hidden, rows, tokens)
    assert found == pytest.approx(expected(asked, hidden, rows, tokens), abs=1e-5)
    assert Vocabulary(asked).log_probabilities(hidden, rows[:1], torch.tensor([WORDS - 1]))[0] == float("-inf")


def test_capped_logits() -> None:
    asked = model(final_logit_softcapping=0.5)
    hidden = torch.randn(STATES, SIZE) * 5
    logits = 0.5 * torch.tanh(hidden @ asked.head.weight.T / 0.5)
    found = Vocabulary(asked).log_probabilities(hidden, torch.arange(STATES), torch.arange(STATES))
    assert found == pytest.approx(torch.log_softmax(logits, -1).diagonal().numpy(), abs=1e-5)


def test_half_precision_adds_up_in_float32() -> None:
    asked = model()
    asked.head.bfloat16()
    hidden = torch.randn(STATES, SIZE).bfloat16()
    found = Vocabulary(asked).log_probabilities(hidden, torch.arange(STATES), torch.arange(STATES))
    assert found == pytest.approx(expected(asked, hidden, torch.arange(STATES), torch.arange(STATES)), abs=0.02)
