"""Training: loss, learning-rate schedule, precision, several processes, validation, and the loop."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import torch.distributed
from torch import Tensor
from torch.nn import functional

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import finite
from anaphora.core.parsing import is_count, shown
from anaphora.nmt.candidates import encode_candidates, padded_scores
from anaphora.nmt.checkpoint import (
    BEST,
    CHECKPOINTS,
    WEIGHTS,
    Progress,
    State,
    best_checkpoints,
    build_model,
    checkpoints,
    finish,
    keep_best,
    load_checkpoint,
    save_checkpoint,
    start_from,
    take_mean,
)
from anaphora.nmt.config import Config, TrainingConfig
from anaphora.nmt.data import Batch, Corpus, Ints, TrainingData, in_order, updates
from anaphora.nmt.layout import ContextLayout
from anaphora.nmt.log import Log
from anaphora.nmt.text import Text
from anaphora.scoring.weights import load_weights
from anaphora.suites.example import Example

IGNORED = -100  # the label of padding


@dataclass(frozen=True, slots=True)
class Loss:
    """Sums over the target tokens of a batch.

    smoothed: what is minimized, with label smoothing and the weights of tokens
    plain: the negative log-likelihood, without either
    """

    smoothed: Tensor
    plain: Tensor
    tokens: int


def loss_of(model: Any, batch: Batch, smoothing: float) -> Loss:
    """Return the loss of a batch. smoothing: the share of the probability spread over the whole vocabulary"""
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


def learning_rate(config: TrainingConfig, update: int, progress: Progress) -> float:
    """Return the learning rate of an update, counted from 1.

    inverse-sqrt: rises over the warm-up, then falls with the root of the updates (Vaswani et al. 2017)
    plateau: × plateau_factor after plateau_patience validations without gain
        (ContraCAT, appendix A: 0.7 after 8 checkpoints)
    """
    if config.schedule == "inverse-sqrt":
        warmup = max(1, config.warmup)
        return config.learning_rate * min(update / warmup, math.sqrt(warmup / update))
    warming = min(1.0, update / config.warmup) if config.warmup else 1.0
    if config.schedule == "plateau":
        return config.learning_rate * warming * math.pow(config.plateau_factor, progress.reductions)
    return config.learning_rate * warming


def autocast(dtype: str, device: torch.device) -> Callable[[], AbstractContextManager[object]]:
    """Return the context manager for forward passes; bfloat16 is refused on a GPU that does not support it."""
    if dtype == "float32":
        return nullcontext
    if device.type == "cuda" and not torch.cuda.is_bf16_supported():
        raise AnaphoraError('training.dtype: this GPU does not support bfloat16. Use dtype = "float32"')
    return lambda: torch.autocast(device.type, dtype=torch.bfloat16)


# Data-parallel training: each process takes its share of an update's batches, and gradients are summed.


def _variable(name: str, default: str) -> int:
    value = os.environ.get(name, default)
    if not is_count(value):
        raise AnaphoraError(f"the environment variable {name} is not a number: {shown(value)}. torchrun sets it")
    return int(value)


class Ranks:
    """This process among those that train together, by the variables that torchrun sets."""

    def __init__(self) -> None:
        self.rank, self.size = _variable("RANK", "0"), _variable("WORLD_SIZE", "1")
        if torch.cuda.is_available():
            self.device = torch.device("cuda", _variable("LOCAL_RANK", "0"))
        else:
            self.device = torch.device("cpu")
        if self.size > 1 and not torch.distributed.is_initialized():
            torch.distributed.init_process_group("nccl" if self.device.type == "cuda" else "gloo")

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files."""
        return self.rank == 0

    def add_gradients(self, model: Any) -> None:
        """Replace every gradient by its sum over all processes."""
        if self.size == 1:
            return
        for parameter in model.parameters():
            if parameter.requires_grad:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                torch.distributed.all_reduce(parameter.grad)

    def add(self, value: float) -> float:
        """Return the sum of a number over all processes."""
        if self.size == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64, device=self.device)
        torch.distributed.all_reduce(total)
        return float(total)

    def from_first(self, value: float) -> float:
        """Return the first process's value."""
        if self.size == 1:
            return value
        shared = torch.tensor(value, dtype=torch.float64, device=self.device)
        torch.distributed.broadcast(shared, 0)
        return float(shared)

    def wait(self) -> None:
        """Wait for all processes."""
        if self.size > 1:
            torch.distributed.barrier()

    def close(self) -> None:
        if self.size > 1 and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


# Validation: perplexity on held-out text, contrastive accuracy on suites


@torch.inference_mode()
def perplexity(model: Any, corpus: Corpus, batch_tokens: int) -> float | None:
    """Return the perplexity of the target tokens under teacher forcing, unweighted; None without tokens."""
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
        value = math.exp(total / tokens)
    except OverflowError:
        value = math.inf
    what = f"the perplexity of {tokens:,} held-out tokens"
    return finite(
        value, what, "Lower the learning rate (training.learning_rate), or clip the gradient (training.clip_norm)."
    )


def contrastive_accuracy(
    model: Any, text: Text, layout: ContextLayout, examples: Iterable[Example], batch_tokens: int
) -> float | None:
    """Return the share of examples whose right candidate scores highest; ties are wrong. None without right answers."""
    model.eval()
    gold, targets, sizes = [], [], []
    for example in examples:
        if example.gold is not None:
            candidates = encode_candidates(example, text, layout)
            gold.append(example.gold)
            sizes.append(len(candidates))
            targets += [(candidate.inputs, candidate.predicted) for candidate in candidates]
    scores = iter(padded_scores(model, targets, text.special, batch_tokens))
    right = 0
    for best, size in zip(gold, sizes, strict=True):
        values = [next(scores) for _ in range(size)]
        right += all(values[best] > score for number, score in enumerate(values) if number != best)
    return right / len(gold) if gold else None


# The training loop. A training that is killed at any moment and resumed gives the same result.

Report = Callable[[dict[str, Any]], None]  # receives the lines of the log: kind, update and figures


@dataclass(frozen=True, slots=True)
class Trained:
    """The outcome of a training."""

    updates: int
    stopped_early: bool
    perplexity: float | None
    folder: Path


class Trainer:
    """Trains one model in its folder."""

    def __init__(
        self,
        config: Config,
        data: TrainingData,
        folder: Path,
        report: Report | None = None,
        ranks: Ranks | None = None,
    ) -> None:
        self.config, self.data, self.folder = config, data, folder
        self.ranks = ranks or Ranks()
        self.report = report if self.ranks.first else None
        text = data.text
        torch.manual_seed(config.training.seed)
        self.model = build_model(config.model, text.size, text.special).to(self.ranks.device)
        training = config.training
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            lr=training.learning_rate,
            betas=(training.betas[0], training.betas[1]),
            eps=training.epsilon,
            weight_decay=training.weight_decay,
        )
        self.autocast = autocast(training.dtype, self.ranks.device)
        self.state = State()
        if saved := checkpoints(self._checkpoints):
            self.state = load_checkpoint(saved[-1], self.model, self.optimizer)
        elif config.training.start_from:
            start_from(Path(config.training.start_from), self.model, config)
        if self.ranks.rank:
            torch.manual_seed(training.seed + 1_000_003 * self.ranks.rank + self.state.update)  # dropout of its own
        board = config.log.tensorboard
        self.log = Log(folder / "log.jsonl", self.state.update, board) if self.ranks.first else None

    def run(self) -> Trained:
        """Train to the last update, or until validation no longer improves."""
        training = self.config.training
        together = training.accumulate * self.ranks.size
        stream = updates(
            self.data.training.lengths,
            training.batch_tokens,
            training.seed,
            together,
            self.state.position,
            training.batch_sentences,
        )
        stopped = self._finished_early()
        for batches, position in islice(stream, max(0, training.updates - self.state.update)):
            if stopped:
                break
            loss, tokens = self.update(batches)
            window = (self.state.window[0] + loss, self.state.window[1] + tokens)
            self.state = replace(self.state, update=self.state.update + 1, position=position, window=window)
            stopped = self._after_update()
        if self.state.window[1]:
            self._report(final=True)  # the rest since the last report
        self._save()
        return self._end(stopped)

    def update(self, batches: Sequence[Ints]) -> tuple[float, int]:
        """Take one step of the optimizer on the batches of all processes; return the summed loss and its tokens.

        The loss is divided by the sum of the tokens' weights, so that weights change what the model learns from and
        not the size of a step.
        """
        training, corpus = self.config.training, self.data.training
        tokens = int(sum(corpus.lengths[batch, 1].sum() for batch in batches))
        weight = float(sum(corpus.loss_weights[batch].sum() for batch in batches))
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for numbers in batches[self.ranks.rank :: self.ranks.size]:
            batch = corpus.batch(numbers).to(self.ranks.device)
            with self.autocast():
                loss = loss_of(self.model, batch, training.label_smoothing)
            (loss.smoothed / weight).backward()
            total += float(loss.plain)
        total = self.ranks.add(total)
        self._check(total)
        self.ranks.add_gradients(self.model)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), training.clip_norm or math.inf)
        self._check(float(norm))
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(training, self.state.update + 1, self.state.progress)
        self.optimizer.step()
        return total, tokens

    def _after_update(self) -> bool:
        """Report, validate and save when due; return whether training stops."""
        training, update = self.config.training, self.state.update
        if update % training.report_every == 0:
            self._report()
            self.state = replace(self.state, window=(0.0, 0))
        stop = False
        if update % self.config.validation.every == 0:
            self._validate()
            stop = self._finished_early()
        if update % training.save_every == 0 or stop:
            self._save()
        return stop

    def _report(self, **more: bool) -> None:
        loss, tokens = self.state.window
        current = learning_rate(self.config.training, self.state.update, self.state.progress)
        self._log("training", loss=loss / max(1, tokens), tokens=tokens, rate=current, **more)

    def _validate(self) -> None:
        settings, data = self.config.validation, self.data
        figures: dict[str, Any] = {}
        if self.ranks.first:
            if data.validation is not None:
                figures["perplexity"] = perplexity(self.model, data.validation, settings.batch_tokens)
            for name, examples in data.suites:
                layout = self.config.model.layout
                accuracy = contrastive_accuracy(self.model, data.text, layout, examples, settings.batch_tokens)
                figures.setdefault("accuracy", {})[name] = accuracy
        if figures:
            self._log("validation", **figures)
        known = figures.get("perplexity")
        value = self.ranks.from_first(math.nan if known is None else known)
        if not math.isnan(value):  # nan: there is no validation text, in any process
            progress = self.state.progress.after(value, self.config.training.plateau_patience)
            self.state = replace(self.state, progress=progress, perplexity=value)
            if math.isfinite(value) and self.ranks.first:
                keep_best(self._checkpoints / BEST, self.model, self.state, self._averaged("best") or 1)

    def _finished_early(self) -> bool:
        patience = self.config.validation.patience
        return patience > 0 and self.state.progress.since >= patience

    def _averaged(self, which: str) -> int:
        """Return the number of "last" or "best" checkpoints that are averaged in the end."""
        training = self.config.training
        return training.average if training.average_of == which else 0

    def _save(self) -> None:
        if self.ranks.first:
            keep = self.config.training.keep
            keep = max(keep, self._averaged("last")) if keep > 0 else 0
            save_checkpoint(self._checkpoints, self.model, self.optimizer, self.state, keep)

    def _end(self, stopped: bool) -> Trained:
        """Write the final model: the best weights with early stopping, otherwise the last, or a mean of checkpoints.

        The single checkpoint is written first, so that there is a model even if the mean cannot be computed.
        """
        if self.ranks.first:
            best = best_checkpoints(self._checkpoints / BEST)
            if self.config.validation.patience > 0 and best:
                load_weights(best[0] / WEIGHTS, self.model)
            finish(self.folder, self.model)
            if self.config.training.average:
                take_mean(self.folder, self.model, self.config)
        self.ranks.close()
        best_seen = self.state.progress.best
        return Trained(self.state.update, stopped, None if math.isinf(best_seen) else best_seen, self.folder)

    def _check(self, value: float) -> None:
        if not math.isfinite(value):
            saved = checkpoints(self._checkpoints)
            kept = f"The last good checkpoint is {saved[-1]}" if saved else "There is no checkpoint yet"
            raise AnaphoraError(
                f"The loss is not a number at update {self.state.update + 1:,}. {kept}. Lower training.learning_rate, "
                "or clip the gradient (training.clip_norm)."
            )

    def _log(self, kind: str, **figures: Any) -> None:
        if self.log is not None:
            self.log.write(kind, self.state.update, **figures)
        if self.report is not None:
            self.report({"kind": kind, "update": self.state.update, **figures})

    @property
    def _checkpoints(self) -> Path:
        return self.folder / CHECKPOINTS
