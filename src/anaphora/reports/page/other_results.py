"""Results of other commands, from the JSON that they print: `apt`, `generative`, `context-usage`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anaphora.errors import BadInput
from anaphora.files import text_lines
from anaphora.metrics.apt.cases import TITLES
from anaphora.reports.cases import case_bars
from anaphora.reports.curve import Point, curve
from anaphora.reports.page.dots import Dot, Group, dots
from anaphora.reports.page.part import Chapter, Part, slug
from anaphora.reports.page.systems import looks, short_name
from anaphora.table import Row, Table

REMEDY = "Results are what apt, generative or context-usage print with --json."


def other_chapters(paths: Sequence[Path]) -> list[Chapter]:
    """A chapter for each kind of result, in the order of the files."""
    parts: dict[str, list[Part]] = {}
    for path in paths:
        found = _document(path)
        for title, (fits, draw) in KINDS.items():
            if fits(found):
                try:
                    parts.setdefault(title, []).append(draw(found, path))
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    raise BadInput(path, f"not as expected: {error!r}", remedy=REMEDY) from None
                break
        else:
            raise BadInput(path, "a result of no known kind", remedy=REMEDY)
    return [Chapter(title, found) for title, found in parts.items()]


def _document(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads("\n".join(text_lines(path)))
    except json.JSONDecodeError as error:
        raise BadInput(path, f"not JSON: {error.msg}", line=error.lineno, remedy=REMEDY) from None
    if not isinstance(found, dict):
        raise BadInput(path, "a JSON object is expected", remedy=REMEDY)
    return found


def _apt(found: Mapping[str, Any], path: Path) -> Part:
    """APT's six cases of every system (APT, Figure 2)."""
    systems = found["systems"]
    title = f"APT {next(iter(systems.values())).get('languages', '')}".strip()
    rows = []
    for name, system in systems.items():
        low, high = system["interval"]
        rows.append(
            Row((name, *(f"{n:,}" for n in system["cases"]), f"{system['apt']:.3f}", f"[{low:.3f}, {high:.3f}]"))
        )
    columns = ("", *(f"{k}: {name}" for k, name in enumerate(TITLES, start=1)), "APT", "interval")
    signature = next(iter(systems.values()))["signature"]
    table = Table(title, columns, tuple(rows), (f"signature {signature}",))
    picture = case_bars({name: system["cases"] for name, system in systems.items()})
    return Part(slug(f"apt {path.stem}"), title, picture, table, wide=True)


def _generative(found: Mapping[str, Any], path: Path) -> Part:
    """What is preferred beside what is written."""
    systems = list(found["systems"].values())
    groups, rows = [], []
    names = ("prefers the right one", "writes the right one")
    for system in systems:
        low, high = system["interval"]
        shown = {names[1]: Dot(system["accuracy"], low, high, f"{names[1]} {system['accuracy']:.3f}")}
        cells = [f"{system['total']:,}", f"{system['accuracy']:.3f}", f"[{low:.3f}, {high:.3f}]", "–"]
        if system.get("gap"):
            value = system["gap"]["contrastive_accuracy"]
            shown = {names[0]: Dot(value, value, value, f"{names[0]} {value:.3f}"), **shown}
            cells[3] = f"{value:.3f}"
        groups.append(Group(system["system"], f"n = {system['total']:,}", shown))
        rows.append(Row((system["system"], *cells)))
    title = f"{systems[0]['suite']}: contrastive beside generative accuracy"
    columns = ("", "n", "generative", "interval", "contrastive")
    table = Table(title, columns, tuple(rows), (f"signature {systems[0]['signature']}",))
    picture = dots("Contrastive beside generative", groups, looks(names))
    return Part(slug(f"generative {path.stem}"), title, picture, table)


def _usage(found: Mapping[str, Any], path: Path) -> Part:
    """Accuracy by the number of context sentences."""
    title = f"{found['suite']}: {found['system']}"
    points: list[Point] = []
    levels: list[Point] = []
    rows = []
    for name, condition in found["conditions"].items():
        low, high = condition["interval"]
        other = name in ("random", "shuffled")
        label = f"{name} context" if other else str(condition["sentences"])
        (levels if other else points).append(Point(label, condition["accuracy"], low, high))
        rows.append(Row((name, f"{condition['total']:,}", f"{condition['accuracy']:.3f}", f"[{low:.3f}, {high:.3f}]")))
    points.sort(key=lambda point: int(point.label))
    table = Table(title, ("context", "n", "accuracy", "interval"), tuple(rows))
    heading = f"{found['suite']}: {short_name(found['system'])}"  # a picture has no room for a path
    picture = curve(heading, "sentences of context", "accuracy", points, levels)
    return Part(slug(f"context {path.stem}"), f"Accuracy by context: {found['system']}", picture, table)


def _is_apt(found: Mapping[str, Any]) -> bool:
    return "cases" in found and "apt" in found


def _is_generative(found: Mapping[str, Any]) -> bool:
    systems = found.get("systems")
    return isinstance(systems, dict) and all("found_by" in system for system in systems.values())


def _is_usage(found: Mapping[str, Any]) -> bool:
    return "conditions" in found


KINDS: dict[str, tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any], Path], Part]]] = {
    "Reference-based accuracy": (_is_apt, _apt),
    "What is written": (_is_generative, _generative),
    "Context": (_is_usage, _usage),
}
