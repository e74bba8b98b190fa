"""What runs of one suite say: accuracy by every breakdown, what is chosen where nothing is right, differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from anaphora.evaluation.compare import Comparison, Difference
from anaphora.evaluation.result import Figure, Result
from anaphora.reports.page.dots import Dot, Group, dots
from anaphora.reports.page.part import Chapter, Part, slug
from anaphora.reports.page.systems import Look
from anaphora.reports.tables import comparison_table, level_of, result_table, title_of
from anaphora.table import Row, Table

MOST = 24  # groups that a picture has room for; what has more is a table alone
Named = Mapping[str, Result]  # by the name of the system


def suite_chapter(results: Named, comparison: Comparison | None, looks: Mapping[str, Look]) -> Chapter:
    """The chapter of one suite.

    comparison: of all systems, by the same breakdowns, in the order of the results; None where there is one system
    """
    first = next(iter(results.values()))
    title = f"{first.suite} {first.languages.replace('-', '→')}"
    parts = list(_breakdowns(title, results, comparison, looks))
    parts += _priors(title, results, looks)
    if comparison is not None:
        parts.append(Part(slug(f"{title} differences"), "Differences", None, comparison_table(comparison), wide=True))
    for name, result in results.items():
        parts.append(Part(slug(f"{title} {name}"), f"All figures of {name}", None, result_table(result), wide=True))
    return Chapter(title, parts, tuple(_words(results, comparison)))


def overview(suites: Iterable[Named], looks: Mapping[str, Look]) -> Part | None:
    """Accuracy of every system on every suite, in one picture; None where no suite has right answers."""
    groups, rows = [], []
    for results in suites:
        first = next(iter(results.values()))
        if not first.figure.total:
            continue
        figures = {name: result.figure for name, result in results.items()}
        groups.append(_group(first.suite, figures))
        rows += [Row((f"{first.suite}: {name}", *_cells(figure))) for name, figure in figures.items()]
        settings = first.settings
    if not groups:
        return None
    columns = ("", "n", "accuracy", f"{level_of(settings)} interval")
    title = "Accuracy"
    return Part("accuracy", title, dots(title, groups, looks), Table(title, columns, tuple(rows)))


def _breakdowns(title: str, results: Named, comparison: Comparison | None, looks: Mapping[str, Look]) -> Iterable[Part]:
    names = list(dict.fromkeys(name for result in results.values() for name in result.breakdowns))
    for name in names:
        keys = list(dict.fromkeys(key for result in results.values() for key in result.breakdowns.get(name, {})))
        if not keys:
            continue
        by_group = {
            key: {s: r.breakdowns[name][key] for s, r in results.items() if key in r.breakdowns.get(name, {})}
            for key in keys
        }
        stars = {key: _stars(comparison, name, key) for key in keys}
        groups = [_group(key, by_group[key], stars[key]) for key in keys]
        heading = f"By {title_of(name)}"
        picture = dots(heading, groups, looks) if len(keys) <= MOST else None
        marks = (_what_stars_say(comparison),) if comparison is not None and any(stars.values()) else ()
        yield Part(slug(f"{title} {name}"), heading, picture, _table(heading, by_group, results, stars), marks)


def _priors(title: str, results: Named, looks: Mapping[str, Look]) -> Iterable[Part]:
    """Templates without a right answer: what each system chooses."""
    names = list(dict.fromkeys(name for result in results.values() for name in result.priors))
    for name in names:
        choices = list(dict.fromkeys(c for result in results.values() for c in result.priors.get(name, {})))
        by_choice = {
            choice: {s: r.priors[name][choice] for s, r in results.items() if choice in r.priors.get(name, {})}
            for choice in choices
        }
        heading = f"{name}: what is chosen"
        groups = [_group(choice, figures) for choice, figures in by_choice.items()]
        table = _table(heading, by_choice, results, {})
        marks = ("There is no right answer here: the picture shows what a system prefers.",)
        yield Part(slug(f"{title} prior {name}"), heading, dots(heading, groups, looks), table, marks)


def _group(name: str, figures: Mapping[str, Figure], stars: str = "") -> Group:
    total = max(figure.total for figure in figures.values())
    found = {
        system: Dot(figure.accuracy, *figure.interval, f"{system} {figure.accuracy:.3f}")
        for system, figure in figures.items()
        if figure.accuracy is not None
    }
    return Group(name, f"n = {total:,} {stars}".strip(), found)


def _table(title: str, groups: Mapping[str, Mapping[str, Figure]], results: Named, stars: Mapping[str, str]) -> Table:
    level = level_of(next(iter(results.values())).settings)
    columns = ["", "n"]
    for name in results:
        columns += [name, f"{level} interval"]
    rows = []
    for key, figures in groups.items():
        total = max(figure.total for figure in figures.values())
        cells = [f"{key} {stars.get(key, '')}".strip(), f"{total:,}"]
        for name in results:
            cells += _cells(figures[name])[1:] if name in figures else ["–", ""]
        rows.append(Row(tuple(cells)))
    return Table(title, tuple(columns), tuple(rows))


def _cells(figure: Figure) -> tuple[str, str, str]:
    low, high = figure.interval
    accuracy = "–" if figure.accuracy is None else f"{figure.accuracy:.3f}"
    return f"{figure.total:,}", accuracy, f"[{low:.3f}, {high:.3f}]"


def _stars(comparison: Comparison | None, breakdown: str, group: str) -> str:
    """The stars of the surest difference from the first system."""
    if comparison is None:
        return ""
    found = [
        pair.breakdowns[breakdown][group]
        for pair in comparison.pairs
        if pair.first == comparison.systems[0] and group in pair.breakdowns.get(breakdown, {})
    ]
    return max((stars(difference) for difference in found), key=len, default="")


def stars(difference: Difference) -> str:
    return "*" * sum(difference.p_adjusted < limit for limit in (0.05, 0.01, 0.001))


def _what_stars_say(comparison: Comparison | None) -> str:
    assert comparison is not None
    others = "the other system" if len(comparison.systems) == 2 else "at least one other system"
    return (
        f"{others} differs from {comparison.systems[0]} with p < 0.05 *, 0.01 **, 0.001 *** "
        f"({comparison.test}, corrected)"
    )


def _words(results: Named, comparison: Comparison | None) -> Iterable[str]:
    """The suite in two or three sentences."""
    ordered = sorted(results.items(), key=lambda item: -(item[1].accuracy or 0))
    first = ordered[0][1]
    if not first.figure.total:
        return
    said = [f"{name} is right in {_share(result.figure)}" for name, result in ordered]
    yield f"On {first.suite} ({first.figure.total:,} examples) {_joined(said)}."
    if comparison is not None:
        yield from (_difference(pair.first, pair.second, pair.overall) for pair in comparison.pairs[: len(results) - 1])
    best, result = ordered[0]
    for name, groups in result.breakdowns.items():
        known = {key: figure for key, figure in groups.items() if figure.total >= 30 and figure.accuracy is not None}
        if len(known) > 1 and "×" not in name:
            worst = min(known, key=lambda key: known[key].accuracy or 0)
            yield f"By {title_of(name)} {best} is weakest at {worst} ({known[worst].accuracy:.3f})."
            break


def _difference(first: str, second: str, difference: Difference) -> str:
    p = "p < 0.001" if difference.p_adjusted < 0.001 else f"p = {difference.p_adjusted:.3f}"
    sure = "is significant" if difference.p_adjusted < 0.05 else "is not significant"
    better = "better" if difference.delta > 0 else "worse" if difference.delta < 0 else "neither better nor worse"
    return f"{second} is {abs(difference.delta):.3f} {better} than {first}; the difference {sure} ({p})."


def _share(figure: Figure) -> str:
    low, high = figure.interval
    return f"{100 * (figure.accuracy or 0):.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _joined(said: Sequence[str]) -> str:
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
