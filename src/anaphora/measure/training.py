"""Learning the measure from pairs: Adam on the ranking loss, stopped early by development pairs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import finite
from anaphora.languages.pronouns import load_readings
from anaphora.measure.checkpoint import start_from
from anaphora.measure.config import Config
from anaphora.measure.model import (
    Measure,
    Pair,
    Progress,
    StaticEncoder,
    learn_vocabulary,
    load_encoder,
    load_features,
    logistic_loss,
    pairs_of,
    put_vectors,
    ranking_loss,
)
from anaphora.suites.example import Example

Report = Callable[[dict[str, Any]], None]
FEATURES = ("head.of_features", "head.of_identities", "head.scale")


@dataclass(frozen=True, slots=True)
class Trained:
    """A measure, and how it came about: a line per epoch, and the best of them."""

    measure: Measure
    log: list[dict[str, Any]] = field(repr=False)
    best: dict[str, Any]
    pairs: int
    dev_pairs: int

    def results(self) -> dict[str, Any]:
        return {"best": self.best, "epochs": len(self.log), "pairs": self.pairs, "dev_pairs": self.dev_pairs}


def train_measure(
    config: Config,
    train: Sequence[Example],
    dev: Sequence[Example],
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    report: Report | None = None,
) -> Trained:
    """Train a measure; the same config, pairs and seed give the same weights on a processor (one number of threads).

    cache: where states of a frozen encoder and features are kept, for other trainings and after an interruption
    """
    torch.manual_seed(config.training.seed)
    random = np.random.default_rng(config.training.seed)
    readings = load_readings(config.model.language, Path(config.model.pronouns) if config.model.pronouns else None)
    pairs = _drawn(pairs_of(train, config.model, readings, config.data.train_kind), config.data.limit, random)
    others = _drawn(pairs_of(dev, config.model, readings, config.data.dev_kind), config.data.dev_limit, random)
    for what, found, kind in (
        ("training", pairs, config.data.train_kind),
        ("development", others, config.data.dev_kind),
    ):
        if not found:
            raise AnaphoraError(f"no {what} pairs of kind {kind!r}: see which there are with anaphora measure counts")
    length = config.model.max_pronouns or max(1, max(len(t.pronouns) for p in pairs for t in (p.better, p.worse)))
    texts = [text for pair in (*pairs, *others) for text in (pair.better, pair.worse)]
    vocabulary = learn_vocabulary(texts[: 2 * len(pairs)], config.model.vocabulary)
    encoder = load_encoder(config.model, cache=cache, tuned=config.training.fine_tune, vocabulary=vocabulary)
    if isinstance(encoder, StaticEncoder) and config.model.vectors:
        put_vectors(encoder, Path(config.model.vectors))
    features = load_features(config.model.features, cache)
    measure = Measure(config.model, readings, length, encoder, features, config.training.dropout)
    if config.training.start_from:
        start_from(measure, Path(config.training.start_from))
    if config.training.only_features:
        for name, parameter in measure.named_parameters():
            parameter.requires_grad_(name in FEATURES)
        if not any(parameter.requires_grad for parameter in measure.parameters()):
            raise AnaphoraError("training.only_features: the model has no features; name some in model.features")
    measure.prepare(texts, progress)
    return _run(measure, config, pairs, others, random, report)


def _run(
    measure: Measure,
    config: Config,
    pairs: Sequence[Pair],
    dev: Sequence[Pair],
    random: np.random.Generator,
    report: Report | None,
) -> Trained:
    optimizer = _optimizer(measure, config)
    log: list[dict[str, Any]] = []
    best: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for epoch in range(1, config.training.epochs + 1):
        loss = _epoch(measure, config, pairs, random, optimizer)
        accuracy, dev_loss = evaluate_pairs(measure, dev, config)
        line = {"epoch": epoch, "loss": loss, "dev_loss": dev_loss, "dev_accuracy": accuracy}
        log.append(line)
        if report is not None:
            report(line)
        if not best or (accuracy, -dev_loss) > (best["dev_accuracy"], -best["dev_loss"]):
            best = line
            kept = {n: t.detach().clone() for n, t in measure.named_parameters() if t.requires_grad}
        elif epoch - best["epoch"] >= config.training.patience:
            break
    with torch.no_grad():
        for name, parameter in measure.named_parameters():
            if name in kept:
                parameter.copy_(kept[name])
    return Trained(measure.eval(), log, copy.deepcopy(best), len(pairs), len(dev))


def _epoch(
    measure: Measure,
    config: Config,
    pairs: Sequence[Pair],
    random: np.random.Generator,
    optimizer: torch.optim.Optimizer,
) -> float:
    """One pass over the pairs in a new order; returns the mean loss."""
    measure.train()
    total = 0.0
    for part in _batches(pairs, config.training.batch, random):
        optimizer.zero_grad()
        loss = _loss(measure, part, config)
        finite(loss.item(), f"the loss of a batch of {len(part):,} pairs", "Lower training.rate.")
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for p in measure.parameters() if p.requires_grad], 5.0)
        optimizer.step()
        total += loss.item() * len(part)
    return total / len(pairs)


def _loss(measure: Measure, part: Sequence[Pair], config: Config) -> torch.Tensor:
    """Both texts of all pairs go through the same parameters (§4), as one batch."""
    scores = measure([pair.better for pair in part] + [pair.worse for pair in part]).scores
    better, worse = scores[: len(part)], scores[len(part) :]
    if config.training.loss == "logistic":
        return logistic_loss(better, worse)
    return ranking_loss(better, worse, config.training.margin)


@torch.inference_mode()
def evaluate_pairs(measure: Measure, pairs: Sequence[Pair], config: Config) -> tuple[float, float]:
    """How many pairs are ranked right (a tie is not), and the loss."""
    measure.eval()
    right, loss = 0, 0.0
    for start in range(0, len(pairs), config.training.batch):
        part = pairs[start : start + config.training.batch]
        scores = measure([pair.better for pair in part] + [pair.worse for pair in part]).scores
        better, worse = scores[: len(part)], scores[len(part) :]
        right += int((better > worse).sum())
        of_part = logistic_loss(better, worse) if config.training.loss == "logistic" else None
        loss += len(part) * float(
            of_part if of_part is not None else ranking_loss(better, worse, config.training.margin)
        )
    return right / len(pairs), loss / len(pairs)


def _optimizer(measure: Measure, config: Config) -> torch.optim.Optimizer:
    """Adam; the weights of a pre-trained encoder learn more slowly."""
    slow = [p for n, p in measure.named_parameters() if p.requires_grad and n.startswith("encoder.model.")]
    fast = [p for n, p in measure.named_parameters() if p.requires_grad and not n.startswith("encoder.model.")]
    groups: list[dict[str, Any]] = [{"params": fast, "lr": config.training.rate}]
    if slow:
        groups.append({"params": slow, "lr": config.training.encoder_rate})
    return torch.optim.AdamW(groups, weight_decay=config.training.decay)


def _batches(pairs: Sequence[Pair], size: int, random: np.random.Generator) -> Iterator[list[Pair]]:
    """The pairs in random order, those of similar length together: less padding, and the order still changes."""
    order = random.permutation(len(pairs))
    window = size * 20
    batches = []
    for start in range(0, len(order), window):
        near = sorted(order[start : start + window], key=lambda n: len(pairs[n].better.words))
        batches += [near[k : k + size] for k in range(0, len(near), size)]
    for number in random.permutation(len(batches)):
        yield [pairs[n] for n in batches[number]]


def _drawn(pairs: list[Pair], limit: int, random: np.random.Generator) -> list[Pair]:
    if not limit or len(pairs) <= limit:
        return pairs
    return [pairs[n] for n in sorted(random.choice(len(pairs), limit, replace=False))]
