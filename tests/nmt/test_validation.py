"""What is looked at during training is what it says."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from anaphora.core.finite import NotFinite
from anaphora.nmt.arrangement import Arrangement, Marks
from anaphora.nmt.config import DataConfig
from anaphora.nmt.corpus import Corpus, Pair
from anaphora.nmt.validation import contrastive_accuracy, perplexity
from anaphora.suites.example import Example

SIZE = 10


class Prefers(torch.nn.Module):
    """Finds some ids more probable than others, whatever it reads; or all alike."""

    def __init__(self, favourite: int | None = None) -> None:
        super().__init__()
        self.weights = torch.nn.Parameter(torch.zeros(SIZE))
        if favourite is not None:
            self.weights.data[favourite] = 3.0

    def forward(self, batch: Any) -> Any:
        return self.weights.expand(*batch.read.ids.shape, SIZE)


TEXT: Any = SimpleNamespace(
    marks=Marks(separator=2, end=0, start=9, padding=9),
    encode_source=lambda text: [int(word) for word in text.split()],
    encode_target=lambda text: [int(word) for word in text.split()],
)


def test_a_model_that_knows_nothing_is_as_perplexed_as_its_vocabulary_is_large() -> None:
    corpus = Corpus([Pair("3 4", "5 6 7", 1), Pair("3", "5", 1)], TEXT, Arrangement(), DataConfig())
    assert perplexity(Prefers(), corpus, 4) == pytest.approx(SIZE, rel=1e-5)
    assert perplexity(Prefers(), corpus, 400) == pytest.approx(SIZE, rel=1e-5)


def test_no_text_no_figure() -> None:
    corpus = Corpus([], TEXT, Arrangement(), DataConfig())
    assert perplexity(Prefers(), corpus, 10) is None
    prior = Example("prior", ("3",), (("5",), ("6",)), None)
    assert contrastive_accuracy(Prefers(), TEXT, Arrangement(), [prior], 100) is None


@pytest.mark.parametrize("weight", [math.nan, math.inf, 1e6])
def test_a_model_out_of_bounds_is_an_error(weight: float) -> None:
    """1e6: the loss is a number still, but the perplexity is not."""
    model = Prefers()
    model.weights.data[5] = weight
    corpus = Corpus([Pair("3", "6", 1)], TEXT, Arrangement(), DataConfig())
    with pytest.raises(
        NotFinite, match=r"^the perplexity of 2 held-out tokens is (nan|inf), .* Lower the learning rate"
    ):
        perplexity(model, corpus, 10)
    if not math.isfinite(weight):
        example = Example("1", ("3",), (("5",), ("6",)), 0)
        with pytest.raises(NotFinite, match=r"^the model's scores of candidates: 2 of 2 values"):
            contrastive_accuracy(model, TEXT, Arrangement(), [example], 100)


def test_accuracy_counts_ties_as_wrong() -> None:
    examples = [
        Example("1", ("3",), (("5",), ("6",)), 0),
        Example("2", ("3",), (("5",), ("6",)), 1),
        Example("3", ("3",), (("7",), ("8",)), 0),
        Example("prior", ("3",), (("5",), ("6",)), None),
    ]
    assert contrastive_accuracy(Prefers(5), TEXT, Arrangement(), examples, 100) == pytest.approx(1 / 3)
    assert contrastive_accuracy(Prefers(), TEXT, Arrangement(), examples, 100) == 0.0
    assert contrastive_accuracy(Prefers(), TEXT, Arrangement(), [], 100) is None
