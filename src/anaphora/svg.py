"""What our pictures share: an SVG file with a text alternative, lines and texts, round ticks, colours for all eyes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

# Okabe and Ito 2008: told apart by colour-blind readers, and dark and light enough in grey
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
GREY, DARK, PALE = "#666", "#444", "#ddd"
LETTER = 0.58  # the width of a letter in a sans-serif, as a share of its size


def document(width: float, height: float, said: str, parts: Iterable[str]) -> str:
    """A whole SVG file on white; said: what a screen reader says instead."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(said)}" font-family="sans-serif" font-size="12">'
    )
    return "\n".join([head, f'<rect width="{width:g}" height="{height:g}" fill="white"/>', *parts, "</svg>", ""])


def text(
    x: float, y: float, content: str, *, anchor: str = "start", size: int = 12, fill: str = "#000", bold: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}"{weight}>'
        f"{escape(content)}</text>"
    )


def upright(x: float, y: float, content: str) -> str:
    """Text that is read from below, for a vertical axis."""
    return f'<text transform="translate({x:.1f} {y:.1f}) rotate(-90)" text-anchor="middle">{escape(content)}</text>'


def line(
    x1: float, y1: float, x2: float, y2: float, stroke: str = PALE, *, width: float = 1, dashed: bool = False
) -> str:
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" '
        f'stroke-width="{width:g}"{dashes}/>'
    )


def shortened(content: str, width: float, size: int = 12) -> str:
    """A text that fits into a width, its end left out if need be."""
    letters = max(2, int(width / (size * LETTER)))
    return content if len(content) <= letters else f"{content[: letters - 1]}…"


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places in the picture."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)


def range_of(values: Iterable[float], margin: float = 0.08) -> tuple[float, float]:
    """From the lowest to the highest value with some room around; a single value has room, too."""
    known = list(values)
    low, high = min(known), max(known)
    room = (high - low) * margin or abs(low) * margin or 1.0
    return low - room, high + room


def ticks(low: float, high: float, about: int = 4) -> list[tuple[float, str]]:
    """Round values within a range and how they are written: steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / about
    power = math.floor(math.log10(rough))
    step = next(factor * 10.0**power for factor in (1, 2, 5, 10) if factor * 10.0**power >= rough * (1 - 1e-9))
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(k * step, f"{k * step:.{digits}f}".replace("-", "−")) for k in range(first, last + 1)]
