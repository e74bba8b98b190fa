"""Keys that mean nothing in a config: what a kind of model does not have, or another key has settled.

Given by a user, such a key is a mistake that would pass unseen; taken over from a preset, it goes back to its default.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from anaphora.nmt.config import Config, ModelConfig, TrainingConfig

TRANSFORMER_ONLY = {
    "layers": "recurrent models have one layer",
    "heads": "recurrent models have one attention for each encoder",
    "feed_forward": "recurrent models have no feed-forward layers",
    "max_length": "recurrent models have no positions (data.max_length limits the text)",
}
RECURRENT_ONLY = {
    "hidden": "a Transformer's states have the size of model.embedding",
    "layer_norm": "Transformers always have it",
    "combination": "only recurrent models combine encoders in several ways",
    "tied_contexts": "a Transformer's encoders share their embeddings anyway",
}


def unused(config: Config) -> dict[str, str]:
    """section.key → why it means nothing here."""
    found = {f"model.{key}": why for key, why in _of_model(config.model).items()}
    found |= {f"training.{key}": why for key, why in _of_training(config.training).items()}
    if config.data.docids and config.data.boundary:
        found["data.boundary"] = "data.docids tell where documents end"
    return found


def with_defaults(config: Config, keys: list[str]) -> Config:
    """The config with some keys as if nobody had set them."""
    for key in keys:
        section, _, name = key.partition(".")
        values = getattr(config, section)
        sections: dict[str, Any] = {section: replace(values, **{name: _default(values, name)})}
        config = replace(config, **sections)
    return config


def _of_model(model: ModelConfig) -> dict[str, str]:
    found = dict(TRANSFORMER_ONLY if model.kind == "recurrent" else RECURRENT_ONLY)
    if not model.contexts:
        why = "there are no further encoders (model.contexts)"
        found |= dict.fromkeys(("combination", "context_sentences", "tied_contexts"), why)
    elif model.kind == "recurrent" and model.tied_all:
        found["tied_contexts"] = "model.tied_all makes one matrix of all"
    if model.tied_all:
        found["tied_decoder"] = "model.tied_all makes one matrix of all"
    return found


def _of_training(training: TrainingConfig) -> dict[str, str]:
    found = {}
    if training.schedule != "plateau":
        found = dict.fromkeys(("decay", "decay_patience"), 'training.schedule is not "plateau"')
    if not training.average:
        found["average_of"] = "training.average is 0"
    return found


def _default(values: Any, name: str) -> Any:
    return next(field.default for field in fields(values) if field.name == name)
