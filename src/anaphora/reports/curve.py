"""Curves as a chart of their own: one SVG file, no library, readable in print and by screen readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from anaphora.reports.page.dots import mark
from anaphora.reports.page.systems import Look
from anaphora.svg import DARK, Scale, distinct, document, line, round_range, shortened, text, ticks, upright

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 130, 48, 46
LABEL = 15  # the height of a label at the end of a line


class Point(NamedTuple):
    """x as it is labelled, y with its interval."""

    label: str
    value: float
    low: float
    high: float


class Series(NamedTuple):
    """A system's points in the order of the axis; levels: horizontal lines to compare with (random context)."""

    look: Look
    points: Sequence[Point]
    levels: Sequence[Point] = ()


def curve(title: str, x_title: str, y_title: str, series: Sequence[Series]) -> str:
    """An SVG line chart of shares in percent, with intervals; what a line is stands at its end."""
    low, high = _axis([bound for one in series for p in (*one.points, *one.levels) for bound in p[1:]])
    labels = list(dict.fromkeys(point.label for one in series for point in one.points))
    x = Scale(-0.5, len(labels) - 0.5, LEFT, WIDTH - RIGHT)
    y = Scale(low, high, HEIGHT - BOTTOM, TOP)
    parts = [
        text(12, 22, shortened(title, WIDTH - 24, 15), size=15, bold=True),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_title, anchor="middle", fill=DARK),
        upright(14, (TOP + HEIGHT - BOTTOM) / 2, y_title),
    ]
    for value, _ in ticks(low, high, 5):
        parts.append(line(LEFT, y(value), WIDTH - RIGHT, y(value)))
        parts.append(text(LEFT - 6, y(value) + 4, f"{100 * value:.0f}", anchor="end", size=11, fill=DARK))
    parts += [
        text(x(k), HEIGHT - BOTTOM + 18, label, anchor="middle", size=11, fill=DARK) for k, label in enumerate(labels)
    ]
    ends: list[tuple[float, str]] = []
    names = distinct([one.look.name for one in series], RIGHT - 14)
    for one, name in zip(series, names, strict=True):
        for level in one.levels:
            parts.append(line(LEFT, y(level.value), WIDTH - RIGHT, y(level.value), one.look.colour, dashed=True))
            ends.append((y(level.value), level.label))
        parts += _line(one, labels, x, y)
        ends.append((y(one.points[-1].value), name))
    parts += [text(WIDTH - RIGHT + 8, height + 4, label) for height, label in _apart(ends)]
    said = "; ".join(f"{one.look.name}: {', '.join(map(_said, (*one.points, *one.levels)))}" for one in series)
    return document(WIDTH, HEIGHT, f"{title}. {said}", parts)


def _axis(values: Sequence[float]) -> tuple[float, float]:
    """Where the axis begins and ends: at numbers that it shows."""
    low, high = round_range(values)
    if high - low > 0.5:
        low, high = round_range(values, 0.2)
    return max(0.0, min(low, 0.9)), min(1.0, high)


def _line(one: Series, labels: Sequence[str], x: Scale, y: Scale) -> list[str]:
    places = [(x(labels.index(point.label)), point) for point in one.points]
    drawn = " ".join(f"{at:.1f},{y(point.value):.1f}" for at, point in places)
    parts = [f'<polyline points="{drawn}" fill="none" stroke="{one.look.colour}" stroke-width="2"/>']
    for at, point in places:
        parts.append(line(at, y(point.low), at, y(point.high), one.look.colour, width=1.5))
        parts.append(mark(one.look, at, y(point.value)))
    return parts


def _apart(labels: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """Labels from above to below, each moved down as far as it must so that none covers another."""
    placed: list[tuple[float, str]] = []
    for height, label in sorted(labels):
        placed.append((max(height, placed[-1][0] + LABEL) if placed else height, label))
    over = placed[-1][0] - (HEIGHT - BOTTOM + 12) if placed else 0
    return [(height - max(0.0, over), label) for height, label in placed]


def _said(point: Point) -> str:
    return f"{point.label}: {100 * point.value:.1f} %"
