"""Score each candidate by itself in padded batches, as every toolkit does. The baseline of the tree scorer."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from anaphora.scoring.batching import padded_batches, split_on_oom
from anaphora.scoring.encoded import CandidateScore, EncodedExample, Ids


@dataclass(frozen=True, slots=True)
class Padded:
    """ids: (b, t), padded on the right; lengths: (b,), at least 1."""

    ids: Tensor
    lengths: Tensor

    @property
    def mask(self) -> Tensor:
        """(b, t), true where there is a token."""
        return torch.arange(self.ids.shape[1], device=self.ids.device)[None, :] < self.lengths[:, None]

    def to(self, device: torch.device | str) -> Padded:
        return Padded(self.ids.to(device), self.lengths.to(device))

    def __getitem__(self, rows: Tensor | slice) -> Padded:
        return Padded(self.ids[rows], self.lengths[rows])


def pad(rows: Sequence[Ids], padding: int) -> Padded:
    """Sequences of ids side by side, padded on the right."""
    lengths = torch.tensor([len(row) for row in rows])
    longest = int(lengths.max())
    return Padded(torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows]), lengths)


def score_padded(
    model: Any, encoded: Sequence[EncodedExample], batch_tokens: int, done: Container[int] = ()
) -> Iterator[tuple[int, list[CandidateScore]]]:
    """The number of each question with (sum, tokens) of its candidates; batches are sorted by length.

    done: questions that need no answer; batches are made as if they did
    """
    rows = [(n, k) for n, item in enumerate(encoded) for k in range(len(item.candidates))]
    found: dict[int, dict[int, tuple[float, int]]] = {n: {} for n in range(len(encoded))}
    for numbers in padded_batches([_length(encoded[n], k) for n, k in rows], batch_tokens):
        batch = [rows[number] for number in numbers]
        if all(n in done for n, _ in batch):
            continue
        items = [(encoded[n], k) for n, k in batch]
        scores = split_on_oom(lambda part: _batch(model, part), items, lambda item: _length(*item))
        for (n, k), score in zip(batch, scores, strict=True):
            found[n][k] = score
            if len(found[n]) == len(encoded[n].candidates):
                complete = found.pop(n)
                yield n, [complete[i] for i in range(len(complete))]


@torch.inference_mode()
def _batch(model: Any, rows: Sequence[tuple[EncodedExample, int]]) -> list[CandidateScore]:
    device = next(model.parameters()).device
    inputs = [(*item.prompt, *item.candidates[k][:-1]) for item, k in rows]
    read = pad(inputs, 0).to(device)  # which token it is does not matter: it is masked
    if model.config.is_encoder_decoder:
        sources = pad([item.source for item, _ in rows], 0).to(device)
        arguments = {"input_ids": sources.ids, "attention_mask": sources.mask.long(), "decoder_input_ids": read.ids}
    else:
        arguments = {"input_ids": read.ids, "attention_mask": read.mask.long()}
    logits = model(**arguments, use_cache=False).logits
    result = []
    for row, (item, k) in enumerate(rows):
        candidate = torch.tensor(item.candidates[k], device=device)
        first = len(item.prompt) - 1
        predicted = torch.log_softmax(logits[row, first : first + len(candidate)].float(), -1)
        result.append((float(predicted.gather(1, candidate[:, None]).double().sum()), len(candidate)))
    return result


def _length(item: EncodedExample, k: int) -> int:
    return max(len(item.source), len(item.prompt) + len(item.candidates[k]))
