"""Chapters on results of other commands, from the JSON that `apt`, `generative` and `context-usage` print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.core.parsing import UNEXPECTED, read_json_object
from anaphora.metrics.apt.task import TITLES
from anaphora.reports.chapters import Chapter, Part, joined, slug
from anaphora.reports.charts import Dot, Group, Point, Series, SystemStyle, curve, dots
from anaphora.reports.metric_charts import case_bars
from anaphora.reports.provenance import without_folders
from anaphora.table import Row, Table, arrow, counts, decimal, interval_cell

REMEDY = "Results are what apt, generative or context-usage print with --json."
PREFERS = "hollow: prefers the right one, full: writes it"
WRONG_CONTEXT = ("random", "shuffled")  # conditions that are levels to compare with


@dataclass(frozen=True, slots=True)
class OtherResult:
    """A result as it was read. names: the systems in it, by their names in the file."""

    path: Path
    kind: str
    document: Mapping[str, Any]
    names: tuple[str, ...]


def read_results(paths: Sequence[Path]) -> list[OtherResult]:
    """Read the results in files; a file that holds none is an error."""
    return [_read(path) for path in paths]


def _read(path: Path) -> OtherResult:
    document = read_json_object(path, REMEDY)
    for kind, (fits, named, _) in KINDS.items():
        if fits(document):
            with _Expected(path):
                names = tuple(named(document))
                if not names or not all(isinstance(name, str) for name in names):
                    raise TypeError("no system, or one whose name is not a text")
                return OtherResult(path, kind, document, names)
    raise BadInput(path, "a result of no known kind", remedy=REMEDY)


class _Expected:
    """Raise BadInput with the name of the file where a result lacks what its kind must hold."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UNEXPECTED):
            raise BadInput(self.path, f"not as expected: {error!r}", remedy=REMEDY) from None


def other_chapters(
    results: Sequence[OtherResult], called: Mapping[str, str], styles: Mapping[str, SystemStyle]
) -> list[Chapter]:
    """Return a chapter for each kind of result, in the order of the files.

    called: the names of the systems in the report, by their names in the results; styles: by the names in the report
    """
    kinds: dict[str, list[OtherResult]] = {}
    for result in results:
        kinds.setdefault(result.kind, []).append(result)
    chapters = []
    for kind, members in kinds.items():
        parts: list[Part] = []
        summary: list[str] = []
        for part, sentences in KINDS[kind][2](members, called, styles):
            parts.append(part)
            summary += sentences
        chapters.append(Chapter(kind, parts, tuple(summary)))
    return chapters


Drawn = Iterator[tuple[Part, list[str]]]  # parts, and sentences for the summary
Called = Mapping[str, str]
Styles = Mapping[str, SystemStyle]


def _apt(members: Sequence[OtherResult], called: Called, styles: Styles) -> Drawn:
    """Yield APT's six cases of every system (APT, Figure 2)."""
    for result in members:
        with _Expected(result.path):
            systems = {called[name]: system for name, system in result.document["systems"].items()}
            languages = next(iter(systems.values())).get("languages", "")
            title = f"APT {languages}".strip()
            rows = []
            for name, system in systems.items():
                figures = (decimal(system["apt"]), interval_cell(system["interval"]))
                rows.append(Row((name, *counts(system["cases"]), *figures)))
            columns = ("", *(f"{k}: {name}" for k, name in enumerate(TITLES, start=1)), "APT", "interval")
            signature = without_folders(next(iter(systems.values()))["signature"])
            table = Table(title, columns, tuple(rows), (f"signature {signature}",))
            cases = {name: system["cases"] for name, system in systems.items()}
            chart = case_bars(cases, colors={name: styles[name].color for name in cases})
            ordered = sorted(systems.items(), key=lambda item: -item[1]["apt"])
            scores = joined([f"{name} has {s['apt']:.3f} {interval_cell(s['interval'])}" for name, s in ordered[:3]])
            pair = f" ({arrow(languages)})" if languages else ""
            sentence = f"By APT, pronouns compared with the reference translation{pair}, {scores}."
        yield Part(slug(f"apt {result.path.stem}"), title, chart, table, wide=True), [sentence]


def _generative(members: Sequence[OtherResult], called: Called, styles: Styles) -> Drawn:
    """Yield contrastive (hollow) and generative (full) accuracy, in the colors of the systems."""
    for result in members:
        with _Expected(result.path):
            systems = {called[s["system"]]: s for s in result.document["systems"].values()}
            groups, rows, sentences = [], [], []
            for name, system in systems.items():
                written, (low, high) = float(system["accuracy"]), _bounds(system)
                gap = system.get("gap")
                preferred = float(gap["contrastive_accuracy"]) if gap else None
                also = "" if preferred is None else f", prefers it in {100 * preferred:.1f} %"
                tooltip = f"{name} writes the right one in {100 * written:.1f} %{also}"
                dot = Dot(written, low, high, tooltip, before=preferred)
                groups.append(Group(name, f"n = {system['total']:,}", {name: dot}))
                figures = (decimal(written), interval_cell((low, high)), decimal(preferred))
                rows.append(Row((name, f"{system['total']:,}", *figures)))
                sentences.append(
                    f"In its own translations of {system['suite']} ({system['total']:,} examples) {name} writes the "
                    f"right one in {100 * written:.1f} %{also}."
                )
            first = next(iter(systems.values()))
            title = f"Pronouns in translations of {first['suite']}"
            columns = ("", "n", "generative", "interval", "contrastive")
            table = Table(title, columns, tuple(rows), (f"signature {without_folders(first['signature'])}",))
        yield (
            Part(slug(f"generative {result.path.stem}"), title, dots(title, groups, styles, PREFERS), table),
            sentences,
        )


def _usage(members: Sequence[OtherResult], called: Called, styles: Styles) -> Drawn:
    """Yield accuracy by the number of context sentences, with the systems of one suite on one axis."""
    suites: dict[str, list[OtherResult]] = {}
    for result in members:
        suites.setdefault(str(result.document["suite"]), []).append(result)
    for suite, results in suites.items():
        series: list[Series] = []
        rows: list[Row] = []
        sentences: list[str] = []
        for result in results:
            with _Expected(result.path):
                name = called[result.names[0]]
                one = _series(result.document["conditions"], styles[name])
                rows += _usage_rows(name if len(results) > 1 else "", result.document["conditions"])
                sentences.append(_usage_summary(suite, name, one))
                series.append(one)
        title = f"Accuracy by context: {suite}"
        table = Table(title, ("context", "n", "accuracy", "interval"), tuple(rows))
        chart = curve(title, "sentences of context", "accuracy in %", series)
        yield Part(slug(f"context {results[0].path.stem}"), title, chart, table, wide=True), sentences


def _series(conditions: Mapping[str, Any], style: SystemStyle) -> Series:
    points: list[Point] = []
    levels: list[Point] = []
    for name, condition in conditions.items():
        wrong = name in WRONG_CONTEXT
        label = f"{name} context" if wrong else str(condition["sentences"])
        (levels if wrong else points).append(Point(label, float(condition["accuracy"]), *_bounds(condition)))
    return Series(style, sorted(points, key=lambda point: int(point.label)), levels)


def _bounds(result: Mapping[str, Any]) -> tuple[float, float]:
    """Return the interval of a result; a bound that is not a number is an error here, before a chart draws it."""
    low, high = result["interval"]
    return float(low), float(high)


def _usage_rows(system: str, conditions: Mapping[str, Any]) -> Iterator[Row]:
    for name, condition in conditions.items():
        label = f"{system}: {name}" if system else name
        figures = (decimal(condition["accuracy"]), interval_cell(condition["interval"]))
        yield Row((label, f"{condition['total']:,}", *figures))


def _usage_summary(suite: str, name: str, one: Series) -> str:
    first, last = one.points[0], one.points[-1]
    size = f"{last.label} sentence{'s' if last.label != '1' else ''} of context"
    wrong = "".join(f", with {level.label} in {100 * level.value:.1f} %" for level in one.levels[:1])
    return (
        f"{name} is right in {100 * first.value:.1f} % of {suite} without context, "
        f"in {100 * last.value:.1f} % with {size}{wrong}."
    )


def _is_apt(document: Mapping[str, Any]) -> bool:
    return "cases" in document and "apt" in document


def _is_generative(document: Mapping[str, Any]) -> bool:
    systems = document.get("systems")
    return isinstance(systems, dict) and all(
        isinstance(system, dict) and "found_by" in system for system in systems.values()
    )


def _is_usage(document: Mapping[str, Any]) -> bool:
    return "conditions" in document


Fits = Callable[[Mapping[str, Any]], bool]
Names = Callable[[Mapping[str, Any]], Sequence[str]]
Draw = Callable[[Sequence[OtherResult], Called, Styles], Drawn]
KINDS: dict[str, tuple[Fits, Names, Draw]] = {
    "Reference-based accuracy": (_is_apt, lambda document: list(document["systems"]), _apt),
    "What is written": (
        _is_generative,
        lambda document: [s["system"] for s in document["systems"].values()],
        _generative,
    ),
    "Context": (_is_usage, lambda document: [str(document["system"])] if document["suite"] else [], _usage),
}
