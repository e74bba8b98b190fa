"""Beam search: batched, over any model that decodes step by step, with length normalisation and n-best lists.

As in Nematus, a finished translation takes a place of its beam for good: search ends when no place is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.core.finite import NotFinite
from anaphora.nmt.arrangement import Ids, Marks
from anaphora.nmt.ensemble import Ensemble
from anaphora.scoring.padded import Padded


@dataclass(frozen=True, slots=True)
class Beam:
    """How to search.

    size: hypotheses that are kept for each sentence, and so the length of n-best lists
    max_tokens: of a translation, its end included; what is not finished by then stays as it is
    normalise: scores are divided by the number of tokens to this power; 0: not at all
    """

    size: int = 4
    max_tokens: int = 256
    normalise: float = 1.0


class Hypothesis(NamedTuple):
    """A translation without its end. score: the sum of its log-probabilities, end included; value: normalised."""

    tokens: Ids
    score: float
    value: float


class _Live(NamedTuple):
    """Hypotheses that go on, sentence by sentence, the best first.

    sentences, scores: (n,); places: (n,), the rank of each among those of its sentence; rows: (n,), which of the
    hypotheses one token ago it continues; tokens: (n, t)
    """

    sentences: Tensor
    scores: Tensor
    places: Tensor
    rows: Tensor
    tokens: Tensor


@torch.inference_mode()
def search(ensemble: Ensemble, inputs: tuple[Padded, ...], marks: Marks, beam: Beam) -> list[list[Hypothesis]]:
    """For each sentence its translations, the best first: as many as the beam has places, or all there are."""
    inputs = tuple(part.to(ensemble.device) for part in inputs)
    memory = ensemble.encode(inputs)
    here, state = memory, ensemble.start(memory)
    number = len(inputs[0].lengths)
    live = _begin(number, ensemble.device)
    room = torch.full((number,), beam.size, device=ensemble.device)  # places that are left to each sentence
    read = torch.full((number,), marks.start, device=ensemble.device)
    found: list[list[Hypothesis]] = [[] for _ in range(number)]
    for length in range(1, beam.max_tokens + 1):
        values, state = ensemble.step(here, state, read)
        values[:, [marks.padding, marks.start]] = float("-inf")
        if values.isnan().any():
            what = f"beam search: the model's log-probabilities of token {length}"
            raise NotFinite(f"{what} are nan. Check the model's files, or train it again with a lower rate")
        following = _best(live, values, room, beam.size)
        ends = following.tokens[:, -1] == marks.end
        last = length == beam.max_tokens
        _collect(found, following, ends | last, marks, beam)
        kept = (~ends).nonzero()[:, 0]
        if last or not len(kept):
            break
        room = room - torch.bincount(following.sentences[ends], minlength=number)
        before, live = live, _places(_Live(*(part[kept] for part in following)))
        state = ensemble.select(state, live.rows)
        read = live.tokens[:, -1]
        if not torch.equal(before.sentences, live.sentences):  # memory is large, and often the same as before
            here = ensemble.select(memory, live.sentences)
    return [sorted(hypotheses, key=lambda hypothesis: -hypothesis.value) for hypotheses in found]


def _begin(number: int, device: torch.device) -> _Live:
    sentences = torch.arange(number, device=device)
    none = torch.zeros_like(sentences)
    return _Live(sentences, none.double(), none, none, sentences.new_empty(number, 0))


def _best(live: _Live, values: Tensor, room: Tensor, size: int) -> _Live:
    """The best continuations of each sentence, as many as it has room for.

    values: (n, vocabulary), log-probabilities of what may follow each live hypothesis
    """
    nearest, words = values.topk(min(size, values.shape[1]), dim=1)  # (n, k): no sentence needs more of one hypothesis
    active, line = torch.unique_consecutive(live.sentences, return_inverse=True)
    grid = nearest.new_full((len(active), size, nearest.shape[1]), float("-inf"), dtype=torch.float64)
    grid[line, live.places] = live.scores[:, None] + nearest
    row_of = torch.zeros(len(active), size, dtype=torch.long, device=values.device)
    row_of[line, live.places] = torch.arange(len(values), device=values.device)
    best, flat = grid.flatten(1).topk(min(size, grid[0].numel()), dim=1)
    ranks = torch.arange(best.shape[1], device=values.device)
    wanted = (ranks[None] < room[active][:, None]) & torch.isfinite(best)
    rows = row_of.gather(1, flat // nearest.shape[1])[wanted]
    token = words[rows, (flat % nearest.shape[1])[wanted]]
    tokens = torch.cat([live.tokens[rows], token[:, None]], 1)
    return _Live(live.sentences[rows], best[wanted], torch.zeros_like(rows), rows, tokens)


def _places(live: _Live) -> _Live:
    """With the rank of each hypothesis among those of its sentence."""
    _, counts = torch.unique_consecutive(live.sentences, return_counts=True)
    starts = torch.repeat_interleave(counts.cumsum(0) - counts, counts)
    return live._replace(places=torch.arange(len(starts), device=starts.device) - starts)


def _collect(found: list[list[Hypothesis]], live: _Live, done: Tensor, marks: Marks, beam: Beam) -> None:
    """Put what is finished, or cannot become longer, with the translations of its sentence."""
    finished = zip(live.sentences[done].tolist(), live.scores[done].tolist(), live.tokens[done].tolist(), strict=True)
    for sentence, score, tokens in finished:
        value = score / len(tokens) ** beam.normalise
        found[sentence].append(Hypothesis(tuple(t for t in tokens if t != marks.end), score, value))
