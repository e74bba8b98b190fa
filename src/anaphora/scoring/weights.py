"""The weights of torch models as safetensors files: written whole, and read only into the architecture they are of.

A config next to weights may be damaged, or of another model, and ask for sizes that take all memory. So every model
that is read from a folder is first built on torch's `meta` device, where tensors have shapes but no memory, and
compared with what its files hold: see `check_sizes`.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
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
MAX_LAYERS = 1_000  # of a model in files whose tensors are not listed at their beginning
SPARE = 1 << 20  # numbers that a model may have beyond those in its files: positions that are computed, a pooler
SPARE_BUFFER = 32 << 20  # bytes of buffers, such as masks: they are computed
SAME_MODEL = "Use the config and the weights of the same model."
Shape = tuple[int, ...]


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


def stored_shapes(file: Path) -> dict[str, Shape]:
    """Return the shapes of the tensors of a file by their names; only its beginning is read."""
    return dict(_read(file, lambda: _shapes(file)))


def read_tensors(file: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a file by their names."""
    return dict(_read(file, lambda: load_file(file)))


def stored_metadata(file: Path) -> Mapping[str, str]:
    """Return what a file's header says besides its tensors."""

    def read() -> Mapping[str, str]:
        with safe_open(file, framework="pt") as stored:
            return stored.metadata() or {}

    return _read(file, read)


def _shapes(file: Path) -> dict[str, Shape]:
    with safe_open(file, framework="pt") as stored:
        return {name: tuple(stored.get_slice(name).get_shape()) for name in stored.keys()}  # noqa: SIM118


def _read(file: Path, read: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    try:
        return read()
    except FileNotFoundError:
        raise BadInput(file, "no such file") from None
    except Exception as error:
        raise BadInput(file, f"cannot be read as weights: {shortened(str(error))}") from None


def load_weights(file: Path, model: Any) -> None:
    """Weights into a model that was built with the same config; another architecture is an error."""
    expected = weights_of(model)
    check_shapes(file, expected)
    stored = read_tensors(file)
    with torch.no_grad():
        for name, tensor in expected.items():
            tensor.copy_(stored[name])


def check_shapes(file: Path, expected: Mapping[str, torch.Tensor]) -> None:
    """Raise an error unless a file holds tensors of these names and shapes, and no others."""
    stored = stored_shapes(file)
    for name in sorted({*expected, *stored}):
        if name not in stored or name not in expected:
            has, lacks = ("model", "file") if name in expected else ("file", "model")
            remedy = "It is a checkpoint of another architecture."
            if has == "file" and name.endswith(".embedding.weight"):
                remedy = TIED
            raise BadInput(file, f"the {has} has {name}, but the {lacks} does not", remedy=remedy)
        if stored[name] != tuple(expected[name].shape):
            shapes = f"{stored[name]} in the file, {tuple(expected[name].shape)} in the model"
            remedy = "It is a checkpoint of another size or with another vocabulary."
            raise BadInput(file, f"{name}: {shapes}", remedy=remedy)


def check_layers(settings: Mapping[str, Any], files: Sequence[Path], config: Path) -> None:
    """Raise an error if a config asks for more layers than there are tensors: to build them could take hours.

    settings: of the config; files: of the weights
    """
    listed = bool(files) and all(file.suffix == ".safetensors" for file in files)
    most = sum(len(stored_shapes(file)) for file in files) if listed else MAX_LAYERS
    for key, value in settings.items():
        if key.endswith(("layers", "n_layer")) and isinstance(value, int) and value > most:
            has = f"but its weights have {most:,} tensors" if listed else "more than any model has"
            raise BadInput(config, f"{key} is {value:,}, {has}", remedy=SAME_MODEL)


def check_sizes(build: Callable[[], Any], files: Collection[Path], config: Path, *, per_byte: int = 1) -> Any:
    """Raise an error if a config asks for a model that is too large for its weights, before it takes memory.

    build: makes the model of the config; it is called on torch's `meta` device. Parts that it has loaded do not count
    per_byte: numbers in a byte of the files; more than 1 where they are quantized
    Returns the model on that device.
    """
    for file in files:
        if not file.is_file():
            raise BadInput(file, "no such file")
    with torch.device("meta"):
        model = build()
    held = per_byte * sum(file.stat().st_size for file in files)
    wanted = sum(tensor.numel() for tensor in model.parameters() if tensor.is_meta)
    computed = sum(tensor.numel() * tensor.element_size() for tensor in model.buffers() if tensor.is_meta)
    if wanted > held + SPARE or computed > held + SPARE_BUFFER:
        what = f"{wanted:,} weights" if wanted > held + SPARE else f"{computed:,} bytes of buffers"
        names = ", ".join(sorted(file.name for file in files))
        raise BadInput(config, f"it asks for {what}, more than {names} can hold", remedy=SAME_MODEL)
    return model


def find_device(name: str | None) -> torch.device:
    """Return the device of this name, by default the GPU where there is one; one that cannot be used is an error."""
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
