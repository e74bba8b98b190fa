"""A trained model as it is kept in the repository: half precision, without checkpoints."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

WEIGHTS = "model.safetensors"
LARGEST = torch.finfo(torch.float16).max
LEFT_OUT = ("checkpoints", "log.jsonl")


def keep(model: Path, folder: Path) -> None:
    """Copy a model's files; its weights become float16, but for those that are too large for it (a bias of −1e9)."""
    folder.mkdir(exist_ok=True)
    for path in model.iterdir():
        if path.is_file() and path.name not in (WEIGHTS, *LEFT_OUT) and not path.name.startswith("."):
            shutil.copyfile(path, folder / path.name)
    weights = load_file(model / WEIGHTS)
    halved = {name: tensor.half() if tensor.abs().max() < LARGEST else tensor for name, tensor in weights.items()}
    save_file(halved, folder / WEIGHTS, metadata={"format": "pt"})
