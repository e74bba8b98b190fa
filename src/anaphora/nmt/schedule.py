"""The learning rate, update by update: the papers' schedules."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from anaphora.nmt.config import TrainingConfig


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
