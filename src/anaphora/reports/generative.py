"""The table of generative accuracy: correct, wrong, not found, beside contrastive accuracy."""

from __future__ import annotations

from anaphora.align.tokenize import notes as text_notes
from anaphora.evaluation.generative import Counts, Gap, Generative
from anaphora.reports.tables import title_of
from anaphora.table import Row, Table, rows_of, section

COLUMNS = ("", "n", "correct", "wrong", "not found", "accuracy", "95 % interval", "among found")


def generative_table(results: list[Generative]) -> Table:
    """A section for each system."""
    first = results[0]
    rows: list[Row] = []
    for result in results:
        if len(results) > 1:
            rows.append(section(result.system))
        rows += rows_of([("all", *_cells(result.counts))])
        for name, groups in result.breakdowns.items():
            rows.append(section(title_of(name) if len(results) == 1 else f"{result.system}: {title_of(name)}"))
            rows += rows_of([(group, *_cells(counts)) for group, counts in groups.items()])
    notes = text_notes({name: treatment for result in results for name, treatment in result.texts.items()})
    for result in results:
        lead = f"{result.system}: " if len(results) > 1 else ""
        if result.gap is not None:
            notes.append(f"{lead}contrastive accuracy on the same examples {_gap(result.gap)}")
        found = " · ".join(f"{how} {number:,}" for how, number in sorted(result.how.items()))
        notes.append(f"{lead}decided by {found}")
    if first.ceiling is not None:
        notes.append(f"the references themselves, judged in the same way: {first.ceiling:.3f}")
    notes.append(f"what is not found counts as wrong · signature {first.signature}")
    title = f"{first.suite} {first.languages.replace('-', '→')} · the system's own translations"
    return Table(title if len(results) > 1 else f"{title} · {first.system}", COLUMNS, tuple(rows), tuple(notes))


def _gap(gap: Gap) -> str:
    """Contrastive accuracy, and how it compares with generative accuracy."""
    low, high = gap.interval
    how = "higher" if gap.difference > 0 else "lower"
    by = f"{how} by {abs(gap.difference):.3f}" if round(gap.difference, 3) else "the same"
    return f"{gap.contrastive:.3f}, {by} (difference {gap.difference:+.3f} [{low:+.3f}, {high:+.3f}])".replace("-", "−")


def _cells(counts: Counts) -> tuple[str, ...]:
    low, high = counts.interval
    shares = (counts.accuracy, counts.among_found)
    accuracy, among = ("–" if share is None else f"{share:.3f}" for share in shares)
    numbers = (counts.total, counts.correct, counts.wrong, counts.not_found)
    return (*(f"{number:,}" for number in numbers), accuracy, f"[{low:.3f}, {high:.3f}]", among)
