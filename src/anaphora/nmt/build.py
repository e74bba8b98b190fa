"""From a config to a model: the architectures by their kind, imported when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from anaphora.nmt.arrangement import Marks
from anaphora.nmt.config import ModelConfig

BUILDERS = {
    "recurrent": "anaphora.nmt.recurrent:build",
    "transformer": "anaphora.nmt.marian:build",
    "context-transformer": "anaphora.nmt.context_transformer:build",
}


def build_model(config: ModelConfig, source_size: int, target_size: int, marks: Marks) -> Any:
    """A module that is a TranslationModel, with random weights.

    source_size, target_size: how many ids the vocabularies have, marks included; the same number where they are joint
    """
    module, _, name = BUILDERS[config.kind].partition(":")
    return getattr(import_module(module), name)(config, source_size, target_size, marks)
