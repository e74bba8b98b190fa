"""AutoPRF, the DiscoMT measures and surface metrics as tables; systems compared in pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anaphora.align.tokenize import notes as text_notes
from anaphora.metrics.autoprf.metric import AutoPRFResult, Score
from anaphora.metrics.discomt.measures import BY_CLASS, OVERALL, DiscoMTResult, Measure
from anaphora.metrics.measures import MetricsResult
from anaphora.reports.tables import change_cells
from anaphora.stats.intervals import Interval, Resampling
from anaphora.stats.paired import PairedTest
from anaphora.stats.signature import Signature
from anaphora.table import Row, Table, rows_of, section

TITLES = {
    "f": "F",
    "strict_recall": "strict recall",
    "accuracy_without_other": "accuracy without OTHER",
    "macro_recall": "macro-averaged recall",
}


def autoprf_tables(result: AutoPRFResult) -> list[Table]:
    """A row per system and one per pronoun below it; the systems compared."""
    rows = []
    for name, system in result.systems.items():
        rows.append(Row((name, *_autoprf(system.score))))
        rows += rows_of([(pronoun, *_autoprf(score)) for pronoun, score in system.by_pronoun.items()])
    interval = f"{result.resampling.confidence * 100:g} % interval"
    columns = ("", "n", "words", "reference", "matches", "precision", interval, "recall", interval, "F", interval)
    notes = (*text_notes(result.texts), f"signature {result.signature}")
    table = Table("AutoPRF", columns, tuple(rows), notes)
    return [table, *_pairs(result.pairs, result.resampling)]


def metrics_tables(result: MetricsResult) -> list[Table]:
    """A row per system, a column and an interval per metric; the systems compared."""
    rows = []
    for system in result.systems:
        cells = []
        for metric in result.metrics:
            cells += [f"{metric.scores[system]:.{metric.decimals}f}", _span(metric.intervals[system], metric.decimals)]
        rows.append(Row((system, *cells)))
    title = f"{result.languages.replace('-', '→')} · {result.sentences:,} sentences".removeprefix(" · ")
    names = [f"{metric.name}{' (lower is better)' * metric.lower_is_better}" for metric in result.metrics]
    interval = f"{result.resampling.confidence * 100:g} % interval"
    columns = ("", *(cell for name in names for cell in (name, interval)))
    notes = [*text_notes(result.texts), *(metric.signature for metric in result.metrics)]
    table = Table(title, columns, tuple(rows), (*notes, f"intervals {Signature().resampled(result.resampling)}"))
    pairs = {metric.name: metric.pairs for metric in result.metrics}
    decimals = {metric.name: metric.decimals for metric in result.metrics}
    return [table, *_pairs(pairs, result.resampling, decimals)]


def discomt_tables(result: DiscoMTResult) -> list[Table]:
    """The measures of each system, and of each class of pronouns; the systems compared."""
    overall = [
        Row((_title(name), *(_measure(system.overall[name]) for system in result.systems.values()))) for name in OVERALL
    ]
    counts = [
        Row((what, *(f"{getattr(system, key):,}" for system in result.systems.values())))
        for what, key in (("items", "items"), ("of these bad translations", "bad"))
    ]
    level = f"{result.resampling.confidence * 100:g} % intervals"
    notes = (level, f"signature {result.signature}")
    tables = [Table("DiscoMT", ("", *result.systems), (*counts, *overall), notes)]
    rows: list[Row] = []
    for name, system in result.systems.items():
        rows.append(section(name))
        for label, measures in system.classes.items():
            numbers = (f"{count:,}" for count in system.counts[label].values())
            rows += rows_of([(label, *numbers, *(_measure(measures[figure]) for figure in BY_CLASS))])
    columns = ("", "translated", "correct", "accepted", *map(_title, BY_CLASS))
    return [*tables, Table("By class", columns, tuple(rows)), *_pairs(result.pairs, result.resampling, unit="items")]


def _pairs(
    figures: Mapping[str, Sequence[PairedTest]],
    resampling: Resampling,
    decimals: Mapping[str, int] | None = None,
    unit: str = "sentences",
) -> list[Table]:
    """A section per pair, a row per figure; nothing where there is only one system."""
    pairs = [(tests[0].first, tests[0].second) for tests in zip(*figures.values(), strict=True)]
    if not pairs:
        return []
    rows: list[Row] = []
    for k, (first, second) in enumerate(pairs):
        rows.append(section(f"{first} → {second}"))
        rows += rows_of(
            [_test(_title(name), tests[k], (decimals or {}).get(name, 4)) for name, tests in figures.items()]
        )
    columns = ("", "difference", f"{resampling.confidence * 100:g} % interval", "p")
    note = f"p: {resampling.test}, corrected (Holm); * < 0.05, ** < 0.01, *** < 0.001"
    return [Table(f"Systems compared, {unit} resampled", columns, tuple(rows), (note,))]


def _test(name: str, test: PairedTest, decimals: int) -> tuple[str, ...]:
    return name, *change_cells(test.delta, test.interval, test.p_adjusted, decimals)


def _autoprf(score: Score) -> tuple[str, ...]:
    cells = [f"{n:,}" for n in (score.occurrences, score.candidate, score.reference, score.matches)]
    for name in ("precision", "recall", "f"):
        value: float | None = getattr(score, name)
        cells += ["–", ""] if value is None else [f"{value:.4f}", _span(score.intervals[name], 3)]
    return tuple(cells)


def _measure(measure: Measure) -> str:
    if measure.value is None or measure.interval is None:
        return "–"
    return f"{measure.value:.3f} {_span(measure.interval, 3)}"


def _title(name: str) -> str:
    return TITLES.get(name, name)


def _span(interval: Interval, decimals: int) -> str:
    return f"[{interval[0]:.{decimals}f}, {interval[1]:.{decimals}f}]"
