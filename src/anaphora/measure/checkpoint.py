"""A trained measure on disk: one folder with its weights (safetensors) and everything that goes with them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anaphora import __version__
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_folder
from anaphora.core.parsing import read_json
from anaphora.languages.readings import Readings
from anaphora.measure.config import Config, Model
from anaphora.measure.config_file import as_document, parse_config
from anaphora.measure.model import Measure, load_encoder, load_features
from anaphora.scoring.weights import load_weights, save_pretrained

FORMAT_VERSION = 2
DIVISOR_OF_VERSION_1 = 2.0  # 0.1.0 took the radical's index in eq. 1 for a factor; its measures keep what they learned
AGAIN = "Train it again: anaphora measure train."
ABOUT, WEIGHTS, ENCODER = "measure.json", "model.safetensors", "encoder"


def save_measure(folder: Path, measure: Measure, config: Config, results: Mapping[str, Any]) -> None:
    """Write a measure into a new folder, which appears when it is complete."""
    from safetensors.torch import save

    encoder: Any = measure.encoder
    kept = config.model.encoder != "static" and (config.training.keep_encoder or config.training.fine_tune)
    about = {
        "anaphora_measure": FORMAT_VERSION,
        "version": __version__,
        "config": as_document(config),
        "length": measure.head.length,
        "attention_divisor": measure.head.divisor,
        "language": measure.readings.language,
        "readings": {word: [dict(r) for r in found] for word, found in measure.readings.readings.items()},
        "capital": sorted(measure.readings.capital),
        "vocabulary": getattr(encoder, "vocabulary", []),
        "encoder": encoder.settings(),
        "encoder_kept": kept,
        "features": [feature.settings() for feature in measure.features],
        "results": dict(results),
    }
    with atomic_folder(folder) as unfinished:
        if kept:
            save_pretrained(encoder.model, unfinished / ENCODER, folder)
            encoder.tokenizer.save_pretrained(unfinished / ENCODER)
        (unfinished / WEIGHTS).write_bytes(save(own_weights(measure)))
        (unfinished / ABOUT).write_bytes(json.dumps(about, ensure_ascii=False, indent=1).encode() + b"\n")


def own_weights(measure: Measure) -> dict[str, Any]:
    """What the measure has learned: without the weights of a Hugging Face encoder, which has files of its own."""
    names = measure.state_dict()
    kept = {n: t for n, t in names.items() if not n.startswith("encoder.model.")}
    return {name: tensor.detach().contiguous() for name, tensor in kept.items()}


def load_measure(folder: Path, *, cache: Path | None = None, fallback: str | None = None) -> Measure:
    """A measure from its folder, ready to score.

    fallback: the encoder, where the folder has no copy of it and it is no longer where it was
    """
    about = read_about(folder)
    path = folder / ABOUT
    try:
        config = parse_config(about["config"], path)
        readings = Readings(
            about["language"],
            {word: tuple(found) for word, found in about["readings"].items()},
            frozenset(about["capital"]),
        )
        model = _with_encoder(config.model, folder, about, fallback)
        encoder = load_encoder(model, cache=cache, vocabulary=about["vocabulary"])
        features = load_features(model.features, cache)
        measure = Measure(model, readings, about["length"], encoder, features)
        measure.head.divisor = _divisor(about, path)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(path, f"not a measure ({error})", remedy=AGAIN) from None
    _check(path, "encoder", about["encoder"], encoder.settings())
    for name, then, now in zip(model.features, about["features"], features, strict=False):
        _check(path, f"feature {name}", then, now.settings())
    load_weights(folder / WEIGHTS, _Own(measure))
    return measure.eval()


def read_about(folder: Path) -> dict[str, Any]:
    """What a folder says of its measure; another kind of checkpoint, or a newer one, is an error."""
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
    """What the measure's attention is divided by, in units of √d (eq. 1)."""
    if about["anaphora_measure"] == 1:
        return DIVISOR_OF_VERSION_1
    value = about.get("attention_divisor")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise BadInput(path, f"attention_divisor: {value!r} is not a positive number", remedy=AGAIN)
    return float(value)


def _with_encoder(model: Model, folder: Path, about: Mapping[str, Any], fallback: str | None) -> Model:
    from dataclasses import replace

    if fallback is not None:
        return replace(model, encoder=fallback)
    if not about["encoder_kept"]:
        return model
    query = model.encoder.partition("?")[2]
    return replace(model, encoder=f"hf:{folder / ENCODER}{'?' if query else ''}{query}")


# the same weights have other names and revisions when they come from a copy
COMPARED = ("kind", "restore", "names", "layer", "words", "width", "parameters", "weights")


def _check(path: Path, what: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for name in COMPARED:
        if then.get(name) != now.get(name):
            problem = f"another {what} than in training: {name} is {now.get(name)}, was {then.get(name)}"
            raise BadInput(path, problem, remedy="Name the one of the training with --encoder, or train again.")


class _Own:
    """The measure's own weights as `load_weights` wants them: a model with a state_dict."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure

    def state_dict(self, keep_vars: bool = False) -> dict[str, Any]:
        names = self._measure.state_dict(keep_vars=keep_vars)
        return {name: tensor for name, tensor in names.items() if not name.startswith("encoder.model.")}


def start_from(measure: Measure, folder: Path) -> None:
    """Begin with the weights of another measure: all that both have.

    A measure that has none of them, or whose attention has another scale, is an error.
    """
    from safetensors.torch import load_file

    then, now = _divisor(read_about(folder), folder / ABOUT), measure.head.divisor
    if then != now and measure.head.kind == "attention":
        problem = f"its attention divides by {then}·√d (version 0.1.0 did so), and this one by {now}·√d"
        raise BadInput(folder, problem, remedy=AGAIN)
    own, found = _Own(measure).state_dict(keep_vars=True), load_file(folder / WEIGHTS)
    for name in sorted(own.keys() & found.keys()):
        if own[name].shape != found[name].shape:
            shapes = f"{tuple(found[name].shape)} in it, {tuple(own[name].shape)} here"
            remedy = "It is of another architecture: encoder, hidden layer and max_pronouns have to be the same."
            raise BadInput(folder, f"{name}: {shapes}", remedy=remedy)
        own[name].data.copy_(found[name])
    if not own.keys() & found.keys():
        raise BadInput(folder, "it has no weights that this measure has")


def check_new(folder: Path) -> None:
    """A folder to train into must not hold anything yet."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AnaphoraError(f"{folder}: is there already. Name a new folder, or remove it first")
