"""Metrics against people as pictures: a panel per metric, a point per system, the regression line (APT Figure 1)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from anaphora.metrics.meta.evaluation import Assessment, MetaEvaluation, Scores
from anaphora.reports.correlations import figure
from anaphora.stats.correlation import Correlation
from anaphora.stats.intervals import Floats
from anaphora.svg import (
    BLUE,
    DARK,
    ORANGE,
    PALE,
    Scale,
    document,
    line,
    range_of,
    shortened,
    text,
    ticks,
    upright,
)

COLUMNS = 3  # panels in a row
PANEL, TALL = 230, 200  # the size of a panel's plot
LEFT, TOP, GAP_X, GAP_Y, BOTTOM = 62, 44, 46, 76, 46
LINE = 15  # of text


def scatter(found: MetaEvaluation) -> str:
    """Small multiples, the human score upwards, as in the paper; systems left out are hollow, their line is dashed."""
    names = list(found.scores.metrics)
    across = min(COLUMNS, len(names))
    rows = -(-len(names) // across)
    width = max(LEFT + across * (PANEL + GAP_X), 420)
    down = TALL + GAP_Y + (LINE if found.rest else 0)
    height = TOP + rows * down + (BOTTOM if found.rest else 4)
    parts = [text(LEFT, 22, f"Correlation with {found.scores.human}, {len(found.scores.systems)} systems", size=15)]
    for k, name in enumerate(names):
        x, y = LEFT + (k % across) * (PANEL + GAP_X), TOP + 20 + (k // across) * down
        parts += _panel(found, name, x, y, labelled=k % across == 0)
    if found.rest is not None:
        parts += _legend(height - 18, found.removed)
    said = ", ".join(f"{name}: {_values(found.everything.metrics[name])}" for name in names)
    return document(width, height, f"Correlation with {found.scores.human}. {said}", parts)


def regression(x: Floats, y: Floats) -> tuple[float, float] | None:
    """Least squares: the slope and the value at 0; None where x is constant."""
    spread = x - x.mean()
    square = float(spread @ spread)
    if square == 0:
        return None
    slope = float(spread @ (y - y.mean())) / square
    return slope, float(y.mean()) - slope * float(x.mean())


def _panel(found: MetaEvaluation, name: str, left: float, top: float, *, labelled: bool) -> list[str]:
    scores = found.scores
    values = scores.metrics[name]
    x = Scale(*range_of(values.tolist()), left, left + PANEL)
    y = Scale(*range_of(scores.human_scores.tolist()), top + TALL, top)
    parts = [
        text(left, top - 8, shortened(_signed(found.scores, name), 0.85 * PANEL, 13), size=13, bold=True),
        *_axes(x, y),
    ]
    if labelled:
        parts.append(upright(left - 46, top + TALL / 2, shortened(_signed(scores, scores.human), TALL)))
    parts += _fitted(scores, name, x, y, ORANGE)
    if found.rest is not None:
        parts += _fitted(scores.without(found.removed), name, x, y, DARK, dashed=True)
    for system, value, judged in zip(scores.systems, values.tolist(), scores.human_scores.tolist(), strict=True):
        parts.append(_point(x(value), y(judged), f"{system}: {value:g}, {judged:g}", hollow=system in found.removed))
    parts += _figures(found.everything, found.rest, name, left, top + TALL + 34)
    return parts


def _signed(scores: Scores, name: str) -> str:
    """What an axis shows of a column: its opposite where lower is better."""
    return f"−{name}" if name in scores.minimized else name


def _point(x: float, y: float, said: str = "", *, hollow: bool = False) -> str:
    """A system; its name and scores are shown where the mouse rests on it."""
    shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{"white" if hollow else BLUE}" stroke="{BLUE}"'
    return f'{shape} stroke-width="1.5"><title>{escape(said)}</title></circle>'


def _axes(x: Scale, y: Scale) -> list[str]:
    """A frame, ticks on two sides, pale lines across."""
    parts = []
    for value, label in ticks(y.low, y.high):
        parts.append(line(x.start, y(value), x.end, y(value)))
        parts.append(text(x.start - 6, y(value) + 4, label, anchor="end", size=11, fill=DARK))
    for value, label in ticks(x.low, x.high):
        parts.append(line(x(value), y.start, x(value), y.start + 4, DARK))
        parts.append(text(x(value), y.start + 16, label, anchor="middle", size=11, fill=DARK))
    frame = f'<rect x="{x.start:.1f}" y="{y.end:.1f}" width="{x.end - x.start:.1f}" height="{y.start - y.end:.1f}" '
    return [*parts, f'{frame}fill="none" stroke="{PALE}"/>', line(x.start, y.start, x.end, y.start, DARK)]


def _fitted(scores: Scores, name: str, x: Scale, y: Scale, colour: str, *, dashed: bool = False) -> list[str]:
    """The regression line over the scores that it is fitted to, cut at the frame."""
    values = scores.metrics[name]
    fit = regression(values, scores.human_scores)
    if fit is None:
        return []
    slope, at_0 = fit
    ends = [float(values.min()), float(values.max())]
    heights = [min(max(slope * end + at_0, y.low), y.high) for end in ends]
    if slope:
        ends = [(height - at_0) / slope for height in heights]
    return [line(x(ends[0]), y(heights[0]), x(ends[1]), y(heights[1]), colour, width=2, dashed=dashed)]


def _figures(everything: Assessment, rest: Assessment | None, name: str, left: float, top: float) -> list[str]:
    parts = [text(left, top, _values(everything.metrics[name]))]
    if rest is not None:
        parts.append(text(left, top + LINE, f"without: {_values(rest.metrics[name])}", fill=DARK))
    return parts


def _values(found: Correlation) -> str:
    return f"r = {figure(found.pearson.value)}, ρ = {figure(found.spearman.value)}"


def _legend(y: float, removed: Sequence[str]) -> list[str]:
    names = ", ".join(removed)
    return [
        line(LEFT, y - 4, LEFT + 26, y - 4, ORANGE, width=2),
        text(LEFT + 32, y, "all systems"),
        line(LEFT + 120, y - 4, LEFT + 146, y - 4, DARK, width=2, dashed=True),
        _point(LEFT + 160, y - 4, names, hollow=True),
        text(LEFT + 170, y, shortened(f"without {names}", 220)),
    ]
