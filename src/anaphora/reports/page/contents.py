"""From runs and results to the chapters of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anaphora.errors import AnaphoraError, BadInput
from anaphora.evaluation.compare import compare_runs
from anaphora.evaluation.contrastive import evaluate_run
from anaphora.evaluation.diagnosis import diagnosis_of
from anaphora.evaluation.diagnosis_evidence import Evidence, gather
from anaphora.evaluation.diagnosis_rules import load_rules
from anaphora.evaluation.pairing import original_of
from anaphora.evaluation.result import Result, Settings
from anaphora.reports.page.attack_chapter import attack_chapter, diagnosis_chapter
from anaphora.reports.page.examples import check_suite, columns
from anaphora.reports.page.other_results import other_chapters
from anaphora.reports.page.part import Chapter, Part
from anaphora.reports.page.suite_chapter import overview, suite_chapter
from anaphora.reports.page.systems import looks, names_of
from anaphora.suites.get import suite_path
from anaphora.suites.suite import Suite, read_native
from anaphora.systems.run import Run


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a run was made: what a reader needs to make it again."""

    name: str
    path: str
    command: str
    signature: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """All that is in a report.

    overview: accuracy on every suite; examples: the packed columns of each suite; silent: suites without text
    """

    title: str
    overview: Part | None
    chapters: tuple[Chapter, ...]
    provenance: tuple[Provenance, ...]
    examples: tuple[dict[str, Any], ...]
    silent: tuple[str, ...]


def make_report(
    runs: Sequence[Run],
    *,
    results: Sequence[Path] = (),
    suites: Sequence[Path] = (),
    names: Sequence[str] = (),
    title: str = "",
    by: Sequence[str] = (),
    settings: Settings | None = None,
) -> Report:
    """A report on runs, and on results that other commands wrote as JSON.

    suites: the files that were scored, for the texts of the examples; those of the catalogue are found by themselves
    names: of the systems, one for each run
    by: breakdowns besides those of the suites' papers
    """
    if not runs and not results:
        raise AnaphoraError("name one or more runs")
    settings = settings or Settings()
    runs = [_renamed(run, name) for run, name in zip(runs, names_of(runs, names), strict=True)]
    drawn = looks(list(dict.fromkeys(run.header.system for run in runs)))
    plain = _by_suite([run for run in runs if not _is_attack(run)])
    texts = {digest: _suite_of(members, suites) for digest, members in plain.items()}
    evaluated: dict[str, dict[str, Result]] = {}
    chapters, examples = [], []
    for digest, members in plain.items():
        wanted = tuple(dict.fromkeys((*members[0].header.breakdowns, *by))) if by else ()
        evaluated[digest] = {
            run.header.system: evaluate_run(run, breakdowns=wanted, settings=settings) for run in members
        }
        of_suite = evaluated[digest]
        first = next(iter(of_suite.values()))
        comparison = None
        if len(members) > 1 and first.figure.total:
            comparison = compare_runs(members, breakdowns=list(first.breakdowns), settings=settings)
        chapters.append(suite_chapter(of_suite, comparison, drawn))
        by_name = {run.header.system: run for run in members}
        examples.append(columns(by_name, texts[digest], _tags(members[0], by), settings))
    chapters += _evidence_chapters(gather(runs, settings) if runs else [], settings, drawn)
    chapters += other_chapters(results)
    return Report(
        title=title or "Does it understand what “it” refers to?",
        overview=overview(evaluated.values(), drawn),
        chapters=tuple(chapters),
        provenance=tuple(_provenance(run, evaluated) for run in runs),
        examples=tuple(examples),
        silent=tuple(members[0].header.suite for digest, members in plain.items() if texts[digest] is None),
    )


def _renamed(run: Run, name: str) -> Run:
    return replace(
        run, header=replace(run.header, system=name, settings={**run.header.settings, "spec": run.header.system})
    )


def _is_attack(run: Run) -> bool:
    first = next(iter(run), None)
    return first is not None and original_of(first) is not None


def _by_suite(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs by the hash of their suite; one run of a system on a suite."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        members = found.setdefault(run.header.sha256, [])
        for other in members:
            if other.header.system == run.header.system:
                problem = f"a second run of {run.header.suite} by {run.header.system}, besides {other.path}"
                raise BadInput(run.path, problem, remedy="Name one of them, or tell them apart with --name.")
        members.append(run)
    return found


def _suite_of(runs: Sequence[Run], paths: Sequence[Path]) -> Suite | None:
    """The text of what was scored: a file that is named, or the suite of that name on this machine."""
    header = runs[0].header
    for path in paths:
        suite = read_native(path)
        if suite.header.name == header.suite:
            check_suite(suite, runs, path)
            return suite
    known = suite_path(header.suite)
    if known.is_file():
        suite = read_native(known)
        if suite.sha256() == header.sha256:
            return suite
    return None


def _tags(run: Run, by: Sequence[str]) -> tuple[str, ...]:
    """The tags that breakdowns are made of."""
    parts = [part.partition(">")[0] for name in (*run.header.breakdowns, *by) for part in name.split("×")]
    return tuple(dict.fromkeys(parts))


def _evidence_chapters(evidence: Sequence[Evidence], settings: Settings, drawn: Any) -> list[Chapter]:
    chapters = []
    attacked = [found for one in evidence for found in one.attacks]
    if attacked:
        chapters.append(attack_chapter(attacked))
    told = [one for one in evidence if one.templates or one.attacks]
    if told:
        rules = load_rules()
        chapters.append(diagnosis_chapter([diagnosis_of(one, settings, rules) for one in told], drawn))
    return chapters


def _provenance(run: Run, evaluated: Mapping[str, Mapping[str, Result]]) -> Provenance:
    header = run.header
    settings = dict(header.settings)
    spec = str(settings.pop("spec"))
    result = evaluated.get(header.sha256, {}).get(header.system)
    if result is not None and result.unanswered:
        settings["unanswered"] = f"{result.unanswered:,} of {result.figure.total:,}"
    signature = result.signature if result is not None else f"{header.suite}@{header.sha256[:6]}"
    given = f" --context {header.context.partition('+')[0]}" if header.context else ""
    command = f"anaphora score {header.suite} --system {spec}{given} -o {run.path.parent}"
    return Provenance(header.system, str(run.path), command, signature, settings)
