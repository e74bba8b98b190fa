"""Loading Hugging Face checkpoints: weights and tokeniser by name or path, revision, device and dtype."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import transformers

from anaphora.core.errors import AnaphoraError
from anaphora.scoring.batching import find_device, weights_checksum
from anaphora.systems.encoding.tokens import load_tokenizer, loaded

SETTINGS = ("revision", "dtype", "device")
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def load_checkpoint(loader: Any, name: str, settings: Mapping[str, str]) -> tuple[Any, Any]:
    """A model and its tokeniser. A path that ends in .gguf is a file of a llama.cpp model."""
    transformers.utils.logging.disable_progress_bar()
    dtype = DTYPES.get(settings.get("dtype", "float32"))
    if dtype is None:
        raise AnaphoraError(f"unknown dtype {settings['dtype']!r}. Known: {', '.join(DTYPES)}")
    device = find_device(settings.get("device"))
    arguments: dict[str, Any] = {"revision": settings.get("revision", "main")}
    path = Path(name)
    if path.suffix == ".gguf":
        if not path.is_file():
            raise AnaphoraError(f"{name}: no such file")
        name, arguments["gguf_file"] = str(path.parent), path.name
    tokenizer = load_tokenizer(name, "model", **arguments)
    model = loaded(name, "model", lambda: loader.from_pretrained(name, dtype=dtype, **arguments))
    return model.to(device).eval(), tokenizer


def fingerprint(model: Any, tokenizer: Any, settings: Mapping[str, str]) -> dict[str, Any]:
    """What a run's header says of the weights: which they are, and in which numbers they are computed."""
    return {
        "architecture": type(model).__name__,
        "revision": getattr(model.config, "_commit_hash", None) or settings.get("revision"),
        "parameters": model.num_parameters(),
        "weights": weights_checksum(model),
        "tokenizer": f"{type(tokenizer).__name__}/{_vocabulary(tokenizer)}",
        "dtype": str(model.dtype).removeprefix("torch."),
    }


def _vocabulary(tokenizer: Any) -> str:
    """The size of a vocabulary and a short sum over it."""
    tokens = sorted(tokenizer.get_vocab().items(), key=lambda item: (item[1], item[0]))
    return f"{len(tokens)}@{hashlib.sha256(repr(tokens).encode()).hexdigest()[:8]}"
