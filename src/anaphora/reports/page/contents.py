"""From runs and results to the chapters of a report."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.compare import Comparison, compare_runs, original_of
from anaphora.evaluation.contrastive import evaluate_run, guessing
from anaphora.evaluation.decision import keyed, named, repeated
from anaphora.evaluation.diagnosis import diagnosis_of
from anaphora.evaluation.diagnosis_evidence import Evidence, gather, load_rules
from anaphora.evaluation.result import Result, Settings
from anaphora.reports.page.attack_chapter import attack_chapter, diagnosis_chapter
from anaphora.reports.page.examples import columns
from anaphora.reports.page.other_results import other_chapters, read_results
from anaphora.reports.page.part import Chapter, Part
from anaphora.reports.page.provenance import Provenance, provenance
from anaphora.reports.page.suite_chapter import overview, suite_chapter
from anaphora.reports.page.systems import Look, looks, names_of, run_called, split_names
from anaphora.reports.page.texts import Missing, Texts, file_of, texts_of
from anaphora.runs import Run
from anaphora.stats.signature import named as named_suite


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
    silent: tuple[Missing, ...]


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
    """A report on runs, and on results that other commands wrote as JSON.

    suites: files that were scored, or names of the catalogue, for the texts of the examples; suites of the catalogue
        are found by themselves
    names: of the systems, one for each run; and OLD=NEW for a system of a result
    by: breakdowns besides those of the suites' papers
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
    runs = [replace(run, header=replace(run.header, system=name)) for run, name in zip(runs, called, strict=True)]
    drawn = looks(list(dict.fromkeys([*called, *joined.values()])))
    made = [
        _evaluated(members, suites, by, settings)
        for members in _by_suite([run for run in runs if not _is_attack(run)]).values()
    ]
    chapters = [suite_chapter(one.results, one.comparison, drawn, one.repeated) for one in made]
    evidence = gather(runs, settings) if runs else []
    chapters += _evidence_chapters(evidence, settings, drawn, {one.digest: one.chance for one in made})
    chapters += other_chapters(others, joined, drawn)
    by_digest = {one.digest: one for one in made}
    return Report(
        title=title or "Does it understand what “it” refers to?",
        overview=overview([one.results for one in made], drawn, [one.chance for one in made]),
        chapters=tuple(chapters),
        provenance=tuple(_provenance(run, specs[run.path], by_digest.get(run.header.sha256), suites) for run in runs),
        examples=tuple(one.examples for one in made if one.examples is not None),
        silent=tuple(one.texts for one in made if isinstance(one.texts, Missing)),
    )


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """The runs of one suite.

    chance: the accuracy of guessing, or of one answer for all; repeated: breakdowns that are not shown
    """

    digest: str
    results: dict[str, Result]
    comparison: Comparison | None
    repeated: Mapping[str, str]
    chance: float | None
    texts: Texts | Missing
    examples: dict[str, Any] | None


def _evaluated(runs: Sequence[Run], suites: Sequence[str | Path], by: Sequence[str], settings: Settings) -> _Evaluated:
    first = runs[0]
    wanted = tuple(dict.fromkeys((*first.header.breakdowns, *by))) if by else ()
    results = {run.header.system: evaluate_run(run, breakdowns=wanted, settings=settings) for run in runs}
    breakdowns = list(results[first.header.system].breakdowns)
    comparison = None
    if len(runs) > 1 and results[first.header.system].figure.total:
        comparison = compare_runs(runs, breakdowns=breakdowns, settings=settings)
    texts, (copies, chance) = texts_of(first, suites), _about(first, wanted)
    examples = None
    if isinstance(texts, Texts):
        examples = columns({run.header.system: run for run in runs}, texts, _tags(first, by, copies), settings)
    return _Evaluated(first.header.sha256, results, comparison, copies, chance, texts, examples)


def _about(run: Run, wanted: Sequence[str]) -> tuple[dict[str, str], float | None]:
    """Which breakdowns repeat another, and how often guessing would be right, or always the same pronoun."""
    breakdowns = named(wanted or run.header.breakdowns)
    groups: set[tuple[str | None, ...]] = set()
    questions = []
    for item in run:
        if item.gold is not None:
            groups.add(tuple(b.group(keyed(b, item.tags)) for b in breakdowns.values()))
            questions.append((len(item.scores), item.tags))
    return repeated(list(breakdowns), groups), guessing(questions)


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


def _tags(run: Run, by: Sequence[str], copies: Container[str]) -> tuple[str, ...]:
    """The tags that breakdowns are made of, without those that repeat another."""
    kept = [parsed for name, parsed in named([*run.header.breakdowns, *by]).items() if name not in copies]
    parts = [tag for breakdown in kept for tag in breakdown.tags]
    return tuple(dict.fromkeys(parts))


def _evidence_chapters(
    evidence: Sequence[Evidence],
    settings: Settings,
    drawn: Mapping[str, Look],
    chances: Mapping[str, float | None],
) -> list[Chapter]:
    chapters = []
    attacked = [found for one in evidence for found in one.attacks]
    if attacked:
        chapters.append(attack_chapter(attacked, drawn, chances))
    told = [one for one in evidence if one.templates or one.attacks]
    if told:
        rules = load_rules()
        chapters.append(diagnosis_chapter([diagnosis_of(one, settings, rules) for one in told], drawn))
    return chapters


def _provenance(run: Run, spec: str, one: _Evaluated | None, suites: Sequence[str | Path]) -> Provenance:
    header = run.header
    if one is None:  # an attack
        about = named_suite(header.suite, header.sha256)
        return provenance(run, spec=spec, name=header.system, signature=about, file=file_of(run, suites))
    result, file = one.results[header.system], getattr(one.texts, "file", None)
    unanswered = f"{result.unanswered:,} of {result.figure.total:,}" if result.unanswered else ""
    return provenance(run, spec=spec, name=header.system, signature=result.signature, file=file, unanswered=unanswered)
