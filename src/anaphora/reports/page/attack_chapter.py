"""What attacks and templates say of systems: accuracy before and after, the steps of coreference, what to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from anaphora.evaluation.diagnosis import Check, Diagnosis, Statement
from anaphora.evaluation.diagnosis_evidence import PIPELINE
from anaphora.evaluation.robustness import Robustness
from anaphora.reports.diagnosis import diagnosis_table, statements, title_of
from anaphora.reports.page.dots import Dot, Group, dots
from anaphora.reports.page.part import Chapter, Part, slug
from anaphora.reports.page.summary import p_of, points
from anaphora.reports.page.systems import Look
from anaphora.reports.robustness import label_of, robustness_chart, robustness_table, wording
from anaphora.reports.tables import difference_cells
from anaphora.stats.intervals import wilson
from anaphora.table import Row, Table

NOTHING: Mapping[str, float | None] = MappingProxyType({})
STARS = "Stars: the change is significant, p < 0.05\u00a0*, 0.01\u00a0**, 0.001\u00a0*** (corrected by Holm’s method)."


def attack_chapter(
    attacked: Sequence[Robustness], looks: Mapping[str, Look], chances: Mapping[str, float | None] = NOTHING
) -> Chapter:
    """Each suite that was attacked: all systems before and after, on the same items and the same axis.

    chances: by the hash of a suite, the accuracy of guessing
    """
    suites: dict[str, list[Robustness]] = {}
    for one in attacked:
        suites.setdefault(one.sha256, []).append(one)
    parts = []
    for members in suites.values():
        suite = members[0].suite
        table = _changes(f"Attacks on {suite}", members)
        chart = robustness_chart(members, looks)
        parts.append(Part(slug(f"{suite} under attack"), f"Attacks on {suite}", chart, table, (STARS,)))
    for one in attacked:
        title = f"{one.suite} under attack: {one.system}"
        parts.append(Part(slug(title), title, None, robustness_table(one)))
    words = (_attack_words(one, chances.get(one.sha256)) for one in attacked)
    return Chapter("Attacks", parts, tuple(words))


def _attack_words(one: Robustness, chance: float | None) -> str:
    """The worst attack in a sentence; a system that guesses has nothing to lose, which is not robustness."""
    worst = min(one.attacks, key=lambda attack: attack.pair.overall.delta)
    change = worst.pair.overall
    before = wilson(round(change.first * change.total), change.total, one.settings.confidence)
    if chance is not None and before[0] <= chance:  # as the diagnosis has it
        return (
            f"{one.system} is right in {100 * (one.before.accuracy or 0):.1f} % of {one.suite} before any attack. "
            "That is not significantly more than guessing, or always the same pronoun, would get "
            f"({100 * chance:.1f} %): there is nothing that attacks could take away."
        )
    number = f"the worst of {len(one.attacks)} attacks" if len(one.attacks) > 1 else "the only attack"
    if change.delta >= 0 or change.p_adjusted >= 0.05:
        tried = f"None of {len(one.attacks)} attacks" if len(one.attacks) > 1 else "The attack"
        lowers = "significantly lowers" if len(one.attacks) > 1 else "does not significantly lower"
        return f"{tried} {lowers} the accuracy of {one.system} on {one.suite}."
    return (
        f"{one.system} loses {points(change)} on {one.suite} ({100 * change.first:.1f} → {100 * change.second:.1f} %, "
        f"{p_of(change)}) under {wording(worst)}, {number}."
    )


def _changes(title: str, members: Sequence[Robustness]) -> Table:
    """A row for each attack, before and after for each system."""
    columns = ["", "n"]
    for one in members:
        columns += [f"{one.system} before", "after", "p"]
    names = list(dict.fromkeys(attack.name for one in members for attack in one.attacks))
    rows = []
    for name in names:
        found = [next((attack for attack in one.attacks if attack.name == name), None) for one in members]
        known = [attack for attack in found if attack is not None]
        cells = [label_of(known[0]), f"{max(attack.pair.overall.total for attack in known):,}"]
        for attack in found:
            change = difference_cells(attack.pair.overall) if attack else None
            cells += [change[1], change[2], change[5]] if change else ["–", "", ""]
        rows.append(Row(tuple(cells)))
    return Table(title, tuple(columns), tuple(rows))


def diagnosis_chapter(diagnoses: Sequence[Diagnosis], looks: Mapping[str, Look]) -> Chapter:
    """Which step of coreference fails, in words, as a picture and as a table."""
    steps: dict[str, dict[str, Check]] = {}  # step and check → system → check
    for diagnosis in diagnoses:
        for check in diagnosis.checks:
            if not check.signed and check.step in PIPELINE:
                steps.setdefault(f"{check.step}: {check.name}", {})[diagnosis.system] = check
    groups, last = [], ""
    for checks in steps.values():
        check = next(iter(checks.values()))
        heading, last = "" if check.step == last else check.step, check.step
        groups.append(Group(check.name, _remark(checks), {s: _dot(s, c) for s, c in checks.items()}, heading))
    title = "Step by step"
    picture = dots(title, groups, looks) if groups else None
    steps_part = [Part("diagnosis-steps", title, picture, _steps_table(title, steps, list(looks)))] if picture else []
    parts = [
        *steps_part,
        Part("diagnosis", "All checks", None, diagnosis_table(diagnoses)),
    ]
    said = {title_of(diagnosis): statements(diagnosis) for diagnosis in diagnoses}
    words = [f"{d.system}: {first.text}" for d in diagnoses if (first := _first_statement(d)) is not None]
    return Chapter("Diagnosis", parts, tuple(words), said)


def _first_statement(diagnosis: Diagnosis) -> Statement | None:
    """The first failure, attacks aside: the chapter on attacks says what they do."""
    failures = (said for said in diagnosis.statements if said.severity == "failure")
    return next((said for said in failures if all(check.found.p is None for check in said.checks)), None)


def _steps_table(title: str, steps: Mapping[str, Mapping[str, Check]], systems: Sequence[str]) -> Table:
    """The picture's figures: a row for each step, two columns for each system that has any."""
    named = [system for system in systems if any(system in checks for checks in steps.values())]
    columns = ["", "n"]
    for system in named:
        columns += [system, "interval"]
    rows = []
    for step, checks in steps.items():
        cells = [step, _remark(checks).removeprefix("n = ")]
        for system in named:
            found = checks[system].found if system in checks else None
            low, high = found.interval if found else (0.0, 0.0)
            cells += [f"{found.value:.3f}", f"[{low:.3f}, {high:.3f}]"] if found else ["–", ""]
        rows.append(Row(tuple(cells)))
    return Table(title, tuple(columns), tuple(rows))


def _dot(system: str, check: Check) -> Dot:
    found = check.found
    return Dot(found.value, *found.interval, f"{system} {100 * found.value:.1f} % ({check.shown})")


def _remark(checks: Mapping[str, Check]) -> str:
    return f"n = {max(check.found.total for check in checks.values()):,}"
