"""Scores of candidates one beside the other in padded batches: the yardstick of tree scoring, and validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from anaphora.core.finite import all_finite
from anaphora.nmt.arrangement import Marks
from anaphora.nmt.batch import make_batch
from anaphora.nmt.examples import Asked


@torch.inference_mode()
def plain_scores(model: Any, asked: Sequence[Asked], marks: Marks, batch_tokens: int) -> list[float]:
    """The sum of log-probabilities of every target, in the order asked; the model is in evaluation mode."""
    device = next(model.parameters()).device
    scores = [0.0] * len(asked)
    order = sorted(range(len(asked)), key=lambda n: (_size(asked[n]), n))
    for numbers in _batches(order, asked, batch_tokens):
        batch = make_batch(
            [asked[n].inputs for n in numbers], [asked[n].target for n in numbers], marks.start, marks.padding
        ).to(device)
        logits = model(batch).float()
        chosen = torch.log_softmax(logits, -1).gather(2, batch.predict.ids[:, :, None])[:, :, 0]
        sums = chosen.masked_fill(~batch.predict.mask, 0.0).double().sum(1)
        for number, score in zip(numbers, sums.tolist(), strict=True):
            scores[number] = score
    return all_finite(scores, "the model's scores of candidates", "Check the model's files, or lower the rate.")


def _batches(order: Sequence[int], asked: Sequence[Asked], tokens: int) -> list[list[int]]:
    found: list[list[int]] = []
    for number in order:
        if found and _size(asked[number]) * (len(found[-1]) + 1) <= tokens:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def _size(asked: Asked) -> int:
    return max(len(asked.target), *map(len, asked.inputs))
