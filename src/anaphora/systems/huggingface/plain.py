"""Scoring as every toolkit does it: each candidate by itself, in padded batches. The yardstick of the tree scorer."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any

import torch

from anaphora.systems.encoding.tokens import Encoded
from anaphora.systems.huggingface.memory import in_halves


def score_plain(
    model: Any, encoded: Sequence[Encoded], batch_tokens: int, done: Container[int] = ()
) -> Iterator[tuple[int, list[tuple[float, int]]]]:
    """The number of each question with (sum, tokens) of its candidates; batches are sorted by length.

    done: questions that need no answer; batches are made as if they did
    """
    rows = [(n, k) for n, item in enumerate(encoded) for k in range(len(item.candidates))]
    rows.sort(key=lambda row: (_length(encoded[row[0]], row[1]), row))
    found: dict[int, dict[int, tuple[float, int]]] = {n: {} for n in range(len(encoded))}
    for batch in _batches(rows, encoded, batch_tokens):
        if all(n in done for n, _ in batch):
            continue
        items = [(encoded[n], k) for n, k in batch]
        scores = in_halves(lambda part: _batch(model, part), items, lambda item: _length(*item))
        for (n, k), score in zip(batch, scores, strict=True):
            found[n][k] = score
            if len(found[n]) == len(encoded[n].candidates):
                complete = found.pop(n)
                yield n, [complete[i] for i in range(len(complete))]


def _batches(
    rows: Sequence[tuple[int, int]], encoded: Sequence[Encoded], tokens: int
) -> Iterator[list[tuple[int, int]]]:
    batch: list[tuple[int, int]] = []
    for n, k in rows:
        if batch and _length(encoded[n], k) * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append((n, k))
    if batch:
        yield batch


@torch.inference_mode()
def _batch(model: Any, rows: Sequence[tuple[Encoded, int]]) -> list[tuple[float, int]]:
    device = next(model.parameters()).device
    inputs = [[*item.prompt, *item.candidates[k][:-1]] for item, k in rows]
    read, mask = _pad(inputs, device)
    if model.config.is_encoder_decoder:
        sources, source_mask = _pad([list(item.source) for item, _ in rows], device)
        arguments = {"input_ids": sources, "attention_mask": source_mask, "decoder_input_ids": read}
    else:
        arguments = {"input_ids": read, "attention_mask": mask}
    logits = model(**arguments, use_cache=False).logits
    result = []
    for row, (item, k) in enumerate(rows):
        candidate = torch.tensor(item.candidates[k], device=device)
        first = len(item.prompt) - 1
        predicted = torch.log_softmax(logits[row, first : first + len(candidate)].float(), -1)
        result.append((float(predicted.gather(1, candidate[:, None]).double().sum()), len(candidate)))
    return result


def _pad(rows: list[list[int]], device: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Padded to the right with a token that is masked; which one it is does not matter."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=device)
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=device)
    return ids, mask


def _length(item: Encoded, k: int) -> int:
    return max(len(item.source), len(item.prompt) + len(item.candidates[k]))
