"""Training a measure on pairs, and the folder that a trained measure is stored in."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save

from anaphora import __version__
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_folder
from anaphora.core.finite import finite
from anaphora.core.parsing import read_json, shortened
from anaphora.languages.pronouns import Readings, load_readings
from anaphora.measure.adapting import rate_factor
from anaphora.measure.config import Config, parse_config
from anaphora.measure.encoders import StaticEncoder, learn_vocabulary, load_vectors
from anaphora.measure.model import IDENTITY, Measure, load_encoder, load_features, logistic_loss, ranking_loss
from anaphora.measure.texts import Pair, Progress, pairs_of
from anaphora.scoring.adapters import copy_adapter, is_adapter
from anaphora.scoring.weights import check_shapes, check_sizes, load_weights, read_tensors, weights_of
from anaphora.suites.example import Example

Report = Callable[[dict[str, Any]], None]
WARM_UP = 0.05  # the share of steps in which the rates of a linear schedule rise
FEATURES = ("head.of_features", "head.of_identities", "head.scale")


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained measure, the figures of each epoch, and those of the best epoch."""

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
    """Train a measure; the same config, pairs and seed give the same weights on a CPU with the same number of threads.

    cache: a folder for the states of a frozen encoder and features, to be reused by other and resumed trainings
    """
    torch.manual_seed(config.training.seed)
    random = np.random.default_rng(config.training.seed)
    readings = load_readings(config.model.language, Path(config.model.pronouns) if config.model.pronouns else None)
    pairs = _sampled(pairs_of(train, config.model, readings, config.data.train_kind), config.data.limit, random)
    others = _sampled(pairs_of(dev, config.model, readings, config.data.dev_kind), config.data.dev_limit, random)
    data = config.data
    for what, chosen, kind in (("training", pairs, data.train_kind), ("development", others, data.dev_kind)):
        if not chosen:
            raise AnaphoraError(f"no {what} pairs of kind {kind!r}. List the kinds with: anaphora measure counts")
    length = config.model.max_pronouns or max(1, max(len(t.pronouns) for p in pairs for t in (p.better, p.worse)))
    texts = [text for pair in (*pairs, *others) for text in (pair.better, pair.worse)]
    vocabulary = learn_vocabulary(texts[: 2 * len(pairs)], config.model.vocabulary)
    encoder = load_encoder(
        config.model,
        cache=cache,
        tuned=config.training.fine_tune,
        lora_rank=config.training.lora_rank,
        vocabulary=vocabulary,
    )
    if isinstance(encoder, StaticEncoder) and config.model.vectors:
        load_vectors(encoder, Path(config.model.vectors))
    features = load_features(config.model.features, cache)
    measure = Measure(config.model, readings, length, encoder, features, config.training.dropout)
    if config.training.start_from:
        start_from(measure, Path(config.training.start_from))
    if config.training.only_features:
        for name, parameter in measure.named_parameters():
            parameter.requires_grad_(name in FEATURES)
        if not any(parameter.requires_grad for parameter in measure.parameters()):
            raise AnaphoraError("training.only_features: the model has no features. Name some in model.features")
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
    schedule = _schedule(optimizer, config, len(pairs))
    for epoch in range(1, config.training.epochs + 1):
        loss = _epoch(measure, config, pairs, random, optimizer, schedule)
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
    schedule: torch.optim.lr_scheduler.LRScheduler,
) -> float:
    """Train on all pairs once, in a new order; return the mean loss."""
    measure.train()
    total = 0.0
    for part in _batches(pairs, config.training.batch, random):
        optimizer.zero_grad()
        loss = _loss(*_scores(measure, part), config)
        finite(loss.item(), f"the loss of a batch of {len(part):,} pairs", "Lower training.rate.")
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for p in measure.parameters() if p.requires_grad], 5.0)
        optimizer.step()
        schedule.step()
        total += loss.item() * len(part)
    return total / len(pairs)


def _scores(measure: Measure, part: Sequence[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the scores of the better and of the worse texts, which go through the same parameters (§4)."""
    scores = measure([pair.better for pair in part] + [pair.worse for pair in part]).scores
    return scores[: len(part)], scores[len(part) :]


def _loss(better: torch.Tensor, worse: torch.Tensor, config: Config) -> torch.Tensor:
    if config.training.loss == "logistic":
        return logistic_loss(better, worse)
    return ranking_loss(better, worse, config.training.margin)


@torch.inference_mode()
def evaluate_pairs(measure: Measure, pairs: Sequence[Pair], config: Config) -> tuple[float, float]:
    """Return the share of pairs that are ranked right (a tie is not), and the loss."""
    measure.eval()
    right, loss = 0, 0.0
    for start in range(0, len(pairs), config.training.batch):
        part = pairs[start : start + config.training.batch]
        better, worse = _scores(measure, part)
        right += int((better > worse).sum())
        loss += len(part) * float(_loss(better, worse, config))
    return right / len(pairs), loss / len(pairs)


def _optimizer(measure: Measure, config: Config) -> torch.optim.Optimizer:
    """Return Adam, with a lower learning rate for the weights of a pre-trained encoder."""
    slow = [p for n, p in measure.named_parameters() if p.requires_grad and n.startswith("encoder.model.")]
    fast = [p for n, p in measure.named_parameters() if p.requires_grad and not n.startswith("encoder.model.")]
    groups: list[dict[str, Any]] = [{"params": fast, "lr": config.training.rate}]
    if slow:
        groups.append({"params": slow, "lr": config.training.encoder_rate})
    return torch.optim.AdamW(groups, weight_decay=config.training.decay)


def _schedule(optimizer: torch.optim.Optimizer, config: Config, pairs: int) -> torch.optim.lr_scheduler.LRScheduler:
    """Return what sets the rates of each step."""
    steps = (config.training.schedule_epochs or config.training.epochs) * math.ceil(pairs / config.training.batch)
    linear = config.training.schedule == "linear"
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: rate_factor(min(step, steps), steps, WARM_UP) if linear else 1.0
    )


def _batches(pairs: Sequence[Pair], size: int, random: np.random.Generator) -> Iterator[list[Pair]]:
    """Yield batches in random order; pairs of similar length are batched together, which needs less padding."""
    order = random.permutation(len(pairs))
    window = size * 20
    batches = []
    for start in range(0, len(order), window):
        near = sorted(order[start : start + window], key=lambda n: len(pairs[n].better.words))
        batches += [near[k : k + size] for k in range(0, len(near), size)]
    for number in random.permutation(len(batches)):
        yield [pairs[n] for n in batches[number]]


def _sampled(pairs: list[Pair], limit: int, random: np.random.Generator) -> list[Pair]:
    if not limit or len(pairs) <= limit:
        return pairs
    return [pairs[n] for n in sorted(random.choice(len(pairs), limit, replace=False))]


# A trained measure on disk: a folder with its weights (safetensors) and everything that goes with them.

FORMAT_VERSION = 2
DIVISOR_OF_VERSION_1 = 2.0  # 0.1.0 took the radical's index in eq. 1 for a factor; its measures keep what they learned
AGAIN = "Train it again: anaphora measure train."
ABOUT, WEIGHTS, ENCODER, FEATURE = "measure.json", "model.safetensors", "encoder", "feature-{}"


def save_measure(folder: Path, measure: Measure, config: Config, results: Mapping[str, Any]) -> None:
    """Write a measure into a new folder, which appears when it is complete.

    Adapters of the encoder and of language models are copied; their base models, and whole language models, are named.
    """
    encoder: Any = measure.encoder
    training = config.training
    kept = config.model.encoder != "static" and bool(training.keep_encoder or training.fine_tune or training.lora_rank)
    with atomic_folder(folder) as unfinished:
        if kept:
            encoder.save(unfinished / ENCODER, folder)
        adapted = [n for n, feature in enumerate(measure.features) if is_adapter(feature.name)]
        for n in adapted:
            copy_adapter(Path(measure.features[n].name), unfinished / FEATURE.format(n), folder)
        about = {
            "anaphora_measure": FORMAT_VERSION,
            "version": __version__,
            "config": asdict(config),
            "length": measure.head.length,
            "attention_divisor": measure.head.divisor,
            "language": measure.readings.language,
            "readings": {word: [dict(r) for r in listed] for word, listed in measure.readings.readings.items()},
            "capital": sorted(measure.readings.capital),
            "vocabulary": getattr(encoder, "vocabulary", []),
            "encoder": encoder.settings(),
            "encoder_kept": kept,
            "features": [feature.settings() for feature in measure.features],
            "features_kept": adapted,
            "results": dict(results),
        }
        (unfinished / WEIGHTS).write_bytes(save(weights_of(measure)))
        (unfinished / ABOUT).write_bytes(json.dumps(about, ensure_ascii=False, indent=1).encode() + b"\n")


def load_measure(folder: Path, *, cache: Path | None = None, fallback: str | None = None) -> Measure:
    """Load a measure from its folder, ready to score.

    fallback: the encoder, if the folder has no copy of it and it has moved since
    """
    about = read_about(folder)
    path = folder / ABOUT
    try:
        config = parse_config(about["config"], path)
        readings = Readings(
            about["language"],
            {word: tuple(listed) for word, listed in about["readings"].items()},
            frozenset(about["capital"]),
        )
        model = config.model
        if fallback is not None:
            model = replace(model, encoder=fallback)
        elif about["encoder_kept"]:
            query = model.encoder.partition("?")[2]
            model = replace(model, encoder=f"hf:{folder / ENCODER}{'?' if query else ''}{query}")
        model = replace(model, features=_kept_features(model.features, about.get("features_kept", []), folder))
        loaded = None if model.encoder == "static" else load_encoder(model, cache=cache)
        features = load_features(model.features, cache)

        def build() -> Measure:
            encoder = loaded or load_encoder(model, vocabulary=about["vocabulary"])
            return Measure(model, readings, about["length"], encoder, features)

        sketch = check_sizes(build, [folder / WEIGHTS], path)
        _check(path, "encoder", about["encoder"], sketch.encoder.settings())
        for name, then, now in zip(model.features, about["features"], features, strict=False):
            _check(path, f"feature {name}", then, now.settings())
        check_shapes(folder / WEIGHTS, weights_of(sketch))
        measure = build()
        measure.head.divisor = _divisor(about, path)
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:  # RuntimeError: no memory
        raise BadInput(path, f"not a measure ({shortened(str(error))})", remedy=AGAIN) from None
    load_weights(folder / WEIGHTS, measure)
    return measure.eval()


def _kept_features(names: Sequence[str], kept: Sequence[int], folder: Path) -> tuple[str, ...]:
    """Return the features that a config names, with the adapters that are in the measure's folder."""
    located = list(names)
    of_models = [n for n, name in enumerate(names) if name != IDENTITY]
    for n in kept:
        _, mark, query = names[of_models[n]].partition("?")
        located[of_models[n]] = f"lm:{folder / FEATURE.format(n)}{mark}{query}"
    return tuple(located)


def read_about(folder: Path) -> dict[str, Any]:
    """Read the description of a measure; another kind of checkpoint, or a newer one, is an error."""
    path = folder / ABOUT
    if not path.is_file():
        what = "not a measure: measure.json is missing" if folder.is_dir() else "no such folder"
        raise BadInput(folder, what, remedy="A measure is written by: anaphora measure train CONFIG.toml -o MODEL")
    about = read_json(path)
    if not isinstance(about, dict) or "anaphora_measure" not in about:
        raise BadInput(path, "not the description of a measure")
    version = about["anaphora_measure"]
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        problem = f"measure format version {version!r}, this program reads up to {FORMAT_VERSION}"
        raise BadInput(path, problem, remedy="Upgrade with: pip install -U anaphora")
    return about


def _divisor(about: Mapping[str, Any], path: Path) -> float:
    """Return what the measure's attention is divided by, in units of √d (eq. 1)."""
    if about["anaphora_measure"] == 1:
        return DIVISOR_OF_VERSION_1
    value = about.get("attention_divisor")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise BadInput(path, f"attention_divisor: {value!r} is not a positive number", remedy=AGAIN)
    return float(value)


# names and revisions differ when the same weights come from a copy
COMPARED = ("kind", "restore", "names", "layer", "words", "width", "parameters", "weights")


def _check(path: Path, what: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for name in COMPARED:
        if then.get(name) != now.get(name):
            problem = f"not the {what} of the training: {name} is {now.get(name)}, was {then.get(name)}"
            raise BadInput(path, problem, remedy="Pass the right one with --encoder, or train again.")


def start_from(measure: Measure, folder: Path) -> None:
    """Copy the weights that both measures have from another measure.

    A measure that has none of them, or whose attention has a different scale, is an error.
    """
    then, now = _divisor(read_about(folder), folder / ABOUT), measure.head.divisor
    if then != now and measure.head.kind == "attention":
        problem = f"its attention divides by {then}·√d (version 0.1.0 did so), and this one by {now}·√d"
        raise BadInput(folder, problem, remedy=AGAIN)
    own, given = weights_of(measure), read_tensors(folder / WEIGHTS)
    for name in sorted(own.keys() & given.keys()):
        if own[name].shape != given[name].shape:
            shapes = f"{tuple(given[name].shape)} in it, {tuple(own[name].shape)} here"
            remedy = "Its architecture differs: encoder, hidden layer and max_pronouns have to be the same."
            raise BadInput(folder, f"{name}: {shapes}", remedy=remedy)
        own[name].copy_(given[name])
    if not own.keys() & given.keys():
        raise BadInput(folder, "it shares no weights with this measure")


def check_new(folder: Path) -> None:
    """Raise an error unless a folder to train into is new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AnaphoraError(f"{folder} already exists. Choose another output, or delete it first")
