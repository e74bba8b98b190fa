"""Results of other commands, from the JSON that they print: `apt`, `generative`, `context-usage`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.core.parsing import UNEXPECTED, read_json_object
from anaphora.metrics.apt.task import TITLES
from anaphora.reports.cases import case_bars
from anaphora.reports.curve import Point, Series, curve
from anaphora.reports.page.dots import Dot, Group, dots
from anaphora.reports.page.part import Chapter, Part, slug
from anaphora.reports.page.provenance import without_folders
from anaphora.reports.page.summary import joined
from anaphora.reports.page.systems import Look
from anaphora.table import Row, Table

REMEDY = "Results are what apt, generative or context-usage print with --json."
PREFERS = "hollow: prefers the right one, full: writes it"
WRONG_CONTEXT = ("random", "shuffled")  # conditions that are levels to compare with


@dataclass(frozen=True, slots=True)
class Other:
    """A result as it was read. names: the systems in it, as it calls them."""

    path: Path
    kind: str
    document: Mapping[str, Any]
    names: tuple[str, ...]


def read_results(paths: Sequence[Path]) -> list[Other]:
    """The results in files; what is none is an error that names the file."""
    return [_read(path) for path in paths]


def _read(path: Path) -> Other:
    document = _document(path)
    for kind, (fits, named, _) in KINDS.items():
        if fits(document):
            with _Expected(path):
                names = tuple(named(document))
                if not names or not all(isinstance(name, str) for name in names):
                    raise TypeError("no system, or one whose name is not a text")
                return Other(path, kind, document, names)
    raise BadInput(path, "a result of no known kind", remedy=REMEDY)


class _Expected:
    """What a result of its kind must hold: if it does not, the file is named."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UNEXPECTED):
            raise BadInput(self.path, f"not as expected: {error!r}", remedy=REMEDY) from None


def other_chapters(results: Sequence[Other], called: Mapping[str, str], looks: Mapping[str, Look]) -> list[Chapter]:
    """A chapter for each kind of result, in the order of the files.

    called: what the report calls the systems of the results, so that they are those of the runs; looks: by these names
    """
    kinds: dict[str, list[Other]] = {}
    for result in results:
        kinds.setdefault(result.kind, []).append(result)
    chapters = []
    for kind, members in kinds.items():
        parts: list[Part] = []
        words: list[str] = []
        for part, sentences in KINDS[kind][2](members, called, looks):
            parts.append(part)
            words += sentences
        chapters.append(Chapter(kind, parts, tuple(words)))
    return chapters


def _document(path: Path) -> Mapping[str, Any]:
    return read_json_object(path, REMEDY)


Drawn = Iterator[tuple[Part, list[str]]]  # parts, and sentences for the summary
Called = Mapping[str, str]
Looks = Mapping[str, Look]


def _apt(members: Sequence[Other], called: Called, looks: Looks) -> Drawn:
    """APT's six cases of every system (APT, Figure 2)."""
    for result in members:
        with _Expected(result.path):
            systems = {called[name]: system for name, system in result.document["systems"].items()}
            languages = next(iter(systems.values())).get("languages", "")
            title = f"APT {languages}".strip()
            rows = []
            for name, system in systems.items():
                cases = (f"{n:,}" for n in system["cases"])
                rows.append(Row((name, *cases, f"{system['apt']:.3f}", _interval(system))))
            columns = ("", *(f"{k}: {name}" for k, name in enumerate(TITLES, start=1)), "APT", "interval")
            signature = without_folders(next(iter(systems.values()))["signature"])
            table = Table(title, columns, tuple(rows), (f"signature {signature}",))
            counts = {name: system["cases"] for name, system in systems.items()}
            picture = case_bars(counts, colours={name: looks[name].colour for name in counts})
            ordered = sorted(systems.items(), key=lambda item: -item[1]["apt"])
            scores = joined([f"{name} has {s['apt']:.3f} {_interval(s)}" for name, s in ordered[:3]])
            said = f"By APT, pronouns compared with the reference translation{_in(languages)}, {scores}."
        yield Part(slug(f"apt {result.path.stem}"), title, picture, table, wide=True), [said]


def _generative(members: Sequence[Other], called: Called, looks: Looks) -> Drawn:
    """What is preferred (hollow) and what is written (full), in the colors of the systems."""
    for result in members:
        with _Expected(result.path):
            systems = {called[s["system"]]: s for s in result.document["systems"].values()}
            groups, rows, said = [], [], []
            for name, system in systems.items():
                written, (low, high) = float(system["accuracy"]), system["interval"]
                gap = system.get("gap")
                preferred = float(gap["contrastive_accuracy"]) if gap else None
                also = "" if preferred is None else f", prefers it in {100 * preferred:.1f} %"
                words = f"{name} writes the right one in {100 * written:.1f} %{also}"
                dot = Dot(written, low, high, words, before=preferred)
                groups.append(Group(name, f"n = {system['total']:,}", {name: dot}))
                contrastive = "–" if preferred is None else f"{preferred:.3f}"
                rows.append(
                    Row((name, f"{system['total']:,}", f"{written:.3f}", _interval(system), contrastive)),
                )
                said.append(
                    f"In its own translations of {system['suite']} ({system['total']:,} examples) {name} writes the "
                    f"right one in {100 * written:.1f} %{also}."
                )
            first = next(iter(systems.values()))
            title = f"Pronouns in translations of {first['suite']}"
            columns = ("", "n", "generative", "interval", "contrastive")
            table = Table(title, columns, tuple(rows), (f"signature {without_folders(first['signature'])}",))
        yield Part(slug(f"generative {result.path.stem}"), title, dots(title, groups, looks, PREFERS), table), said


def _usage(members: Sequence[Other], called: Called, looks: Looks) -> Drawn:
    """Accuracy by the number of context sentences: the systems of one suite on one axis."""
    suites: dict[str, list[Other]] = {}
    for result in members:
        suites.setdefault(str(result.document["suite"]), []).append(result)
    for suite, results in suites.items():
        series: list[Series] = []
        rows: list[Row] = []
        said: list[str] = []
        for result in results:
            with _Expected(result.path):
                name = called[result.names[0]]
                one = _series(result.document["conditions"], looks[name])
                rows += _usage_rows(name if len(results) > 1 else "", result.document["conditions"])
                said.append(_usage_words(suite, name, one))
                series.append(one)
        title = f"Accuracy by context: {suite}"
        table = Table(title, ("context", "n", "accuracy", "interval"), tuple(rows))
        picture = curve(title, "sentences of context", "accuracy in %", series)
        yield Part(slug(f"context {results[0].path.stem}"), title, picture, table, wide=True), said


def _series(conditions: Mapping[str, Any], look: Look) -> Series:
    points: list[Point] = []
    levels: list[Point] = []
    for name, condition in conditions.items():
        wrong = name in WRONG_CONTEXT
        label = f"{name} context" if wrong else str(condition["sentences"])
        (levels if wrong else points).append(Point(label, condition["accuracy"], *condition["interval"]))
    return Series(look, sorted(points, key=lambda point: int(point.label)), levels)


def _usage_rows(system: str, conditions: Mapping[str, Any]) -> Iterator[Row]:
    for name, condition in conditions.items():
        label = f"{system}: {name}" if system else name
        yield Row((label, f"{condition['total']:,}", f"{condition['accuracy']:.3f}", _interval(condition)))


def _usage_words(suite: str, name: str, one: Series) -> str:
    first, last = one.points[0], one.points[-1]
    size = f"{last.label} sentence{'s' if last.label != '1' else ''} of context"
    wrong = "".join(f", with {level.label} in {100 * level.value:.1f} %" for level in one.levels[:1])
    return (
        f"{name} is right in {100 * first.value:.1f} % of {suite} without context, "
        f"in {100 * last.value:.1f} % with {size}{wrong}."
    )


def _interval(figure: Mapping[str, Any]) -> str:
    low, high = figure["interval"]
    return f"[{low:.3f}, {high:.3f}]"


def _in(languages: str) -> str:
    return f" ({languages.replace('-', '→')})" if languages else ""


def _is_apt(found: Mapping[str, Any]) -> bool:
    return "cases" in found and "apt" in found


def _is_generative(found: Mapping[str, Any]) -> bool:
    systems = found.get("systems")
    return isinstance(systems, dict) and all(
        isinstance(system, dict) and "found_by" in system for system in systems.values()
    )


def _is_usage(found: Mapping[str, Any]) -> bool:
    return "conditions" in found


Fits = Callable[[Mapping[str, Any]], bool]
Names = Callable[[Mapping[str, Any]], Sequence[str]]
Draw = Callable[[Sequence[Other], Called, Looks], Drawn]
KINDS: dict[str, tuple[Fits, Names, Draw]] = {
    "Reference-based accuracy": (_is_apt, lambda found: list(found["systems"]), _apt),
    "What is written": (_is_generative, lambda found: [s["system"] for s in found["systems"].values()], _generative),
    "Context": (_is_usage, lambda found: [str(found["system"])] if found["suite"] else [], _usage),
}
