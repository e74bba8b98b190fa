"""What the language model is shown, what it learns, and what it prefers; chosen on development pairs only."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from _data import WORK, names, news

from anaphora.languages.pronouns import load_readings, pronoun_lists
from anaphora.measure.config import Config, Model
from anaphora.measure.texts import pairs_of

PLAIN, NAMED, TUNED, ADAPTED = "as it is", "restored", "restored, and tuned", "as it is, and adapted"
TEXTS = Model(plain=True, max_pronouns=40)


def noisy_dev(dev: list[Any], limit: int) -> list[Any]:
    """Noisy development pairs in a fixed random order."""
    found = [e for e in dev if e.tags["kind"] == "noisy"]
    random.Random(3).shuffle(found)
    return found[:limit]


def spec(model: str, name: str, tune_with: list[Any]) -> str:
    """A way to show it a text, or what it has learned, as a feature of a measure."""
    if name == TUNED:
        return f"lm:{tuned_model(model, tune_with)}?names={names()}"
    return {PLAIN: f"lm:{model}", NAMED: f"lm:{model}?names={names()}"}.get(name) or f"lm:{adapted_model(model)}"


def choices(found: dict[str, str], dev: list[Any]) -> dict[str, Any]:
    """How often each prefers the reference: on development pairs, and on those whose pronouns are not equivalent."""
    from anaphora.measure.model import load_features

    lists = pronoun_lists("de-en")
    pairs = pairs_of(dev, TEXTS, load_readings("en"))
    same = [lists.are_equivalent(*str(e.tags["pronoun_pair"]).split(":")) for e in dev]
    results = {}
    for name, spec in found.items():
        [features] = load_features([spec], WORK / "states")
        features.prepare(text for pair in pairs for text in (pair.better, pair.worse))
        right = [bool(features(pair.better).sum() > features(pair.worse).sum()) for pair in pairs]
        parts = {"all": right, "equivalent": [], "others": []}
        for correct, equivalent in zip(right, same, strict=True):
            parts["equivalent" if equivalent else "others"].append(correct)
        results[name] = {part: [sum(values), len(values)] for part, values in parts.items()}
        print(f"  language model, {name}: {results[name]}", flush=True)
    return results


def tuned_model(model: str, pairs: list[Any]) -> Path:
    """The language model whose last layers have learned from these pairs; made once."""
    from _tuning import Tuning, tune

    from anaphora.measure.adapting import save_language_model
    from anaphora.measure.features import LanguageModelFeatures

    folder = WORK / "models" / f"tuned-{len(pairs)}"
    if not (folder / "model.safetensors").exists():
        features = LanguageModelFeatures(f"{model}?names={names()}")
        found = pairs_of(pairs, TEXTS, load_readings("en"))
        tune(features, found, Tuning(), lambda line: print(f"  tuning: {line}", flush=True))
        save_language_model(features, folder)
    return folder


def adapted_model(model: str) -> Path:
    """The language model that has gone on learning from news without capitals and signs; made once."""
    from anaphora.measure.adapting import Adapting, adapt, save_language_model
    from anaphora.measure.features import LanguageModelFeatures

    folder = WORK / "models" / "adapted"
    if not (folder / "model.safetensors").exists():
        features = LanguageModelFeatures(model)
        kept = WORK / "models" / "adapting.safetensors"
        adapt(features, news(), Adapting(), keep=kept, report=lambda line: print(f"  adapting: {line}", flush=True))
        save_language_model(features, folder)
        kept.unlink(missing_ok=True)
    return folder


def preference(config: Config, spec: str) -> Any:
    """A measure that knows nothing but the language model's log-probabilities, with weights 1."""
    import torch

    from anaphora.measure.model import Measure, load_encoder, load_features

    model = replace(config.model, features=(spec,), max_pronouns=40)
    features = load_features(model.features, WORK / "states")
    measure = Measure(model, load_readings("en"), 40, load_encoder(model, cache=WORK / "states"), features)
    with torch.no_grad():
        measure.head.z.zero_()
    return measure
