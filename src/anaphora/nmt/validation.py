"""How good a model is while it is trained: perplexity on held-out text, contrastive accuracy on suites."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch

from anaphora.core.finite import finite
from anaphora.nmt.arrangement import Arrangement
from anaphora.nmt.batching import in_order
from anaphora.nmt.candidates import encode_candidates, padded_scores
from anaphora.nmt.corpus import Corpus
from anaphora.nmt.loss import loss_of
from anaphora.nmt.text import Text
from anaphora.suites.example import Example


@torch.inference_mode()
def perplexity(model: Any, corpus: Corpus, batch_tokens: int) -> float | None:
    """Of the target tokens, under teacher forcing; None where there are none."""
    device = next(model.parameters()).device
    model.eval()
    total, tokens = 0.0, 0
    for numbers in in_order(corpus.lengths, batch_tokens):
        loss = loss_of(model, corpus.batch(numbers).to(device), 0.0)
        total += float(loss.plain)
        tokens += loss.tokens
    if not tokens:
        return None
    try:
        found = math.exp(total / tokens)
    except OverflowError:
        found = math.inf
    what = f"the perplexity of {tokens:,} held-out tokens"
    return finite(found, what, "Lower the learning rate (training.rate), or clip the gradient (training.clip).")


def contrastive_accuracy(
    model: Any, text: Text, arrangement: Arrangement, examples: Iterable[Example], batch_tokens: int
) -> float | None:
    """The share of examples whose right candidate has the highest score; ties are wrong. None without right ones."""
    model.eval()
    gold, targets, sizes = [], [], []
    for example in examples:
        if example.gold is not None:
            candidates = encode_candidates(example, text, arrangement)
            gold.append(example.gold)
            sizes.append(len(candidates))
            targets += [(candidate.inputs, candidate.predicted) for candidate in candidates]
    scores = iter(padded_scores(model, targets, text.marks, batch_tokens))
    right = 0
    for best, size in zip(gold, sizes, strict=True):
        found = [next(scores) for _ in range(size)]
        right += all(found[best] > score for number, score in enumerate(found) if number != best)
    return right / len(gold) if gold else None
