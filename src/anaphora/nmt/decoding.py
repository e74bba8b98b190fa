"""Translation with one or more models: beam search, ensembles, and documents sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from anaphora.core.finite import NotFinite
from anaphora.nmt.layout import ContextLayout, SpecialTokens, inputs_of, last
from anaphora.nmt.text import Text
from anaphora.scoring.batching import Padded, pad, padded_batches, select_rows
from anaphora.scoring.encoded import Ids, too_long
from anaphora.suites.example import Passage, Translation


@dataclass(frozen=True, slots=True)
class Beam:
    """Settings of beam search.

    size: hypotheses kept for each sentence, which is the length of n-best lists
    max_tokens: the longest translation, end token included; unfinished translations are cut there
    normalize: scores are divided by the number of tokens to this power; 0: not at all
    """

    size: int = 4
    max_tokens: int = 256
    normalize: float = 1.0


class Hypothesis(NamedTuple):
    """A translation without its end. score: the sum of its log-probabilities, end included; value: normalized."""

    tokens: Ids
    score: float
    value: float


class _Live(NamedTuple):
    """Unfinished hypotheses, sentence by sentence, best first.

    sentences, scores: (n,); ranks: (n,), the rank of each among those of its sentence; rows: (n,), which of the
    hypotheses one token ago it continues; tokens: (n, t)
    """

    sentences: Tensor
    scores: Tensor
    ranks: Tensor
    rows: Tensor
    tokens: Tensor


@torch.inference_mode()
def search(
    ensemble: Ensemble, inputs: tuple[Padded, ...], special: SpecialTokens, beam: Beam
) -> list[list[Hypothesis]]:
    """Return the translations of each sentence, best first, at most as many as the size of the beam."""
    inputs = tuple(part.to(ensemble.device) for part in inputs)
    memory = ensemble.encode(inputs)
    here, state = memory, ensemble.start(memory)
    number = len(inputs[0].lengths)
    live = _begin(number, ensemble.device)
    room = torch.full((number,), beam.size, device=ensemble.device)  # hypotheses that each sentence may still keep
    read = torch.full((number,), special.start, device=ensemble.device)
    finished: list[list[Hypothesis]] = [[] for _ in range(number)]
    for length in range(1, beam.max_tokens + 1):
        values, state = ensemble.step(here, state, read)
        values[:, [special.padding, special.start]] = float("-inf")
        if values.isnan().any():
            what = f"beam search: the model's log-probabilities of token {length}"
            raise NotFinite(f"{what} are nan. Check the model's files, or train it again with a lower rate")
        following = _best(live, values, room, beam.size)
        ends = following.tokens[:, -1] == special.end
        full = length == beam.max_tokens
        _collect(finished, following, ends | full, special, beam)
        kept = (~ends).nonzero()[:, 0]
        if full or not len(kept):
            break
        room = room - torch.bincount(following.sentences[ends], minlength=number)
        before, live = live, _with_ranks(_Live(*(part[kept] for part in following)))
        state = select_rows(state, live.rows)
        read = live.tokens[:, -1]
        if not torch.equal(before.sentences, live.sentences):  # memory is large, and often the same as before
            here = select_rows(memory, live.sentences)
    return [sorted(hypotheses, key=lambda hypothesis: -hypothesis.value) for hypotheses in finished]


def _begin(number: int, device: torch.device) -> _Live:
    sentences = torch.arange(number, device=device)
    none = torch.zeros_like(sentences)
    return _Live(sentences, none.double(), none, none, sentences.new_empty(number, 0))


def _best(live: _Live, values: Tensor, room: Tensor, size: int) -> _Live:
    """Return the best continuations of each sentence, at most as many as it has room for.

    values: (n, vocabulary), log-probabilities of what may follow each live hypothesis
    """
    nearest, words = values.topk(min(size, values.shape[1]), dim=1)  # (n, k): no sentence needs more of one hypothesis
    active, line = torch.unique_consecutive(live.sentences, return_inverse=True)
    grid = nearest.new_full((len(active), size, nearest.shape[1]), float("-inf"), dtype=torch.float64)
    grid[line, live.ranks] = live.scores[:, None] + nearest
    row_of = torch.zeros(len(active), size, dtype=torch.long, device=values.device)
    row_of[line, live.ranks] = torch.arange(len(values), device=values.device)
    best, flat = grid.flatten(1).topk(min(size, grid[0].numel()), dim=1)
    ranks = torch.arange(best.shape[1], device=values.device)
    wanted = (ranks[None] < room[active][:, None]) & torch.isfinite(best)
    rows = row_of.gather(1, flat // nearest.shape[1])[wanted]
    token = words[rows, (flat % nearest.shape[1])[wanted]]
    tokens = torch.cat([live.tokens[rows], token[:, None]], 1)
    return _Live(live.sentences[rows], best[wanted], torch.zeros_like(rows), rows, tokens)


def _with_ranks(live: _Live) -> _Live:
    """Set the rank of each hypothesis among those of its sentence."""
    _, counts = torch.unique_consecutive(live.sentences, return_counts=True)
    starts = torch.repeat_interleave(counts.cumsum(0) - counts, counts)
    return live._replace(ranks=torch.arange(len(starts), device=starts.device) - starts)


def _collect(
    finished_of: list[list[Hypothesis]], live: _Live, done: Tensor, special: SpecialTokens, beam: Beam
) -> None:
    """Add finished hypotheses, and those that cannot become longer, to the translations of their sentence."""
    finished = zip(live.sentences[done].tolist(), live.scores[done].tolist(), live.tokens[done].tolist(), strict=True)
    for sentence, score, tokens in finished:
        value = score / len(tokens) ** beam.normalize
        finished_of[sentence].append(Hypothesis(tuple(t for t in tokens if t != special.end), score, value))


# Ensembles: log-probabilities are averaged, as in Nematus.


class Ensemble:
    """Models with the same vocabulary and inputs. Memory and state are tuples of theirs."""

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = tuple(models)

    @property
    def device(self) -> torch.device:
        device: torch.device = next(self.models[0].parameters()).device
        return device

    def encode(self, inputs: tuple[Padded, ...]) -> tuple[Any, ...]:
        return tuple(model.encode(inputs) for model in self.models)

    def start(self, memory: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(model.start(part) for model, part in zip(self.models, memory, strict=True))

    def step(self, memory: tuple[Any, ...], state: tuple[Any, ...], tokens: Tensor) -> tuple[Tensor, tuple[Any, ...]]:
        """Read tokens (b,); give the log-probabilities (b, vocabulary) of what follows, and the next state.

        The mean of log-probabilities is not normalized again: so a translation's score is the mean of the models' own.
        """
        total, states = None, []
        for model, part, before in zip(self.models, memory, state, strict=True):
            output, after = model.step(part, before, tokens)
            values = torch.log_softmax(model.project(output).float(), dim=1)
            total = values if total is None else total + values
            states.append(after)
        assert total is not None
        return total / len(self.models), tuple(states)


# Documents: each sentence is translated with the context that the model reads.

ROWS = 256  # hypotheses that are decoded side by side


class Source(NamedTuple):
    """A sentence to translate. before: those before it in its document.

    given: translations of those before it where they are known, the last of them last; none: what is produced
    follows: the index of the sentence before it among those that are translated, if its translation is waited for
    """

    text: str
    before: Passage = ()
    given: Passage | None = None
    follows: int | None = None


@dataclass(frozen=True)
class Translator:
    """A model, and how it is used.

    context: at most this many sentences of context; None: what the model was trained with
    limit: how many tokens the model takes; what is longer is an error, or loses its oldest context (truncate)
    """

    ensemble: Ensemble
    text: Text
    layout: ContextLayout
    beam: Beam
    batch_tokens: int = 2048
    context: int | None = None
    limit: int | None = None
    truncate: bool = False

    def translate(self, sources: Sequence[Source]) -> list[Translation]:
        """Return a translation for each sentence, in the order given."""
        translations: list[Translation | None] = [None] * len(sources)
        targets: list[Passage] = [()] * len(sources)  # what is known of the translations before each sentence
        for wave in self._waves(sources):
            for number in wave:
                before = self._awaited(sources[number])
                if before is not None:
                    produced = translations[before]
                    assert produced is not None
                    targets[number] = (*targets[before], produced.text)
                else:
                    targets[number] = sources[number].given or ()
            inputs = [self._inputs(sources[number], targets[number]) for number in wave]
            lengths = [max(map(len, one)) for one in inputs]
            for batch in padded_batches(lengths, self.batch_tokens, max(1, ROWS // self.beam.size)):
                columns = zip(*(inputs[n] for n in batch), strict=True)
                padded = tuple(pad(column, self.text.special.padding) for column in columns)
                hypotheses = search(self.ensemble, padded, self.text.special, self._beam)
                for number, nbest in zip((wave[n] for n in batch), hypotheses, strict=True):
                    decoded = last(sources[number].before, min(self.layout.target_context, self._reach))
                    translations[number] = self._translation(nbest, sum(map(bool, decoded)))
        return [translation for translation in translations if translation is not None]

    def _waves(self, sources: Sequence[Source]) -> list[list[int]]:
        """Return one wave, or, if a model reads its own translations, waves that each wait for the one before."""
        waves: list[list[int]] = []
        depth: list[int] = []
        for number, source in enumerate(sources):
            before = self._awaited(source)
            depth.append(0 if before is None else depth[before] + 1)
            if depth[-1] == len(waves):
                waves.append([])
            waves[depth[-1]].append(number)
        return waves

    def _awaited(self, source: Source) -> int | None:
        """Return the number of the sentence whose translation this one needs."""
        return source.follows if source.given is None and "target" in self.layout.context_encoders else None

    def _inputs(self, source: Source, targets: Passage) -> tuple[Ids, ...]:
        reach = self._reach
        before, known = last(source.before, reach), last(targets, reach)
        sentences = [self.text.encode_source(sentence) if sentence else [] for sentence in (*before, source.text)]
        translations = [self.text.encode_target(sentence) if sentence else [] for sentence in known]
        inputs = inputs_of(self.layout, self.text.special, sentences, translations)
        longest = max(map(len, inputs))
        if self.limit is None or longest <= self.limit:
            return inputs
        if not self.truncate:
            raise too_long(longest, self.limit, source.text, can_truncate=False)
        return tuple(ids[-self.limit :] for ids in inputs)

    def _translation(self, nbest: Sequence[Hypothesis], separators: int) -> Translation:
        """separators: the number of sentences that the decoder produces before the current one"""
        special = self.text.special
        decoded = (self.text.decode(current_sentence(h.tokens, special, separators)) for h in nbest)
        texts = [" ".join(text.split()) for text in decoded]
        surplus = nbest[0].tokens.count(special.separator) - separators
        return Translation(texts[0], surplus, tuple((t, h.score) for t, h in zip(texts, nbest, strict=True)))

    @property
    def _reach(self) -> int:
        reach = self.layout.reach
        return reach if self.context is None else min(reach, self.context)

    @property
    def _beam(self) -> Beam:
        if self.limit is None or self.beam.max_tokens <= self.limit:
            return self.beam
        return Beam(self.beam.size, self.limit, self.beam.normalize)


def current_sentence(tokens: Ids, special: SpecialTokens, separators: int) -> Ids:
    """Return what follows the last separator that the context makes; without it, all (Bawden et al. 2018, footnote 5).

    Separators beyond that are left out: they mean nothing to who reads the translation.
    """
    separators_at = [position for position, token in enumerate(tokens) if token == special.separator]
    start = separators_at[separators - 1] + 1 if 0 < separators <= len(separators_at) else 0
    return tuple(token for token in tokens[start:] if token != special.separator)
