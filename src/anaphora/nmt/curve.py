"""Accuracy while a model is trained, as a picture: Figure 5 of Bawden et al. 2018."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from anaphora.svg import (
    BLUE,
    DARK,
    GREEN,
    ORANGE,
    PURPLE,
    Scale,
    document,
    line,
    shortened,
    text,
    ticks,
    upright,
)

WIDTH, HEIGHT = 680, 340
LEFT, RIGHT, TOP, BOTTOM = 60, 190, 44, 50  # the names of the lines are at the right
STYLES = [(colour, dashes) for dashes in ("", "6 4", "2 3") for colour in (BLUE, ORANGE, GREEN, PURPLE, DARK)]
LINE = 15  # of text


class Series(NamedTuple):
    """A line: its name, and (update, accuracy) in order."""

    name: str
    points: tuple[tuple[int, float], ...]


def series_of(log: Iterable[Mapping[str, Any]]) -> list[Series]:
    """The accuracy of each suite in the lines of a log."""
    found: dict[str, list[tuple[int, float]]] = {}
    for entry in log:
        for name, value in entry.get("accuracy", {}).items():
            if value is not None:  # a suite without right answers has no accuracy
                found.setdefault(name, []).append((entry["update"], value))
    return [Series(name, tuple(points)) for name, points in found.items()]


def training_curve(title: str, series: Sequence[Series]) -> str:
    """An SVG with a line for each series, named where it ends."""
    last = max(update for one in series for update, _ in one.points)
    x = Scale(0, last, LEFT, WIDTH - RIGHT)
    y = Scale(0, 1, HEIGHT - BOTTOM, TOP)
    parts = [
        text(LEFT, 22, title, size=14),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "updates", anchor="middle"),
        upright(18, (TOP + HEIGHT - BOTTOM) / 2, "contrastive accuracy"),
    ]
    for value, label in ticks(0, 1, 5):
        parts += [line(LEFT, y(value), WIDTH - RIGHT, y(value)), text(LEFT - 6, y(value) + 4, label, anchor="end")]
    for value, label in ticks(0, last):
        parts.append(text(x(value), HEIGHT - BOTTOM + 18, f"{int(label):,}", anchor="middle"))
    heights = apart([y(one.points[-1][1]) for one in series])
    for number, (one, height) in enumerate(zip(series, heights, strict=True)):
        colour, dashes = STYLES[number % len(STYLES)]
        places = [(x(update), y(value)) for update, value in one.points]
        parts.append(_path(places, colour, dashes))
        end = places[-1]
        parts.append(line(end[0] + 4, end[1], WIDTH - RIGHT + 16, height, colour))
        parts.append(text(WIDTH - RIGHT + 20, height + 4, _label(one), fill=DARK))
    said = ", ".join(f"{one.name}: {one.points[-1][1]:.3f} after {one.points[-1][0]:,} updates" for one in series)
    return document(WIDTH, HEIGHT, f"{title}. {said}", parts)


def apart(heights: Sequence[float], room: float = LINE) -> list[float]:
    """Heights of labels, moved until none covers another and all are in the picture."""
    order = sorted(range(len(heights)), key=lambda k: heights[k])
    found = list(heights)
    lowest: float = TOP
    for k in order:
        found[k] = max(found[k], lowest)
        lowest = found[k] + room
    highest: float = HEIGHT - BOTTOM + room
    for k in reversed(order):
        found[k] = min(found[k], highest)
        highest = found[k] - room
    return found


def _label(one: Series) -> str:
    name = one.name.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")  # of a suite's file
    return f"{shortened(name, RIGHT - 62)} {one.points[-1][1]:.2f}"


def _path(places: Sequence[tuple[float, float]], colour: str, dashes: str) -> str:
    style = f'fill="none" stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
    if len(places) == 1:
        return f'<circle cx="{places[0][0]:.1f}" cy="{places[0][1]:.1f}" r="3" fill="{escape(colour)}"/>'
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline points="{points}" {style}/>'
