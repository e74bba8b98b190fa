"""Which checkpoints become the model of the last stage: those whose mean is best on held-out passages (_last_stage.py).

The mean of the models of all seeds, which start from the same weights, is a model too (Wortsman et al. 2022, Model
soups). Nothing here sees ContraPro.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from _stages import EVERY_MEAN, MEANS

from anaphora import load_suite
from anaphora.nmt.checkpoint import CHECKPOINTS, WEIGHTS, average, checkpoints, finish, load_model
from anaphora.nmt.training import contrastive_accuracy

BATCH_TOKENS = 4096
CHOSEN = "chosen.json"
OF_A_TRAINING = (CHECKPOINTS, CHOSEN, "log.jsonl", "curve.svg", ".lock")  # what a mean of models has not


def choose(folder: Path, suite: Path, every: int = EVERY_MEAN) -> dict[str, Any]:
    """Make the best mean the model's weights; what was tried, and what was taken. Computed once.

    every: updates after which means of checkpoints are tried
    """
    done = folder / CHOSEN
    if not done.exists():
        torch.set_num_threads(1)
        model, config, text = load_model(folder)
        examples, tried = list(load_suite(suite)), []
        candidates = list(means(checkpoints(folder / CHECKPOINTS), every))
        for files in candidates:
            average(files, model)
            accuracy = contrastive_accuracy(model, text, config.model.layout, examples, BATCH_TOKENS)
            tried.append({"updates": update_of(files[-1]), "mean": len(files), "accuracy": accuracy})
        best = max(range(len(tried)), key=lambda place: tried[place]["accuracy"])
        average(candidates[best], model)
        finish(folder, model)
        done.write_text(json.dumps({"items": len(examples), **tried[best], "tried": tried}), encoding="utf-8")
    found: dict[str, Any] = json.loads(done.read_text("utf-8"))
    return found


def accuracy_of(folder: Path, suite: Path) -> float:
    """A model's accuracy on held-out passages."""
    torch.set_num_threads(1)
    model, config, text = load_model(folder)
    return contrastive_accuracy(model, text, config.model.layout, list(load_suite(suite)), BATCH_TOKENS)


def mean_of_seeds(models: Sequence[Path], folder: Path, suite: Path) -> dict[str, Any]:
    """Write the model whose weights are the mean of those of several; its accuracy. Computed once."""
    done = folder / CHOSEN
    if not done.exists():
        torch.set_num_threads(1)
        shutil.copytree(models[0], folder, ignore=shutil.ignore_patterns(*OF_A_TRAINING), dirs_exist_ok=True)
        model, config, text = load_model(folder)
        average([path / WEIGHTS for path in models], model)
        examples = list(load_suite(suite))
        accuracy = contrastive_accuracy(model, text, config.model.layout, examples, BATCH_TOKENS)
        finish(folder, model)
        found = {"items": len(examples), "accuracy": accuracy, "models": [path.name for path in models]}
        done.write_text(json.dumps(found), encoding="utf-8")
    answer: dict[str, Any] = json.loads(done.read_text("utf-8"))
    return answer


def means(saved: list[Path], every: int) -> Iterator[list[Path]]:
    """The weights of which means are tried: the last few checkpoints at several lengths of training."""
    for place, checkpoint in enumerate(saved, start=1):
        if update_of(checkpoint / WEIGHTS) % every == 0:
            for number in MEANS:
                if number <= place:
                    yield [path / WEIGHTS for path in saved[place - number : place]]


def update_of(weights: Path) -> int:
    return int(weights.parent.name.rpartition("-")[2])
