"""Tables of data: baselines of suites, mining, pronoun pairs and the learned measure, agreement of annotators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anaphora.stats.resampling import Resampling
from anaphora.study.analysis import Agreement, StudyAgreement
from anaphora.study.model import GAPS, PAIRS, VERDICTS
from anaphora.table import (
    MISSING,
    Row,
    Table,
    arrow,
    counts,
    decimal,
    interval_cell,
    level,
    p_text,
    percent,
    rows_of,
    section,
)

if TYPE_CHECKING:
    from anaphora.build.mine.result import MiningResult
    from anaphora.measure.pairs import Counts
    from anaphora.measure.scoring import Ranking
    from anaphora.suites.baselines import Baselines

# Baselines of a suite.

BASELINES = {
    "majority": "majority",
    "length": "length",
    "context_blind": "context-blind bound",
    "current": "bag of words: current sentence",
    "source_context": "bag of words: source context",
    "target_context": "bag of words: target context",
}


def baseline_figures(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the baselines in a JSON document of `suites baselines` by their names in tables, without missing ones."""
    figures = {**document, **document["bag_of_words"]}
    return {
        f"{title}: always {figures[name]['choice']}" if figures[name].get("choice") else title: figures[name]
        for name, title in BASELINES.items()
        if figures[name] is not None
    }


def baselines_table(baselines: Baselines | Mapping[str, Any]) -> Table:
    """Return a row per baseline; baselines may be the JSON document that was printed or saved."""
    document = baselines if isinstance(baselines, Mapping) else baselines.to_dict()
    rows = [
        Row((title, f"{figure['total']:,}", decimal(figure["accuracy"]), interval_cell(figure["interval"])))
        for title, figure in baseline_figures(document).items()
    ]
    several, repeated = document["several_words"], document["context_blind"]["repeated"]
    differ = f"{several['count']:,} of {several['total']:,} examples ({percent(several['share'])})"
    notes = [
        f"candidates differ in more than one word in {differ}",
        f"context-blind: {repeated:,} examples share their current sentences with others; all others count as right",
        *document["notes"],
    ]
    if document["priors"]:
        notes.append(f"{document['priors']:,} examples without a right answer are left out")
    title = f"Baselines of {document['suite']} {arrow(document['languages'])}"
    columns = ("", "n", "accuracy", level(document["confidence"]))
    return Table(title, columns, tuple(rows), (*notes, f"signature {document['signature']}"))


# Mining (ContraPro §3.1).

TOP = 12


def candidates_table(result: MiningResult) -> Table:
    """Return how many candidates there were, why others were rejected, most frequent first, and how many were kept."""
    reasons = [name for name, _ in result.counts.most_common() if name not in ("pronouns", "items")]
    names = [name for name in ("pronouns", *reasons, "items") if name in result.counts]
    rows = [Row((name, f"{result.counts[name]:,}")) for name in names]
    title = f"{result.index.pairs:,} sentence pairs in {result.index.documents:,} documents"
    return Table(title, ("candidates", "n"), tuple(rows))


def pronoun_tables(result: MiningResult) -> list[Table]:
    """Return how the mined pronouns are translated in the corpus (Table 2); a frequent one where none were mined."""
    known = [name for name in result.table if name in result.statistics.sources] or list(result.table)[:1]
    tables = []
    for pronoun in known:
        entry = result.table[pronoun]
        rows = [
            Row((f"{pronoun} → {t['word']}", f"{t['frequency']:,}", f"{t['probability']:.3f}"))
            for t in entry["translations"][:TOP]
        ]
        notes = (f"{entry['links']:,} links; {entry['without_link']:,} {pronoun} have none",)
        columns = ("alignment", "frequency", "probability")
        tables.append(Table(f"Translations of {pronoun} in the corpus", columns, tuple(rows), notes))
    return tables


def distance_table(result: MiningResult) -> Table:
    """Return examples by class and by the distance of the antecedent in sentences (Table 4)."""
    classes = sorted(result.statistics.classes)
    rows = [
        Row((distance, *counts([*(numbers[label] for label in classes), sum(numbers.values())])))
        for distance, numbers in result.statistics.rows()
    ]
    totals = [result.statistics.classes[label] for label in classes]
    rows.append(Row(("total", *counts([*totals, sum(totals)]))))
    rows.append(Row(("found", *counts([*(result.found[label] for label in classes), result.found.total()]))))
    return Table("Examples by distance", ("distance", *classes, "total"), tuple(rows))


def quality_table(document: Mapping[str, Any]) -> Table:
    """Return how many mined items are right, by class and confidence, and why others were not mined."""
    intervals = document["intervals"]
    rows = [
        Row(("pronoun pair right", decimal(document["pair_precision"]), "")),
        Row(
            ("and antecedents right (precision)", decimal(document["precision"]), interval_cell(intervals["precision"]))
        ),
        Row(("antecedents right where the pair is", decimal(document["antecedent_accuracy"]), "")),
        Row(("distance right where these are", decimal(document["distance_accuracy"]), "")),
        Row(("recall", decimal(document["recall"]), interval_cell(intervals["recall"]))),
        Row(("F", decimal(document["f"]), "")),
        section("class"),
    ]
    rows += rows_of(
        [
            (label, decimal(one["precision"]), f"{one['right']:,} of {one['items']:,}")
            for label, one in document["labels"].items()
        ]
    )
    if len({row["items"] for row in document["curve"]}) > 1:
        rows.append(section("confidence"))
        rows += rows_of(
            [
                (f"≥ {row['confidence']:.1f}", decimal(row["precision"]), f"{row['items']:,} items")
                for row in document["curve"]
            ]
        )
    rows.append(section("not mined"))
    rows += rows_of([(reason, f"{count:,}", "") for reason, count in document["rejections"].items()])
    number = document["documents"]
    title = (
        f"{document['languages']} · {document['chains']} chains · {number:,} document{'' if number == 1 else 's'} · "
        f"{document['items']:,} items of {document['pronouns']:,} pronouns · {document['gold']:,} in the gold"
    )
    return Table(title, ("", "", "95 % interval"), tuple(rows))


# The learned measure (Jwalapuram et al. 2019).


def pair_counts_table(languages: Mapping[str, Counts]) -> Table:
    """Return the unique pairs of each language (and year), and their sum."""
    rows = [
        Row((name, ", ".join(sorted(c.years)) or MISSING, *counts(map(len, (c.contexts, c.system, c.noisy)))))
        for name, c in languages.items()
    ]
    kinds = ("contexts", "system", "noisy")
    total = [len(set().union(*(getattr(c, kind) for c in languages.values()))) for kind in kinds]
    rows.append(Row(("all", "", *counts(total))))
    columns = ("", "years", "source contexts", "reference–system pairs", "noisy pairs")
    return Table("Pronoun pairs (unique)", columns, tuple(rows))


def ranking_table(ranking: Ranking) -> Table:
    """Return the scores of the systems, and the comparison of every two."""
    rows = [
        Row((s.name, decimal(s.mean, signed=True), interval_cell(s.interval, signed=True), f"{s.pronouns:,}"))
        for s in ranking.systems
    ]
    for pair in ranking.comparisons:
        sentences = f"{pair.wins + pair.losses:,} sentences"
        rows.append(section(f"{pair.first} − {pair.second}: better in {decimal(pair.share)} of {sentences}"))
        difference = decimal(pair.delta, signed=True), interval_cell(pair.interval, signed=True)
        rows += rows_of([("difference", *difference, f"p {p_text(pair.p)}")])
    columns = ("", "score", "95 % interval", "pronouns")
    return Table(f"Learned pronoun measure · {ranking.sentences:,} sentences", columns, tuple(rows))


# Agreement of annotators (eval-anaphora §3.1, Table 1).

COEFFICIENT_TITLES = {"percent": "percent", "kappa": "Cohen’s κ", "alpha": "Krippendorff’s α", "ac1": "Gwet’s AC1"}


COLUMN_OF_MODE = {
    PAIRS: ("% ref.", "with ties"),
    GAPS: ("% correct", "correct, incorrect, bad"),
    VERDICTS: ("% right", "right, wrong, unclear"),
}


def agreement_table(study: StudyAgreement) -> Table:
    """Return Table 1's columns first, then the coefficients overall and for each pair of pronouns."""
    preferred, categories = COLUMN_OF_MODE[study.mode]
    heading = level((study.resampling or Resampling()).confidence)
    columns = ("", "annotators", "items", preferred, "value", heading)
    annotators, overall = f"{len(study.annotators):,}", study.overall
    rows = [section(categories)]
    rows += _coefficients(overall.with_ties, annotators, overall.preferred)
    if overall.without_ties is not None:
        rows.append(section("without ties"))
        rows += _coefficients(overall.without_ties, annotators, None)
    if study.pairs:
        rows.append(section("pairs of pronouns: AC1 with ties"))
        for group in study.pairs:
            rows += _coefficients(group.with_ties, "", group.preferred, {"ac1": group.name})
        rows.append(section("pairs of pronouns: AC1 without ties"))
        for group in study.pairs:
            rows += _coefficients(group.without_ties, "", None, {"ac1": group.name}) if group.without_ties else []
    notes = [f"{study.answered:,} of {study.asked:,} answers"]
    if study.left_out:
        notes.append(f"{study.left_out:,} items left out: neither candidate correct, or invalid")
    if study.resampling:
        notes.append(f"intervals: {study.resampling.samples:,} bootstrap samples of the items")
    return Table(f"{study.title} · {study.languages}", columns, tuple(rows), (" · ".join(notes),))


def _coefficients(
    agreement: Agreement, annotators: str, preferred: float | None, titles: Mapping[str, str] = COEFFICIENT_TITLES
) -> list[Row]:
    """Return a row per coefficient; the first one has the numbers of annotators and items, too."""
    rows = []
    for k, (name, title) in enumerate(titles.items()):
        share = "" if preferred is None else f"{100 * preferred:.1f}"
        numbers = (annotators, f"{agreement.items:,}", share) if k == 0 else ("", "", "")
        rows.append((title, *numbers, decimal(agreement.values[name]), interval_cell(agreement.intervals[name])))
    return rows_of(rows)
