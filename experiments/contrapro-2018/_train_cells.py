"""Names of models and cells of tables in TRAIN.md."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Figures = Mapping[str, Any]
# Last stages: the name of their models without the seed, and in tables
STAGES = {
    "concat22": "concat22",
    "counterfactual": "concat22 with counterfactual passages",
    "baseline": "the baseline",
}


def table(*heads: str) -> list[str]:
    return [row(*heads), row(":--", *["--:"] * (len(heads) - 1))]


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def title(name: str) -> str:
    stem, _, seed = name.rpartition("-")
    names = {
        "stage2-baseline": "baseline, stages 1–2",
        "stage2": "concat22, stages 1–2",
    }
    stage = stem if stem == "baseline" else STAGES.get(stem, stem)
    ending = {"mean": "mean of the seeds' weights"}.get(seed, f"seed {seed}")
    return names.get(name) or (f"{stage}, {ending}" if stem else name)


def accuracy(part: Figures | None) -> str:
    if not part:
        return ""
    low, high = part["interval"]
    return f"{part['accuracy']:.3f} [{low:.3f}, {high:.3f}]"


def group(part: Figures | None, breakdown: str, name: str) -> Any:
    return part["breakdowns"][breakdown].get(name) if part else None


def mean(values: Iterable[float], digits: int = 3) -> str:
    """Mean ± standard deviation; empty if there is no value."""
    numbers = list(values)
    if not numbers:
        return ""
    spread = f" ± {statistics.stdev(numbers):.{digits}f}" if len(numbers) > 1 else ""
    return f"{statistics.mean(numbers):.{digits}f}{spread}"


def interval(figure: Figures) -> str:
    low, high = figure["interval"]
    return f"{figure['mean']:+.3f} [{low:.3f}, {high:.3f}]"


def paper(values: Sequence[float]) -> list[str]:
    return [f"*{value:.2f}*" for value in values]


def gain(difference: Figures) -> str:
    """Right minus random context, in points."""
    low, high = sorted(-100 * bound for bound in difference["interval"])
    return f"{-100 * difference['delta']:+.1f} [{low:+.1f}, {high:+.1f}]"
