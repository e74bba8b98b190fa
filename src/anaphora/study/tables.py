"""Agreement as a table: Table 1's columns first, then the coefficients in all and for each pair of pronouns."""

from __future__ import annotations

from anaphora.stats.agreement import COEFFICIENTS
from anaphora.stats.intervals import Resampling
from anaphora.study.analysis import Agreement, Group, StudyAgreement
from anaphora.study.model import PAIRS
from anaphora.table import Row, Table, rows_of, section

TITLES = {"percent": "percent", "kappa": "Cohen’s κ", "alpha": "Krippendorff’s α", "ac1": "Gwet’s AC1"}


def agreement_table(found: StudyAgreement) -> Table:
    level = f"{100 * (found.resampling or Resampling()).confidence:g} % interval"
    pairs = found.mode == PAIRS
    columns = ("", "annotators", "items", "% ref." if pairs else "% correct", "value", level)
    people, overall = f"{len(found.annotators):,}", found.overall
    rows = [section("with ties" if pairs else "correct, incorrect, bad")]
    rows += _coefficients(overall.with_ties, people, overall.preferred)
    if overall.without_ties is not None:
        rows.append(section("without ties"))
        rows += _coefficients(overall.without_ties, people, None)
    if found.pairs:
        rows.append(section("pairs of pronouns: AC1 with ties"))
        rows += [_pair_row(group, group.with_ties, group.preferred) for group in found.pairs]
        rows.append(section("pairs of pronouns: AC1 without ties"))
        rows += [_pair_row(group, group.without_ties, None) for group in found.pairs if group.without_ties]
    notes = [f"{found.answered:,} of {found.asked:,} answers"]
    if found.left_out:
        notes.append(f"{found.left_out:,} items left out: neither candidate correct, or invalid")
    if found.resampling:
        notes.append(f"intervals: {found.resampling.samples:,} bootstrap samples of the items")
    return Table(f"{found.title} · {found.languages}", columns, tuple(rows), (" · ".join(notes),))


def _coefficients(found: Agreement, people: str, preferred: float | None) -> list[Row]:
    rows = []
    for k, name in enumerate(COEFFICIENTS):
        shown = (people, f"{found.items:,}", _percent(preferred)) if k == 0 else ("", "", "")
        rows.append((TITLES[name], *shown, *_cells(found, name)))
    return rows_of(rows)


def _pair_row(group: Group, found: Agreement, preferred: float | None) -> Row:
    return Row((group.name, "", f"{found.items:,}", _percent(preferred), *_cells(found, "ac1")), indent=1)


def _cells(found: Agreement, name: str) -> tuple[str, str]:
    value, interval = found.values[name], found.intervals[name]
    shown = "–" if interval is None else f"[{_figure(interval[0])}, {_figure(interval[1])}]"
    return "–" if value is None else _figure(value), shown


def _figure(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
