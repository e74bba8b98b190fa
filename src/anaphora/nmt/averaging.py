"""The mean of several checkpoints as a model: the last ones, or the best (ContraCAT, appendix A: the 8 best)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.checkpoint import WEIGHTS, average, best_checkpoints, checkpoints
from anaphora.nmt.config import Config
from anaphora.nmt.folder import BEST, CHECKPOINTS, finish


def take_mean(folder: Path, model: Any, config: Config) -> None:
    """Replace a model's weights by the mean of `training.average` checkpoints."""
    number, saved = config.training.average, folder / CHECKPOINTS
    best = config.training.average_of == "best"
    found = best_checkpoints(saved / BEST)[:number] if best else checkpoints(saved)[-number:]
    if len(found) < number:
        raise AnaphoraError(
            f"{folder}: {number} checkpoints are to be averaged, but there are {len(found)}. The model has the weights "
            "of a single one. Train longer, or average fewer (training.average)"
        )
    average([place / WEIGHTS for place in found], model)
    finish(folder, model, config)
