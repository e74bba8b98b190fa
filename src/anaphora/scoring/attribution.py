"""Which tokens decide between two words: gradient × input, and attention, of batches of choices.

A choice is log p(right) − log p(wrong) of the next token (Yin and Neubig 2022: contrastive explanations), where wrong
is the most probable of the wrong tokens. The normalizers of the two log-probabilities cancel, so that it is a
difference of logits: one pass forward and one back through what the model has read, without the rest of the candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import all_finite
from anaphora.scoring.batching import Padded, pad, padded_batches, split_on_oom
from anaphora.scoring.encoded import Ids


class Choice(NamedTuple):
    """A choice between tokens, after what the encoders and the decoder have read.

    inputs: of the encoders, none for a causal model; read: what the decoder has read, its start included
    tokens: one of each candidate; gold: the index of the right one
    """

    inputs: tuple[Ids, ...]
    read: Ids
    tokens: Ids
    gold: int

    @property
    def size(self) -> int:
        """The number of tokens of the longest sequence."""
        return max(map(len, (*self.inputs, self.read)))


class ChoiceValues(NamedTuple):
    """What a model makes of a choice. scores: log-probabilities of the tokens

    values: for each input and then for what the decoder has read, the attribution of each of its tokens
    """

    scores: list[float]
    values: tuple[list[float], ...]


Inputs = tuple[Padded, ...]
Logits = Callable[[Inputs, Padded], Tensor]  # (b, vocabulary), of what follows the last token that is read
Weights = Callable[[Inputs, Padded], tuple[Tensor, tuple[Tensor, ...]]]  # logits, and (b, t) of every sequence
Compute = Callable[[Sequence[Choice]], list[ChoiceValues]]


def attribute_choices(
    choices: Sequence[Choice], compute: Compute, budget: int, done: Container[int] = ()
) -> Iterator[tuple[int, ChoiceValues]]:
    """Yield the number of each choice with its values, short ones first, in padded batches.

    done: choices that need no values; batches are made as if they did
    """
    for numbers in padded_batches([choice.size for choice in choices], budget):
        if all(number in done for number in numbers):
            continue
        batch = [choices[number] for number in numbers]
        computed = split_on_oom(compute, batch, lambda choice: choice.size)
        yield from (pair for pair in zip(numbers, computed, strict=True) if pair[0] not in done)


def mean_values(models: Sequence[ChoiceValues]) -> ChoiceValues:
    """Return the means of what several models make of one choice."""
    if len(models) == 1:
        return models[0]
    scores = [sum(values) / len(values) for values in zip(*(one.scores for one in models), strict=True)]
    sequences = zip(*(one.values for one in models), strict=True)
    means = (tuple(sum(values) / len(values) for values in zip(*parts, strict=True)) for parts in sequences)
    return ChoiceValues(scores, tuple(list(part) for part in means))


# Gradient × input (Shrikumar et al. 2016): the vector of each token times the gradient of the choice.


def gradients(model: nn.Module, logits: Logits) -> Compute:
    """Return what computes gradient × input of each token that is read."""

    def compute(batch: Sequence[Choice]) -> list[ChoiceValues]:
        inputs, read = _padded(batch, model)
        # cuDNN has no gradients of recurrent layers in evaluation mode
        with torch.enable_grad(), _frozen(model), _embedded(model) as calls, torch.backends.cudnn.flags(enabled=False):
            output = logits(inputs, read).double()
            difference, scores = _contrast(output, batch)
            sequences = [_call(calls, sequence.ids) for sequence in (*inputs, read)]
            grads = torch.autograd.grad(difference.sum(), sequences, allow_unused=True)
        products = [
            torch.zeros(vectors.shape[:2])
            if grad is None
            else (grad.double() * vectors.detach().double()).sum(-1).cpu()
            for grad, vectors in zip(grads, sequences, strict=True)
        ]
        return _by_choice(batch, scores, products)

    return compute


def attentions(model: nn.Module, weights: Weights) -> Compute:
    """Return what computes the attention that is paid to each token when the next one is predicted."""

    @torch.no_grad()
    def compute(batch: Sequence[Choice]) -> list[ChoiceValues]:
        output, paid = weights(*_padded(batch, model))
        _, scores = _contrast(output.double(), batch)
        return _by_choice(batch, scores, [part.float().cpu() for part in paid])

    return compute


def _padded(batch: Sequence[Choice], model: nn.Module) -> tuple[Inputs, Padded]:
    device = next(model.parameters()).device
    columns = zip(*(choice.inputs for choice in batch), strict=True)
    inputs = tuple(pad(column, 0).to(device) for column in columns)  # which token it is does not matter: it is masked
    return inputs, pad([choice.read for choice in batch], 0).to(device)


def _contrast(logits: Tensor, batch: Sequence[Choice]) -> tuple[Tensor, list[list[float]]]:
    """(b,) log p(right) − log p(wrong), 0 where all tokens are the right one; and the log-probabilities of each token.

    logits: (b, vocabulary)
    """
    probabilities = torch.log_softmax(logits.detach(), -1).cpu()
    scores = [row[list(choice.tokens)].tolist() for row, choice in zip(probabilities, batch, strict=True)]
    right = [choice.tokens[choice.gold] for choice in batch]
    wrong = []
    for choice, token, values in zip(batch, right, scores, strict=True):
        others = [(value, other) for value, other in zip(values, choice.tokens, strict=True) if other != token]
        wrong.append(max(others)[1] if others else token)
    rows = torch.arange(len(batch), device=logits.device)
    return logits[rows, right] - logits[rows, wrong], scores


def _by_choice(batch: Sequence[Choice], scores: list[list[float]], columns: Sequence[Tensor]) -> list[ChoiceValues]:
    """Values without padding. columns: (b, t) for each sequence"""
    rows = [column.tolist() for column in columns]
    results = []
    for number, choice in enumerate(batch):
        parts = zip((*choice.inputs, choice.read), rows, strict=True)
        values = tuple(row[number][: len(ids)] for ids, row in parts)
        for part in values:
            all_finite(part, "attributions of tokens", "Check the model's files and precision.")
        results.append(ChoiceValues(scores[number], values))
    return results


@contextmanager
def _frozen(model: nn.Module) -> Iterator[None]:
    """No gradients of weights, which would take as long again."""
    changed = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for parameter in changed:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in changed:
            parameter.requires_grad_(True)


Call = tuple[Tensor, Tensor]  # ids (b, t) and their vectors (b, t, size)


@contextmanager
def _embedded(model: nn.Module) -> Iterator[list[Call]]:
    """Collect the ids and vectors of every call of an embedding; gradients begin at the vectors."""
    calls: list[Call] = []

    def keep(module: nn.Module, arguments: tuple[Any, ...], output: Tensor) -> Tensor | None:
        if not arguments or not isinstance(arguments[0], Tensor) or arguments[0].dim() != 2:
            return None  # positions
        vectors = output.detach().requires_grad_()
        calls.append((arguments[0], vectors))
        return vectors

    handles = [part.register_forward_hook(keep) for part in model.modules() if isinstance(part, nn.Embedding)]
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()


def _call(calls: list[Call], ids: Tensor) -> Tensor:
    """Return the vectors of the first call with these ids, which is taken from the list."""
    for number, (known, vectors) in enumerate(calls):
        if known.shape == ids.shape and torch.equal(known, ids):
            del calls[number]
            return vectors
    raise AnaphoraError(
        "the model does not embed its tokens through an nn.Embedding, so that they have no gradients. "
        "Use --method occlusion"
    )


@contextmanager
def last_only(head: nn.Module | None, read: Padded) -> Iterator[None]:
    """Project only the last token that each row has read onto the vocabulary. head: the projection, None: no change"""
    if head is None:
        yield
        return

    def last(module: nn.Module, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        return (at_last(arguments[0], read)[:, None], *arguments[1:])

    handle = head.register_forward_pre_hook(last)
    try:
        yield
    finally:
        handle.remove()


def at_last(states: Tensor, read: Padded) -> Tensor:
    """(b, t, …) → (b, …) at the last token of each row; rows may have been reduced to it already."""
    if states.shape[1] == 1:
        return states[:, 0]
    return states[torch.arange(len(states), device=states.device), read.lengths.to(states.device) - 1]


# Hugging Face models, encoder–decoders and causal ones


def pretrained(model: Any, method: str) -> Compute:
    """Return what computes the attribution of a Hugging Face model by gradients or by attention."""

    def run(inputs: Inputs, read: Padded, **more: Any) -> Any:
        arguments: dict[str, Any] = {"input_ids": read.ids, "attention_mask": read.mask.long()}
        if inputs:
            source = inputs[0]
            arguments = {"input_ids": source.ids, "attention_mask": source.mask.long(), "decoder_input_ids": read.ids}
        with last_only(model.get_output_embeddings(), read):
            return model(**arguments, use_cache=False, **more)

    def weights(inputs: Inputs, read: Padded) -> tuple[Tensor, tuple[Tensor, ...]]:
        with eager_attention(model):
            output = run(inputs, read, output_attentions=True)
        logits = at_last(output.logits, read)
        if not inputs:
            return logits, (mean_attention(output.attentions, read),)
        return logits, halves(output.cross_attentions, output.decoder_attentions, read)

    if method == "attention":
        return attentions(model, weights)
    return gradients(model, lambda inputs, read: at_last(run(inputs, read).logits, read))


@contextmanager
def eager_attention(model: Any) -> Iterator[None]:
    """Attention that can be looked at: faster implementations do not keep its weights."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def mean_attention(layers: Sequence[Tensor] | None, read: Padded) -> Tensor:
    """(b, keys), the mean over layers and heads of what the last token that is read pays to each key.

    layers: (b, heads, queries, keys) of each layer
    """
    if not layers or any(layer is None for layer in layers):
        raise AnaphoraError("the model does not return its attention weights. Use --method gradient or occlusion")
    return torch.stack([at_last(layer.mean(1), read) for layer in layers]).mean(0)


def halves(cross: Sequence[Tensor], own: Sequence[Tensor], read: Padded) -> tuple[Tensor, Tensor]:
    """Attention to the source and to the target, each of which sums to 1 in every layer: one half of the whole each."""
    return mean_attention(cross, read) / 2, mean_attention(own, read) / 2
