"""Chapters on results of other commands, from the JSON that `apt`, `generative` and others print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.core.parsing import UNEXPECTED, are_strings, read_json_object
from anaphora.evaluation.verdicts import ANSWERS, Judged
from anaphora.metrics.apt.task import TITLES
from anaphora.reports.attribution import attribution_parts, read_attributions
from anaphora.reports.chapters import Chapter, Part, joined, slug
from anaphora.reports.charts import Dot, Group, Series, SystemStyle, curve, dots, usage_series
from anaphora.reports.data_tables import BASELINES as TITLE_OF_BASELINE
from anaphora.reports.data_tables import baseline_figures, baselines_table
from anaphora.reports.metric_charts import case_bars
from anaphora.reports.metric_tables import ANNOTATOR_NOTE, ANNOTATOR_TITLES
from anaphora.reports.provenance import without_folders
from anaphora.reports.tables import OWN_NOTE
from anaphora.runs import open_run
from anaphora.table import Row, Table, arrow, counts, decimal, interval_cell

REMEDY = (
    "Results are what apt, generative, context-usage or suites baselines print with --json, and the file of attribute."
)
ATTRIBUTION = "Attribution"
BASELINES = "Baselines"
PREFERS = "hollow: prefers the right one, full: writes it"
OWN_LEGEND = "hollow: by reference, full: by own antecedent"


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
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        shown = read_attributions(open_run(path))
        return OtherResult(path, ATTRIBUTION, {"attributions": shown}, (shown.result.system,))
    document = read_json_object(path, REMEDY)
    with _expected(path):
        if "cases" in document and "apt" in document:
            kind, names = "Reference-based accuracy", list(document["systems"])
        elif isinstance(systems := document.get("systems"), dict) and all("found_by" in s for s in systems.values()):
            kind, names = "Own translations", [system["system"] for system in systems.values()]
        elif isinstance(systems, dict) and systems and all("agrees" in s for s in systems.values()):
            kind, names = "Own antecedents", [system["system"] for system in systems.values()]
        elif "conditions" in document:
            kind, names = "Context", [str(document["system"])] if document["suite"] else []
        elif "antecedent_share" in document:
            raise BadInput(path, "figures without passages", remedy="Pass the file that `attribute -o` has written.")
        elif "context_blind" in document:
            kind, names = BASELINES, []
            baselines_table(document), baseline_lines(document)  # that they can be drawn
            if not are_strings(document["notes"]):
                raise TypeError("notes that are no texts")
        else:
            raise BadInput(path, "an unknown kind of result", remedy=REMEDY)
        if not (names or kind == BASELINES) or not all(isinstance(name, str) for name in names):
            raise TypeError("no system, or one whose name is not a text")
    return OtherResult(path, kind, document, tuple(names))


@contextmanager
def _expected(path: Path) -> Iterator[None]:
    """Raise BadInput with the name of the file where a result lacks what its kind must hold."""
    try:
        yield
    except UNEXPECTED as error:
        raise BadInput(path, f"not as expected: {error!r}", remedy=REMEDY) from None


def other_chapters(
    results: Sequence[OtherResult], names: Mapping[str, str], styles: Mapping[str, SystemStyle]
) -> list[Chapter]:
    """Return a chapter for each kind of result, in the order of the files.

    names: the names of the systems in the report, by their names in the results; styles: by the names in the report
    """
    kinds: dict[str, list[OtherResult]] = {}
    for result in results:
        kinds.setdefault(result.kind, []).append(result)
    chapters = []
    for kind, members in kinds.items():
        parts: list[Part] = []
        summary: list[str] = []
        for part, sentences in KINDS[kind](members, names, styles):
            parts.append(part)
            summary += sentences
        chapters.append(Chapter(kind, parts, tuple(summary)))
    return chapters


Drawn = Iterator[tuple[Part, list[str]]]  # parts, and sentences for the summary
Names = Mapping[str, str]
Styles = Mapping[str, SystemStyle]


def _shares(systems: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a note on how many were judged by annotators for each system that they were asked about."""
    keys = ("judged_by_machine", "judged_by_people", "not_judged")
    asked = {name: system for name, system in systems.items() if keys[0] in system}
    return [f"{name}: {Judged(*(int(system[key]) for key in keys))}" for name, system in asked.items()]


def _apt(members: Sequence[OtherResult], names: Names, styles: Styles) -> Drawn:
    """Yield APT's six cases of every system (APT, Figure 2)."""
    for result in members:
        with _expected(result.path):
            systems = {names[name]: system for name, system in result.document["systems"].items()}
            languages = next(iter(systems.values())).get("languages", "")
            title = f"APT {languages}".strip()
            asked = any("people" in system for system in systems.values())
            rows = []
            for name, system in systems.items():
                figures = (decimal(system["apt"]), interval_cell(system["interval"]))
                answers = [system["people"][answer] for answer in ANSWERS] if asked else []
                rows.append(Row((name, *counts([*system["cases"], *answers]), *figures)))
            titles = (*(f"{k}: {name}" for k, name in enumerate(TITLES, start=1)), *(ANNOTATOR_TITLES if asked else ()))
            signature = without_folders(next(iter(systems.values()))["signature"])
            notes = (*_shares(systems), *((ANNOTATOR_NOTE,) if asked else ()), f"signature {signature}")
            table = Table(title, ("", *titles, "APT", "interval"), tuple(rows), notes)
            cases = {name: system["cases"] for name, system in systems.items()}
            chart = case_bars(cases, colors={name: styles[name].color for name in cases})
            ordered = sorted(systems.items(), key=lambda item: -item[1]["apt"])
            scores = joined([f"{name} has {s['apt']:.3f} {interval_cell(s['interval'])}" for name, s in ordered[:3]])
            pair = f" ({arrow(languages)})" if languages else ""
            sentence = f"By APT, pronouns compared with the reference translation{pair}, {scores}."
        yield Part(slug(f"apt {result.path.stem}"), title, chart, table, wide=True), [sentence]


def _generative(members: Sequence[OtherResult], names: Names, styles: Styles) -> Drawn:
    """Yield contrastive (hollow) and generative (full) accuracy, in the colors of the systems."""
    for result in members:
        with _expected(result.path):
            systems = {names[s["system"]]: s for s in result.document["systems"].values()}
            groups, rows, sentences = [], [], []
            for name, system in systems.items():
                written, (low, high) = float(system["accuracy"]), map(float, system["interval"])
                gap = system.get("gap")
                preferred = float(gap["contrastive_accuracy"]) if gap else None
                also = "" if preferred is None else f", prefers it in {100 * preferred:.1f} %"
                tooltip = f"{name} writes the right word in {100 * written:.1f} %{also}"
                dot = Dot(written, low, high, tooltip, before=preferred)
                groups.append(Group(name, f"n = {system['total']:,}", {name: dot}))
                figures = (decimal(written), interval_cell((low, high)), decimal(preferred))
                rows.append(Row((name, f"{system['total']:,}", *figures)))
                sentences.append(
                    f"In its own translations of {system['suite']} ({system['total']:,} examples) {name} writes the "
                    f"right word in {100 * written:.1f} %{also}."
                )
            first = next(iter(systems.values()))
            title = f"Pronouns in translations of {first['suite']}"
            columns = ("", "n", "generative", "interval", "contrastive")
            notes = (*_shares(systems), f"signature {without_folders(first['signature'])}")
            table = Table(title, columns, tuple(rows), notes)
        yield (
            Part(slug(f"generative {result.path.stem}"), title, dots(title, groups, styles, PREFERS), table),
            sentences,
        )


def _own(members: Sequence[OtherResult], names: Names, styles: Styles) -> Drawn:
    """Yield agreement with the own antecedent (full) next to accuracy by the reference (hollow)."""
    for result in members:
        with _expected(result.path):
            systems = {names[s["system"]]: s for s in result.document["systems"].values()}
            groups, rows, sentences = [], [], []
            for name, system in systems.items():
                share, (low, high), decided = system["agreement"], system["interval"], system["decided"]
                right = system["accuracy_by_reference"]
                if share is not None:
                    tooltip = f"{name}: {100 * share:.1f} % of {decided:,} agree"
                    dot = Dot(float(share), low, high, tooltip, before=None if right is None else float(right))
                    groups.append(Group(name, f"n = {decided:,}", {name: dot}))
                    sentences.append(
                        f"In its own translations of {system['suite']}, {name} writes a pronoun that agrees with its "
                        f"own antecedent in {100 * share:.1f} % of the {decided:,} decided cases."
                    )
                numbers = [system[key] for key in ("total", "agrees", "disagrees", "not_found", "unclear")]
                rows.append(Row((name, *counts(numbers), decimal(share), interval_cell((low, high)), decimal(right))))
            first = next(iter(systems.values()))
            title = f"Pronouns that agree: {first['suite']}"
            columns = ("", "n", "agrees", "disagrees", "not found", "unclear", "agreement", "interval", "by reference")
            notes = (OWN_NOTE, *_shares(systems), f"signature {without_folders(first['signature'])}")
            table = Table(title, columns, tuple(rows), notes)
        chart = dots(title, groups, styles, OWN_LEGEND)
        yield Part(slug(f"own antecedents {result.path.stem}"), title, chart, table), sentences


def _usage(members: Sequence[OtherResult], names: Names, styles: Styles) -> Drawn:
    """Yield accuracy by the number of context sentences, with the systems of one suite on one axis."""
    suites: dict[str, list[OtherResult]] = {}
    for result in members:
        suites.setdefault(str(result.document["suite"]), []).append(result)
    for suite, results in suites.items():
        series: list[Series] = []
        rows: list[Row] = []
        sentences: list[str] = []
        for result in results:
            with _expected(result.path):
                name, conditions = names[result.names[0]], result.document["conditions"]
                series.append(usage_series(conditions, styles[name]))
                for label, condition in conditions.items():
                    figures = (decimal(condition["accuracy"]), interval_cell(condition["interval"]))
                    row = f"{name}: {label}" if len(results) > 1 else label
                    rows.append(Row((row, f"{condition['total']:,}", *figures)))
                first, last = series[-1].points[0], series[-1].points[-1]
                size = f"{last.label} sentence{'s' if last.label != '1' else ''} of context"
                wrong = "".join(f", with {one.label} in {100 * one.value:.1f} %" for one in series[-1].levels[:1])
                sentences.append(
                    f"{name} is right in {100 * first.value:.1f} % of {suite} without context, "
                    f"in {100 * last.value:.1f} % with {size}{wrong}."
                )
        title = f"Accuracy by context: {suite}"
        table = Table(title, ("context", "n", "accuracy", "interval"), tuple(rows))
        chart = curve(title, "sentences of context", "accuracy in %", series)
        yield Part(slug(f"context {results[0].path.stem}"), title, chart, table, wide=True), sentences


def _baselines(members: Sequence[OtherResult], names: Names, styles: Styles) -> Drawn:
    """Yield what can be reached on a suite without understanding."""
    for result in members:
        with _expected(result.path):
            table, lines = baselines_table(result.document), baseline_lines(result.document)
            best = max(lines, key=lambda name: lines[name])
            suite = result.document["suite"]
            sentence = f"Without understanding, the baseline “{best}” gets {100 * lines[best]:.1f} % of {suite} right."
        name = slug(f"baselines {result.path.stem}")
        yield Part(name, table.title, None, table, printed=True), [sentence]


def _attribution(members: Sequence[OtherResult], names: Names, styles: Styles) -> Drawn:
    """Yield the share of the antecedent, and passages with each word shaded."""
    shown = {(names[member.names[0]], member.path): member.document["attributions"] for member in members}
    yield from attribution_parts([(name, path.stem, one) for (name, path), one in shown.items()], styles)


def baseline_lines(document: Mapping[str, Any]) -> dict[str, float]:
    """Return the baselines to draw as lines; the context-blind bound is an upper bound and no baseline."""
    figures = baseline_figures(document).items()
    bound = TITLE_OF_BASELINE["context_blind"]
    return {name: float(figure["accuracy"]) for name, figure in figures if name != bound}


def lines_by_suite(results: Sequence[OtherResult]) -> dict[str, dict[str, float]]:
    """Return the lines of the baselines among results, by the SHA-256 of their suite."""
    return {str(r.document.get("sha256")): baseline_lines(r.document) for r in results if r.kind == BASELINES}


Draw = Callable[[Sequence[OtherResult], Names, Styles], Drawn]
KINDS: dict[str, Draw] = {
    "Reference-based accuracy": _apt,
    "Own translations": _generative,
    "Own antecedents": _own,
    "Context": _usage,
    ATTRIBUTION: _attribution,
    BASELINES: _baselines,
}
