"""Shares with their intervals as dots and lines: a row per group, a dot per system. Readable at a phone's width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from anaphora.reports.page.systems import Look
from anaphora.svg import DARK, GREY, Scale, distinct, document, line, shortened, text, text_width, ticks

WIDTH, SIDE = 400, 10
HEAD, NAME, STEP, GAP, FOOT = 30, 20, 17, 8, 24  # heights: title, a group's name, a dot, between groups, axis
LEGEND, HEADING, SUBTITLE = 20, 22, 18
SIZE = 13  # of the letters of names and values


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with its interval, and what is said when a reader points at it.

    stars: how surely this system differs from the one it is compared with
    before: where the value has come from; drawn hollow, in place of the interval
    """

    value: float
    low: float
    high: float
    said: str
    stars: str = ""
    before: float | None = None

    @property
    def shown(self) -> str:
        """The value as it is written beside the dot, in percent."""
        came = "" if self.before is None else f"{100 * self.before:.1f} → "
        return f"{came}{100 * self.value:.1f}{f' {self.stars}' if self.stars else ''}"


@dataclass(frozen=True, slots=True)
class Group:
    """A row of the chart: its name, a remark at its end (n), a dot for each system that has one.

    heading: stands above the row, for it and those that follow; chance: where guessing would be
    """

    name: str
    remark: str
    dots: Mapping[str, Dot]
    heading: str = ""
    chance: float | None = None


def dots(title: str, groups: Sequence[Group], looks: Mapping[str, Look], subtitle: str = "") -> str:
    """An SVG chart on the scale from 0 to 100 %, with the values beside the dots."""
    shown = [look for name, look in looks.items() if any(name in group.dots for group in groups)]
    legend = _legend(shown) if len(shown) > 1 else []
    head = HEAD + (SUBTITLE if subtitle else 0)
    top = head + LEGEND * len(legend) + 4
    values = max((text_width(dot.shown, 12) for group in groups for dot in group.dots.values()), default=0)
    x = Scale(0, 1, SIDE + 6, WIDTH - SIDE - values - 16)
    parts = [text(SIDE, 20, shortened(title, WIDTH - 2 * SIDE, 15), size=15, bold=True)]
    if subtitle:
        parts.append(text(SIDE, HEAD + 8, shortened(subtitle, WIDTH - 2 * SIDE), fill=DARK))
    for k, entries in enumerate(legend):
        for look, label, start in entries:
            height = head + LEGEND * k + 8
            parts += [mark(look, start + 6, height), text(start + 18, height + 4, label, size=SIZE)]
    y = float(top)
    names = distinct([group.name for group in groups], WIDTH - 2 * SIDE - 90, SIZE)
    for name, group in zip(names, groups, strict=True):
        if group.heading:
            parts.append(text(SIDE, y + 15, shortened(group.heading, WIDTH - 2 * SIDE), size=12, fill=DARK))
            y += HEADING
        parts.append(text(SIDE, y + 14, name, size=SIZE))
        parts.append(text(WIDTH - SIDE, y + 14, group.remark, anchor="end", fill=DARK))
        bottom = y + NAME + STEP * len(group.dots)
        for value, _ in ticks(0, 1, 5):  # grid lines end where the names begin
            parts.append(line(x(value), y + NAME, x(value), bottom))
        if group.chance is not None:
            parts.append(line(x(group.chance), y + NAME, x(group.chance), bottom, GREY, dashed=True))
        for k, (system, dot) in enumerate(group.dots.items()):
            parts += _dot(looks[system], dot, x, y + NAME + STEP * (k + 0.5))
        y = bottom + GAP
    for value, _ in ticks(0, 1, 5):
        label = f"{100 * value:.0f}{' %' if value > 0.99 else ''}"
        parts.append(text(x(value), y + 8, label, anchor="middle", fill=DARK))
    said = "; ".join(f"{g.name}: {', '.join(dot.said for dot in g.dots.values())}" for g in groups)
    return document(WIDTH, y + FOOT, f"{title}. {said}", parts)


def _legend(shown: Sequence[Look]) -> list[list[tuple[Look, str, float]]]:
    """The systems on as few lines as hold them: look, label, where it begins."""
    lines: list[list[tuple[Look, str, float]]] = []
    end = float(WIDTH)
    for look, label in zip(shown, distinct([look.name for look in shown], WIDTH - 60, SIZE), strict=True):
        width = 34 + text_width(label, SIZE)
        if end + width - 14 > WIDTH - SIDE:
            lines.append([])
            end = SIDE
        lines[-1].append((look, label, end))
        end += width
    return lines


def _dot(look: Look, dot: Dot, x: Scale, y: float) -> list[str]:
    low, high, value = (x(min(max(v, 0.0), 1.0)) for v in (dot.low, dot.high, dot.value))
    if dot.before is None:
        drawn = line(low, y, high, y, look.colour, width=2)
    else:
        came = x(dot.before)
        drawn = line(came, y, value, y, look.colour, width=2) + mark(look, came, y, hollow=True)
    return [
        f"<g><title>{escape(dot.said)}</title>{drawn}{mark(look, value, y)}</g>",
        text(WIDTH - SIDE, y + 4, dot.shown, anchor="end", size=12),
    ]


def mark(look: Look, x: float, y: float, *, hollow: bool = False) -> str:
    """A system's shape in its colour; hollow: what was before, or is compared with."""
    style = f'fill="white" stroke="{look.colour}" stroke-width="1.6"' if hollow else f'fill="{look.colour}"'
    shapes = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" {style}/>',
        "square": f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" {style}/>',
        "triangle": f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z" {style}/>',
        "diamond": f'<path d="M{x:.1f} {y - 5.5:.1f}l5.5 5.5l-5.5 5.5l-5.5 -5.5z" {style}/>',
        "cross": f'<path d="M{x - 5:.1f} {y - 1.5:.1f}h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z" {style}/>',
        "wedge": f'<path d="M{x:.1f} {y + 5:.1f}l5 -9h-10z" {style}/>',
    }
    return shapes[look.shape]
