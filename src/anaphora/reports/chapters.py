"""Chapters of a report: what runs of a suite, attacks and diagnoses say, as sentences, charts and tables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from anaphora.evaluation.compare import Comparison, Difference
from anaphora.evaluation.diagnosis import Check, Diagnosis
from anaphora.evaluation.diagnosis_evidence import PIPELINE
from anaphora.evaluation.result import Proportion, Result
from anaphora.evaluation.robustness import Robustness
from anaphora.reports.charts import Dot, Group, SystemStyle, dots, robustness_chart
from anaphora.reports.tables import (
    attack_label,
    attack_wording,
    comparison_table,
    diagnosis_statements,
    diagnosis_table,
    diagnosis_title,
    difference_cells,
    left_out,
    proportion_cells,
    result_table,
    robustness_table,
    title_of,
)
from anaphora.stats.intervals import wilson
from anaphora.table import MISSING, Row, Table, arrow, decimal, interval_cell, level, stars_of


@dataclass(frozen=True, slots=True)
class Part:
    """A chart, its figures as a table, and remarks; any of them may be missing.

    name: for links and files, unique within a report
    marks: short remarks that are read with the chart (what is significant)
    printed: whether the table is printed on paper even where it is folded
    html: texts with marks, complete and escaped, which stand below everything else
    """

    name: str
    title: str
    svg: str | None = None
    table: Table | None = None
    marks: tuple[str, ...] = ()
    wide: bool = False
    printed: bool = False
    html: str = ""


@dataclass(frozen=True, slots=True)
class Chapter:
    """Parts that belong together: a suite, attacks on it, a diagnosis.

    summary: sentences for the summary of the report; statements: lists of sentences under headings
    remarks: on the chapter as a whole (what is not shown)
    """

    title: str
    parts: Sequence[Part]
    summary: tuple[str, ...] = ()
    statements: Mapping[str, Sequence[str]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return slug(self.title)


def slug(text: str) -> str:
    """Return a text as a name for files and links: lowercase letters, digits, hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "part"


# A suite: accuracy by every breakdown, choices on prior templates, differences between systems.

MOST_GROUPS, MOST_DOTS = 12, 60  # groups and dots that a chart has room for; what has more is a table alone
TESTS = {  # as they are called in papers
    "mcnemar": "McNemar’s test",
    "randomization": "approximate randomization",
    "bootstrap": "paired bootstrap",
}
STAR_LEVELS = "p < 0.05\u00a0*, 0.01\u00a0**, 0.001\u00a0***"
Styles = Mapping[str, SystemStyle]  # by the name of the system
EMPTY: Mapping[str, str] = MappingProxyType({})
Named = Mapping[str, Result]  # by the name of the system


def suite_chapter(
    results: Named, comparison: Comparison | None, styles: Styles, repeated: Mapping[str, str] = EMPTY
) -> Chapter:
    """Return the chapter of one suite.

    comparison: of all systems, by the same breakdowns, in the order of the results; None where there is one system
    repeated: breakdowns that are not shown because another one has the same groups
    """
    results = {
        name: replace(result, breakdowns={b: groups for b, groups in result.breakdowns.items() if b not in repeated})
        for name, result in results.items()
    }
    first = next(iter(results.values()))
    title = f"{first.suite} {arrow(first.languages)}"
    parts = list(_breakdowns(title, results, comparison, styles))
    parts += _priors(title, results, styles)
    if comparison is not None:
        short, table = comparison_table(comparison, breakdowns=False), comparison_table(comparison)
        parts.append(Part(slug(f"{title} differences overall"), "Differences overall", None, short, printed=True))
        parts.append(Part(slug(f"{title} differences"), "Differences by breakdown", None, table))
    for name, result in results.items():
        parts.append(Part(slug(f"{title} {name}"), f"All figures of {name}", None, result_table(result)))
    remarks = (f"{left_out(repeated)}.".capitalize(),) if repeated else ()
    return Chapter(title, parts, tuple(suite_summary(results, comparison)), remarks=remarks)


def overview(
    suites: Iterable[Named],
    styles: Styles,
    chances: Iterable[float | None] = (),
    baselines: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> Part | None:
    """Return the accuracy of every system on every suite in one chart; None where no suite has right answers.

    chances: for each suite the accuracy of guessing
    baselines: what can be reached without understanding, by the SHA-256 of a suite and the name of the baseline
    """
    groups, rows = [], []
    for results, chance in itertools.zip_longest(suites, chances):
        first = next(iter(results.values()))
        if not first.figure.total:
            continue
        figures = {name: result.figure for name, result in results.items()}
        known = baselines.get(first.sha256, {})
        groups.append(replace(_dots_group(first.suite, figures), chance=chance, baselines=known))
        rows += [Row((f"{first.suite}: {name}", *proportion_cells(figure))) for name, figure in figures.items()]
        settings = first.settings
    if not groups:
        return None
    columns = ("", "n", "accuracy", level(settings.confidence))
    title = "Accuracy"
    dashed = any(group.chance is not None for group in groups)
    marks = ("Dashed: what guessing, or always the same pronoun, would get.",) * dashed
    for group in groups:
        if group.baselines:
            listed = joined([f"{name} {100 * value:.1f} %" for name, value in group.baselines.items()])
            marks += (f"Dark dashed lines of {group.name}: {listed}.",)
    chart = dots(title, groups, styles)
    return Part("accuracy", title, chart, Table(title, columns, tuple(rows)), marks, printed=True)


def _breakdowns(title: str, results: Named, comparison: Comparison | None, styles: Styles) -> Iterable[Part]:
    names = list(dict.fromkeys(name for result in results.values() for name in result.breakdowns))
    for name in names:
        keys = list(dict.fromkeys(key for result in results.values() for key in result.breakdowns.get(name, {})))
        if len(keys) < 2:  # one group has the accuracy of all examples
            continue
        by_group = {
            key: {s: r.breakdowns[name][key] for s, r in results.items() if key in r.breakdowns.get(name, {})}
            for key in keys
        }
        stars = {key: _stars_by_system(comparison, name, key) for key in keys}
        groups = [_dots_group(key, by_group[key], stars[key]) for key in keys]
        heading = f"By {title_of(name)}"
        room = len(keys) <= MOST_GROUPS and len(keys) * len(results) <= MOST_DOTS
        chart = dots(heading, groups, styles) if room else None
        marks: tuple[str, ...] = ()
        if comparison is not None and any(mark for by_system in stars.values() for mark in by_system.values()):
            test = f"{TESTS[comparison.test]}, corrected by Holm’s method"
            marks = (f"Stars: the system differs from {comparison.systems[0]}, {STAR_LEVELS} ({test}).",)
        yield Part(slug(f"{title} {name}"), heading, chart, _shares_table(heading, by_group, results, stars), marks)


def _priors(title: str, results: Named, styles: Styles) -> Iterable[Part]:
    """Yield the preferences of each system on prior templates, which have no right answer."""
    names = list(dict.fromkeys(name for result in results.values() for name in result.priors))
    for name in names:
        choices = list(dict.fromkeys(c for result in results.values() for c in result.priors.get(name, {})))
        asked = [(s, r, next(iter(r.priors[name].values())).total) for s, r in results.items() if name in r.priors]
        never = {s: Proportion(n, 0, wilson(0, n, r.settings.confidence)) for s, r, n in asked}
        by_choice = {choice: {s: r.priors[name].get(choice, never[s]) for s, r, _ in asked} for choice in choices}
        heading = f"{name}: what is chosen"
        groups = [_dots_group(choice, figures) for choice, figures in by_choice.items()]
        table = _shares_table(heading, by_choice, results, {})
        marks = ("There is no right answer here: the chart shows what a system prefers.",)
        yield Part(slug(f"{title} prior {name}"), heading, dots(heading, groups, styles), table, marks)


def _dots_group(name: str, figures: Mapping[str, Proportion], stars: Mapping[str, str] = EMPTY) -> Group:
    total = max(figure.total for figure in figures.values())
    values = {
        system: Dot(figure.accuracy, *figure.interval, f"{system} {100 * figure.accuracy:.1f} %", stars.get(system, ""))
        for system, figure in figures.items()
        if figure.accuracy is not None
    }
    return Group(name, f"n = {total:,}", values)


def _shares_table(
    title: str,
    groups: Mapping[str, Mapping[str, Proportion]],
    results: Named,
    stars: Mapping[str, Mapping[str, str]],
) -> Table:
    heading = level(next(iter(results.values())).settings.confidence)
    columns = ["", "n"]
    for name in results:
        columns += [name, heading]
    rows = []
    for key, figures in groups.items():
        total = max(figure.total for figure in figures.values())
        cells = [key, f"{total:,}"]
        for name in results:
            _, accuracy, interval = proportion_cells(figures[name]) if name in figures else ("", MISSING, "")
            cells += [f"{accuracy} {stars.get(key, EMPTY).get(name, '')}".strip(), interval]
        rows.append(Row(tuple(cells)))
    return Table(title, tuple(columns), tuple(rows))


def _stars_by_system(comparison: Comparison | None, breakdown: str, group: str) -> dict[str, str]:
    if comparison is None:
        return {}
    return {
        pair.second: stars_of(pair.breakdowns[breakdown][group].p_adjusted)
        for pair in comparison.pairs
        if pair.first == comparison.systems[0] and group in pair.breakdowns.get(breakdown, {})
    }


# The summary of a suite: the best system and how much better it is, then the others. Shares are in percent.

MOST_SYSTEMS = 3  # systems whose accuracy is given one by one
FEW_EXAMPLES = 30  # fewer examples in a group are not worth a sentence


def suite_summary(results: Mapping[str, Result], comparison: Comparison | None) -> Iterator[str]:
    """Yield accuracies, the best against the second best, the others, and where the best is weakest."""
    ordered = sorted(results, key=lambda name: -(results[name].accuracy or 0))
    best = ordered[0]
    about = results[best]
    if not about.figure.total:
        return
    sentences = [f"{name} is right in {share(results[name].figure)}" for name in ordered[:MOST_SYSTEMS]]
    rest = len(ordered) - MOST_SYSTEMS
    more = f"; the other {rest} {'is' if rest == 1 else 'are'} below that" if rest > 0 else ""
    yield f"On {about.suite} ({about.figure.total:,} examples) {joined(sentences)}{more}."
    if comparison is not None:
        pairs = (pair for pair in comparison.pairs if best in (pair.first, pair.second))
        differences = {pair.second if pair.first == best else pair.first: pair.overall for pair in pairs}
        second = ordered[1]
        if lead := differences[second].delta:
            sure = "" if differences[second].p_adjusted < 0.05 else "not significantly "
            by = f"{points(lead)} ({p_of(differences[second])})"
            yield f"{best} is {sure}better than {second}, by {by}."
        else:
            yield f"{best} and {second} are right equally often."
        if len(ordered) > 2:
            yield _others(best, {name: differences[name] for name in ordered[2:]})
    for name, groups in about.breakdowns.items():  # the first one that has two groups of some size
        known = {key: figure for key, figure in groups.items() if figure.total >= FEW_EXAMPLES}
        if len(known) > 1 and "×" not in name:
            worst = min(known, key=lambda key: known[key].accuracy or 0)
            yield f"{best} is weakest at {title_of(name)} {worst}: {share(known[worst])}."
            break


def _others(best: str, differences: Mapping[str, Difference]) -> str:
    apart = [name for name, difference in differences.items() if difference.p_adjusted < 0.05]
    if not apart:
        return f"No other system is significantly worse than {best}."
    losses = [100 * abs(differences[name].delta) for name in apart]
    by = f"{losses[0]:.1f}" if len(apart) == 1 else f"{min(losses):.1f} to {max(losses):.1f}"
    rest = [name for name in differences if name not in apart]
    who = joined(apart) if len(apart) <= MOST_SYSTEMS else "The others" if not rest else f"{len(apart)} others"
    verb = "is" if len(apart) == 1 else "are"
    also = f"; {joined(rest)} {'is' if len(rest) == 1 else 'are'} not" if rest else ""
    return f"{who} {verb} significantly worse than {best}, by {by} points{also}."


def points(delta: float) -> str:
    return f"{100 * abs(delta):.1f} points"


def p_of(difference: Difference) -> str:
    return "p < 0.001" if difference.p_adjusted < 0.001 else f"p = {difference.p_adjusted:.3f}"


def share(figure: Proportion) -> str:
    low, high = figure.interval
    return f"{100 * (figure.accuracy or 0):.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def joined(sentences: Sequence[str]) -> str:
    return sentences[0] if len(sentences) == 1 else f"{', '.join(sentences[:-1])} and {sentences[-1]}"


# Attacks and diagnosis: accuracy before and after, the steps of coreference, what to try.

ATTACK_STARS = f"Stars: the change is significant, {STAR_LEVELS} (corrected by Holm’s method)."


def attack_chapter(attacked: Sequence[Robustness], styles: Styles, chances: Mapping[str, float | None]) -> Chapter:
    """Return the chapter on attacks: all systems before and after, on the same items and the same axis.

    chances: the accuracy of guessing, by the hash of a suite
    """
    suites: dict[str, list[Robustness]] = {}
    for one in attacked:
        suites.setdefault(one.sha256, []).append(one)
    parts = []
    for members in suites.values():
        suite = members[0].suite
        table = _changes(f"Attacks on {suite}", members)
        chart = robustness_chart(members, styles)
        parts.append(Part(slug(f"{suite} under attack"), f"Attacks on {suite}", chart, table, (ATTACK_STARS,)))
    for one in attacked:
        title = f"{one.suite} under attack: {one.system}"
        parts.append(Part(slug(title), title, None, robustness_table(one)))
    summary = (_attack_summary(one, chances.get(one.sha256)) for one in attacked)
    return Chapter("Attacks", parts, tuple(summary))


# what stands for what in the wording of an attack
LETTERS = {"possessive-extension": " (A: the antecedent)", "phrase-addition": " (C: the previous sentence)"}


def _attack_summary(one: Robustness, chance: float | None) -> str:
    """Return a sentence on the worst attack; a system that guesses has nothing to lose, which is not robustness."""
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
        f"{one.system} loses {points(change.delta)} on {one.suite} "
        f"({100 * change.first:.1f} → {100 * change.second:.1f} %, {p_of(change)}) "
        f"under {attack_wording(worst)}{LETTERS.get(worst.kind, '')}, {number}."
    )


def _changes(title: str, members: Sequence[Robustness]) -> Table:
    columns = ["", "n"]
    for one in members:
        columns += [f"{one.system} before", "after", "p"]
    names = list(dict.fromkeys(attack.name for one in members for attack in one.attacks))
    rows = []
    for name in names:
        by_system = [next((attack for attack in one.attacks if attack.name == name), None) for one in members]
        known = [attack for attack in by_system if attack is not None]
        cells = [attack_label(known[0]), f"{max(attack.pair.overall.total for attack in known):,}"]
        for attack in by_system:
            change = difference_cells(attack.pair.overall) if attack else None
            cells += [change[1], change[2], change[5]] if change else [MISSING, "", ""]
        rows.append(Row(tuple(cells)))
    return Table(title, tuple(columns), tuple(rows))


def diagnosis_chapter(diagnoses: Sequence[Diagnosis], styles: Styles) -> Chapter:
    """Return the chapter on which step of coreference fails: statements, a chart and a table."""
    steps: dict[str, dict[str, Check]] = {}  # step and check → system → check
    for diagnosis in diagnoses:
        for check in diagnosis.checks:
            if not check.signed and check.step in PIPELINE:
                steps.setdefault(f"{check.step}: {check.name}", {})[diagnosis.system] = check
    groups, last = [], ""
    for checks in steps.values():
        check = next(iter(checks.values()))
        heading, last = "" if check.step == last else check.step, check.step
        shown = {
            system: Dot(c.measured.value, *c.measured.interval, f"{system} {100 * c.measured.value:.1f} % ({c.shown})")
            for system, c in checks.items()
        }
        groups.append(Group(check.name, f"n = {_most(checks)}", shown, heading))
    title = "Step by step"
    chart = dots(title, groups, styles) if groups else None
    parts = [Part("diagnosis-steps", title, chart, _steps_table(title, steps, list(styles)))] if groups else []
    parts.append(Part("diagnosis", "All checks", None, diagnosis_table(diagnoses)))
    statements = {diagnosis_title(diagnosis): diagnosis_statements(diagnosis) for diagnosis in diagnoses}
    summary = []
    for diagnosis in diagnoses:  # accuracy on suites and attacks, which have p-values, have chapters of their own
        failures = (one for one in diagnosis.statements if one.severity == "failure")
        first = next((one for one in failures if not any(_elsewhere(check) for check in one.checks)), None)
        summary += [f"{diagnosis.system}: {first.text}"] if first is not None else []
    return Chapter("Diagnosis", parts, tuple(summary), statements)


def _elsewhere(check: Check) -> bool:
    return check.step == "test sets" or check.measured.p is not None


def _steps_table(title: str, steps: Mapping[str, Mapping[str, Check]], systems: Sequence[str]) -> Table:
    """Return the figures of the chart: a row for each step, two columns for each system that has any."""
    named = [system for system in systems if any(system in checks for checks in steps.values())]
    columns = ["", "n"]
    for system in named:
        columns += [system, "interval"]
    rows = []
    for step, checks in steps.items():
        cells = [step, _most(checks)]
        for system in named:
            measured = checks[system].measured if system in checks else None
            cells += [decimal(measured.value), interval_cell(measured.interval)] if measured else [MISSING, ""]
        rows.append(Row(tuple(cells)))
    return Table(title, tuple(columns), tuple(rows))


def _most(checks: Mapping[str, Check]) -> str:
    return f"{max(check.measured.total for check in checks.values()):,}"
