"""APT as tables: scores and cases by system and pronoun, systems compared, confusions."""

from __future__ import annotations

from collections.abc import Sequence

from anaphora.align.tokenize import notes as text_notes
from anaphora.metrics.apt.equivalence import Learned
from anaphora.metrics.apt.result import AptResult, Score, SystemResult
from anaphora.metrics.apt.task import CASES, TITLES
from anaphora.reports.tables import difference_cells
from anaphora.table import Row, Table, rows_of, section

DIGITS = 4  # of APT: systems differ by less than accuracies do


def apt_tables(result: AptResult, *, confusion: bool = False) -> list[Table]:
    """The scores; with several systems their comparison; if asked for, the confusion matrix of each."""
    tables = [score_table(result)]
    if result.pairs:
        tables.append(pairs_table(result))
    if confusion:
        tables += [confusion_table(system) for system in result.systems]
    return tables


def score_table(result: AptResult) -> Table:
    """A row per system, and one per pronoun below it."""
    rows: list[Row] = []
    for system in result.systems:
        rows.append(Row((system.name, *_score(system.score))))
        rows += rows_of([(pronoun, *_score(score)) for pronoun, score in system.pronouns.items()])
    columns = ("", "n", "APT", f"{result.sampling.confidence * 100:g} % interval", *TITLES)
    title = f"APT {result.languages.replace('-', '→')} · {result.variant}"
    return Table(title, columns, tuple(rows), (*_notes(result), f"signature {result.signature}"))


def pairs_table(result: AptResult) -> Table:
    """Differences with intervals and p-values, a section per pair."""
    rows: list[Row] = []
    for pair in result.pairs:
        rows.append(section(f"{pair.first} → {pair.second}"))
        rows += rows_of([("all", *difference_cells(pair.overall, DIGITS))])
        for groups in pair.breakdowns.values():
            rows += rows_of(
                [(group, *difference_cells(difference, DIGITS)) for group, difference in groups.items()], indent=2
            )
        rows += rows_of([(f"{len(pair.gained):,} pronouns better, {len(pair.lost):,} worse", *[""] * 6)])
    columns = ("", "n", "first", "second", "difference", f"{result.sampling.confidence * 100:g} % interval", "p")
    note = f"p: {result.sampling.test}, corrected (Holm); * < 0.05, ** < 0.01, *** < 0.001"
    return Table("Systems compared, sentences resampled", columns, tuple(rows), (note,))


def confusion_table(system: SystemResult, longest: int = 12) -> Table:
    """Rows are what the reference has, columns what the candidate has; labels beyond the longest are summed up."""
    labels, counts = system.outcome.confusion.labels, system.outcome.confusion.counts
    used = [k for k in range(len(labels)) if any(counts[k]) or any(row[k] for row in counts)]
    shown, rest = used[:longest], used[longest:]
    groups = [[k] for k in shown] + ([rest] if rest else [])
    names = [labels[k] for k in shown] + (["…"] if rest else [])
    cells = [[sum(counts[i][j] for i in rows for j in columns) for columns in groups] for rows in groups]
    rows = [Row((name, *_numbers([*row, sum(row)]))) for name, row in zip(names, cells, strict=True)]
    sums = [sum(column) for column in zip(*cells, strict=True)]
    rows.append(Row(("sum", *_numbers([*sums, sum(sums)]))))
    return Table(f"{system.name}: reference (rows) and candidate (columns)", ("", *names, "sum"), tuple(rows))


def equivalence_table(learned: Learned) -> Table:
    """Pairs of different pronouns, the most frequent first, and which are kept (APT §2.5)."""
    rows = [
        Row(
            (
                f"{pair.candidate} for {pair.reference}",
                f"{pair.count:,}",
                f"{pair.count / learned.samples:.1%}",
                f"{pair.correct:,}",
                f"{pair.probability:.2f}",
                "yes" if learned.is_kept(pair) else "",
            )
        )
        for pair in learned.pairs
    ]
    columns = ("candidate for reference", "n", "of the sample", "correct", "p(c=1|t,r)", "kept")
    note = f"kept: {learned.least_share:.0%} of the {learned.samples:,} samples or more, p > {learned.above:g}"
    return Table("Equivalent pronouns", columns, tuple(rows), (note,))


def _notes(result: AptResult) -> list[str]:
    notes = text_notes(result.texts)
    discarded = [f"{case} ({TITLES[case - 1]})" for case in CASES if case in result.weighting.discarded]
    if discarded:
        notes.append(f"discarded: {', '.join(discarded)}; n is without them")
    for system in result.systems:
        if any(system.rescued):
            reference, candidate = system.rescued
            notes.append(f"{system.name}: rescued {reference:,} in the reference, {candidate:,} in the candidate")
        if system.outcome.unaligned:
            notes.append(f"{system.name}: {system.outcome.unaligned:,} unaligned reference pronouns left out")
    return notes


def _score(score: Score) -> tuple[str, ...]:
    low, high = score.interval
    apt = "–" if score.apt is None else f"{score.apt:.4f}"
    return (f"{score.total:,}", apt, f"[{low:.3f}, {high:.3f}]", *_numbers(score.cases))


def _numbers(numbers: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"{number:,}" for number in numbers)
