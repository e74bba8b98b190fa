"""The smallest model that is one: means of embeddings, a recurrent decoder; for tests of everything around a model."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Tiny(nn.Module):
    def __init__(self, size: int, width: int, encoders: int, dropout: float) -> None:
        super().__init__()
        self.embeddings = nn.Embedding(size, width)
        self.mix = nn.Linear(encoders * width, width)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(width, size)
        self.output.weight = self.embeddings.weight  # tied

    def forward(self, batch: Any) -> Any:
        means = []
        for padded in batch.inputs:
            vectors = self.embeddings(padded.ids) * padded.mask[:, :, None]
            means.append(vectors.sum(1) / padded.lengths[:, None])
        state = torch.tanh(self.mix(torch.cat(means, -1)))
        hidden, _ = self.decoder(self.embeddings(batch.read.ids), state[None].contiguous())
        return self.output(self.dropout(hidden) + state[:, None])


def build(config: Any, size: int, special: Any) -> Tiny:
    return Tiny(size, config.embedding, 1 + len(config.context_encoders), config.dropout)
