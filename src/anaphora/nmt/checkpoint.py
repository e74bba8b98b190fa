"""Checkpoints: weights, optimizer, random state and position, complete or not there at all.

A checkpoint is a folder that appears under its name when everything in it is on disk. One that could not be finished
(the process was killed, the disk is full) leaves the one before it as it was.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from anaphora.core import parsing
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import atomic_folder
from anaphora.core.finite import json_text
from anaphora.core.parsing import expecting, read_json_object
from anaphora.nmt.data import Position
from anaphora.nmt.optimization import Progress
from anaphora.scoring.weights import load_weights, read_tensors, save_weights, weights_of

PREFIX = "update-"
WEIGHTS, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"


@dataclass(frozen=True, slots=True)
class State:
    """Where training is, besides weights and optimizer.

    window: sum of the loss and number of tokens since the last report
    perplexity: of the last validation; None where there was none
    """

    update: int = 0
    position: Position = field(default_factory=Position)
    progress: Progress = field(default_factory=Progress)
    window: tuple[float, int] = (0.0, 0)
    perplexity: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: before the first validation there is no best."""
        document = asdict(self)
        document["progress"]["best"] = None if math.isinf(self.progress.best) else self.progress.best
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> State:
        given = dict(document["progress"])
        given["best"] = math.inf if given["best"] is None else given["best"]  # Infinity, in checkpoints of 0.1.0
        position, progress = Position(**document["position"]), Progress(**given)
        loss, tokens = document["window"]
        return cls(document["update"], position, progress, (loss, tokens), document.get("perplexity"))


def save_checkpoint(folder: Path, model: Any, optimizer: torch.optim.Optimizer | None, state: State, keep: int) -> Path:
    """Write a checkpoint under folder, and remove the oldest ones until `keep` are left (0: all stay).

    optimizer: None where training is not to be resumed from this checkpoint
    """
    place = _place(folder, state)
    try:
        with atomic_folder(place, replace=True) as unfinished:
            save_weights(weights_of(model), unfinished / WEIGHTS, place / WEIGHTS)
            if optimizer is not None:
                save_weights(_optimizer_tensors(model, optimizer), unfinished / OPTIMIZER, place / OPTIMIZER)
            document = json_text(state.to_dict(), f"the state of update {state.update:,}")
            (unfinished / STATE).write_text(document, encoding="utf-8")
    except Exception as error:  # safetensors has errors of its own for a full disk
        reason = getattr(error, "strerror", None) or getattr(error, "problem", None) or str(error)
        raise AnaphoraError(
            f"{place}: the checkpoint cannot be saved ({reason}). Those before it are as they were: make room, go on "
            "with --resume"
        ) from None
    _remove(folder, checkpoints(folder)[:-keep] if keep > 0 else [])
    return place


def _remove(folder: Path, places: Sequence[Path]) -> None:
    """Remove checkpoints, and what a process that was killed while it did so has left.

    The state goes first: a checkpoint that has one is complete.
    """
    for place in places:
        (place / STATE).unlink(missing_ok=True)
    for place in folder.glob(f"{PREFIX}*"):
        if not (place / STATE).exists():
            shutil.rmtree(place, ignore_errors=True)


def checkpoints(folder: Path) -> list[Path]:
    """The complete checkpoints under a folder, oldest first."""
    return sorted(path for path in folder.glob(f"{PREFIX}*") if (path / STATE).is_file())


def keep_best(folder: Path, model: Any, state: State, number: int) -> None:
    """Write the weights under folder if their perplexity is among the lowest; `number` checkpoints are left there."""
    others = [_perplexity(place) for place in best_checkpoints(folder) if place != _place(folder, state)]
    perplexity = math.inf if state.perplexity is None else state.perplexity
    if sum(other <= perplexity for other in others) < number:
        save_checkpoint(folder, model, None, state, keep=0)
    _remove(folder, best_checkpoints(folder)[number:])


def best_checkpoints(folder: Path) -> list[Path]:
    """The complete checkpoints under a folder, that with the lowest perplexity first, of equals the oldest."""
    return sorted(checkpoints(folder), key=_perplexity)


def _perplexity(place: Path) -> float:
    document = read_json_object(place / STATE, decoder=parsing.STATE)
    value = document.get("perplexity")  # 0.1.0 saved only a new best, whose perplexity is the best so far
    with expecting(place / STATE, "the state of a training"):
        return float(document["progress"]["best"] if value is None else value)


def _place(folder: Path, state: State) -> Path:
    return folder / f"{PREFIX}{state.update:08d}"


def load_checkpoint(place: Path, model: Any, optimizer: torch.optim.Optimizer | None = None) -> State:
    """Put weights, optimizer and random state back as they were."""
    load_weights(place / WEIGHTS, model)
    if optimizer is not None:
        _restore(read_tensors(place / OPTIMIZER), place / OPTIMIZER, model, optimizer)
    document = read_json_object(place / STATE, decoder=parsing.STATE)
    with expecting(place / STATE, "the state of a training"):
        return State.from_dict(document)


def average(files: list[Path], model: Any) -> None:
    """The mean of the weights of several checkpoints, into a model."""
    if not files:
        raise AnaphoraError("there are no checkpoints to average")
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
        torch.set_rng_state(tensors.pop("random"))
        for name, value in tensors.items():
            owner, _, key = name.rpartition("|")
            optimizer.state[parameters[owner]][key] = value.to(parameters[owner].device) if value.dim() else value
