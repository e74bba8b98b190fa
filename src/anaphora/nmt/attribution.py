"""Attribution of trained models: the positions of the tokens that they read, their logits, and their attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from anaphora.nmt.context_transformer import ContextTransformer, GatedAttention
from anaphora.nmt.data import Batch
from anaphora.nmt.layout import ContextLayout, SpecialTokens, inputs_of, last, target_of
from anaphora.nmt.recurrent import Hierarchical, RecurrentModel
from anaphora.nmt.text import Text
from anaphora.scoring.attribution import (
    Compute,
    Inputs,
    at_last,
    attentions,
    eager_attention,
    gradients,
    halves,
    last_only,
)
from anaphora.scoring.batching import Padded
from anaphora.scoring.encoded import Ids
from anaphora.suites.example import Passage

NO_TOKEN = SpecialTokens(-1, -1, -1, -1)
Pieces = list[tuple[int, int, list[str]]]  # side, sentence and pieces


def read_pieces(
    text: Text, layout: ContextLayout, source: Passage, target: Passage
) -> tuple[Pieces, tuple[Ids, ...], Ids]:
    """Return the pieces of the sentences of a passage, and where they are in what the model reads.

    Returns all pieces by sentences; for each input, and for the target, the number of the piece that each token is,
    counted over all sentences, or −1 for separators and ends. They are laid out as the tokens themselves.
    """
    size = layout.reach + 1
    pieces: Pieces = []
    numbers: list[list[range]] = []
    count = 0
    for side, passage in enumerate((source, target)):
        numbers.append([])
        for sentence, words in enumerate(passage):
            own = text.pieces(side, words) if words else []
            pieces.append((side, sentence, own))
            numbers[-1].append(range(count, count + len(own)))
            count += len(own)
    one, other = (last(sentences, size) for sentences in numbers)
    return pieces, inputs_of(layout, NO_TOKEN, one, other[:-1]), target_of(layout, NO_TOKEN, other)


def choices_of(model: Any, method: str) -> Compute:
    """Return what computes the attribution of a trained model by gradients or by attention."""
    if method == "attention":
        weights = _recurrent_attention if isinstance(model, RecurrentModel) else _transformer_attention
        return attentions(model, lambda inputs, read: weights(model, inputs, read))
    return gradients(model, lambda inputs, read: _logits(model, inputs, read))


def _logits(model: Any, inputs: Inputs, read: Padded) -> Tensor:
    """(b, vocabulary), of what follows the last token that is read."""
    head = next((part for name, part in model.named_modules() if name.endswith("lm_head")), None)
    with last_only(head, read):
        return at_last(model(Batch(inputs, read, read)), read)


# Attention. Several encoders without weights of their own (concatenation, gate) count the same.


def _recurrent_attention(model: Any, inputs: Inputs, read: Padded) -> tuple[Tensor, tuple[Tensor, ...]]:
    """α of each encoder times its β (Bawden et al. 2018, eq. 6); the decoder pays no attention to what it has read."""
    alphas: list[list[Tensor]] = [[] for _ in model.attentions]
    betas: list[Tensor] = []
    hooks = [
        attention.register_forward_hook(lambda module, given, output, kept=kept: kept.append(output[1]))
        for attention, kept in zip(model.attentions, alphas, strict=True)
    ]
    if isinstance(model.combination, Hierarchical):
        weigh = model.combination.weights
        hooks.append(model.combination.register_forward_hook(lambda module, given, output: betas.append(weigh(*given))))
    with _removed(hooks):
        logits = at_last(model(Batch(inputs, read, read)), read)
    paid = [at_last(torch.stack(steps, 1), read) for steps in alphas]
    if betas:
        shares = at_last(torch.stack(betas, 1), read)
    else:
        shares = torch.full((len(logits), len(paid)), 1 / len(paid), device=logits.device)
    weighted = [part * shares[:, k : k + 1] for k, part in enumerate(paid)]
    return logits, (*weighted, torch.zeros(read.ids.shape))


def _transformer_attention(model: Any, inputs: Inputs, read: Padded) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Attention of the decoder, the mean of layers and heads: half of it to the source, half to what it has read.

    In a context-aware Transformer, the attention to a token of the source is passed on, by the last layer of its
    encoder, to the tokens of the source and of the context, as the gate mixes them.
    """
    marian = model.marian if isinstance(model, ContextTransformer) else model
    gated: dict[str, Tensor] = {}
    hooks = []
    for part in model.modules():
        if isinstance(part, GatedAttention):
            for name in ("own", "context", "gate"):
                hooks.append(getattr(part, name).register_forward_hook(_keeping(gated, name)))
    with _removed(hooks), eager_attention(marian):
        source = inputs[0]
        states = model.read(inputs) if isinstance(model, ContextTransformer) else marian.read(source)
        output = marian.model.decoder(
            input_ids=read.ids,
            encoder_hidden_states=states,
            encoder_attention_mask=source.mask,
            use_cache=False,
            output_attentions=True,
        )
    logits = marian.project(at_last(output.last_hidden_state, read))
    cross, own = halves(output.cross_attentions, output.attentions, read)
    if not gated:
        return logits, (cross, own)
    gate = torch.sigmoid(gated["gate"]).mean(-1)  # (b, t): how much of itself a token of the source keeps
    to_source = torch.bmm((cross * gate)[:, None], gated["own"].mean(1))[:, 0]
    to_context = torch.bmm((cross * (1 - gate))[:, None], gated["context"].mean(1))[:, 0]
    return logits, (to_source, to_context[:, 1:], own)  # a special token stands before the context


def _keeping(kept: dict[str, Tensor], name: str) -> Any:
    """Return a hook that keeps the weights of an attention, or the output of another module."""

    def keep(module: nn.Module, given: Any, output: Any) -> None:
        kept[name] = output[1] if isinstance(output, tuple) else output

    return keep


@contextmanager
def _removed(hooks: Sequence[Any]) -> Iterator[None]:
    """Remove the hooks afterwards."""
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
