"""What attacks and templates say of systems: accuracy before and after, the steps of coreference, what to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anaphora.evaluation.diagnosis import Diagnosis
from anaphora.evaluation.diagnosis_rules import PIPELINE
from anaphora.evaluation.diagnosis_sentences import Check
from anaphora.evaluation.robustness import Robustness
from anaphora.reports.diagnosis import diagnosis_table, statements, title_of
from anaphora.reports.page.dots import Dot, Group, dots
from anaphora.reports.page.part import Chapter, Part, slug
from anaphora.reports.page.systems import Look
from anaphora.reports.robustness import robustness_chart, robustness_table
from anaphora.table import Row, Table


def attack_chapter(found: Sequence[Robustness]) -> Chapter:
    """Each system before and after every attack, on the same items."""
    parts, words = [], []
    for attacked in found:
        title = f"{attacked.suite} under attack: {attacked.system}"
        table = robustness_table(attacked)
        parts.append(Part(slug(title), title, robustness_chart(attacked), table, wide=True))
        worst = min(attacked.attacks, key=lambda attack: attack.pair.overall.delta)
        overall = worst.pair.overall
        sure = "significantly" if overall.p_adjusted < 0.05 else "not significantly"
        words.append(
            f"{attacked.system} goes from {overall.first:.3f} to {overall.second:.3f} on {attacked.suite} when "
            f"attacked by {worst.name} ({sure}; {overall.total:,} items), the worst of {len(attacked.attacks)} attacks."
        )
    return Chapter("Attacks", parts, tuple(words))


def diagnosis_chapter(diagnoses: Sequence[Diagnosis], looks: Mapping[str, Look]) -> Chapter:
    """Which step of coreference fails, in words, as a picture and as a table."""
    steps: dict[str, dict[str, Check]] = {}  # step and check → system → check
    for diagnosis in diagnoses:
        for check in diagnosis.checks:
            if not check.signed and check.step in PIPELINE:
                steps.setdefault(f"{check.step}: {check.name}", {})[diagnosis.system] = check
    groups = [
        Group(name, _remark(checks), {s: _dot(s, c) for s, c in checks.items()}) for name, checks in steps.items()
    ]
    title = "Step by step"
    picture = dots(title, groups, looks) if groups else None
    steps_part = [Part("diagnosis-steps", title, picture, _steps_table(title, steps, list(looks)))] if picture else []
    parts = [
        *steps_part,
        Part("diagnosis", "All checks", None, diagnosis_table(diagnoses), wide=True),
    ]
    said = {title_of(diagnosis): statements(diagnosis) for diagnosis in diagnoses}
    words = [f"{diagnosis.system}: {diagnosis.statements[0].text}" for diagnosis in diagnoses if diagnosis.statements]
    return Chapter("Diagnosis", parts, tuple(words), said)


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
    return Dot(found.value, *found.interval, f"{system} {found.value:.3f} ({check.shown})")


def _remark(checks: Mapping[str, Check]) -> str:
    return f"n = {max(check.found.total for check in checks.values()):,}"
