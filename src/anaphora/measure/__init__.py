"""The learned pronoun measure of Jwalapuram et al. 2019: pairs from real system output, and a model that ranks them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from anaphora.core.errors import AnaphoraError
from anaphora.core.special import beside

NEEDED = ("torch", "safetensors", "transformers")


def check_installed(*more: str) -> None:
    """Raise an error unless torch and all else that a measure needs is installed; pairs need none of it."""
    for name in (*NEEDED, *more):
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            raise AnaphoraError(
                f"a learned measure needs {error.name}, which is not installed. "
                'Install it with: pip install "anaphora[measure]"'
            ) from None


def unfinished_model(output: Path) -> Path:
    """Return the file that an interrupted `measure adapt` is resumed from."""
    return beside(output, "{}.part")


def kept_model(output: Path) -> str:
    """Describe what an interrupted `measure adapt` has kept; empty where there is nothing."""
    part = unfinished_model(output)
    return f"what it has learned so far is kept in {part}" if part.is_file() else ""


def kept_states(cache: Path | None) -> str:
    """Describe the encoder states that an interrupted command has cached; a measure is written when it is trained."""
    return f"the encoder's states so far are kept in {cache}" if cache is not None and cache.is_dir() else ""
