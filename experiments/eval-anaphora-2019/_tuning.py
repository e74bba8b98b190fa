"""Tuning the last layers of a language model on pairs, so that the better text gets the higher probability.

The loss of a pair is −log σ(log p(better) − log p(worse)), both in their context. Only the last layers and the last
normalization are trained, so that a few thousand pairs are enough. It did not help: see RESULT.md.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import finite
from anaphora.measure.adapting import Report, rate_factor
from anaphora.measure.features import LanguageModelFeatures, piece_log_probabilities
from anaphora.measure.model import logistic_loss
from anaphora.measure.texts import Pair


@dataclass(frozen=True, slots=True)
class Tuning:
    """layers: how many of the last ones learn; batch: pairs per step; warm_up: share of steps with a growing rate."""

    layers: int = 6
    rate: float = 1e-4
    batch: int = 8
    epochs: int = 1
    warm_up: float = 0.1
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.layers < 1 or self.batch < 1 or self.epochs < 1:
            raise AnaphoraError("layers, batch and epochs must be at least 1")


def tune(
    features: LanguageModelFeatures, pairs: Sequence[Pair], settings: Tuning, report: Report | None = None
) -> list[dict[str, Any]]:
    """Tune the language model on pairs; the same pairs and seed give the same weights on a CPU.

    Returns a record per step: the mean loss, and the number of pairs that were ranked right before the step.
    """
    if not pairs:
        raise AnaphoraError("no pairs to learn from")
    learning = _unfreeze(features.model, settings.layers)
    optimizer = torch.optim.AdamW(learning, lr=settings.rate, weight_decay=0.0)
    order = random.Random(settings.seed)
    batches = []
    for _ in range(settings.epochs):
        shuffled = order.sample(pairs, len(pairs))
        batches += [shuffled[n : n + settings.batch] for n in range(0, len(shuffled), settings.batch)]
    log = []
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * rate_factor(step, len(batches), settings.warm_up)
        optimizer.zero_grad()
        differences = [_learn(features, pair, len(batch)) for pair in batch]
        losses = [float(logistic_loss(torch.tensor(d), torch.tensor(0.0))) for d in differences]
        finite(sum(losses), f"the loss of step {step + 1:,}", "Lower the rate, or check the model's files.")
        torch.nn.utils.clip_grad_norm_(learning, 1.0)
        optimizer.step()
        log.append({"step": step + 1, "pairs": len(batch), "loss": sum(losses) / len(batch)})
        log[-1]["right"] = sum(d > 0 for d in differences)
        if report is not None:
            report({**log[-1], "steps": len(batches)})
    features.model.requires_grad_(False)
    return log


def _learn(features: LanguageModelFeatures, pair: Pair, of: int) -> float:
    """Add the gradient of one pair of a batch; one at a time, as lengths differ. Returns the difference."""
    better, worse = _both(features, pair)
    loss: Tensor = logistic_loss(better, worse) / of
    loss.backward()
    return float(better.detach() - worse.detach())


def _both(features: LanguageModelFeatures, pair: Pair) -> tuple[Tensor, Tensor]:
    """The log-probabilities of both sentences after their contexts."""
    better, worse = features.encode([pair.better, pair.worse])
    rows = piece_log_probabilities(features.model, [better.candidate, worse.candidate])
    return rows[0].sum(), rows[1].sum()


def _unfreeze(model: nn.Module, layers: int) -> list[nn.Parameter]:
    """The last layers and what comes behind them learn; embeddings, which are often the output's too, do not."""
    model.requires_grad_(False)
    body = getattr(model, "model", None) or getattr(model, "transformer", None)
    stack = getattr(body, "layers", None) or getattr(body, "h", None)
    if body is None or stack is None:
        raise AnaphoraError(f"{type(model).__name__}: where its layers are is not known; Llama's and GPT-2's are")
    if layers > len(stack):
        raise AnaphoraError(f"{layers} layers to learn, but the model has {len(stack)}")
    chosen: list[nn.Module] = [*stack[-layers:]]
    chosen += [part for name, part in body.named_children() if name in ("norm", "ln_f")]
    found = [parameter for part in chosen for parameter in part.parameters()]
    for parameter in found:
        parameter.requires_grad_(True)
    return found
