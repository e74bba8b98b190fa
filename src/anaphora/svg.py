"""Primitives of charts: an SVG document with a text alternative, lines and texts, scales, round ticks, colors."""

from __future__ import annotations

import math
import os.path
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape as escape_html

from anaphora.core.finite import NotFinite, finite

# Okabe and Ito 2008: distinct for color-blind readers, and in grayscale
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
GRAY, DARK, PALE = "#666", "#444", "#ddd"
NOT_XML = re.compile("[^\t\n\r -\ud7ff\udc80-\udcff\ue000-\ufffd\U00010000-\U0010ffff]")
NOT_FINITE = re.compile(r' [a-z0-9]+="-?(?:nan|inf)"')  # of a coordinate; in texts, quotes are escaped
TINY = 1e-300  # steps of an axis below it would be 0
SCALE = "Write the values on another scale."
LETTER = 0.58  # the width of a letter in a sans-serif, as a share of its size


def document(width: float, height: float, alt: str, parts: Iterable[str]) -> str:
    """Return an SVG document on white. alt: the text alternative for screen readers."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(alt)}" font-family="sans-serif" font-size="12">'
    )
    svg = "\n".join([head, f'<rect width="{width:g}" height="{height:g}" fill="white"/>', *parts, "</svg>", ""])
    if NOT_FINITE.search(svg):
        raise NotFinite(f"a chart: a coordinate is not a finite number. {SCALE}")
    return svg


def escape(content: str) -> str:
    """Return a text as it can stand in an SVG document. XML has no control characters: one would damage the file."""
    return escape_html(NOT_XML.sub("\ufffd", content))


def height_of(svg: str) -> float:
    """Return the height of a chart in its own units."""
    box = re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', svg)
    return float(box[1]) if box else 0.0


def text(
    x: float, y: float, content: str, *, anchor: str = "start", size: int = 12, fill: str = "#000", bold: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}"{weight}>'
        f"{escape(content)}</text>"
    )


def upright(x: float, y: float, content: str) -> str:
    """Return vertical text, for a vertical axis."""
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
    """Return a text that fits into a width, cut at its end if necessary."""
    letters = max(2, int(width / (size * LETTER)))
    return content if len(content) <= letters else f"{content[: letters - 1]}…"


def distinct(names: Sequence[str], width: float, size: int = 12) -> list[str]:
    """Return names that fit into a width and stay distinct, all shortened if one of them is too long.

    The common beginning and end are left out first ("…step100000"), then the middle of each name. Names that would be
    equal after that are numbered.
    """
    letters = max(8, int(width / (size * LETTER)))
    if all(len(name) <= letters for name in names):
        return list(names)
    different = list(dict.fromkeys(names))
    short = dict(zip(different, (_middle(name, letters) for name in _own_parts(different)), strict=True))
    if len(set(short.values())) < len(different):
        short = {name: f"{_middle(name, letters - 4)} {k}" for k, name in enumerate(different, start=1)}
    return [short[name] for name in names]


def _own_parts(names: Sequence[str]) -> list[str]:
    if len(names) < 2:
        return list(names)
    head = _whole_words(os.path.commonprefix(names))  # noqa: RUF071  (letters are meant)
    rest = [name[len(head) :] for name in names]
    tail = _whole_words(os.path.commonprefix([name[::-1] for name in rest]))[::-1]  # noqa: RUF071
    parts = [name[: len(name) - len(tail)] for name in rest]
    if not all(parts):  # one name is the beginning or the end of another
        return list(names)
    return [f"{'…' if head else ''}{part}{'…' if tail else ''}" for part in parts]


def _whole_words(shared: str) -> str:
    match = re.match(r".*[\s\-_/.:,()]", shared, re.DOTALL)
    return match[0] if match else ""


def _middle(name: str, letters: int) -> str:
    """Return a name of at most `letters` letters without its middle; versions usually differ at the end."""
    if len(name) <= letters:
        return name
    end = (letters - 1) * 3 // 5
    return f"{name[: letters - 1 - end]}…{name[len(name) - end :]}"


def text_width(content: str, size: float = 12) -> float:
    """Return the approximate width of a text."""
    return len(content) * size * LETTER


def round_range(values: Iterable[float], step: float = 0.1) -> tuple[float, float]:
    """Return the range of values, extended to multiples of a step."""
    known = list(values)
    low, high = math.floor(min(known) / step + 1e-9), math.ceil(max(known) / step - 1e-9)
    return round(low * step, 9), round(max(high, low + 1) * step, 9)


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale from values to coordinates."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)


def range_of(values: Iterable[float]) -> tuple[float, float]:
    """Return the range of values with a margin; a single value has a margin as well."""
    known = list(values)
    low, high = min(known), max(known)
    room = next((room for room in (0.08 * (high - low), 0.08 * abs(low)) if room > TINY), 1.0)
    return low - room, high + room


def ticks(low: float, high: float, about: int = 4) -> list[tuple[float, str]]:
    """Return round values within a range and their labels, in steps of 1, 2 or 5 times a power of ten."""
    rough = finite((high - low) / about, "the step of an axis", SCALE)
    power = math.floor(math.log10(rough))
    step = next(factor * 10.0**power for factor in (1, 2, 5, 10) if factor * 10.0**power >= rough * (1 - 1e-9))
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(k * step, f"{k * step:.{digits}f}".replace("-", "−")) for k in range(first, last + 1)]
