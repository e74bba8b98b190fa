"""What every architecture gives to training, scoring and search: the one interface between them."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor

from anaphora.nmt.data import Batch
from anaphora.scoring.padded import Padded


class TranslationModel(Protocol):
    """An encoder–decoder with one or more encoders.

    Memory and State are the model's own; both are trees of tensors whose first dimension is the batch, so that
    `select` can pick, repeat and reorder rows of either (branches of a prefix tree, hypotheses of a beam).
    """

    def forward(self, batch: Batch) -> Tensor:
        """(b, t, vocabulary), logits of what follows each token that the decoder reads (teacher forcing)."""
        ...

    def encode(self, inputs: tuple[Padded, ...]) -> Any:
        """The memory: everything that decoding needs of the inputs, computed once."""
        ...

    def start(self, memory: Any) -> Any:
        """The decoder's state before it has read anything."""
        ...

    def step(self, memory: Any, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        """Read tokens (b,); give the decoder's output (b, size) before the vocabulary, and the next state."""
        ...

    def project(self, output: Tensor) -> Tensor:
        """(…, vocabulary), logits from the decoder's output (…, size)."""
        ...

    def select(self, structure: Any, rows: Tensor) -> Any:
        """Rows of a memory or a state, in the order given, any of them any number of times."""
        ...
