"""Checkpoints and model folders: what training leaves, and what it is resumed from.

A checkpoint holds weights, optimizer, random state and position. It is a folder that appears under its name when
everything in it is on disk; one that cannot be finished (a killed process, a full disk) leaves the others as they were.
A model's folder holds its config, its vocabulary, its weights, and the checkpoints.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from anaphora.core import parsing
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_folder, atomic_path, remove_leftovers, write_atomic
from anaphora.core.finite import json_text
from anaphora.core.lock import is_lock
from anaphora.core.parsing import expecting, read_json_object, shortened
from anaphora.nmt.config import MAX_COUNT, Config, ModelConfig, read_config, unused, with_defaults, write_config
from anaphora.nmt.data import Position, TranslationModel
from anaphora.nmt.layout import SpecialTokens
from anaphora.nmt.text import Text, load_text
from anaphora.scoring.weights import (
    check_layers,
    check_shapes,
    check_sizes,
    load_weights,
    read_tensors,
    save_weights,
    stored_shapes,
    weights_of,
)

CONFIG = "config.toml"
CHECKPOINTS, BEST = "checkpoints", "best"  # those to resume from, and among them a folder for the best
PREFIX = "update-"
WEIGHTS, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"


@dataclass(frozen=True, slots=True)
class Progress:
    """The validation results so far.

    best: the lowest perplexity
    since: validations since then
    reductions: how often the learning rate was reduced on a plateau
    """

    best: float = float("inf")
    since: int = 0
    reductions: int = 0

    def after(self, perplexity: float, plateau_patience: int) -> Progress:
        """Return the progress after one more validation.

        The learning rate is reduced after every `plateau_patience` validations in a row without a lower perplexity.
        """
        if perplexity < self.best:
            return replace(self, best=perplexity, since=0)
        since = self.since + 1
        reduced = plateau_patience > 0 and since % plateau_patience == 0
        return replace(self, since=since, reductions=self.reductions + reduced)


@dataclass(frozen=True, slots=True)
class State:
    """The state of a training besides weights and optimizer.

    window: the sum of the loss and the number of tokens since the last report
    perplexity: the perplexity of the last validation; None before the first
    """

    update: int = 0
    position: Position = field(default_factory=Position)
    progress: Progress = field(default_factory=Progress)
    window: tuple[float, int] = (0.0, 0)
    perplexity: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the state for JSON, where `best` is null before the first validation."""
        document = asdict(self)
        document["progress"]["best"] = None if math.isinf(self.progress.best) else self.progress.best
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> State:
        given = dict(document["progress"])
        given["best"] = math.inf if given["best"] is None else given["best"]  # Infinity, in checkpoints of 0.1.0
        position, progress = Position(**document["position"]), Progress(**given)
        loss, tokens = document["window"]
        if not all(type(number) in (int, float) for number in (loss, tokens, progress.best)):
            raise TypeError("one of its figures is not a number")
        counts = (document["update"], *asdict(position).values(), progress.since, progress.reductions)
        if not all(type(count) is int and 0 <= count < MAX_COUNT for count in counts):
            raise TypeError("one of its counts is not a whole number")
        return cls(document["update"], position, progress, (loss, tokens), document.get("perplexity"))


def save_checkpoint(folder: Path, model: Any, optimizer: torch.optim.Optimizer | None, state: State, keep: int) -> Path:
    """Write a checkpoint to `folder`, keeping only the newest `keep` (0: all).

    optimizer: None if training is not resumed from this checkpoint
    """
    checkpoint = _path_of(folder, state)
    try:
        with atomic_folder(checkpoint, replace=True) as unfinished:
            save_weights(weights_of(model), unfinished / WEIGHTS, checkpoint / WEIGHTS)
            if optimizer is not None:
                save_weights(_optimizer_tensors(model, optimizer), unfinished / OPTIMIZER, checkpoint / OPTIMIZER)
            document = json_text(state.to_dict(), f"the state of update {state.update:,}")
            (unfinished / STATE).write_text(document, encoding="utf-8")
    except Exception as error:  # safetensors has errors of its own for a full disk
        reason = getattr(error, "strerror", None) or getattr(error, "problem", None) or str(error)
        raise AnaphoraError(
            f"{checkpoint}: the checkpoint cannot be saved ({reason}). Earlier checkpoints are intact: free some space "
            "and pass --resume."
        ) from None
    _remove(folder, checkpoints(folder)[:-keep] if keep > 0 else [])
    return checkpoint


def _remove(folder: Path, unwanted: Sequence[Path]) -> None:
    """Remove checkpoints, and those that a killed process left half removed.

    The state file is removed first: only a checkpoint that has one is complete.
    """
    for checkpoint in unwanted:
        (checkpoint / STATE).unlink(missing_ok=True)
    for checkpoint in folder.glob(f"{PREFIX}*"):
        if not (checkpoint / STATE).exists():
            shutil.rmtree(checkpoint, ignore_errors=True)


def checkpoints(folder: Path) -> list[Path]:
    """Return the complete checkpoints in a folder, oldest first."""
    return sorted(path for path in folder.glob(f"{PREFIX}*") if (path / STATE).is_file())


def keep_best(folder: Path, model: Any, state: State, number: int) -> None:
    """Write the weights to `folder` if their perplexity is among the `number` lowest, and remove the others."""
    this = _path_of(folder, state)
    others = [_perplexity(checkpoint) for checkpoint in best_checkpoints(folder) if checkpoint != this]
    perplexity = math.inf if state.perplexity is None else state.perplexity
    if sum(other <= perplexity for other in others) < number:
        save_checkpoint(folder, model, None, state, keep=0)
    _remove(folder, best_checkpoints(folder)[number:])


def best_checkpoints(folder: Path) -> list[Path]:
    """Return the complete checkpoints in a folder by perplexity, lowest first; equal ones by age, oldest first."""
    return sorted(checkpoints(folder), key=_perplexity)


def _perplexity(checkpoint: Path) -> float:
    document = read_json_object(checkpoint / STATE, decoder=parsing.STATE)
    value = document.get("perplexity")  # 0.1.0 saved only a new best, whose perplexity is the best so far
    with expecting(checkpoint / STATE, "the state of a training"):
        return float(document["progress"]["best"] if value is None else value)


def _path_of(folder: Path, state: State) -> Path:
    return folder / f"{PREFIX}{state.update:08d}"


def load_checkpoint(checkpoint: Path, model: Any, optimizer: torch.optim.Optimizer | None = None) -> State:
    """Restore weights, optimizer and random state, and return the state of the training."""
    load_weights(checkpoint / WEIGHTS, model)
    if optimizer is not None:
        _restore(read_tensors(checkpoint / OPTIMIZER), checkpoint / OPTIMIZER, model, optimizer)
    document = read_json_object(checkpoint / STATE, decoder=parsing.STATE)
    with expecting(checkpoint / STATE, "the state of a training"):
        return State.from_dict(document)


def average(files: list[Path], model: Any) -> None:
    """Load the mean of several checkpoints' weights into a model."""
    if not files:
        raise AnaphoraError("There are no checkpoints to average.")
    total: dict[str, torch.Tensor] = {}
    for file in files:
        load_weights(file, model)
        for name, tensor in weights_of(model).items():
            total[name] = total[name] + tensor.double() if name in total else tensor.double()
    with torch.no_grad():
        for name, tensor in weights_of(model).items():
            tensor.copy_((total[name] / len(files)).to(tensor.dtype))


def _optimizer_tensors(model: Any, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    tensors = {"random": torch.get_rng_state()}
    for parameter, values in optimizer.state.items():
        for key, value in values.items():
            tensors[f"{names[id(parameter)]}|{key}"] = torch.as_tensor(value).detach().contiguous()
    return tensors


def _restore(tensors: dict[str, torch.Tensor], path: Path, model: Any, optimizer: torch.optim.Optimizer) -> None:
    parameters = dict(model.named_parameters())
    with expecting(path, "the state of this model's optimizer"):
        try:
            torch.set_rng_state(tensors.pop("random"))
        except RuntimeError as error:  # torch has no error of its own for a damaged state
            raise ValueError(str(error)) from None
        for name, value in tensors.items():
            owner, _, key = name.rpartition("|")
            optimizer.state[parameters[owner]][key] = value.to(parameters[owner].device) if value.dim() else value


# Model folders

BUILDERS = {
    "recurrent": "anaphora.nmt.recurrent:build",
    "transformer": "anaphora.nmt.marian:build",
    "context-transformer": "anaphora.nmt.context_transformer:build",
}

if TYPE_CHECKING:  # mypy checks that every architecture has the interface
    from anaphora.nmt import context_transformer, marian, recurrent

    _ARCHITECTURES: tuple[type[TranslationModel], ...] = (
        recurrent.RecurrentModel,
        marian.Marian,
        context_transformer.ContextTransformer,
    )


def build_model(config: ModelConfig, size: int, special: SpecialTokens) -> Any:
    """Return a TranslationModel with random weights.

    size: number of ids of either vocabulary, special tokens included
    """
    module, _, name = BUILDERS[config.kind].partition(":")
    try:
        return getattr(import_module(module), name)(config, size, special)
    except RuntimeError as error:  # torch has no error of its own for what does not fit into memory
        raise AnaphoraError(f"A model of the sizes in [model] cannot be built: {shortened(str(error))}") from None


# Settings that may change when training is resumed.
KEYS = ("updates", "report_every", "save_every", "keep", "average", "average_of")
FREE = {"description", *(f"training.{key}" for key in KEYS)}
FREE_SECTIONS = ("validation", "log")


def open_folder(folder: Path, config: Config, resume: bool) -> None:
    """Create a model's folder, or open the one whose training is resumed; a different config there is an error.

    Call it only while holding the folder's lock: unfinished files of a killed process are removed.
    """
    file = folder / CONFIG
    if not file.exists():
        if folder.exists() and any(not is_lock(path) for path in folder.iterdir()):
            raise AnaphoraError(f"{folder} already exists and is not a model. Choose another folder.")
        begin(folder, config)
        return
    if not resume:
        raise AnaphoraError(f"{folder} already exists. Pass --resume, or choose another folder.")
    differences = sorted(_differences(read_config(file, strict=False), with_defaults(config, list(unused(config)))))
    if differences:
        raise AnaphoraError(
            f"{file}: created with different settings ({'; '.join(differences)}). Choose another folder."
        )
    for path in (folder, folder / CHECKPOINTS, folder / CHECKPOINTS / BEST):
        remove_leftovers(path)
    begin(folder, config)


def _differences(old: Config, new: Config) -> Iterable[str]:
    for section in fields(Config):
        before, after = getattr(old, section.name), getattr(new, section.name)
        if section.name in FREE_SECTIONS or not is_dataclass(before):
            continue
        for key in fields(before):
            name = f"{section.name}.{key.name}"
            one, other = getattr(before, key.name), getattr(after, key.name)
            if one != other and name not in FREE:
                yield f"{name}: {one!r}, now {other!r}"


def load_model(folder: Path) -> tuple[Any, Config, Text]:
    """Return a trained model in evaluation mode, its config and its text processing."""
    if not (folder / CONFIG).is_file():
        raise BadInput(folder, f"no {CONFIG} here", remedy="Pass a folder written by `anaphora train`.")
    config, text = read_config(folder / CONFIG, strict=False), load_text(folder)
    weights = unfinished_weights(folder)
    names = stored_shapes(weights)

    def build() -> Any:
        model = build_model(config.model, text.size, text.special)
        if hasattr(model, "untie"):
            model.untie(names)
        return model

    if config.model.kind != "recurrent":
        check_layers({"model.layers": config.model.layers}, [weights], folder / CONFIG)
    check_shapes(weights, weights_of(check_sizes(build, [weights], folder / CONFIG)))
    model = build()
    load_weights(weights, model)
    return model.eval(), config, text


def unfinished_weights(folder: Path) -> Path:
    """Return the path of a model's weights, or of its last checkpoint while it is being trained."""
    if (folder / WEIGHTS).is_file():
        return folder / WEIGHTS
    saved = checkpoints(folder / CHECKPOINTS)
    if not saved:
        raise BadInput(folder, "no weights here", remedy="Pass a folder written by `anaphora train`.")
    return saved[-1] / WEIGHTS


# Settings of [model] that change neither the parameters nor what they compute.
SAME_PARAMETERS = ("source_context", "target_context", "context_sentences", "dropout", "max_length")


def start_from(folder: Path, model: Any, config: Config) -> None:
    """Load the weights of another trained model, whose parameters must be the same.

    What the two read may differ: a concatenation model can start from a sentence-level one.
    """
    if not (folder / CONFIG).is_file():
        raise BadInput(folder, f"no {CONFIG} here", remedy="Pass a folder written by `anaphora train`.")
    theirs = asdict(read_config(folder / CONFIG, strict=False).model)
    ours = asdict(with_defaults(config, list(unused(config))).model)
    differences = [
        f"model.{key} is {theirs[key]!r} there, {ours[key]!r} here"
        for key in ours
        if key not in SAME_PARAMETERS and theirs[key] != ours[key]
    ]
    if differences:
        free = ", ".join(f"model.{key}" for key in SAME_PARAMETERS)
        problem = f"training cannot start from this model: {'; '.join(differences)}"
        raise BadInput(folder, problem, remedy=f"Only {free} may differ.")
    load_weights(unfinished_weights(folder), model)


def begin(folder: Path, config: Config) -> None:
    """Write the resolved config, before training starts."""
    write_atomic(folder / CONFIG, write_config(config).encode())


def finish(folder: Path, model: Any) -> None:
    """Write the final weights; a model of Hugging Face is written as a complete checkpoint of theirs."""
    if hasattr(model, "export"):
        model.export(folder)
        return
    with atomic_path(folder / WEIGHTS) as unfinished:
        save_weights(weights_of(model), unfinished, folder / WEIGHTS)


def take_mean(folder: Path, model: Any, config: Config) -> None:
    """Replace a model's weights by the mean of `training.average` checkpoints."""
    number, saved = config.training.average, folder / CHECKPOINTS
    best = config.training.average_of == "best"
    chosen = best_checkpoints(saved / BEST)[:number] if best else checkpoints(saved)[-number:]
    if len(chosen) < number:
        raise AnaphoraError(
            f"{folder}: training.average is {number}, but there are only {len(chosen)} checkpoints. The model has the "
            "weights of a single one. Train longer, or average fewer."
        )
    average([checkpoint / WEIGHTS for checkpoint in chosen], model)
    finish(folder, model)
