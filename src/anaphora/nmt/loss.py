"""What training minimises: cross-entropy with label smoothing, added up over tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.nmt.batch import Batch

IGNORED = -100


@dataclass(frozen=True, slots=True)
class Loss:
    """smoothed: what is minimised; plain: the negative log-likelihood; both sums over tokens."""

    smoothed: Tensor
    plain: Tensor
    tokens: int


def loss_of(model: Any, batch: Batch, smoothing: float) -> Loss:
    """The loss of a batch; smoothing spreads so much of the probability over the whole vocabulary."""
    logits = model(batch).flatten(0, 1).float()
    labels = batch.predict.ids.masked_fill(~batch.predict.mask, IGNORED).flatten()
    smoothed = functional.cross_entropy(
        logits, labels, ignore_index=IGNORED, reduction="sum", label_smoothing=smoothing
    )
    if smoothing == 0:
        return Loss(smoothed, smoothed.detach(), batch.tokens)
    with torch.no_grad():
        plain = functional.cross_entropy(logits, labels, ignore_index=IGNORED, reduction="sum")
    return Loss(smoothed, plain, batch.tokens)
