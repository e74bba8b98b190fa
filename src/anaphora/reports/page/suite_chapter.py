"""What runs of one suite say: accuracy by every breakdown, what is chosen where nothing is right, differences."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from anaphora.evaluation.compare import Comparison
from anaphora.evaluation.result import Proportion, Result
from anaphora.reports.page.dots import Dot, Group, dots
from anaphora.reports.page.part import Chapter, Part, slug
from anaphora.reports.page.summary import suite_summary
from anaphora.reports.page.systems import Look
from anaphora.reports.tables import comparison_table, left_out, level_of, result_table, title_of
from anaphora.stats.intervals import wilson
from anaphora.table import Row, Table, stars_of

MOST, DOTS = 12, 60  # groups and dots that a chart has room for; what has more is a table alone
TESTS = {  # as they are called in papers
    "mcnemar": "McNemar’s test",
    "randomisation": "approximate randomization",
    "bootstrap": "paired bootstrap",
}
NONE: Mapping[str, str] = MappingProxyType({})
Named = Mapping[str, Result]  # by the name of the system


def suite_chapter(
    results: Named, comparison: Comparison | None, looks: Mapping[str, Look], repeated: Mapping[str, str] = NONE
) -> Chapter:
    """The chapter of one suite.

    comparison: of all systems, by the same breakdowns, in the order of the results; None where there is one system
    repeated: breakdowns that are not shown, as another has the same items in its groups
    """
    results = {name: _without(result, repeated) for name, result in results.items()}
    first = next(iter(results.values()))
    title = f"{first.suite} {first.languages.replace('-', '→')}"
    parts = list(_breakdowns(title, results, comparison, looks))
    parts += _priors(title, results, looks)
    if comparison is not None:
        short, table = comparison_table(comparison, breakdowns=False), comparison_table(comparison)
        parts.append(Part(slug(f"{title} differences overall"), "Differences overall", None, short, printed=True))
        parts.append(Part(slug(f"{title} differences"), "Differences by breakdown", None, table))
    for name, result in results.items():
        parts.append(Part(slug(f"{title} {name}"), f"All figures of {name}", None, result_table(result)))
    remarks = (f"{left_out(repeated)}.".capitalize(),) if repeated else ()
    return Chapter(title, parts, tuple(suite_summary(results, comparison)), remarks=remarks)


def _without(result: Result, repeated: Mapping[str, str]) -> Result:
    kept = {name: groups for name, groups in result.breakdowns.items() if name not in repeated}
    return replace(result, breakdowns=kept)


def overview(suites: Iterable[Named], looks: Mapping[str, Look], chances: Iterable[float | None] = ()) -> Part | None:
    """Accuracy of every system on every suite, in one chart; None where no suite has right answers.

    chances: for each suite the accuracy of guessing
    """
    groups, rows = [], []
    for results, chance in itertools.zip_longest(suites, chances):
        first = next(iter(results.values()))
        if not first.figure.total:
            continue
        figures = {name: result.figure for name, result in results.items()}
        groups.append(replace(_group(first.suite, figures), chance=chance))
        rows += [Row((f"{first.suite}: {name}", *_cells(figure))) for name, figure in figures.items()]
        settings = first.settings
    if not groups:
        return None
    columns = ("", "n", "accuracy", f"{level_of(settings)} interval")
    title = "Accuracy"
    marks = (
        ("Dashed: what guessing, or always the same pronoun, would get.",)
        if any(group.chance is not None for group in groups)
        else ()
    )
    picture = dots(title, groups, looks)
    return Part("accuracy", title, picture, Table(title, columns, tuple(rows)), marks, printed=True)


def _breakdowns(title: str, results: Named, comparison: Comparison | None, looks: Mapping[str, Look]) -> Iterable[Part]:
    names = list(dict.fromkeys(name for result in results.values() for name in result.breakdowns))
    for name in names:
        keys = list(dict.fromkeys(key for result in results.values() for key in result.breakdowns.get(name, {})))
        if len(keys) < 2:  # one group says what all examples say
            continue
        by_group = {
            key: {s: r.breakdowns[name][key] for s, r in results.items() if key in r.breakdowns.get(name, {})}
            for key in keys
        }
        stars = {key: _stars(comparison, name, key) for key in keys}
        groups = [_group(key, by_group[key], stars[key]) for key in keys]
        heading = f"By {title_of(name)}"
        room = len(keys) <= MOST and len(keys) * len(results) <= DOTS
        picture = dots(heading, groups, looks) if room else None
        starred = any(mark for marks in stars.values() for mark in marks.values())
        marks = (_what_stars_say(comparison),) if starred else ()
        yield Part(slug(f"{title} {name}"), heading, picture, _table(heading, by_group, results, stars), marks)


def _priors(title: str, results: Named, looks: Mapping[str, Look]) -> Iterable[Part]:
    """Templates without a right answer: what each system chooses."""
    names = list(dict.fromkeys(name for result in results.values() for name in result.priors))
    for name in names:
        choices = list(dict.fromkeys(c for result in results.values() for c in result.priors.get(name, {})))
        asked = {system: result for system, result in results.items() if name in result.priors}
        by_choice = {choice: {s: _chosen(r, name, choice) for s, r in asked.items()} for choice in choices}
        heading = f"{name}: what is chosen"
        groups = [_group(choice, figures) for choice, figures in by_choice.items()]
        table = _table(heading, by_choice, results, {})
        marks = ("There is no right answer here: the chart shows what a system prefers.",)
        yield Part(slug(f"{title} prior {name}"), heading, dots(heading, groups, looks), table, marks)


def _chosen(result: Result, template: str, choice: str) -> Proportion:
    """How often a choice is made; what is never chosen is chosen in 0 %, which is a figure, too."""
    figures = result.priors[template]
    total = next(iter(figures.values())).total
    return figures.get(choice) or Proportion(total, 0, wilson(0, total, result.settings.confidence))


def _group(name: str, figures: Mapping[str, Proportion], stars: Mapping[str, str] = NONE) -> Group:
    total = max(figure.total for figure in figures.values())
    found = {
        system: Dot(figure.accuracy, *figure.interval, f"{system} {100 * figure.accuracy:.1f} %", stars.get(system, ""))
        for system, figure in figures.items()
        if figure.accuracy is not None
    }
    return Group(name, f"n = {total:,}", found)


def _table(
    title: str,
    groups: Mapping[str, Mapping[str, Proportion]],
    results: Named,
    stars: Mapping[str, Mapping[str, str]],
) -> Table:
    level = level_of(next(iter(results.values())).settings)
    columns = ["", "n"]
    for name in results:
        columns += [name, f"{level} interval"]
    rows = []
    for key, figures in groups.items():
        total = max(figure.total for figure in figures.values())
        cells = [key, f"{total:,}"]
        for name in results:
            _, accuracy, interval = _cells(figures[name]) if name in figures else ("", "–", "")
            cells += [f"{accuracy} {stars.get(key, NONE).get(name, '')}".strip(), interval]
        rows.append(Row(tuple(cells)))
    return Table(title, tuple(columns), tuple(rows))


def _cells(figure: Proportion) -> tuple[str, str, str]:
    low, high = figure.interval
    accuracy = "–" if figure.accuracy is None else f"{figure.accuracy:.3f}"
    return f"{figure.total:,}", accuracy, f"[{low:.3f}, {high:.3f}]"


def _stars(comparison: Comparison | None, breakdown: str, group: str) -> dict[str, str]:
    """By system, how surely it differs from the first one in a group."""
    if comparison is None:
        return {}
    return {
        pair.second: stars_of(pair.breakdowns[breakdown][group].p_adjusted)
        for pair in comparison.pairs
        if pair.first == comparison.systems[0] and group in pair.breakdowns.get(breakdown, {})
    }


def _what_stars_say(comparison: Comparison | None) -> str:
    assert comparison is not None
    return (
        f"Stars: the system differs from {comparison.systems[0]}, p < 0.05\u00a0*, 0.01\u00a0**, 0.001\u00a0*** "
        f"({TESTS[comparison.test]}, corrected by Holm’s method)."
    )
