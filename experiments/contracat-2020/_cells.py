"""Tables and figures of the pages of this folder, in per cent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from _markdown import p_value

CHANCE = 0.05
Figures = Mapping[str, Any]


def table(*heads: str) -> list[str]:
    return [row(*heads), row(":--", *["--:"] * (len(heads) - 1))]


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def italic(figure: float) -> str:
    return f"*{figure:.1f}*"


def percent(part: Figures) -> str:
    low, high = part["interval"]
    return f"{100 * part['accuracy']:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def points(difference: Figures) -> str:
    """A difference with its interval, and whether it is beyond chance."""
    low, high = (100 * bound for bound in difference["interval"])
    certain = "beyond chance" if difference["p_adjusted"] < CHANCE else "not beyond chance"
    return (
        f"{100 * difference['delta']:+.1f} [{low:+.1f}, {high:+.1f}], p {p_value(difference['p_adjusted'])}, {certain}"
    )
