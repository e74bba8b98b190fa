"""Charts of a report: shares as dots with intervals, curves, attacks; written as SVG or PNG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer
from anaphora.evaluation.context_usage import ContextUsage
from anaphora.evaluation.robustness import Attack, Robustness
from anaphora.reports.provenance import short_name
from anaphora.reports.tables import attack_wording
from anaphora.svg import (
    BLUE,
    DARK,
    GRAY,
    GREEN,
    ORANGE,
    PURPLE,
    Scale,
    distinct,
    document,
    escape,
    line,
    round_range,
    shortened,
    text,
    text_width,
    ticks,
    upright,
)
from anaphora.table import stars_of

# Okabe and Ito 2008, in an order in which neighbors differ in lightness as well; each system also has its own shape
COLORS = (BLUE, "#D55E00", GREEN, PURPLE, ORANGE, "#56B4E9")
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "wedge")


@dataclass(frozen=True, slots=True)
class SystemStyle:
    """How a system is drawn, the same in all charts of a report."""

    name: str
    color: str
    shape: str


def assign_styles(names: Sequence[str]) -> dict[str, SystemStyle]:
    """Return a color and a shape for each system; beyond six systems the shapes distinguish those of one color."""
    return {
        name: SystemStyle(name, COLORS[k % len(COLORS)], SHAPES[(k + k // len(COLORS)) % len(SHAPES)])
        for k, name in enumerate(names)
    }


# Dots: shares with their intervals, a row per group, a dot per system. Readable at the width of a phone.

WIDTH, SIDE = 400, 10
HEAD, NAME, STEP, GAP, FOOT = 30, 20, 17, 8, 24  # heights: title, a group's name, a dot, between groups, axis
LEGEND, HEADING, SUBTITLE = 20, 22, 18
SIZE = 13  # of the letters of names and values


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with its interval.

    tooltip: shown when a reader points at the dot, and read by screen readers
    stars: the significance of the difference from the system it is compared with
    before: the value before a change; drawn hollow, in place of the interval
    """

    value: float
    low: float
    high: float
    tooltip: str
    stars: str = ""
    before: float | None = None

    @property
    def shown(self) -> str:
        """The value as it is written next to the dot, in percent."""
        before = "" if self.before is None else f"{100 * self.before:.1f} → "
        return f"{before}{100 * self.value:.1f}{f' {self.stars}' if self.stars else ''}"


@dataclass(frozen=True, slots=True)
class Group:
    """A row of the chart: its name, a remark at its end (n), and a dot for each system that has a value.

    heading: written above the row, for it and those that follow; chance: the accuracy of guessing, a dashed line
    baselines: accuracies by name, dotted lines
    """

    name: str
    remark: str
    dots: Mapping[str, Dot]
    heading: str = ""
    chance: float | None = None
    baselines: Mapping[str, float] = field(default_factory=dict)


def dots(title: str, groups: Sequence[Group], styles: Mapping[str, SystemStyle], subtitle: str = "") -> str:
    """Return an SVG chart on a scale from 0 to 100 %, with the values next to the dots."""
    shown = [style for name, style in styles.items() if any(name in group.dots for group in groups)]
    legend = _legend(shown) if len(shown) > 1 else []
    head = HEAD + (SUBTITLE if subtitle else 0)
    top = head + LEGEND * len(legend) + 4
    values = max((text_width(dot.shown, 12) for group in groups for dot in group.dots.values()), default=0)
    x = Scale(0, 1, SIDE + 6, WIDTH - SIDE - values - 16)
    parts = [text(SIDE, 20, shortened(title, WIDTH - 2 * SIDE, 15), size=15, bold=True)]
    if subtitle:
        parts.append(text(SIDE, HEAD + 8, shortened(subtitle, WIDTH - 2 * SIDE), fill=DARK))
    for k, entries in enumerate(legend):
        for style, label, start in entries:
            height = head + LEGEND * k + 8
            parts += [mark(style, start + 6, height), text(start + 18, height + 4, label, size=SIZE)]
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
            parts.append(line(x(group.chance), y + NAME, x(group.chance), bottom, GRAY, dashed=True))
        for baseline, value in group.baselines.items():
            drawn = line(x(value), y + NAME, x(value), bottom, DARK, dashed=True)
            parts.append(f"<g><title>{escape(f'{baseline} {100 * value:.1f} %')}</title>{drawn}</g>")
        for k, (system, dot) in enumerate(group.dots.items()):
            parts += _dot(styles[system], dot, x, y + NAME + STEP * (k + 0.5))
        y = bottom + GAP
    for value, _ in ticks(0, 1, 5):
        label = f"{100 * value:.0f}{' %' if value > 0.99 else ''}"
        parts.append(text(x(value), y + 8, label, anchor="middle", fill=DARK))
    alt = "; ".join(f"{g.name}: {', '.join(dot.tooltip for dot in g.dots.values())}" for g in groups)
    return document(WIDTH, y + FOOT, f"{title}. {alt}", parts)


def _legend(shown: Sequence[SystemStyle]) -> list[list[tuple[SystemStyle, str, float]]]:
    """Return the systems on as few lines as possible: style, label, and where the entry begins."""
    lines: list[list[tuple[SystemStyle, str, float]]] = []
    end = float(WIDTH)
    for style, label in zip(shown, distinct([style.name for style in shown], WIDTH - 60, SIZE), strict=True):
        width = 34 + text_width(label, SIZE)
        if end + width - 14 > WIDTH - SIDE:
            lines.append([])
            end = SIDE
        lines[-1].append((style, label, end))
        end += width
    return lines


def _dot(style: SystemStyle, dot: Dot, x: Scale, y: float) -> list[str]:
    low, high, value = (x(min(max(v, 0.0), 1.0)) for v in (dot.low, dot.high, dot.value))
    if dot.before is None:
        drawn = line(low, y, high, y, style.color, width=2)
    else:
        before = x(dot.before)
        drawn = line(before, y, value, y, style.color, width=2) + mark(style, before, y, hollow=True)
    return [
        f"<g><title>{escape(dot.tooltip)}</title>{drawn}{mark(style, value, y)}</g>",
        text(WIDTH - SIDE, y + 4, dot.shown, anchor="end", size=12),
    ]


def mark(style: SystemStyle, x: float, y: float, *, hollow: bool = False) -> str:
    """Return the shape of a system in its color; hollow: a value before a change, or one to compare with."""
    paint = f'fill="white" stroke="{style.color}" stroke-width="1.6"' if hollow else f'fill="{style.color}"'
    shapes = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" {paint}/>',
        "square": f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" {paint}/>',
        "triangle": f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z" {paint}/>',
        "diamond": f'<path d="M{x:.1f} {y - 5.5:.1f}l5.5 5.5l-5.5 5.5l-5.5 -5.5z" {paint}/>',
        "cross": f'<path d="M{x - 5:.1f} {y - 1.5:.1f}h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z" {paint}/>',
        "wedge": f'<path d="M{x:.1f} {y + 5:.1f}l5 -9h-10z" {paint}/>',
    }
    return shapes[style.shape]


# Curves: accuracy by the number of context sentences.

CURVE_WIDTH, CURVE_HEIGHT = 560, 320
CURVE_LEFT, CURVE_RIGHT, CURVE_TOP, CURVE_BOTTOM = 56, 130, 48, 46
LABEL = 15  # the height of a label at the end of a line


class Point(NamedTuple):
    """A point of a curve: the label of x, and y with its interval."""

    label: str
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.label}: {100 * self.value:.1f} %"


class Series(NamedTuple):
    """The points of a system in the order of the axis; levels: horizontal lines to compare with (random context)."""

    style: SystemStyle
    points: Sequence[Point]
    levels: Sequence[Point] = ()


def curve(title: str, x_title: str, y_title: str, series: Sequence[Series]) -> str:
    """Return an SVG line chart of shares in percent, with intervals; each line is labeled at its end."""
    low, high = _axis([bound for one in series for p in (*one.points, *one.levels) for bound in p[1:]])
    labels = list(dict.fromkeys(point.label for one in series for point in one.points))
    x = Scale(-0.5, len(labels) - 0.5, CURVE_LEFT, CURVE_WIDTH - CURVE_RIGHT)
    y = Scale(low, high, CURVE_HEIGHT - CURVE_BOTTOM, CURVE_TOP)
    parts = [
        text(12, 22, shortened(title, CURVE_WIDTH - 24, 15), size=15, bold=True),
        text((CURVE_LEFT + CURVE_WIDTH - CURVE_RIGHT) / 2, CURVE_HEIGHT - 8, x_title, anchor="middle", fill=DARK),
        upright(14, (CURVE_TOP + CURVE_HEIGHT - CURVE_BOTTOM) / 2, y_title),
    ]
    for value, _ in ticks(low, high, 5):
        parts.append(line(CURVE_LEFT, y(value), CURVE_WIDTH - CURVE_RIGHT, y(value)))
        parts.append(text(CURVE_LEFT - 6, y(value) + 4, f"{100 * value:.0f}", anchor="end", size=11, fill=DARK))
    parts += [
        text(x(k), CURVE_HEIGHT - CURVE_BOTTOM + 18, label, anchor="middle", size=11, fill=DARK)
        for k, label in enumerate(labels)
    ]
    ends: list[tuple[float, str]] = []
    names = distinct([one.style.name for one in series], CURVE_RIGHT - 14)
    for one, name in zip(series, names, strict=True):
        for level in one.levels:
            parts.append(
                line(
                    CURVE_LEFT, y(level.value), CURVE_WIDTH - CURVE_RIGHT, y(level.value), one.style.color, dashed=True
                )
            )
            ends.append((y(level.value), level.label))
        parts += _curve_line(one, labels, x, y)
        ends.append((y(one.points[-1].value), name))
    parts += [text(CURVE_WIDTH - CURVE_RIGHT + 8, height + 4, label) for height, label in _apart(ends)]
    alt = "; ".join(f"{one.style.name}: {', '.join(map(str, (*one.points, *one.levels)))}" for one in series)
    return document(CURVE_WIDTH, CURVE_HEIGHT, f"{title}. {alt}", parts)


def _axis(values: Sequence[float]) -> tuple[float, float]:
    low, high = round_range(values)
    if high - low > 0.5:
        low, high = round_range(values, 0.2)
    return max(0.0, min(low, 0.9)), min(1.0, high)


def _curve_line(one: Series, labels: Sequence[str], x: Scale, y: Scale) -> list[str]:
    points = [(x(labels.index(point.label)), point) for point in one.points]
    drawn = " ".join(f"{at:.1f},{y(point.value):.1f}" for at, point in points)
    parts = [f'<polyline points="{drawn}" fill="none" stroke="{one.style.color}" stroke-width="2"/>']
    for at, point in points:
        parts.append(line(at, y(point.low), at, y(point.high), one.style.color, width=1.5))
        parts.append(mark(one.style, at, y(point.value)))
    return parts


def _apart(labels: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return labels from top to bottom, moved down so that none covers another."""
    placed: list[tuple[float, str]] = []
    for height, label in sorted(labels):
        placed.append((max(height, placed[-1][0] + LABEL) if placed else height, label))
    over = placed[-1][0] - (CURVE_HEIGHT - CURVE_BOTTOM + 12) if placed else 0
    return [(height - max(0.0, over), label) for height, label in placed]


def usage_series(conditions: Mapping[str, Any], style: SystemStyle) -> Series:
    """Return the conditions of `context-usage`, as its JSON has them; wrong contexts are levels to compare with."""
    points: list[Point] = []
    levels: list[Point] = []
    for name, condition in conditions.items():
        wrong = name in ("random", "shuffled")
        label = f"{name} context" if wrong else str(condition["sentences"])
        low, high = map(float, condition["interval"])  # a bound that is no number is an error here, before it is drawn
        (levels if wrong else points).append(Point(label, float(condition["accuracy"] or 0.0), low, high))
    return Series(style, sorted(points, key=lambda point: int(point.label)), levels)


def usage_curve(usage: ContextUsage) -> str:
    """Return accuracy by the number of context sentences, with random and shuffled context to compare with."""
    (style,) = assign_styles([short_name(usage.system)]).values()
    series = usage_series({condition.name: condition.to_dict() for condition in usage.conditions}, style)
    return curve(f"Accuracy by context: {usage.suite}", "sentences of context", "accuracy in %", [series])


# Attacks: a chart like ContraCAT's Figure 1.

ATTACK_HEADINGS = {  # what each kind of attack does to the text, with the letters of the paper's tables
    "phrase-addition": "A phrase is added to the sentence before (C)",
    "possessive-extension": "The antecedent (A) gets an owner",
    "synonym-replacement": "The antecedent becomes a synonym of another gender",
    "wrong-antecedent": "A noun that cannot be meant is put in between",
    "random-context": "The sentences before are those of another example",
    "shuffled-context": "The sentences before are in another order",
    "no-context": "The sentences before are taken away",
}


def robustness_chart(results: Sequence[Robustness], styles: Mapping[str, SystemStyle] | None = None) -> str:
    """Return an SVG chart with a row per attack: every system before (hollow) and after (full), on one axis.

    results: systems on the same suite; styles: by the names of the systems
    """
    styles = styles or {one.system: SystemStyle(short_name(one.system), COLORS[0], SHAPES[0]) for one in results}
    by_attack: dict[str, dict[str, Attack]] = {}
    for one in results:
        for attack in one.attacks:
            by_attack.setdefault(attack.name, {})[one.system] = attack
    groups: list[Group] = []
    kinds = [next(iter(attacks.values())).kind for attacks in by_attack.values()]
    for k, (name, attacks) in enumerate(by_attack.items()):
        heading = ATTACK_HEADINGS.get(kinds[k], kinds[k].replace("-", " ")) if not k or kinds[k] != kinds[k - 1] else ""
        first = next(iter(attacks.values()))
        label = attack_wording(first) if first.name != first.kind else ""
        changes = {system: attack.pair.overall for system, attack in attacks.items()}
        total = max(change.total for change in changes.values())
        shown = {
            system: Dot(
                change.second,
                change.second,
                change.second,
                f"{styles[system].name} {name}: {100 * change.first:.1f} to {100 * change.second:.1f} %",
                stars_of(change.p_adjusted),
                change.first,
            )
            for system, change in changes.items()
        }
        groups.append(Group(label, f"n = {total:,}", shown, heading))
    return dots(f"Attacks on {results[0].suite}", groups, styles, "accuracy; hollow: before the attack, full: after it")


# Chart files: SVG as it is, PNG where the extra is installed.

PIXELS = 2.0  # per unit of the SVG: sharp on screens and in print


def write_chart(path: Path, svg: str) -> None:
    """Write a chart as SVG or PNG, by the extension of the file."""
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise BadInput(path, "the name of a chart must end in .svg or .png")
    content = svg.encode("utf-8", "backslashreplace") if kind == ".svg" else png(svg)
    with atomic_writer(path) as out:
        out.write(content)


def png(svg: str) -> bytes:
    """Return a chart as PNG, drawn by CairoSVG."""
    try:
        cairosvg = import_module("cairosvg")
    except ModuleNotFoundError as error:
        raise AnaphoraError(
            f"PNG needs {error.name}, which is not installed. "
            'Install it with: pip install "anaphora[png]", or write .svg'
        ) from None
    except OSError:  # the Python package is there, the C library that it loads is not
        raise AnaphoraError(
            "PNG needs the library cairo, which is not installed. "
            "Install it (Debian: apt install libcairo2, macOS: brew install cairo), or write .svg"
        ) from None
    pixels: bytes = cairosvg.svg2png(bytestring=svg.encode("utf-8", "backslashreplace"), scale=PIXELS)
    return pixels
