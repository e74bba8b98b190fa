"""What is known of a system: the answers of all its runs, sorted into templates, test sets, and attacks on these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.decision import decide
from anaphora.evaluation.guessing import guessing
from anaphora.evaluation.pairing import original_of
from anaphora.evaluation.result import Settings
from anaphora.evaluation.robustness import Robustness, robustness
from anaphora.evaluation.signature import named
from anaphora.suites.example import Tag
from anaphora.systems.run import Run


class Answer(NamedTuple):
    """What a system chose in one example. chosen: None where several candidates are best."""

    id: str
    suite: str
    gold: int | None
    chosen: int | None
    candidates: int
    tags: Mapping[str, Tag]

    @property
    def correct(self) -> bool:
        return self.gold is not None and self.chosen == self.gold


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that the runs of one system say.

    suites: name@hash of each run; templates: the answers by template id; tests: the answers by suite, where a right
    answer is known; attacks: before and after, for each suite that was attacked
    """

    system: str
    context: str | None
    languages: str
    version: str
    suites: tuple[str, ...]
    templates: Mapping[str, Sequence[Answer]]
    tests: Mapping[str, Sequence[Answer]]
    attacks: Sequence[Robustness]
    protocol: Mapping[str, Any] = field(default_factory=dict)

    def chance(self, suite: str) -> float:
        """The accuracy on a suite of who chooses at random, or always the same pronoun."""
        answers = (a for found in (*self.tests.values(), *self.templates.values()) for a in found)
        return guessing((a.candidates, a.tags) for a in answers if a.suite == suite and a.gold is not None) or 0.0


def gather(runs: Sequence[Run], settings: Settings, system: str | None = None) -> list[Evidence]:
    """The evidence for each system; a system that was measured in another way is another system.

    system: all runs are of this system, whatever they say (score files do not say whose they are)
    """
    groups: dict[tuple[str, str | None, str | None], list[Run]] = {}
    for run in runs:
        if system is not None:
            run = replace(run, header=replace(run.header, system=system))
        groups.setdefault((run.header.system, run.header.context, run.header.measurement.code), []).append(run)
    if not groups:
        raise AnaphoraError("name one or more runs")
    return [_evidence(members, settings) for members in groups.values()]


def _evidence(runs: list[Run], settings: Settings) -> Evidence:
    first = runs[0].header
    answers: dict[int, list[Answer]] = {}  # of the runs that are no attacks, by their place
    originals: dict[int, set[str]] = {}  # of those that are
    for k, run in enumerate(runs):
        _check(run, runs[:k])
        originals[k] = set()
        for item in run:
            original = original_of(item)
            if original is not None:
                originals[k].add(original)
                continue
            chosen = decide(item, minimize=settings.minimize, normalize=settings.normalize).chosen
            answers.setdefault(k, []).append(
                Answer(item.id, run.header.suite, item.gold, chosen, len(item.scores), item.tags)
            )
        if not originals[k] and k not in answers:
            raise BadInput(run.path, "no example is in it")
    attacked = _attacked(runs, {k: {a.id for a in found} for k, found in answers.items()}, originals)
    templates, tests = _sorted(runs, answers)
    return Evidence(
        system=first.system,
        context=first.context,
        languages=first.languages,
        version=first.version,
        suites=tuple(named(run.header.suite, run.header.sha256) for run in runs),
        templates=templates,
        tests=tests,
        attacks=[robustness(runs[k], [runs[j] for j in js], settings=settings) for k, js in attacked.items()],
        protocol=first.measurement.settings,
    )


def _check(run: Run, others: Sequence[Run]) -> None:
    for other in others:
        if other.header.sha256 == run.header.sha256:
            problem = f"a second run of {run.header.suite} by {run.header.system}, besides {other.path}"
            raise BadInput(run.path, problem, remedy="Name one of them.")
        if other.header.languages != run.header.languages:
            problem = f"languages {run.header.languages}, but {other.path} has {other.header.languages}"
            raise BadInput(run.path, problem, remedy="Diagnose language pairs apart.")


def _sorted(
    runs: Sequence[Run], answers: Mapping[int, Sequence[Answer]]
) -> tuple[dict[str, list[Answer]], dict[str, list[Answer]]]:
    """The answers by template and by test set. A template comes from one run: two would be mixed silently."""
    templates: dict[str, list[Answer]] = {}
    tests: dict[str, list[Answer]] = {}
    places: dict[str, int] = {}
    for k, found in answers.items():
        for answer in found:
            template = answer.tags.get("template")
            if isinstance(template, str):
                if places.setdefault(template, k) != k:
                    problem = f"the template {template} is in {runs[places[template]].path}, too"
                    raise BadInput(runs[k].path, problem, remedy="Diagnose the two suites apart.")
                templates.setdefault(template, []).append(answer)
            elif answer.gold is not None:
                tests.setdefault(answer.suite, []).append(answer)
    return templates, tests


def _attacked(
    runs: Sequence[Run], ids: Mapping[int, set[str]], originals: Mapping[int, set[str]]
) -> dict[int, list[int]]:
    """Which runs are attacks on which run: on the one that has their originals.

    Among several that have them (test sets number their items) it is the one whose name the attack's name goes on from.
    """
    found: dict[int, list[int]] = {}
    for k, needed in originals.items():
        if not needed:
            continue
        bases = [j for j in ids if needed & ids[j]]
        if len(bases) > 1:
            bases = [j for j in bases if runs[k].header.suite.startswith(f"{runs[j].header.suite}-")] or bases
        if len(bases) != 1:
            who = "several runs have" if bases else "no run has"
            problem = f"an attack, but {who} the originals of its examples by {runs[k].header.system}"
            remedy = "Name the run on the suite itself, too; score files of one system are joined by --system NAME"
            raise BadInput(runs[k].path, problem, remedy=remedy)
        found.setdefault(bases[0], []).append(k)
    return found
