"""The weights of torch models as safetensors files: written whole, and read only into the architecture they are of."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from anaphora.core.errors import AnaphoraError, BadInput, CannotWrite
from anaphora.core.parsing import shortened

TIED = (
    "Either it is a checkpoint of another architecture, or of a tied model of version 0.1.0: that one can be used "
    "(nmt:MODEL), but not trained further; train a new model."
)


def save_weights(
    tensors: dict[str, torch.Tensor], path: Path, name: Path, metadata: dict[str, str] | None = None
) -> None:
    """Write a safetensors file that those can read whom the umask lets; the library makes it private.

    name: what it is called in an error, where it is written under a temporary one
    """
    try:
        path.touch()
        mode = stat.S_IMODE(path.stat().st_mode)
        save_file(tensors, path, metadata=metadata)
        path.chmod(mode)
    except (OSError, SafetensorError) as error:
        raise CannotWrite(name, error if isinstance(error, OSError) else OSError(str(error))) from None


def save_pretrained(model: Any, folder: Path, name: Path) -> None:
    """Write a Hugging Face model into a folder. name: as in `save_weights`"""
    try:
        model.save_pretrained(folder)
    except SafetensorError as error:
        raise CannotWrite(name, OSError(str(error))) from None


def weights_of(model: Any) -> dict[str, torch.Tensor]:
    """Return every parameter and buffer once; tied ones are stored under their first name.

    What a Hugging Face model does not save (positions, which are computed) is left out.
    """
    left_out = getattr(model, "_keys_to_ignore_on_save", None) or ()
    weights: dict[int, tuple[str, torch.Tensor]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if name not in left_out:
            weights.setdefault(id(tensor), (name, tensor.detach().contiguous()))
    return dict(weights.values())


def weight_names(file: Path) -> set[str]:
    """Under which names a file holds tensors; none where it cannot be read, which `load_weights` reports."""
    try:
        with safe_open(file, framework="pt") as stored:
            return set(stored.keys())
    except (OSError, SafetensorError):
        return set()


def read_tensors(file: Path) -> dict[str, torch.Tensor]:
    """The tensors of a file by their names."""
    try:
        return load_file(file)
    except FileNotFoundError:
        raise BadInput(file, "no such file") from None
    except Exception as error:
        raise BadInput(file, f"cannot be read as weights: {shortened(str(error))}") from None


def load_weights(file: Path, model: Any) -> None:
    """Weights into a model that was built with the same config; another architecture is an error."""
    stored = read_tensors(file)
    expected = weights_of(model)
    for name in sorted({*expected, *stored}):
        if name not in stored or name not in expected:
            has, lacks = ("model", "file") if name in expected else ("file", "model")
            remedy = "It is a checkpoint of another architecture."
            if has == "file" and name.endswith(".embedding.weight"):
                remedy = TIED
            raise BadInput(file, f"the {has} has {name}, but the {lacks} does not", remedy=remedy)
        if stored[name].shape != expected[name].shape:
            shapes = f"{tuple(stored[name].shape)} in the file, {tuple(expected[name].shape)} in the model"
            remedy = "It is a checkpoint of another size or with another vocabulary."
            raise BadInput(file, f"{name}: {shapes}", remedy=remedy)
    with torch.no_grad():
        for name, tensor in expected.items():
            tensor.copy_(stored[name])


def find_device(name: str | None) -> torch.device:
    """The device of this name, by default the GPU where there is one; one that cannot be used is an error."""
    chosen = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=chosen).device
    except (RuntimeError, AssertionError) as error:  # the latter where torch was built without it
        raise AnaphoraError(f"device {chosen!r} cannot be used: {str(error).partition(chr(10))[0]}") from None


def weights_checksum(model: Any) -> str:
    """A short hash of a part of every tensor: another checkpoint under the same name does not pass for this one."""
    digest = hashlib.sha256()
    with torch.inference_mode():
        for name, tensor in sorted(model.state_dict().items()):
            digest.update(f"{name}{tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().flatten()[:64].float().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]
