"""COMET through its own package (Rei et al. 2020), which is not installed with Anaphora.

unbabel-comet 2.2 needs transformers 4, numpy 1 and huggingface-hub 0, Anaphora's models need transformers 5: the two go
into environments of their own.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import all_finite
from anaphora.metrics.measures import Measured, Texts
from anaphora.stats.intervals import Floats
from anaphora.stats.paired import Sums, ratio

MODEL = "Unbabel/wmt22-comet-da"


def comet(texts: Texts, *, comet_model: str = MODEL, comet_gpus: int = 0, comet_batch: int = 8, **_: Any) -> Measured:
    """The mean of the sentences' scores. comet_model: a name of the hub, or a checkpoint on this machine (.ckpt)."""
    if texts.source is None:
        raise AnaphoraError("COMET compares with the source, too: give it with -s")
    if texts.more_references:
        raise AnaphoraError("COMET compares with one reference: give one -r, or leave COMET out")
    model = _load(comet_model)
    compared = texts.as_compared
    sums = {}
    for system, text in compared.systems.items():
        rows = zip(compared.source or (), text, compared.reference, strict=True)
        items = [{"src": source, "mt": target, "ref": reference} for source, target, reference in rows]
        with contextlib.redirect_stdout(sys.stderr):  # it reports on stdout, which is for the result
            scores = model.predict(items, batch_size=comet_batch, gpus=comet_gpus, progress_bar=False).scores
        all_finite(list(scores), f"{comet_model}: COMET scores of {system}", "Check the model and its precision.")
        sums[system] = Sums(_rows(scores), _mean)
    return Measured(f"COMET|model:{comet_model}|version:{_version()}{texts.norm}", sums, decimals=4)


def _load(model: str) -> Any:
    try:
        from comet import download_model, load_from_checkpoint  # type: ignore[import-not-found]
    except ModuleNotFoundError as error:
        if error.name != "comet":
            raise
        raise AnaphoraError(
            "COMET needs unbabel-comet, which is not installed. Install it with: pip install unbabel-comet "
            "(in an environment of its own: it needs an older transformers than Anaphora's models)"
        ) from None
    with contextlib.redirect_stdout(sys.stderr):
        return load_from_checkpoint(model if model.endswith(".ckpt") else download_model(model))


def _rows(scores: Sequence[float]) -> Floats:
    return np.column_stack([np.asarray(scores, float), np.ones(len(scores))])


def _mean(totals: Floats) -> dict[str, Floats]:
    return {"score": ratio(totals[:, 0], totals[:, 1])}


def _version() -> str:
    try:
        return version("unbabel-comet")
    except PackageNotFoundError:
        return "unknown"
