"""Charts of metrics: correlations (APT Figure 1), APT's cases (APT Figure 2), attention of pronouns."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anaphora.core.finite import no_overflow
from anaphora.metrics.apt.task import TITLES
from anaphora.metrics.meta import MetaEvaluation, Scores
from anaphora.stats.correlation import Correlation
from anaphora.stats.intervals import Floats
from anaphora.svg import (
    BLUE,
    DARK,
    GRAY,
    GREEN,
    LETTER,
    ORANGE,
    PALE,
    PURPLE,
    SCALE,
    Scale,
    distinct,
    document,
    escape,
    line,
    range_of,
    shortened,
    text,
    ticks,
    upright,
)
from anaphora.table import decimal

# Metrics against human scores: a panel per metric, a point per system, the regression line (APT Figure 1).

COLUMNS = 3  # panels in a row
PANEL, TALL = 230, 200  # the size of a panel's plot
LEFT, TOP, GAP_X, GAP_Y, BOTTOM = 62, 44, 46, 76, 46
LINE = 15  # of text


def scatter(evaluation: MetaEvaluation) -> str:
    """Return small multiples with the human score on the vertical axis; excluded systems are hollow."""
    names = list(evaluation.scores.metrics)
    across = min(COLUMNS, len(names))
    rows = -(-len(names) // across)
    width = max(LEFT + across * (PANEL + GAP_X), 420)
    down = TALL + GAP_Y + (LINE if evaluation.rest else 0)
    height = TOP + rows * down + (BOTTOM if evaluation.rest else 4)
    parts = [
        text(LEFT, 22, f"Correlation with {evaluation.scores.human}, {len(evaluation.scores.systems)} systems", size=15)
    ]
    for k, name in enumerate(names):
        x, y = LEFT + (k % across) * (PANEL + GAP_X), TOP + 20 + (k // across) * down
        parts += _panel(evaluation, name, x, y, labeled=k % across == 0)
    if evaluation.rest is not None:
        y, removed = height - 18, ", ".join(evaluation.removed)
        parts += [
            line(LEFT, y - 4, LEFT + 26, y - 4, ORANGE, width=2),
            text(LEFT + 32, y, "all systems"),
            line(LEFT + 120, y - 4, LEFT + 146, y - 4, DARK, width=2, dashed=True),
            _point(LEFT + 160, y - 4, removed, hollow=True),
            text(LEFT + 170, y, shortened(f"without {removed}", 220)),
        ]
    alt = ", ".join(f"{name}: {_values(evaluation.everything.metrics[name])}" for name in names)
    return document(width, height, f"Correlation with {evaluation.scores.human}. {alt}", parts)


def regression(x: Floats, y: Floats) -> tuple[float, float] | None:
    """Return slope and intercept by least squares; None where x is constant."""
    with no_overflow("the regression line of a chart", SCALE):
        spread = x - x.mean()
        square = float(spread @ spread)
        if square == 0:
            return None
        slope = float(spread @ (y - y.mean())) / square
        return slope, float(y.mean()) - slope * float(x.mean())


def _panel(evaluation: MetaEvaluation, name: str, left: float, top: float, *, labeled: bool) -> list[str]:
    scores = evaluation.scores
    values = scores.metrics[name]
    x = Scale(*range_of(values.tolist()), left, left + PANEL)
    y = Scale(*range_of(scores.human_scores.tolist()), top + TALL, top)
    parts = [
        text(left, top - 8, shortened(_signed(evaluation.scores, name), 0.85 * PANEL, 13), size=13, bold=True),
        *_axes(x, y),
    ]
    if labeled:
        parts.append(upright(left - 46, top + TALL / 2, shortened(_signed(scores, scores.human), TALL)))
    parts += _fitted(scores, name, x, y, ORANGE)
    if evaluation.rest is not None:
        parts += _fitted(scores.without(evaluation.removed), name, x, y, DARK, dashed=True)
    for system, value, judged in zip(scores.systems, values.tolist(), scores.human_scores.tolist(), strict=True):
        parts.append(
            _point(x(value), y(judged), f"{system}: {value:g}, {judged:g}", hollow=system in evaluation.removed)
        )
    parts.append(text(left, top + TALL + 34, _values(evaluation.everything.metrics[name])))
    if evaluation.rest is not None:
        without = f"without: {_values(evaluation.rest.metrics[name])}"
        parts.append(text(left, top + TALL + 34 + LINE, without, fill=DARK))
    return parts


def _signed(scores: Scores, name: str) -> str:
    return f"−{name}" if name in scores.minimized else name


def _point(x: float, y: float, tooltip: str = "", *, hollow: bool = False) -> str:
    shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{"white" if hollow else BLUE}" stroke="{BLUE}"'
    return f'{shape} stroke-width="1.5"><title>{escape(tooltip)}</title></circle>'


def _axes(x: Scale, y: Scale) -> list[str]:
    parts = []
    for value, label in ticks(y.low, y.high):
        parts.append(line(x.start, y(value), x.end, y(value)))
        parts.append(text(x.start - 6, y(value) + 4, label, anchor="end", size=11, fill=DARK))
    for value, label in ticks(x.low, x.high):
        parts.append(line(x(value), y.start, x(value), y.start + 4, DARK))
        parts.append(text(x(value), y.start + 16, label, anchor="middle", size=11, fill=DARK))
    frame = f'<rect x="{x.start:.1f}" y="{y.end:.1f}" width="{x.end - x.start:.1f}" height="{y.start - y.end:.1f}" '
    return [*parts, f'{frame}fill="none" stroke="{PALE}"/>', line(x.start, y.start, x.end, y.start, DARK)]


def _fitted(scores: Scores, name: str, x: Scale, y: Scale, color: str, *, dashed: bool = False) -> list[str]:
    """Return the regression line over the range of its scores, clipped to the frame."""
    values = scores.metrics[name]
    fit = regression(values, scores.human_scores)
    if fit is None:
        return []
    slope, at_0 = fit
    ends = [float(values.min()), float(values.max())]
    heights = [min(max(slope * end + at_0, y.low), y.high) for end in ends]
    if slope:
        ends = [(height - at_0) / slope for height in heights]
    return [line(x(ends[0]), y(heights[0]), x(ends[1]), y(heights[1]), color, width=2, dashed=dashed)]


def _values(correlation: Correlation) -> str:
    return f"r = {decimal(correlation.pearson.value)}, ρ = {decimal(correlation.spearman.value)}"


# APT's six cases as grouped bars, one bar per alignment or system (APT Figure 2).

BARS_TITLE = "Pronouns in the six cases of APT"
BARS_WIDTH, BARS_HEIGHT = 640, 340
BARS_LEFT, BARS_RIGHT, BARS_BOTTOM = 62, 16, 66
LEGEND, ENTRIES = 20, 2  # the height of a line of the legend, and how many alignments it names
COLORS = (BLUE, ORANGE, GREEN, PURPLE)
STROKES = ("", "M0 6L6 0", "M0 3H6", "M0 0L6 6")  # patterns, for print without color


def case_bars(counts: Mapping[str, Sequence[int]], colors: Mapping[str, str] | None = None) -> str:
    """Return the share of pronouns in each case, with one bar per alignment or system in each group.

    counts: pronouns in each case, by the name of an alignment or system
    colors: by the same names; default: four colors in turn
    """
    own = dict(zip(counts, itertools.cycle(COLORS), strict=False)) if colors is None else colors
    paints = [own[name] for name in counts]
    totals = {name: sum(numbers) or 1 for name, numbers in counts.items()}
    shares = {name: [100 * n / totals[name] for n in numbers] for name, numbers in counts.items()}
    top = 46 + LEGEND * -(-len(counts) // ENTRIES)
    y = Scale(0, max(10.0, 1.12 * max(max(values) for values in shares.values())), BARS_HEIGHT - BARS_BOTTOM, top)
    parts = [_patterns(paints), text(BARS_LEFT, 22, BARS_TITLE, size=15, bold=True), *_bars_legend(totals, paints)]
    for value, label in ticks(y.low, y.high):
        parts.append(line(BARS_LEFT, y(value), BARS_WIDTH - BARS_RIGHT, y(value)))
        parts.append(text(BARS_LEFT - 6, y(value) + 4, label, anchor="end", size=11, fill=DARK))
    parts.append(upright(18, (top + BARS_HEIGHT - BARS_BOTTOM) / 2, "% of pronouns"))
    group = (BARS_WIDTH - BARS_LEFT - BARS_RIGHT) / len(TITLES)
    bar = min(34.0, 0.8 * group / len(shares))
    for case, name in enumerate(TITLES):
        middle = BARS_LEFT + group * (case + 0.5)
        start = middle - bar * len(shares) / 2
        for k, (alignment, values) in enumerate(shares.items()):
            x, value, color = start + k * bar, values[case], paints[k]
            tooltip = f"{alignment}, case {case + 1}: {value:.1f} %"
            above = f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"
            parts.append(
                f'<rect x="{x + 1:.1f}" y="{y(value):.1f}" width="{bar - 2:.1f}" height="{y(0) - y(value):.1f}" '
                f'fill="{_fill(k, color)}" stroke="{color}"><title>{escape(tooltip)}</title></rect>'
            )
            parts.append(text(x + bar / 2, y(value) - 4, above, anchor="middle", size=11 if bar >= 28 else 9))
        for k, word in enumerate((f"case {case + 1}", *name.split())):  # one word per line
            below = BARS_HEIGHT - BARS_BOTTOM + 18 + 14 * k
            parts.append(text(middle, below, word, anchor="middle", size=11, bold=k == 0))
    parts.append(line(BARS_LEFT, y(0), BARS_WIDTH - BARS_RIGHT, y(0), DARK))
    alt = "; ".join(f"{name}: {', '.join(f'{v:.1f} %' for v in values)}" for name, values in shares.items())
    return document(BARS_WIDTH, BARS_HEIGHT, f"{BARS_TITLE}. {alt}", parts)


def _bars_legend(totals: Mapping[str, int], colors: Sequence[str]) -> list[str]:
    parts = []
    room = (BARS_WIDTH - BARS_LEFT - BARS_RIGHT) / ENTRIES
    labels = distinct([f"{name} ({total:,} pronouns)" for name, total in totals.items()], room - 28)
    for k, (label, color) in enumerate(zip(labels, colors, strict=True)):
        x, y = BARS_LEFT + k % ENTRIES * room, 34 + k // ENTRIES * LEGEND
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="14" height="14" fill="{_fill(k, color)}" stroke="{color}"/>')
        parts.append(text(x + 20, y + 12, label))
    return parts


def _fill(k: int, color: str) -> str:
    return color if k % len(STROKES) == 0 else f"url(#bars{k})"


def _patterns(colors: Sequence[str]) -> str:
    """Return stripes, so that bars can be told apart in print without color."""
    patterns = []
    for k, color in enumerate(colors):
        if stroke := STROKES[k % len(STROKES)]:
            patterns.append(
                f'<pattern id="bars{k}" width="6" height="6" patternUnits="userSpaceOnUse">'
                f'<rect width="6" height="6" fill="white"/><path d="{stroke}" stroke="{color}" stroke-width="2"/>'
                "</pattern>"
            )
    return f"<defs>{''.join(patterns)}</defs>"


# Attention of pronouns over a passage (Jwalapuram et al. 2019, Figures 5 and 6).

WORD_LINE, WORD_HEIGHT, WORD_SIZE, WORD_MARGIN, WORD_WIDTH = 22, 18, 12, 16, 900


@dataclass(frozen=True, slots=True)
class Attention:
    """A passage with the index of each pronoun, its share of the score, and its attention to every word."""

    title: str
    words: Sequence[str]
    pronouns: Sequence[int]
    shares: Sequence[float]
    rows: Sequence[Sequence[float]]


def attention_chart(passages: Sequence[Attention]) -> str:
    """Return the words of each passage once per pronoun, darker where it attends more; the pronoun is framed."""
    parts: list[str] = []
    y = float(WORD_MARGIN)
    for passage in passages:
        parts.append(text(WORD_MARGIN, y + WORD_SIZE, passage.title, bold=True, fill=DARK))
        y += WORD_LINE
        if not passage.pronouns:
            parts.append(text(WORD_MARGIN, y + WORD_SIZE, "no pronoun: the score is 0", fill=GRAY))
            y += WORD_LINE
        for number, share, row in zip(passage.pronouns, passage.shares, passage.rows, strict=True):
            label = f"{passage.words[number]}  {share:+.3f}".replace("-", "−")
            parts.append(text(WORD_MARGIN, y + WORD_SIZE, label, fill=BLUE if share >= 0 else ORANGE, bold=True))
            drawn, y = _words(passage, number, row, y + WORD_LINE)
            parts += drawn
        y += WORD_LINE
    alt = "; ".join(f"{p.title}: {', '.join(p.words[n] for n in p.pronouns)}" for p in passages)
    return document(WORD_WIDTH, y, f"Attention of pronouns. {alt}", parts)


def _words(passage: Attention, pronoun: int, row: Sequence[float], y: float) -> tuple[list[str], float]:
    """Return the words in lines, shaded by their weights, and where the next line begins."""
    parts = []
    x = float(2 * WORD_MARGIN)
    highest = max([*row, 2 / max(1, len(row))])  # an even spread over all words is half a shade
    for n, (word, weight) in enumerate(zip(passage.words, row, strict=True)):
        width = max(1, len(word)) * WORD_SIZE * (LETTER + 0.04) + 8
        if x + width > WORD_WIDTH - WORD_MARGIN:
            x, y = float(2 * WORD_MARGIN), y + WORD_LINE
        shade = weight / highest
        frame = f' stroke="{ORANGE}" stroke-width="2"' if n == pronoun else ""
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{WORD_HEIGHT}" rx="3" fill="{BLUE}" '
            f'fill-opacity="{0.85 * shade:.3f}"{frame}><title>{weight:.3f}</title></rect>'
        )
        parts.append(text(x + 4, y + WORD_SIZE + 1, word, size=WORD_SIZE, fill="#fff" if shade > 0.8 else "#000"))
        x += width + 2
    return parts, y + WORD_LINE + 4
