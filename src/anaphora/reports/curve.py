"""A curve as a picture of its own: one SVG file, no library, readable in print and by screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from anaphora.svg import BLUE, document

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 40, 50


class Point(NamedTuple):
    """x as it is labelled, y with its interval."""

    label: str
    value: float
    low: float
    high: float


def curve(title: str, x_title: str, y_title: str, points: Sequence[Point], levels: Sequence[Point] = ()) -> str:
    """An SVG line chart with intervals; levels are horizontal lines to compare with (random context, chance)."""
    low = max(0.0, min([p.low for p in points] + [p.value for p in levels]) - 0.05)
    high = min(1.0, max([p.high for p in points] + [p.value for p in levels]) + 0.05)
    span = (high - low) or 1.0

    def x(i: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (i + 0.5) / len(points)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / span

    said = ", ".join(f"{p.label}: {p.value:.3f}" for p in points)
    parts = [
        f'<text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>',
        f'<text x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{escape(x_title)}</text>',
        f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{escape(y_title)}</text>',
    ]
    for k in range(5):
        value = low + span * k / 4
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    for level in levels:
        at = f"{y(level.value):.1f}"
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}" stroke="#666" stroke-dasharray="4 4"/>'
        )
        above = f'x="{LEFT + 4}" y="{y(level.value) - 5:.1f}" fill="#444"'
        parts.append(f"<text {above}>{escape(level.label)}</text>")
    line = " ".join(f"{x(i):.1f},{y(p.value):.1f}" for i, p in enumerate(points))
    parts.append(f'<polyline points="{line}" fill="none" stroke="{BLUE}" stroke-width="2"/>')
    for i, p in enumerate(points):
        at = f"{x(i):.1f}"
        parts.append(
            f'<line x1="{at}" x2="{at}" y1="{y(p.low):.1f}" y2="{y(p.high):.1f}" stroke="{BLUE}" stroke-width="1.5"/>'
        )
        parts.append(f'<circle cx="{at}" cy="{y(p.value):.1f}" r="4" fill="{BLUE}"/>')
        parts.append(f'<text x="{at}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{escape(p.label)}</text>')
    return document(WIDTH, HEIGHT, f"{title}. {said}", parts)
