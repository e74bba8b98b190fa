"""The mean of the last checkpoints, which is often a little better than the last (ContraCAT, appendix A)."""

from __future__ import annotations

from pathlib import Path

from anaphora.errors import AnaphoraError
from anaphora.nmt.checkpoint import WEIGHTS, average, checkpoints
from anaphora.nmt.folder import finish, load_model


def average_last(folder: Path, number: int) -> None:
    """Put the mean of so many checkpoints in the place of a model's weights."""
    found = checkpoints(folder / "checkpoints")
    if len(found) < number:
        kept = f"{len(found)} are kept (training.keep)"
        raise AnaphoraError(f"{folder}: {number} checkpoints are to be averaged, but {kept}")
    model, config, _ = load_model(folder)
    average([place / WEIGHTS for place in found[-number:]], model)
    finish(folder, model, config)
