"""Loss, learning-rate schedule and numeric precision."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.config import TrainingConfig
from anaphora.nmt.data import Batch

IGNORED = -100


@dataclass(frozen=True, slots=True)
class Loss:
    """SufficientStats over the target tokens of a batch.

    smoothed: what is minimized, with label smoothing and the weights of tokens
    plain: the negative log-likelihood, without either
    """

    smoothed: Tensor
    plain: Tensor
    tokens: int


def loss_of(model: Any, batch: Batch, smoothing: float) -> Loss:
    """The loss of a batch; smoothing spreads this share of the probability over the whole vocabulary."""
    logits = model(batch).flatten(0, 1).float()
    labels = batch.predict.ids.masked_fill(~batch.predict.mask, IGNORED).flatten()
    if batch.weights is None:
        smoothed = functional.cross_entropy(
            logits, labels, ignore_index=IGNORED, reduction="sum", label_smoothing=smoothing
        )
    else:
        losses = functional.cross_entropy(
            logits, labels, ignore_index=IGNORED, reduction="none", label_smoothing=smoothing
        )
        smoothed = (losses * batch.weights.flatten()).sum()
    if smoothing == 0 and batch.weights is None:
        return Loss(smoothed, smoothed.detach(), batch.tokens)
    with torch.no_grad():
        plain = functional.cross_entropy(logits, labels, ignore_index=IGNORED, reduction="sum")
    return Loss(smoothed, plain, batch.tokens)


# The learning rate, update by update: the papers' schedules.


@dataclass(frozen=True, slots=True)
class Progress:
    """What validation has shown so far.

    since: validations since the last gain; reductions: how often the rate was reduced on a plateau
    """

    best: float = float("inf")
    since: int = 0
    reductions: int = 0

    def after(self, perplexity: float, decay_patience: int) -> Progress:
        """With one more validation; the rate is reduced each time that so many in a row brought nothing."""
        if perplexity < self.best:
            return replace(self, best=perplexity, since=0)
        since = self.since + 1
        reduced = decay_patience > 0 and since % decay_patience == 0
        return replace(self, since=since, reductions=self.reductions + reduced)


def rate(config: TrainingConfig, update: int, progress: Progress) -> float:
    """The rate of an update, counted from 1.

    inverse-sqrt: rises to the rate over the warm-up, then falls with the root of the updates (Vaswani et al. 2017)
    plateau: × decay after decay_patience validations without gain (ContraCAT, appendix A: 0.7 after 8 checkpoints)
    """
    if config.schedule == "inverse-sqrt":
        warmup = max(1, config.warmup)
        return config.rate * min(update / warmup, math.sqrt(warmup / update))
    warming = min(1.0, update / config.warmup) if config.warmup else 1.0
    if config.schedule == "plateau":
        return config.rate * warming * math.pow(config.decay, progress.reductions)
    return config.rate * warming


# bfloat16 where the hardware computes it, and nowhere else: on other processors it is many times slower.

SIZE, TIMES = 512, 5


def autocast(dtype: str, device: torch.device) -> Callable[[], AbstractContextManager[object]]:
    """What a forward pass is computed under."""
    if dtype == "float32":
        return nullcontext
    slower = 1.0 if device.type == "cuda" and torch.cuda.is_bf16_supported() else measure_bfloat16(device)
    if slower > 1.0:
        raise AnaphoraError(
            f"training.dtype: a product in bfloat16 takes {slower:.1f} times as long as in float32 on this machine. "
            'Use dtype = "float32"'
        )
    return lambda: torch.autocast(device.type, dtype=torch.bfloat16)


def measure_bfloat16(device: torch.device) -> float:
    """How much longer a product of matrices takes in bfloat16 than in float32."""
    seconds = {}
    for dtype in (torch.float32, torch.bfloat16):
        one = torch.ones(SIZE, SIZE, device=device, dtype=dtype)
        one @ one
        best = float("inf")
        for _ in range(TIMES):
            began = time.perf_counter()
            one @ one
            best = min(best, time.perf_counter() - began)
        seconds[dtype] = best
    return seconds[torch.bfloat16] / seconds[torch.float32]
