"""Encoders: from texts to a state per word. Static vectors with a BiLSTM, or the states of a Hugging Face model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from anaphora.core.errors import BadInput
from anaphora.core.files import text_lines
from anaphora.measure.items import Text

UNKNOWN = "<unk>"
Progress = Callable[[int, int], None]


class Encoder(Protocol):
    """What gives every word of a text a state. It is a module of the measure: what it can learn is in its parameters.

    width: of a state
    """

    width: int

    def settings(self) -> dict[str, Any]:
        """What states depend on; kept in a checkpoint and compared when it is loaded."""
        ...

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Compute and keep what does not change while the measure learns."""
        ...

    def __call__(self, texts: Sequence[Text]) -> tuple[Tensor, Tensor]:
        """States (b, n, d), and (b, n) where words are."""
        ...


class StaticEncoder(nn.Module):
    """A vector for each word of a vocabulary, read by a BiLSTM in both directions (§4): k = [→k; ←k], (b, n, d)."""

    def __init__(self, vocabulary: Sequence[str], width: int) -> None:
        super().__init__()
        self.width, self.vocabulary = 2 * ((width + 1) // 2), list(vocabulary)
        self.numbers = {word: n for n, word in enumerate(vocabulary)}
        self.vectors = nn.Embedding(len(vocabulary), width)
        self.lstm = nn.LSTM(width, self.width // 2, batch_first=True, bidirectional=True)

    def settings(self) -> dict[str, Any]:
        return {"kind": "static", "width": self.vectors.embedding_dim}

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Nothing is kept: all of it learns."""

    def forward(self, texts: Sequence[Text]) -> tuple[Tensor, Tensor]:
        lengths = torch.tensor([len(text.words) for text in texts])
        size = max(1, int(lengths.max()))
        ids = torch.zeros(len(texts), size, dtype=torch.long)
        for row, text in enumerate(texts):
            ids[row, : len(text.words)] = torch.tensor([self.numbers.get(word, 0) for word in text.words])
        packed = pack_padded_sequence(self.vectors(ids), lengths.clamp(min=1), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=size)
        return states, torch.arange(size) < lengths.unsqueeze(1)


def learn_vocabulary(texts: Iterable[Text], size: int) -> list[str]:
    """The most frequent words, behind the one that stands for all others."""
    counts = Counter(word for text in texts for word in text.words)
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return [UNKNOWN, *ordered[: max(0, size - 1)]]


def put_vectors(encoder: StaticEncoder, path: Path) -> int:
    """Pre-trained vectors for the words of the vocabulary, in GloVe's format; returns how many there were."""
    found = 0
    width = encoder.vectors.embedding_dim
    with torch.no_grad():
        for number, line in enumerate(text_lines(path), start=1):
            word, _, rest = line.partition(" ")
            if word not in encoder.numbers:
                continue
            values = np.array(rest.split(), dtype=np.float32) if rest else np.zeros(0, np.float32)
            if len(values) != width:
                remedy = f"Set model.width = {len(values)}."
                raise BadInput(path, f"{len(values)} numbers, but vectors have {width}", line=number, remedy=remedy)
            encoder.vectors.weight[encoder.numbers[word]] = torch.from_numpy(values)
            found += 1
    return found
