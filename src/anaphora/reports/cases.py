"""How APT's six cases are distributed, for each alignment, as grouped bars (APT Figure 2)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from html import escape

from anaphora.metrics.apt.task import TITLES
from anaphora.svg import (
    BLUE,
    DARK,
    GREEN,
    ORANGE,
    PURPLE,
    Scale,
    distinct,
    document,
    line,
    text,
    ticks,
    upright,
)

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, BOTTOM = 62, 16, 66
LEGEND, ENTRIES = 20, 2  # the height of a line of the legend, and how many alignments it names
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
STROKES = ("", "M0 6L6 0", "M0 3H6", "M0 0L6 6")  # patterns, for print without colour


def case_bars(
    counts: Mapping[str, Sequence[int]],
    title: str = "Pronouns in the six cases of APT",
    colours: Mapping[str, str] | None = None,
) -> str:
    """Shares of the pronouns in each case; one bar per alignment or system in each group.

    counts: by the name of an alignment or system, the pronouns in each case
    colours: by the same names; colours of our own unless given
    """
    own = dict(zip(counts, itertools.cycle(COLOURS), strict=False)) if colours is None else colours
    paints = [own[name] for name in counts]
    totals = {name: sum(numbers) or 1 for name, numbers in counts.items()}
    shares = {name: [100 * n / totals[name] for n in numbers] for name, numbers in counts.items()}
    top = 46 + LEGEND * -(-len(counts) // ENTRIES)
    y = Scale(0, max(10.0, 1.12 * max(max(found) for found in shares.values())), HEIGHT - BOTTOM, top)
    parts = [_patterns(paints), text(LEFT, 22, title, size=15, bold=True), *_legend(totals, paints)]
    for value, label in ticks(y.low, y.high):
        parts.append(line(LEFT, y(value), WIDTH - RIGHT, y(value)))
        parts.append(text(LEFT - 6, y(value) + 4, label, anchor="end", size=11, fill=DARK))
    parts.append(upright(18, (top + HEIGHT - BOTTOM) / 2, "% of pronouns"))
    group = (WIDTH - LEFT - RIGHT) / len(TITLES)
    bar = min(34.0, 0.8 * group / len(shares))
    for case, name in enumerate(TITLES):
        middle = LEFT + group * (case + 0.5)
        start = middle - bar * len(shares) / 2
        for k, (alignment, found) in enumerate(shares.items()):
            said = f"{alignment}, case {case + 1}: {found[case]:.1f} %"
            parts += _bar(start + k * bar, bar, y, k, paints[k], found[case], said)
        parts += _names(middle, case + 1, name)
    parts.append(line(LEFT, y(0), WIDTH - RIGHT, y(0), DARK))
    said = "; ".join(f"{name}: {', '.join(f'{v:.1f} %' for v in found)}" for name, found in shares.items())
    return document(WIDTH, HEIGHT, f"{title}. {said}", parts)


def _bar(x: float, width: float, y: Scale, k: int, colour: str, value: float, said: str) -> list[str]:
    above = f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"
    return [
        f'<rect x="{x + 1:.1f}" y="{y(value):.1f}" width="{width - 2:.1f}" height="{y(0) - y(value):.1f}" '
        f'fill="{_fill(k, colour)}" stroke="{colour}"><title>{escape(said)}</title></rect>',
        text(x + width / 2, y(value) - 4, above, anchor="middle", size=11 if width >= 28 else 9),
    ]


def _names(middle: float, case: int, name: str) -> list[str]:
    """The case below its bars, a word in a line."""
    words = [f"case {case}", *name.split()]
    return [
        text(middle, HEIGHT - BOTTOM + 18 + 14 * k, word, anchor="middle", size=11, bold=k == 0)
        for k, word in enumerate(words)
    ]


def _legend(totals: Mapping[str, int], colours: Sequence[str]) -> list[str]:
    parts = []
    room = (WIDTH - LEFT - RIGHT) / ENTRIES
    labels = distinct([f"{name} ({total:,} pronouns)" for name, total in totals.items()], room - 28)
    for k, (label, colour) in enumerate(zip(labels, colours, strict=True)):
        x, y = LEFT + k % ENTRIES * room, 34 + k // ENTRIES * LEGEND
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="14" height="14" fill="{_fill(k, colour)}" stroke="{colour}"/>')
        parts.append(text(x + 20, y + 12, label))
    return parts


def _fill(k: int, colour: str) -> str:
    return colour if k % len(STROKES) == 0 else f"url(#bars{k})"


def _patterns(colours: Sequence[str]) -> str:
    """Stripes: bars differ without colour, too."""
    made = []
    for k, colour in enumerate(colours):
        if stroke := STROKES[k % len(STROKES)]:
            made.append(
                f'<pattern id="bars{k}" width="6" height="6" patternUnits="userSpaceOnUse">'
                f'<rect width="6" height="6" fill="white"/><path d="{stroke}" stroke="{colour}" stroke-width="2"/>'
                "</pattern>"
            )
    return f"<defs>{''.join(made)}</defs>"
