"""Shares with their intervals as dots and lines: a row per group, a dot per system. Readable at a phone's width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from anaphora.reports.page.systems import Look
from anaphora.svg import DARK, GREY, Scale, document, line, shortened, text, ticks

WIDTH, SIDE = 460, 14
HEAD, NAME, STEP, GAP, FOOT = 30, 18, 15, 9, 34  # heights: title, a group's name, a dot, between groups, axis
LEGEND = 18


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with its interval, and what is said when a reader points at it."""

    value: float
    low: float
    high: float
    said: str


@dataclass(frozen=True, slots=True)
class Group:
    """A row of the picture: its name, a remark at its end (n, stars), a dot for each system that has one."""

    name: str
    remark: str
    dots: Mapping[str, Dot]


def dots(title: str, groups: Sequence[Group], looks: Mapping[str, Look], *, chance: float | None = None) -> str:
    """An SVG picture on the scale from 0 to 1; chance: where guessing would be."""
    shown = [look for name, look in looks.items() if any(name in group.dots for group in groups)]
    legend = LEGEND * (len(shown) if len(shown) > 1 else 0)
    top = HEAD + legend + 6
    heights = [NAME + STEP * len(group.dots) + GAP for group in groups]
    bottom = top + sum(heights)
    x = Scale(0, 1, SIDE + 6, WIDTH - SIDE - 6)
    parts = [text(SIDE, 20, shortened(title, WIDTH - 2 * SIDE, 14), size=14, bold=True)]
    for k, look in enumerate(shown if len(shown) > 1 else []):
        place = HEAD + LEGEND * k + 8
        parts += [mark(look, SIDE + 6, place), text(SIDE + 18, place + 4, shortened(look.name, WIDTH - 60))]
    for value, label in ticks(0, 1, 5):
        parts.append(line(x(value), top, x(value), bottom))
        parts.append(text(x(value), bottom + 16, label, anchor="middle", size=11, fill=DARK))
    if chance is not None:
        parts.append(line(x(chance), top, x(chance), bottom, GREY, dashed=True))
        parts.append(text(x(chance), bottom + 29, "chance", anchor="middle", size=10, fill=DARK))
    y = float(top)
    for group, height in zip(groups, heights, strict=True):
        parts.append(text(SIDE, y + 13, shortened(group.name, WIDTH - 150)))
        parts.append(text(WIDTH - SIDE, y + 13, group.remark, anchor="end", size=11, fill=DARK))
        for k, (name, dot) in enumerate(group.dots.items()):
            parts.append(_dot(looks[name], dot, x, y + NAME + STEP * (k + 0.5)))
        y += height
    said = "; ".join(f"{g.name}: {', '.join(dot.said for dot in g.dots.values())}" for g in groups)
    return document(WIDTH, bottom + FOOT, f"{title}. {said}", parts)


def _dot(look: Look, dot: Dot, x: Scale, y: float) -> str:
    low, high, value = (min(max(v, 0.0), 1.0) for v in (dot.low, dot.high, dot.value))
    whisker = line(x(low), y, x(high), y, look.colour, width=2)
    return f"<g><title>{escape(dot.said)}</title>{whisker}{mark(look, x(value), y)}</g>"


def mark(look: Look, x: float, y: float) -> str:
    """A system's shape in its colour."""
    shapes = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{look.colour}"/>',
        "ring": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="none" stroke="{look.colour}" stroke-width="2"/>',
        "square": f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{look.colour}"/>',
        "triangle": f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z" fill="{look.colour}"/>',
        "diamond": f'<path d="M{x:.1f} {y - 5.5:.1f}l5.5 5.5l-5.5 5.5l-5.5 -5.5z" fill="{look.colour}"/>',
        "cross": f'<path d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8" stroke="{look.colour}" stroke-width="2.5"/>',
    }
    return shapes[look.shape]
