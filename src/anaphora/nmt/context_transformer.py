"""The context-aware Transformer of Voita et al. 2018 (§3): a second encoder, attention over it, and a gate.

Only the gated attention is ours. All layers are Marian's, and so is everything of the decoder.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from transformers.masking_utils import create_bidirectional_mask
from transformers.models.marian.modeling_marian import MarianAttention, MarianEncoderLayer

from anaphora.nmt.config import ModelConfig
from anaphora.nmt.data import Batch
from anaphora.nmt.layout import SpecialTokens
from anaphora.nmt.marian import Layers, Marian, Memory, marian_config, xavier
from anaphora.scoring.batching import Padded


class GatedAttention(nn.Module):
    """Self-attention and attention over a context, mixed: in a layer it stands where self-attention stood.

    g = σ(W_g [c_self; c_context] + b_g),  c = g ⊙ c_self + (1 − g) ⊙ c_context
    """

    def __init__(self, own: MarianAttention, context: MarianAttention) -> None:
        super().__init__()
        self.own, self.context = own, context
        self.gate = nn.Linear(2 * own.embed_dim, own.embed_dim)

    def forward(
        self,
        hidden_states: Tensor,
        attention_mask: Tensor | None = None,
        *,
        context: Tensor,
        context_mask: Tensor | None,
        **arguments: Any,
    ) -> tuple[Tensor, None]:
        """(b, t, size) and a context (b, u, size), with masks as transformers makes them → (b, t, size)."""
        own, _ = self.own(hidden_states, attention_mask=attention_mask, **arguments)
        other, _ = self.context(hidden_states, key_value_states=context, attention_mask=context_mask, **arguments)
        gate = torch.sigmoid(self.gate(torch.cat([own, other], -1)))
        return gate * own + (1 - gate) * other, None


class ContextTransformer(nn.Module):
    """A TranslationModel that reads the current sentence and, by the same layers but the last, a context.

    marian: a standard model, in the last layer of whose encoder attention is gated
    last: the context encoder's own last layer
    begin: the vector (size,) of the special token before every context, which tells the shared layers what they read
    """

    def __init__(self, marian: Marian) -> None:
        super().__init__()
        self.marian = marian
        config, layer = marian.config, marian.model.encoder.layers[-1]
        context = MarianAttention(config.d_model, config.encoder_attention_heads, config=config)
        layer.self_attn = GatedAttention(layer.self_attn, context)
        self.last = MarianEncoderLayer(config)
        self.begin = nn.Parameter(torch.empty(config.d_model).normal_(std=config.d_model**-0.5))
        for part in (context, layer.self_attn.gate, self.last):
            xavier(part)

    def forward(self, batch: Batch) -> Tensor:
        """(b, t, vocabulary)."""
        return self.marian.predict(self.read(batch.inputs), batch.inputs[0].mask, batch.read)

    def read(self, inputs: tuple[Padded, ...]) -> Tensor:
        """(b, t, size), states of the current sentence that know of the context."""
        source, context = inputs
        *shared, top = self.marian.model.encoder.layers
        states, others = self._embed(source), self._embed(context, self.begin)
        known = nn.functional.pad(context.mask, (1, 0), value=True)
        mask, others_mask = self._mask(states, states, source.mask), self._mask(others, others, known)
        for layer in shared:
            states, others = layer(states, mask), layer(others, others_mask)
        others = self.last(others, others_mask)
        encoded: Tensor = top(states, mask, context=others, context_mask=self._mask(states, others, known))
        return encoded

    def encode(self, inputs: tuple[Padded, ...]) -> Memory:
        return self.marian.remember(self.read(inputs), inputs[0].mask)

    def start(self, memory: Memory) -> Layers:
        return self.marian.start(memory)

    def step(self, memory: Memory, state: Layers, tokens: Tensor) -> tuple[Tensor, Layers]:
        """(b,) → (b, size), and the next state."""
        return self.marian.step(memory, state, tokens)

    def project(self, output: Tensor) -> Tensor:
        """(…, size) → (…, vocabulary)."""
        return self.marian.project(output)

    def _embed(self, tokens: Padded, begin: Tensor | None = None) -> Tensor:
        """(b, t) → (b, t, size), or (b, 1 + t, size) where something stands before it."""
        encoder = self.marian.model.encoder
        vectors = encoder.embed_tokens(tokens.ids)
        if begin is not None:
            vectors = torch.cat([begin.expand(len(vectors), 1, -1), vectors], 1)
        vectors = vectors * encoder.embed_scale + encoder.embed_positions(vectors.shape[:2])
        return nn.functional.dropout(vectors, p=encoder.dropout, training=self.training)

    def _mask(self, queries: Tensor, keys: Tensor, mask: Tensor) -> Any:
        """Return what of the keys (b, u, size), whose mask is (b, u), every query sees, as the layers expect it."""
        config = self.marian.config
        return create_bidirectional_mask(
            config=config, inputs_embeds=queries, encoder_hidden_states=keys, attention_mask=mask
        )


def build(config: ModelConfig, size: int, special: SpecialTokens) -> ContextTransformer:
    """Return a model with random weights; there is a position more for what stands before a context."""
    longer = replace(config, max_length=config.max_length + 1)
    return ContextTransformer(Marian(marian_config(longer, size, special)))
