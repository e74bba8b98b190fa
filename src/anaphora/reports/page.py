"""The contents of a report: runs and results, each read once, become chapters, examples and provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.compare import Comparison, compare_runs, original_of
from anaphora.evaluation.contrastive import evaluate_run, guessing
from anaphora.evaluation.decision import keyed, parse_all, repeated
from anaphora.evaluation.diagnosis import diagnosis_of
from anaphora.evaluation.diagnosis_evidence import Evidence, gather, load_rules
from anaphora.evaluation.result import Result, Settings
from anaphora.reports.chapters import (
    Chapter,
    Part,
    Styles,
    attack_chapter,
    diagnosis_chapter,
    overview,
    suite_chapter,
)
from anaphora.reports.charts import assign_styles
from anaphora.reports.examples import Missing, Texts, TextSources, columns
from anaphora.reports.provenance import Provenance, names_of, provenance, run_called, split_names
from anaphora.reports.results import lines_by_suite, other_chapters, read_results
from anaphora.runs import LoadedRun, Run, load
from anaphora.stats.signature import with_hash


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of a report.

    overview: accuracy on every suite; examples: the packed columns of each suite
    """

    title: str
    overview: Part | None
    chapters: tuple[Chapter, ...]
    provenance: tuple[Provenance, ...]
    examples: tuple[dict[str, Any], ...]
    suites_without_text: tuple[Missing, ...]


def make_report(
    runs: Sequence[Run],
    *,
    results: Sequence[Path] = (),
    suites: Sequence[str | Path] = (),
    names: Sequence[str] = (),
    title: str = "",
    by: Sequence[str] = (),
    settings: Settings | None = None,
) -> Report:
    """Return a report on runs, and on results that other commands wrote as JSON.

    suites: the files that were scored, or names of the catalog, for the texts of the examples; suites of the
        catalog that are on this machine need not be named
    names: one for each run; and OLD=NEW for a system in a result
    by: breakdowns in addition to those of the suites' papers
    """
    if not runs and not results:
        raise AnaphoraError("name one or more runs")
    settings = settings or Settings()
    others = read_results(results)
    in_results = list(dict.fromkeys(name for other in others for name in other.names))
    given, renamed = split_names(names, in_results)
    called = names_of(runs, given)
    joined = {name: renamed.get(name) or run_called(name, runs, called) for name in in_results}
    specs = {run.path: run.header.system for run in runs}
    loaded = [
        replace(load(run), header=replace(run.header, system=name)) for run, name in zip(runs, called, strict=True)
    ]
    styles = assign_styles(list(dict.fromkeys([*called, *joined.values()])))
    sources = TextSources(suites)
    by_suite = _by_suite([run for run in loaded if not (run.records and original_of(run.records[0]) is not None)])
    evaluated = [_evaluated(members, sources, by, settings) for members in by_suite.values()]
    chapters = [suite_chapter(one.results, one.comparison, styles, one.repeated) for one in evaluated]
    evidence = gather(loaded, settings) if loaded else []
    chapters += _evidence_chapters(evidence, settings, styles, {one.digest: one.chance for one in evaluated})
    chapters += other_chapters(others, joined, styles)
    by_digest = {one.digest: one for one in evaluated}
    return Report(
        title=title or "Does it understand what “it” refers to?",
        overview=overview(
            [one.results for one in evaluated], styles, [one.chance for one in evaluated], lines_by_suite(others)
        ),
        chapters=tuple(chapters),
        provenance=tuple(
            _provenance(run, specs[run.path], by_digest.get(run.header.sha256), sources) for run in loaded
        ),
        examples=tuple(one.examples for one in evaluated if one.examples is not None),
        suites_without_text=tuple(one.texts for one in evaluated if isinstance(one.texts, Missing)),
    )


@dataclass(frozen=True, slots=True)
class _EvaluatedSuite:
    """The runs of one suite, evaluated.

    chance: the accuracy of guessing, or of one answer for all; repeated: breakdowns that are not shown
    """

    digest: str
    results: dict[str, Result]
    comparison: Comparison | None
    repeated: Mapping[str, str]
    chance: float | None
    texts: Texts | Missing
    examples: dict[str, Any] | None


def _evaluated(
    runs: Sequence[LoadedRun], sources: TextSources, by: Sequence[str], settings: Settings
) -> _EvaluatedSuite:
    first = runs[0]
    wanted = tuple(dict.fromkeys((*first.header.breakdowns, *by))) if by else ()
    results = {run.header.system: evaluate_run(run, breakdowns=wanted, settings=settings) for run in runs}
    breakdowns = list(results[first.header.system].breakdowns)
    comparison = None
    if len(runs) > 1 and results[first.header.system].figure.total:
        comparison = compare_runs(runs, breakdowns=breakdowns, settings=settings)
    texts, (copies, chance) = sources.texts_of(first), _copies_and_chance(first, wanted)
    examples = None
    if isinstance(texts, Texts):
        shown = [parsed for name, parsed in parse_all([*first.header.breakdowns, *by]).items() if name not in copies]
        tags = tuple(dict.fromkeys(tag for breakdown in shown for tag in breakdown.tags))
        examples = columns({run.header.system: run for run in runs}, texts, tags, settings)
    return _EvaluatedSuite(first.header.sha256, results, comparison, copies, chance, texts, examples)


def _copies_and_chance(run: LoadedRun, wanted: Sequence[str]) -> tuple[dict[str, str], float | None]:
    """Return the breakdowns that repeat another one, and the accuracy of guessing or of always the same pronoun."""
    breakdowns = parse_all(wanted or run.header.breakdowns)
    groups: set[tuple[str | None, ...]] = set()
    questions = []
    for item in run:
        if item.gold is not None:
            groups.add(tuple(b.group(keyed(b, item.tags)) for b in breakdowns.values()))
            questions.append((len(item.scores), item.tags))
    return repeated(list(breakdowns), groups), guessing(questions)


def _by_suite(runs: Sequence[LoadedRun]) -> dict[str, list[LoadedRun]]:
    suites: dict[str, list[LoadedRun]] = {}
    for run in runs:
        members = suites.setdefault(run.header.sha256, [])
        for other in members:
            if other.header.system == run.header.system:
                problem = f"a second run of {run.header.suite} by {run.header.system}, besides {other.path}"
                raise BadInput(run.path, problem, remedy="Name one of them, or tell them apart with --name.")
        members.append(run)
    return suites


def _evidence_chapters(
    evidence: Sequence[Evidence], settings: Settings, styles: Styles, chances: Mapping[str, float | None]
) -> list[Chapter]:
    chapters = []
    attacked = [attack for one in evidence for attack in one.attacks]
    if attacked:
        chapters.append(attack_chapter(attacked, styles, chances))
    diagnosable = [one for one in evidence if one.templates or one.attacks]
    if diagnosable:
        rules = load_rules()
        chapters.append(diagnosis_chapter([diagnosis_of(one, settings, rules) for one in diagnosable], styles))
    return chapters


def _provenance(run: Run, spec: str, suite: _EvaluatedSuite | None, sources: TextSources) -> Provenance:
    header = run.header
    if suite is None:  # an attack
        signature = with_hash(header.suite, header.sha256)
        return provenance(run, spec=spec, name=header.system, signature=signature, file=sources.file_of(run))
    result, file = suite.results[header.system], getattr(suite.texts, "file", None)
    unanswered = f"{result.unanswered:,} of {result.figure.total:,}" if result.unanswered else ""
    return provenance(run, spec=spec, name=header.system, signature=result.signature, file=file, unanswered=unanswered)
