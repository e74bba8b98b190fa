"""Recurrent encoder–decoders with attention over several encoders (Bawden et al. 2018 §3; ContraPro §4.1)."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from anaphora.nmt.config import ModelConfig
from anaphora.nmt.data import Batch
from anaphora.nmt.layout import SpecialTokens
from anaphora.scoring.batching import Padded


class NormedLinear(nn.Module):
    """W x + b, or with layer normalization its gain and bias around W x: (…, inputs) → (…, outputs)."""

    def __init__(self, inputs: int, outputs: int, layer_norm: bool = False) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=not layer_norm)
        self.norm = nn.LayerNorm(outputs) if layer_norm else None
        nn.init.xavier_uniform_(self.linear.weight)
        if self.linear.bias is not None:
            nn.init.zeros_(self.linear.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        product: Tensor = self.linear(inputs)
        return product if self.norm is None else self.norm(product)


class SequenceDropout(nn.Module):
    """Dropout that is the same at every step of a sequence (Gal and Ghahramani 2016), as in Nematus."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def mask(self, vector: Tensor) -> Tensor | None:
        """By which a vector (b, size) is multiplied at every step; none where nothing is dropped."""
        if not self.training or not self.rate:
            return None
        return torch.empty_like(vector).bernoulli_(1 - self.rate).div_(1 - self.rate)

    def forward(self, sequence: Tensor) -> Tensor:
        """(b, t, size) with one mask for all t."""
        mask = self.mask(sequence[:, 0])
        return sequence if mask is None else sequence * mask[:, None]


def masked(vector: Tensor, mask: Tensor | None) -> Tensor:
    return vector if mask is None else vector * mask


# A gated recurrent unit whose products are layer-normalized, as Nematus has it (Sennrich et al. 2017).

KEEP = 2.0  # the update gate's bias before training


class InputProjection(NamedTuple):
    """What a step makes of its input alone. gates: (…, 2 hidden), reset and update; new: (…, hidden)."""

    gates: Tensor
    new: Tensor


class GRU(nn.Module):
    """One step of a GRU, in two parts: what depends on inputs alone can be computed for all steps at once.

    [r; u] = σ(LN(W x) + LN(U h)),  n = tanh(LN(Wₙ x) + r ⊙ LN(Uₙ h)),  h′ = u ⊙ h + (1 − u) ⊙ n

    LN has a gain and a bias of its own for each of the four products (Ba et al. 2016); without it there is a bias.

    A new unit mostly keeps its state (u ≈ 0.88). The conditional GRU goes through two units at every step: with u = 0.5
    a quarter of the state would be left after one word, nothing after a sentence, and a TO-2 model would have no
    gradient from a pronoun to the noun it has written before (Jozefowicz et al. 2015 say the same of LSTMs).
    """

    def __init__(self, inputs: int, hidden: int, layer_norm: bool) -> None:
        super().__init__()
        self.input_gates = NormedLinear(inputs, 2 * hidden, layer_norm)
        self.input_new = NormedLinear(inputs, hidden, layer_norm)
        self.state_gates = NormedLinear(hidden, 2 * hidden, layer_norm)
        self.state_new = NormedLinear(hidden, hidden, layer_norm)
        for square in (*self.state_gates.linear.weight.data.chunk(2), self.state_new.linear.weight.data):
            nn.init.orthogonal_(square)
        gates = self.state_gates
        bias = gates.linear.bias if gates.norm is None else gates.norm.bias
        nn.init.constant_(bias[hidden:], KEEP)

    def read(self, inputs: Tensor) -> InputProjection:
        """(…, inputs) → the part of a step that does not depend on the state."""
        return InputProjection(self.input_gates(inputs), self.input_new(inputs))

    def forward(self, read: InputProjection, state: Tensor, seen: Tensor | None = None) -> Tensor:
        """Return the state after a step, (b, hidden), given the state before it, (b, hidden).

        seen: what the products see of the state where that is less than all of it (dropout)
        """
        seen = state if seen is None else seen
        reset, update = torch.sigmoid(read.gates + self.state_gates(seen)).chunk(2, dim=1)
        new = torch.tanh(torch.addcmul(read.new, reset, self.state_new(seen)))
        return torch.lerp(new, state, update)


# Attention of Bahdanau et al. (2015), with the product of the keys computed once and not at every step.


class Annotated(NamedTuple):
    """What a decoder needs of one encoder.

    annotations: (b, t, size), a vector for each token; keys: (b, t, attention), their products; mask: (b, t)
    """

    annotations: Tensor
    keys: Tensor
    mask: Tensor


class Attention(nn.Module):
    """eⱼ = vᵀ tanh(LN(W s) + LN(U hⱼ)),  α = softmax(e),  c = Σⱼ αⱼ hⱼ

    s is the state that asks, of `state` numbers; hⱼ are annotations of `size` numbers, and so is c. The tanh has `size`
    numbers too, as in Nematus.
    """

    def __init__(self, state: int, size: int, layer_norm: bool) -> None:
        super().__init__()
        self.of_state = NormedLinear(state, size, layer_norm)
        self.of_annotation = NormedLinear(size, size, layer_norm)
        self.energy = nn.Parameter(torch.empty(size).uniform_(-(size**-0.5), size**-0.5))

    def prepare(self, annotations: Tensor, mask: Tensor) -> Annotated:
        """(b, t, size) and (b, t) → what every step attends to."""
        return Annotated(annotations, self.of_annotation(annotations), mask)

    def forward(self, state: Tensor, memory: Annotated) -> tuple[Tensor, Tensor]:
        """(b, state) → the context vector (b, size) and the weights (b, t); nothing is given to padding."""
        energies = (memory.keys + self.of_state(state)[:, None]).tanh_() @ self.energy
        weights = torch.softmax(energies.masked_fill(~memory.mask, float("-inf")), dim=1)
        context = torch.bmm(weights[:, None].to(memory.annotations.dtype), memory.annotations)[:, 0]
        return context, weights


# The encoder of the recurrent models: a GRU in either direction over embedded tokens.


class Encoder(nn.Module):
    """Tokens → annotations, each the states of both directions (Bahdanau et al. 2015 §3.2).

    The GRU is the library's own, which cuDNN computes in one call. Layer normalization inside of it, as Nematus has it,
    would mean a step of ours for every token; so what enters the GRU and what leaves it is normalized instead. The
    decoder, which goes step by step anyway, is normalized inside (`GRU`).
    """

    def __init__(self, embedding: nn.Embedding, hidden: int, layer_norm: bool, dropout: float) -> None:
        super().__init__()
        size = embedding.embedding_dim
        self.embedding = embedding
        self.dropout = SequenceDropout(dropout)
        self.norm_input = nn.LayerNorm(size) if layer_norm else nn.Identity()
        self.gru = nn.GRU(size, hidden, batch_first=True, bidirectional=True)
        self.norm_output = nn.LayerNorm(2 * hidden) if layer_norm else nn.Identity()
        for name, parameter in self.gru.named_parameters():
            if name.startswith("bias"):
                nn.init.zeros_(parameter)
            for part in parameter.data.split(hidden) if name.startswith("weight") else ():
                nn.init.orthogonal_(part) if "_hh_" in name else nn.init.xavier_uniform_(part)

    def forward(self, tokens: Padded) -> Tensor:
        """(b, t) → (b, t, 2 hidden); zero, or the bias of the normalization, where there is no token."""
        embedded = self.dropout(self.norm_input(self.embedding(tokens.ids)))
        packed = pack_padded_sequence(embedded, tokens.lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = self.gru(packed)
        annotations, _ = pad_packed_sequence(states, batch_first=True, total_length=tokens.ids.shape[1])
        output: Tensor = self.dropout(self.norm_output(annotations))
        return output


# How the context vectors of several encoders become one: Bawden et al. 2018 §3.2, eqs. 1–6.


class Concatenation(nn.Module):
    """Eq. 1: c = W_c [c⁽¹⁾; c⁽²⁾; …] + b_c."""

    def __init__(self, encoders: int, state: int, size: int) -> None:
        super().__init__()
        self.linear = NormedLinear(encoders * size, size)

    def forward(self, state: Tensor, contexts: Tensor) -> Tensor:
        combined: Tensor = self.linear(contexts.flatten(1))
        return combined


class Gate(nn.Module):
    """Eqs. 2–3: r = tanh(W_r c⁽¹⁾ + W_s c⁽²⁾) + b_r,  c = r ⊙ (W_t c⁽¹⁾) + (1 − r) ⊙ (W_u c⁽²⁾).

    The paper has it for two encoders. A third one is gated in the same way against the result of the first two, by
    weights of its own.
    """

    def __init__(self, encoders: int, state: int, size: int) -> None:
        super().__init__()
        self.first = nn.ModuleList(_linear(size, 2 * size) for _ in range(encoders - 1))  # W_r, W_t
        self.second = nn.ModuleList(_linear(size, 2 * size) for _ in range(encoders - 1))  # W_s, W_u
        self.bias = nn.Parameter(torch.zeros(encoders - 1, size))  # b_r

    def forward(self, state: Tensor, contexts: Tensor) -> Tensor:
        combined = contexts[:, 0]
        for number, (first, second) in enumerate(zip(self.first, self.second, strict=True)):
            gate_one, one = first(combined).chunk(2, dim=1)
            gate_two, two = second(contexts[:, number + 1]).chunk(2, dim=1)
            gate = torch.tanh(gate_one + gate_two) + self.bias[number]
            combined = two + gate * (one - two)
        return combined


class Hierarchical(nn.Module):
    """Eqs. 4–6, for any number of encoders: attention over them.

    e⁽ᵏ⁾ = v_bᵀ tanh(W_b z + U_b⁽ᵏ⁾ c⁽ᵏ⁾) + b_e,  β = softmax(e),  c = Σₖ β⁽ᵏ⁾ U_c⁽ᵏ⁾ c⁽ᵏ⁾

    b_e is the same for all k, and so changes nothing; it is here because it is in the paper.
    """

    def __init__(self, encoders: int, state: int, size: int) -> None:
        super().__init__()
        self.of_state = _linear(state, size)  # W_b
        self.of_contexts = nn.ModuleList(_linear(size, size) for _ in range(encoders))  # U_b
        self.energy = nn.Parameter(torch.empty(size).uniform_(-(size**-0.5), size**-0.5))  # v_b
        self.bias = nn.Parameter(torch.zeros(()))  # b_e
        self.outputs = _linear(encoders * size, size)  # U_c of all encoders side by side

    def weights(self, state: Tensor, contexts: Tensor) -> Tensor:
        """β, (b, encoders)."""
        parts = zip(self.of_contexts, contexts.unbind(1), strict=True)
        products = torch.stack([linear(context) for linear, context in parts], 1)
        energies = torch.tanh(self.of_state(state)[:, None] + products) @ self.energy + self.bias
        return torch.softmax(energies, dim=1)

    def forward(self, state: Tensor, contexts: Tensor) -> Tensor:
        weighted = contexts * self.weights(state, contexts)[:, :, None].to(contexts.dtype)
        combined: Tensor = self.outputs(weighted.flatten(1))  # the sum over k is in the product
        return combined


COMBINATIONS = {"concatenation": Concatenation, "gate": Gate, "hierarchical": Hierarchical}


def _linear(inputs: int, outputs: int) -> nn.Linear:
    linear = nn.Linear(inputs, outputs, bias=False)
    nn.init.xavier_uniform_(linear.weight)
    return linear


# Recurrent models with one or more encoders: Nematus (Sennrich et al. 2017) as Bawden et al. 2018 §3 extend it.


class Memory(NamedTuple):
    """What decoding needs of the inputs: one entry for each encoder, and the state (b, hidden) it begins with."""

    encoders: tuple[Annotated, ...]
    initial: Tensor


class Dropped(NamedTuple):
    """Dropout masks of the states of one batch, the same at every step: (b, hidden), or None."""

    before: Tensor | None = None  # of the state as the first GRU sees it
    between: Tensor | None = None  # of the state that attention and the second GRU see


class RecurrentModel(nn.Module):
    """A TranslationModel. Its state is that of the conditional GRU, (b, hidden)."""

    def __init__(self, config: ModelConfig, words: int) -> None:
        super().__init__()
        hidden, size, norm = config.hidden, config.embedding, config.layer_norm
        annotation = 2 * hidden
        self.embedding = _embedding(words, size)
        embeddings = _encoder_embeddings(config, self.embedding)
        self.encoders = nn.ModuleList(Encoder(e, hidden, norm, config.dropout) for e in embeddings)
        self.attentions = nn.ModuleList(Attention(hidden, annotation, norm) for _ in embeddings)
        several = len(embeddings) > 1
        combination = COMBINATIONS[config.combination](len(embeddings), hidden, annotation) if several else None
        self.combination = combination
        self.initial = NormedLinear(annotation, hidden, norm)
        self.first = GRU(size, hidden, norm)
        self.second = GRU(annotation, hidden, norm)
        self.deep = NormedLinear(hidden + size + annotation, size, norm)
        self.dropout = SequenceDropout(config.dropout)
        self.bias = nn.Parameter(torch.zeros(words))
        self.output = (
            None
            if config.tie_decoder_embeddings or config.tie_all_embeddings
            else nn.Parameter(self.embedding.weight.clone())
        )

    def forward(self, batch: Batch) -> Tensor:
        """(b, t, vocabulary): the products that need no state are computed for all steps at once."""
        memory = self.encode(batch.inputs)
        state = self.start(memory)
        words = self.dropout(self.embedding(batch.read.ids))
        dropped = Dropped(*(self.dropout.mask(state) for _ in range(2)))
        states, contexts = [], []
        for gates, new in zip(*(part.unbind(1) for part in self.first.read(words)), strict=True):
            state, context = self._advance(memory, state, InputProjection(gates, new), dropped)
            states.append(state)
            contexts.append(context)
        output = self._deep(torch.stack(states, 1), words, torch.stack(contexts, 1))
        return self.project(self.dropout(output))

    def encode(self, inputs: tuple[Padded, ...]) -> Memory:
        """Annotations and keys of every encoder; the state to begin with is made of the main encoder's mean."""
        encoded = []
        for encoder, attention, tokens in zip(self.encoders, self.attentions, inputs, strict=True):
            encoded.append(attention.prepare(encoder(tokens), tokens.mask))  # type: ignore[operator]
        main = encoded[0]
        sums = torch.bmm(main.mask[:, None].to(main.annotations.dtype), main.annotations)[:, 0]
        mean = sums / main.mask.sum(1, keepdim=True)
        return Memory(tuple(encoded), torch.tanh(self.initial(mean)))

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

    def untie(self, names: Collection[str]) -> None:
        """Fit the model to weights of 0.1.0, which tied contexts of the target to one another, not to the decoder.

        names: those of the weights; an embedding of a context that is listed there is a matrix of its own
        """
        own = None
        for number, encoder in enumerate(self.encoders):
            if encoder.embedding is self.embedding and (own or f"encoders.{number}.embedding.weight" in names):
                own = own or _embedding(self.embedding.num_embeddings, self.embedding.embedding_dim)
                encoder.embedding = own

    def _advance(self, memory: Memory, state: Tensor, read: InputProjection, dropped: Dropped) -> tuple[Tensor, Tensor]:
        """The conditional GRU: s′ = GRU₁(y, s),  c = attention(s′),  s = GRU₂(c, s′) (Sennrich et al. 2017 §2)."""
        between: Tensor = self.first(read, state, masked(state, dropped.before))
        seen = masked(between, dropped.between)
        attended = [attend(seen, part)[0] for attend, part in zip(self.attentions, memory.encoders, strict=True)]
        context = attended[0] if self.combination is None else self.combination(seen, torch.stack(attended, 1))
        return self.second(self.second.read(context), between, seen), context

    def _deep(self, state: Tensor, word: Tensor, context: Tensor) -> Tensor:
        """Deep output: tanh(W_s s + W_e y + W_c c), (…, embedding)."""
        return torch.tanh(self.deep(torch.cat([state, word, context], -1)))


def build(config: ModelConfig, size: int, special: SpecialTokens) -> RecurrentModel:
    """Return a model with random weights; padding needs no embedding of its own, as it is never read."""
    return RecurrentModel(config, size)


def _encoder_embeddings(config: ModelConfig, decoder: nn.Embedding) -> list[nn.Embedding]:
    """One for each encoder, or what reads the same language shares one matrix (ContraPro §4.1: tied).

    A tied context of the source shares the main encoder's, one of the target the decoder's (ContraPro §6: "sharing
    between the main encoder (or decoder) and the contextual encoder").
    """
    if config.tie_all_embeddings:
        return [decoder] * (1 + len(config.context_encoders))
    sizes = decoder.num_embeddings, decoder.embedding_dim
    main = _embedding(*sizes)
    shared = {"source": main, "target": decoder}
    tied = config.tie_context_embeddings
    contexts = [shared[side] if tied else _embedding(*sizes) for side in config.context_encoders]
    return [main, *contexts]


def _embedding(words: int, size: int) -> nn.Embedding:
    embedding = nn.Embedding(words, size)
    nn.init.normal_(embedding.weight, std=size**-0.5)
    return embedding
