"""A model's folder: what training leaves, and what those who use the model read."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.core.files import atomic_path, atomic_writer
from anaphora.nmt.build import build_model
from anaphora.nmt.checkpoint import WEIGHTS, checkpoints
from anaphora.nmt.config import Config, read_config, unused, with_defaults, write_config
from anaphora.nmt.text import FILES, Text, load_text
from anaphora.scoring.weights import load_weights, save_weights, weight_names, weights_of

CONFIG = "config.toml"
CHECKPOINTS, BEST = "checkpoints", "best"  # those to resume from, and among them a folder for the best
TEXT_FILES = (*FILES, "text.json")


def load_model(folder: Path) -> tuple[Any, Config, Text]:
    """A trained model in evaluation mode, its config, and how text becomes its ids."""
    if not (folder / CONFIG).is_file():
        raise BadInput(folder, f"no {CONFIG} here", remedy="Name a folder that `anaphora train` made.")
    config, text = read_config(folder / CONFIG, strict=False), load_text(folder)
    model = build_model(config.model, text.size, text.size, text.marks)
    weights = unfinished_weights(folder)
    if hasattr(model, "untie"):
        model.untie(weight_names(weights))
    load_weights(weights, model)
    return model.eval(), config, text


def unfinished_weights(folder: Path) -> Path:
    """The weights of a model, or of its last checkpoint while it is still trained."""
    if (folder / WEIGHTS).is_file():
        return folder / WEIGHTS
    found = checkpoints(folder / CHECKPOINTS)
    if not found:
        raise BadInput(folder, "no weights here", remedy="Name a folder that `anaphora train` made.")
    return found[-1] / WEIGHTS


# Settings of [model] that change neither the parameters nor what they compute.
SAME_PARAMETERS = ("joined_source", "joined_target", "context_sentences", "dropout", "max_length")


def start_from(folder: Path, model: Any, config: Config) -> None:
    """Load the weights of another trained model, whose parameters must be the same.

    What the two read may differ: a concatenation model can start from a sentence-level one.
    """
    if not (folder / CONFIG).is_file():
        raise BadInput(folder, f"no {CONFIG} here", remedy="Name a folder that `anaphora train` made.")
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
    """The config as it was resolved, before anything is trained."""
    with atomic_writer(folder / CONFIG) as out:
        out.write(write_config(config).encode())


def copy_text(source: Path, folder: Path) -> Text:
    """The vocabulary of another model, for one that is trained on from it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in TEXT_FILES:
        if not (source / name).is_file():
            raise BadInput(source, f"{name} is missing", remedy="Name a folder that `anaphora train` made.")
        with atomic_writer(folder / name) as out:
            out.write((source / name).read_bytes())
    return load_text(folder)


def finish(folder: Path, model: Any, config: Config) -> None:
    """The weights under their final name; an architecture that other tools know is written as they expect it."""
    if hasattr(model, "export"):
        model.export(folder)
        return
    with atomic_path(folder / WEIGHTS) as unfinished:
        save_weights(weights_of(model), unfinished, folder / WEIGHTS)
