"""Transformers with one encoder (baseline, concat21, concat22, n-to-n): Hugging Face's Marian, used step by step.

What differs between these models is only what they read and produce (`layout.py`). Nothing of the architecture is
ours, so that `transformers` and CTranslate2 load what is trained here.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import AddedToken
from torch import Tensor, nn
from transformers import GenerationConfig, MarianConfig, MarianMTModel, MarianTokenizer, PreTrainedModel
from transformers.cache_utils import Cache, DynamicLayer, EncoderDecoderCache

from anaphora.core.files import rename_synced
from anaphora.nmt.checkpoint import WEIGHTS
from anaphora.nmt.config import ModelConfig
from anaphora.nmt.data import Batch
from anaphora.nmt.layout import SpecialTokens
from anaphora.nmt.text import FILES, SEPARATOR_PIECE, load_pieces
from anaphora.scoring.batching import Padded
from anaphora.scoring.weights import save_weights, weights_of

Layers = tuple[tuple[Tensor, Tensor], ...]  # keys and values (b, heads, t, size of a head) of each layer
NEVER = -1e9  # the logit of padding


class Memory(NamedTuple):
    """What decoding needs of an input. states: (b, t, size); mask: (b, t); layers: keys and values of the states."""

    states: Tensor
    mask: Tensor
    layers: Layers


class Marian(MarianMTModel):
    """A TranslationModel. Its state are the keys and values of what the decoder has read."""

    def __init__(self, config: MarianConfig) -> None:
        super().__init__(config)
        _initialize(self)
        padding = config.pad_token_id or 0
        self.final_logits_bias[:, padding] = NEVER
        # The decoder starts from padding, which Marian and CTranslate2 take for a vector of zeros. It must stay one,
        # also where the same matrix is the projection, through which it would be trained.
        rows = torch.tensor([padding])
        self.lm_head.weight.register_hook(lambda gradient: gradient.index_fill(0, rows.to(gradient.device), 0))

    def forward(self, batch: Batch) -> Tensor:
        """(b, t, vocabulary)."""
        source = batch.inputs[0]
        return self.predict(self.read(source), source.mask, batch.read)

    def read(self, source: Padded) -> Tensor:
        """(b, t, size), the encoder's states."""
        states: Tensor = self.model.encoder(input_ids=source.ids, attention_mask=source.mask).last_hidden_state
        return states

    def predict(self, states: Tensor, mask: Tensor, target: Padded) -> Tensor:
        """(b, t, vocabulary), logits of what follows each token; padding behind the target sees it, not it padding.

        In training padding may be predicted as anything else: label smoothing would make much of its being impossible.
        """
        output = self.model.decoder(
            input_ids=target.ids, encoder_hidden_states=states, encoder_attention_mask=mask, use_cache=False
        ).last_hidden_state
        logits: Tensor = self.lm_head(output) if self.training else self.project(output)
        return logits

    def encode(self, inputs: tuple[Padded, ...]) -> Memory:
        """States of the only input, and what every layer of the decoder makes of them."""
        return self.remember(self.read(inputs[0]), inputs[0].mask)

    def remember(self, states: Tensor, mask: Tensor) -> Memory:
        """Return the memory of an encoder's states (b, t, size), whose mask is (b, t)."""
        layers = []
        for layer in self.model.decoder.layers:
            attention: Any = layer.encoder_attn
            keys, values = (
                part(states).view(*states.shape[:2], -1, attention.head_dim).transpose(1, 2).contiguous()
                for part in (attention.k_proj, attention.v_proj)
            )
            layers.append((keys, values))
        return Memory(states, mask, tuple(layers))

    def start(self, memory: Memory) -> Layers:
        return tuple((keys[:, :, :0], values[:, :, :0]) for keys, values in memory.layers)

    def step(self, memory: Memory, state: Layers, tokens: Tensor) -> tuple[Tensor, Layers]:
        """(b,) → the decoder's output (b, size), and the state with one more position."""
        own, others = _cached(state), _cached(memory.layers)
        output = self.model.decoder(
            input_ids=tokens[:, None],
            encoder_hidden_states=memory.states,
            encoder_attention_mask=memory.mask,
            past_key_values=EncoderDecoderCache(Cache(layers=own), Cache(layers=others)),
            use_cache=True,
        ).last_hidden_state
        return output[:, 0], tuple((layer.keys, layer.values) for layer in own)

    def project(self, output: Tensor) -> Tensor:
        """(…, size) → (…, vocabulary)."""
        logits: Tensor = self.lm_head(output) + self.final_logits_bias[0]
        return logits

    def export(self, folder: Path) -> None:
        """Leave a complete Hugging Face checkpoint in a model's folder."""
        export_marian(self, folder)


def build(config: ModelConfig, size: int, special: SpecialTokens) -> Marian:
    """Return a model with random weights."""
    return Marian(marian_config(config, size, special))


def marian_config(config: ModelConfig, size: int, special: SpecialTokens) -> MarianConfig:
    """Sizes and ties of a config as Hugging Face has them; what is left is as in Vaswani et al. 2017."""
    return MarianConfig(
        vocab_size=size,
        decoder_vocab_size=size,
        d_model=config.embedding,
        encoder_layers=config.layers,
        decoder_layers=config.layers,
        encoder_attention_heads=config.heads,
        decoder_attention_heads=config.heads,
        encoder_ffn_dim=config.feed_forward,
        decoder_ffn_dim=config.feed_forward,
        max_position_embeddings=config.max_length,
        dropout=config.dropout,
        activation_function="relu",
        scale_embedding=True,
        share_encoder_decoder_embeddings=config.tie_all_embeddings,
        tie_word_embeddings=config.tie_all_embeddings or config.tie_decoder_embeddings,
        pad_token_id=special.padding,
        decoder_start_token_id=special.start,
        eos_token_id=special.end,
        forced_eos_token_id=None,
        architectures=["MarianMTModel"],
        dtype="float32",
    )


def xavier(part: nn.Module) -> None:
    """Random weights of linear layers as in Marian (Glorot and Bengio 2010), without biases."""
    for module in part.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


def _initialize(model: MarianMTModel) -> None:
    """Embeddings of length 1, times √size when they are read; padding is zero."""
    xavier(model)
    size, padding = model.config.d_model, model.config.pad_token_id
    tokens = (model.model.encoder.embed_tokens, model.model.decoder.embed_tokens)
    with torch.no_grad():
        for weight in (*(embedding.weight for embedding in tokens), model.lm_head.weight):
            nn.init.normal_(weight, std=size**-0.5)
            weight[padding] = 0


def _cached(layers: Layers) -> list[Any]:
    """Keys and values as the decoder's layers look for them; they are not copied."""
    cached = []
    for keys, values in layers:
        layer = DynamicLayer()
        layer.lazy_initialization(keys, values)
        layer.keys, layer.values = keys, values
        cached.append(layer)
    return cached


# A Transformer that was trained here as a complete Hugging Face checkpoint: weights, configuration, tokenizer.

PADDING_PIECE = "<pad>"


def export_marian(model: PreTrainedModel, folder: Path) -> None:
    """Put the checkpoint in a folder in which the SentencePiece models are already; its weights come last."""
    part = folder / ".export.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        model.config.save_pretrained(part)
        config = model.config
        ids = {name: getattr(config, name) for name in ("decoder_start_token_id", "eos_token_id", "pad_token_id")}
        GenerationConfig(num_beams=4, max_length=config.max_position_embeddings, **ids).save_pretrained(part)
        _tokenizer(model, folder, part).save_pretrained(part)
        save_weights(weights_of(model), part / WEIGHTS, folder / WEIGHTS, metadata={"format": "pt"})
        for file in sorted(part.iterdir(), key=lambda file: file.name == WEIGHTS):
            rename_synced(file, folder / file.name)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _tokenizer(model: PreTrainedModel, folder: Path, part: Path) -> Any:
    """Marian's tokenizer over our vocabulary. Two vocabularies have the same special tokens."""
    padding = model.config.pad_token_id
    sides = [load_pieces(folder / name) for name in FILES]
    names = ("vocab.json", "target_vocab.json")
    for name, side in zip(names, sides, strict=True):
        ids = {side.id_to_piece(number): number for number in range(side.get_piece_size())} | {PADDING_PIECE: padding}
        (part / name).write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")
    separate = (part / names[0]).read_bytes() != (part / names[1]).read_bytes()
    if not separate:
        (part / names[1]).unlink()
    tokenizer = MarianTokenizer(
        source_spm=str(folder / FILES[0]),
        target_spm=str(folder / FILES[1]),
        vocab=str(part / names[0]),
        target_vocab_file=str(part / names[1]) if separate else None,
        separate_vocabs=separate,
        pad_token=PADDING_PIECE,
        model_max_length=model.config.max_position_embeddings,
    )
    # Between sentences with or without spaces around it, and left in what is decoded, so that it can be cut there.
    tokenizer.add_tokens([AddedToken(SEPARATOR_PIECE, lstrip=True, rstrip=True, normalized=False, special=False)])
    return tokenizer
