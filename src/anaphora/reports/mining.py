"""Tables of mining: reasons for rejection, translations of pronouns, classes by distance (ContraPro §3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anaphora.table import Row, Table

if TYPE_CHECKING:
    from anaphora.build.mine.result import MiningResult

TOP = 12


def candidates_table(result: MiningResult) -> Table:
    """What became of each candidate."""
    rows = [Row((reason, f"{count:,}")) for reason, count in result.counts.most_common()]
    title = f"{result.index.pairs:,} sentence pairs in {result.index.documents:,} documents"
    return Table(title, ("candidates", "n"), tuple(rows))


def pronoun_tables(result: MiningResult) -> list[Table]:
    """How the mined pronouns are translated in the corpus (Table 2); of one that is common, where none were mined."""
    known = [name for name in result.table if name in result.statistics.sources] or list(result.table)[:1]
    return [_translations(name, result) for name in known]


def _translations(pronoun: str, result: MiningResult) -> Table:
    found = result.table[pronoun]
    rows = [
        Row((f"{pronoun} → {t['word']}", f"{t['frequency']:,}", f"{t['probability']:.3f}"))
        for t in found["translations"][:TOP]
    ]
    notes = (f"{found['links']:,} links; {found['without_link']:,} {pronoun} have none",)
    return Table(
        f"Translations of {pronoun} in the corpus", ("alignment", "frequency", "probability"), tuple(rows), notes
    )


def distance_table(result: MiningResult) -> Table:
    """Examples by class and by the distance of the antecedent in sentences (Table 4)."""
    classes = sorted(result.statistics.classes)
    rows = [
        Row((distance, *(f"{counts[label]:,}" for label in classes), f"{sum(counts.values()):,}"))
        for distance, counts in result.statistics.rows()
    ]
    totals = [result.statistics.classes[label] for label in classes]
    rows.append(Row(("total", *(f"{n:,}" for n in totals), f"{sum(totals):,}")))
    rows.append(Row(("found", *(f"{result.found[label]:,}" for label in classes), f"{result.found.total():,}")))
    return Table("Examples by distance", ("distance", *classes, "total"), tuple(rows))
