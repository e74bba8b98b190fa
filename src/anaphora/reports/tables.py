"""The tables of results and comparisons."""

from __future__ import annotations

from collections.abc import Mapping

from anaphora.evaluation.compare import Comparison, Difference
from anaphora.evaluation.result import Proportion, Result, Settings
from anaphora.stats.intervals import Interval
from anaphora.table import Row, Table, p_text, rows_of, section

# what the tags of the published suites are called in their papers
TITLES = {
    "reference_pronoun": "reference pronoun",
    "source_pronoun": "source pronoun",
    "pronoun_pair": "pronoun pair",  # source and reference in some suites, reference and system in others
    "location": "antecedent location",
    "distance": "antecedent distance",
    "reference_gender": "reference gender",
    "form": "gender and number",
    "correctness": "translation of the antecedent",
}


def title_of(breakdown: str) -> str:
    return " × ".join(TITLES.get(tag, tag) for tag in breakdown.split("×"))


def result_table(result: Result) -> Table:
    """Accuracy in all and by every breakdown, with intervals."""
    rows = []
    if result.figure.total:
        rows.append(Row(("all", *_cells(result.figure))))
    if result.blocks:
        rows.append(Row(("blocks entirely right", *_cells(result.blocks))))
    for name, groups in result.breakdowns.items():
        rows.append(section(title_of(name)))
        rows += rows_of([(group, *_cells(figure)) for group, figure in groups.items()])
    for name, choices in result.priors.items():
        rows.append(section(f"{name}: what is chosen (no right answer)"))
        rows += rows_of([(choice, *_cells(figure)) for choice, figure in choices.items()])
    notes = [f"{title_of(name)}: {n:,} without a value" for name, n in result.untagged.items()]
    for name, n in result.unpaired.items():
        notes.append(f"{name}: {n:,} without the other order of {'its' if n == 1 else 'their'} nouns, not counted")
    if result.cut_blocks:
        are, them = ("block is", "it") if result.cut_blocks == 1 else ("blocks are", "them")
        notes.append(f"{result.cut_blocks:,} {are} not counted, as not every example of {them} was scored")
    if result.unanswered:
        shown = f", e.g. {result.answers[0]!r}" if result.answers else ""
        are = "example has" if result.unanswered == 1 else "examples have"
        notes.append(f"{result.unanswered:,} {are} no answer and count as wrong{shown}")
    notes.append(f"{result.ties:,} {'tie' if result.ties == 1 else 'ties'} · signature {result.signature}")
    columns = ("", "n", "accuracy", f"{level_of(result.settings)} interval")
    return Table(
        _title(result.suite, result.languages, result.system, result.context), columns, tuple(rows), tuple(notes)
    )


def comparison_table(comparison: Comparison, *, breakdowns: bool = True) -> Table:
    """Differences with intervals and p-values, a section per pair; or without breakdowns, a row per pair."""
    rows = []
    for pair in comparison.pairs:
        if not breakdowns:
            rows.append(Row((f"{pair.first} → {pair.second}", *difference_cells(pair.overall))))
            continue
        rows.append(section(f"{pair.first} → {pair.second}"))
        rows += rows_of([("all", *difference_cells(pair.overall))])
        for name, groups in pair.breakdowns.items():
            for group, difference in groups.items():
                rows += rows_of([(f"{title_of(name)}: {group}", *difference_cells(difference))], indent=2)
        rows += rows_of([(f"{len(pair.gained):,} items gained, {len(pair.lost):,} lost", *[""] * 6)])
    columns = ("", "n", "first", "second", "difference", f"{level_of(comparison.settings)} interval", "p")
    notes = [f"p: {comparison.test}, corrected (Holm); * < 0.05, ** < 0.01, *** < 0.001"]
    if comparison.repeated and breakdowns:
        notes.append(left_out(comparison.repeated))
    notes.append(f"signature {comparison.signature}")
    return Table(_title(comparison.suite, comparison.languages), columns, tuple(rows), tuple(notes))


def left_out(repeated: Mapping[str, str]) -> str:
    """Which breakdowns are not shown, as another has the same items in its groups."""
    said = (f"{title_of(name)} (the same groups as {title_of(kept)})" for name, kept in repeated.items())
    return f"left out: {', '.join(said)}"


def _title(suite: str, languages: str, *rest: str | None) -> str:
    parts = [f"{suite} {languages.replace('-', '→')}", *rest[:1]]
    if len(rest) > 1 and rest[1]:
        parts.append(f"context {rest[1]}")
    return " · ".join(part for part in parts if part)


def level_of(settings: Settings) -> str:
    """The confidence as it is written before "interval"."""
    return f"{settings.confidence * 100:g} %"


def _cells(figure: Proportion) -> tuple[str, str, str]:
    accuracy = "–" if figure.accuracy is None else f"{figure.accuracy:.3f}"
    low, high = figure.interval
    return f"{figure.total:,}", accuracy, f"[{low:.3f}, {high:.3f}]"


def difference_cells(difference: Difference, digits: int = 3) -> tuple[str, ...]:
    """n, the two figures, their difference with its interval, p with stars."""
    figures = (f"{difference.first:.{digits}f}", f"{difference.second:.{digits}f}")
    change = change_cells(difference.delta, difference.interval, difference.p_adjusted, digits)
    return (f"{difference.total:,}", *figures, *change)


def change_cells(delta: float, interval: Interval, p: float, digits: int) -> tuple[str, str, str]:
    """A difference with its sign, its interval, p with stars."""
    signed, low, high = (f"{value:+.{digits}f}".replace("-", "−") for value in (delta, *interval))
    return signed, f"[{low}, {high}]", p_text(p)
