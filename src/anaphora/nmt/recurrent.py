"""Recurrent models with one or more encoders: Nematus (Sennrich et al. 2017) as Bawden et al. 2018 §3 extend it.

With one encoder it is BASELINE, 2-TO-1 and 2-TO-2, by what is joined; with more, one for each context, it is S-, T- and
S-T- CONCAT, GATE and HIER, and with joined targets the TO-2 models (§3.3). All are shallow, as in both papers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.arrangement import Marks
from anaphora.nmt.attention import Annotated, Attention
from anaphora.nmt.batch import Batch
from anaphora.nmt.combination import COMBINATIONS
from anaphora.nmt.config import ModelConfig
from anaphora.nmt.gru import GRU, Read
from anaphora.nmt.layers import Product, SequenceDropout, masked
from anaphora.nmt.recurrent_encoder import Encoder
from anaphora.scoring.padded import Padded


class Memory(NamedTuple):
    """What decoding needs of the inputs: one entry for each encoder, and the state (b, hidden) it begins with."""

    encoders: tuple[Annotated, ...]
    initial: Tensor


class Dropped(NamedTuple):
    """What is dropped of the states in one batch, the same at every step: (b, hidden), or nothing."""

    before: Tensor | None = None  # of the state as the first GRU sees it
    between: Tensor | None = None  # of the state that attention and the second GRU see


class RecurrentModel(nn.Module):
    """A TranslationModel. Its state is that of the conditional GRU, (b, hidden)."""

    def __init__(self, config: ModelConfig, source_size: int, target_size: int) -> None:
        super().__init__()
        hidden, size, norm = config.hidden, config.embedding, config.layer_norm
        annotation = 2 * hidden
        self.embedding = _embedding(target_size, size)
        embeddings = _encoder_embeddings(config, source_size, target_size, self.embedding)
        self.encoders = nn.ModuleList(Encoder(e, hidden, norm, config.dropout) for e in embeddings)
        self.attentions = nn.ModuleList(Attention(hidden, annotation, norm) for _ in embeddings)
        several = len(embeddings) > 1
        combination = COMBINATIONS[config.combination](len(embeddings), hidden, annotation) if several else None
        self.combination = combination
        self.initial = Product(annotation, hidden, norm)
        self.first = GRU(size, hidden, norm)
        self.second = GRU(annotation, hidden, norm)
        self.deep = Product(hidden + size + annotation, size, norm)
        self.dropout = SequenceDropout(config.dropout)
        self.bias = nn.Parameter(torch.zeros(target_size))
        self.output = None if config.tied_decoder or config.tied_all else nn.Parameter(self.embedding.weight.clone())

    def forward(self, batch: Batch) -> Tensor:
        """(b, t, vocabulary): the products that need no state are computed for all steps at once."""
        memory = self.encode(batch.inputs)
        state = self.start(memory)
        words = self.dropout(self.embedding(batch.read.ids))
        dropped = Dropped(*(self.dropout.mask(state) for _ in range(2)))
        states, contexts = [], []
        for gates, new in zip(*(part.unbind(1) for part in self.first.read(words)), strict=True):
            state, context = self._advance(memory, state, Read(gates, new), dropped)
            states.append(state)
            contexts.append(context)
        output = self._deep(torch.stack(states, 1), words, torch.stack(contexts, 1))
        return self.project(self.dropout(output))

    def encode(self, inputs: tuple[Padded, ...]) -> Memory:
        """Annotations and keys of every encoder; the state to begin with is made of the main encoder's mean."""
        found = []
        for encoder, attention, tokens in zip(self.encoders, self.attentions, inputs, strict=True):
            found.append(attention.prepare(encoder(tokens), tokens.mask))  # type: ignore[operator]
        main = found[0]
        sums = torch.bmm(main.mask[:, None].to(main.annotations.dtype), main.annotations)[:, 0]
        mean = sums / main.mask.sum(1, keepdim=True)
        return Memory(tuple(found), torch.tanh(self.initial(mean)))

    def start(self, memory: Memory) -> Tensor:
        return memory.initial

    def step(self, memory: Memory, state: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """(b,) → the output of the last hidden layer (b, embedding), and the next state (b, hidden)."""
        word = self.embedding(tokens)
        state, context = self._advance(memory, state, self.first.read(word), Dropped())
        return self._deep(state, word, context), state

    def project(self, output: Tensor) -> Tensor:
        """(…, embedding) → (…, vocabulary)."""
        return functional.linear(output, self.embedding.weight if self.output is None else self.output, self.bias)

    def select(self, structure: Any, rows: Tensor) -> Any:
        """Rows of a memory or a state."""
        if isinstance(structure, Tensor):
            return structure.index_select(0, rows)
        parts = [self.select(part, rows) for part in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)

    def untie(self, names: Collection[str]) -> None:
        """Fit the model to weights of 0.1.0, which tied contexts of the target to one another, not to the decoder.

        names: those of the weights; an embedding of a context that is listed there is a matrix of its own
        """
        own = None
        for number, encoder in enumerate(self.encoders):
            if encoder.embedding is self.embedding and (own or f"encoders.{number}.embedding.weight" in names):
                own = own or _embedding(self.embedding.num_embeddings, self.embedding.embedding_dim)
                encoder.embedding = own

    def _advance(self, memory: Memory, state: Tensor, read: Read, dropped: Dropped) -> tuple[Tensor, Tensor]:
        """The conditional GRU: s′ = GRU₁(y, s),  c = attention(s′),  s = GRU₂(c, s′) (Sennrich et al. 2017 §2)."""
        between: Tensor = self.first(read, state, masked(state, dropped.before))
        seen = masked(between, dropped.between)
        attended = [attend(seen, part)[0] for attend, part in zip(self.attentions, memory.encoders, strict=True)]
        context = attended[0] if self.combination is None else self.combination(seen, torch.stack(attended, 1))
        return self.second(self.second.read(context), between, seen), context

    def _deep(self, state: Tensor, word: Tensor, context: Tensor) -> Tensor:
        """Deep output: tanh(W_s s + W_e y + W_c c), (…, embedding)."""
        return torch.tanh(self.deep(torch.cat([state, word, context], -1)))


def build(config: ModelConfig, source_size: int, target_size: int, marks: Marks) -> RecurrentModel:
    """A model with random weights; padding needs no embedding of its own, as its place is never looked at."""
    return RecurrentModel(config, source_size, target_size)


def _encoder_embeddings(
    config: ModelConfig, source_size: int, target_size: int, decoder: nn.Embedding
) -> list[nn.Embedding]:
    """One for each encoder, or what reads the same language shares one matrix (ContraPro §4.1: tied).

    A tied context of the source shares the main encoder's, one of the target the decoder's (ContraPro §6: "sharing
    between the main encoder (or decoder) and the contextual encoder").
    """
    if config.tied_all:
        if source_size != target_size:
            raise AnaphoraError("model.tied_all needs a joint vocabulary: set vocabulary.joint = true")
        return [decoder] * (1 + len(config.contexts))
    sizes = {"source": source_size, "target": target_size}
    main = _embedding(source_size, config.embedding)
    shared = {"source": main, "target": decoder}
    tied = config.tied_contexts
    contexts = [shared[side] if tied else _embedding(sizes[side], config.embedding) for side in config.contexts]
    return [main, *contexts]


def _embedding(words: int, size: int) -> nn.Embedding:
    embedding = nn.Embedding(words, size)
    nn.init.normal_(embedding.weight, std=size**-0.5)
    return embedding
