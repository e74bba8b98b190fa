"""The learned pronoun measure of Jwalapuram et al. 2019: pairs from real system output, and a model that ranks them."""

from __future__ import annotations

from importlib import import_module

from anaphora.core.errors import AnaphoraError

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
