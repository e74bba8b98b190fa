"""Tables of metrics: APT, AutoPRF, DiscoMT, corpus metrics, and how well metrics correlate with human judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anaphora.align.tokenize import notes as text_notes
from anaphora.evaluation.verdicts import ANSWERS
from anaphora.metrics.apt.result import AptResult, Score, SystemResult
from anaphora.metrics.apt.task import CASES
from anaphora.metrics.apt.task import TITLES as CASE_TITLES
from anaphora.metrics.autoprf import AutoPRFResult
from anaphora.metrics.autoprf import Score as AutoPRFScore
from anaphora.metrics.corpus import MetricsResult
from anaphora.metrics.discomt import BY_CLASS, OVERALL, DiscoMTResult, Measure
from anaphora.metrics.judgments import JUDGMENTS, CaseJudgments, JudgmentCounts, Learned
from anaphora.metrics.meta import Assessment, MetaEvaluation, Sweep
from anaphora.reports.tables import change_cells, pair_rows
from anaphora.stats.correlation import COEFFICIENTS, Correlation, CorrelationSettings
from anaphora.stats.paired import PairedTest
from anaphora.stats.resampling import Resampling
from anaphora.stats.signature import Signature
from anaphora.table import (
    MISSING,
    Row,
    Table,
    arrow,
    counts,
    decimal,
    interval_cell,
    level,
    p_note,
    p_text,
    percent,
    rows_of,
    section,
)

DIGITS = 4  # of APT: systems differ by less than accuracies do
FEW = 10  # systems; below, intervals are rough
ANNOTATOR_TITLES = tuple(f"judged {answer}" for answer in ANSWERS)
ANNOTATOR_NOTE = "verdicts of annotators count in place of a case: right 1, wrong and unclear 0"
TITLES = {
    "f": "F",
    "strict_recall": "strict recall",
    "accuracy_without_other": "accuracy without OTHER",
    "macro_recall": "macro-averaged recall",
}


def apt_tables(result: AptResult, *, confusion: bool = False) -> list[Table]:
    """Return the scores; with several systems their comparison; if asked for, the confusion matrix of each."""
    tables = [score_table(result)]
    if result.pairs:
        tables.append(pairs_table(result))
    if confusion:
        tables += [confusion_table(system) for system in result.systems]
    return tables


def score_table(result: AptResult) -> Table:
    """Return a row per system, and one per pronoun below it."""
    rows: list[Row] = []
    for system in result.systems:
        rows.append(Row((system.name, *_apt_cells(system.score))))
        rows += rows_of([(pronoun, *_apt_cells(score)) for pronoun, score in system.pronouns.items()])
    asked = any(system.score.annotators is not None for system in result.systems)
    columns = ("", "n", "APT", level(result.sampling.confidence), *CASE_TITLES, *(ANNOTATOR_TITLES if asked else ()))
    title = f"APT {arrow(result.languages)} · {result.variant}"
    return Table(title, columns, tuple(rows), (*_apt_notes(result), f"signature {result.signature}"))


def pairs_table(result: AptResult) -> Table:
    """Return differences with intervals and p-values, a section per pair."""
    rows: list[Row] = []
    for pair in result.pairs:
        changed = f"{len(pair.gained):,} pronouns better, {len(pair.lost):,} worse"
        rows += pair_rows(pair, changed, DIGITS, titled=False)
    columns = ("", "n", "first", "second", "difference", level(result.sampling.confidence), "p")
    return Table("Systems compared, sentences resampled", columns, tuple(rows), (p_note(result.sampling.test),))


def confusion_table(system: SystemResult, longest: int = 12) -> Table:
    """Return reference pronouns as rows and candidate pronouns as columns; labels beyond the longest are summed up."""
    labels, matrix = system.outcome.confusion.labels, system.outcome.confusion.counts
    used = [k for k in range(len(labels)) if any(matrix[k]) or any(row[k] for row in matrix)]
    shown, rest = used[:longest], used[longest:]
    groups = [[k] for k in shown] + ([rest] if rest else [])
    names = [labels[k] for k in shown] + (["…"] if rest else [])
    cells = [[sum(matrix[i][j] for i in rows for j in columns) for columns in groups] for rows in groups]
    rows = [Row((name, *counts([*row, sum(row)]))) for name, row in zip(names, cells, strict=True)]
    sums = [sum(column) for column in zip(*cells, strict=True)]
    rows.append(Row(("sum", *counts([*sums, sum(sums)]))))
    return Table(f"{system.name}: reference (rows) and candidate (columns)", ("", *names, "sum"), tuple(rows))


def equivalence_table(learned: Learned) -> Table:
    """Return pairs of different pronouns, the most frequent first, and which are kept (APT §2.5)."""
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


def _apt_notes(result: AptResult) -> list[str]:
    notes = text_notes(result.texts)
    discarded = [f"{case} ({CASE_TITLES[case - 1]})" for case in CASES if case in result.weighting.discarded]
    if discarded:
        notes.append(f"discarded: {', '.join(discarded)}; n is without them")
    for system in result.systems:
        if any(system.rescued):
            reference, candidate = system.rescued
            notes.append(f"{system.name}: rescued {reference:,} in the reference, {candidate:,} in the candidate")
        if system.outcome.unaligned:
            notes.append(f"{system.name}: {system.outcome.unaligned:,} unaligned reference pronouns left out")
    judged = {system.name: system.score.judged for system in result.systems if system.score.judged is not None}
    notes += [f"{name}: {shares}" for name, shares in judged.items()]
    if judged:
        notes.append(ANNOTATOR_NOTE)
    return notes


def _apt_cells(score: Score) -> tuple[str, ...]:
    numbers = (*score.cases, *(score.annotators or ()))
    return f"{score.total:,}", decimal(score.apt, DIGITS), interval_cell(score.interval), *counts(numbers)


def autoprf_tables(result: AutoPRFResult) -> list[Table]:
    """Return a row per system and one per pronoun below it; then the systems compared."""
    rows = []
    for name, system in result.systems.items():
        rows.append(Row((name, *_autoprf_cells(system.score))))
        rows += rows_of([(pronoun, *_autoprf_cells(score)) for pronoun, score in system.by_pronoun.items()])
    heading = level(result.resampling.confidence)
    columns = ("", "n", "words", "reference", "matches", "precision", heading, "recall", heading, "F", heading)
    notes = (*text_notes(result.texts), f"signature {result.signature}")
    table = Table("AutoPRF", columns, tuple(rows), notes)
    return [table, *_paired_tests(result.pairs, result.resampling)]


def metrics_tables(result: MetricsResult) -> list[Table]:
    """Return a row per system with a score and an interval per metric; then the systems compared."""
    rows = []
    for system in result.systems:
        cells = []
        for metric in result.metrics:
            digits = metric.decimals
            cells += [decimal(metric.scores[system], digits), interval_cell(metric.intervals[system], digits)]
        rows.append(Row((system, *cells)))
    title = f"{arrow(result.languages)} · {result.sentences:,} sentences".removeprefix(" · ")
    names = [f"{metric.name}{' (lower is better)' * metric.lower_is_better}" for metric in result.metrics]
    columns = ("", *(cell for name in names for cell in (name, level(result.resampling.confidence))))
    notes = [*text_notes(result.texts), *(metric.signature for metric in result.metrics)]
    table = Table(title, columns, tuple(rows), (*notes, f"intervals {Signature().resampled(result.resampling)}"))
    pairs = {metric.name: metric.pairs for metric in result.metrics}
    decimals = {metric.name: metric.decimals for metric in result.metrics}
    return [table, *_paired_tests(pairs, result.resampling, decimals)]


def discomt_tables(result: DiscoMTResult) -> list[Table]:
    """Return the measures of each system, those of each class of pronouns, and the systems compared."""
    systems = result.systems.values()
    overall = [Row((_title(name), *(_measure(system.overall[name]) for system in systems))) for name in OVERALL]
    numbers = [
        Row((label, *counts(getattr(system, key) for system in systems)))
        for label, key in (("items", "items"), ("of these bad translations", "bad"))
    ]
    notes = (f"{level(result.resampling.confidence)}s", f"signature {result.signature}")
    tables = [Table("DiscoMT", ("", *result.systems), (*numbers, *overall), notes)]
    rows: list[Row] = []
    for name, system in result.systems.items():
        rows.append(section(name))
        for label, measures in system.classes.items():
            cells = (*counts(system.counts[label].values()), *(_measure(measures[figure]) for figure in BY_CLASS))
            rows += rows_of([(label, *cells)])
    columns = ("", "translated", "correct", "accepted", *map(_title, BY_CLASS))
    compared = _paired_tests(result.pairs, result.resampling, unit="items")
    return [*tables, Table("By class", columns, tuple(rows)), *compared]


def _paired_tests(
    figures: Mapping[str, Sequence[PairedTest]],
    resampling: Resampling,
    decimals: Mapping[str, int] | None = None,
    unit: str = "sentences",
) -> list[Table]:
    """Return a section per pair of systems, a row per figure; no table where there is only one system."""
    pairs = [(tests[0].first, tests[0].second) for tests in zip(*figures.values(), strict=True)]
    if not pairs:
        return []
    rows: list[Row] = []
    for k, (first, second) in enumerate(pairs):
        rows.append(section(f"{first} → {second}"))
        for name, tests in figures.items():
            digits = (decimals or {}).get(name, DIGITS)
            cells = change_cells(tests[k].delta, tests[k].interval, tests[k].p_adjusted, digits)
            rows += rows_of([(_title(name), *cells)])
    columns = ("", "difference", level(resampling.confidence), "p")
    return [Table(f"Systems compared, {unit} resampled", columns, tuple(rows), (p_note(resampling.test),))]


def _autoprf_cells(score: AutoPRFScore) -> tuple[str, ...]:
    cells = list(counts((score.occurrences, score.candidate, score.reference, score.matches)))
    for name in ("precision", "recall", "f"):
        value: float | None = getattr(score, name)
        cells += [MISSING, ""] if value is None else [decimal(value, DIGITS), interval_cell(score.intervals[name])]
    return tuple(cells)


def _measure(measure: Measure) -> str:
    if measure.value is None or measure.interval is None:
        return MISSING
    return f"{decimal(measure.value)} {interval_cell(measure.interval)}"


def _title(name: str) -> str:
    return TITLES.get(name, name)


# Meta-evaluation: metrics against human judgments, the sweep of APT's weights, cases against judgments.


def correlation_table(evaluation: MetaEvaluation) -> Table:
    """Return a row per metric, with and without outliers (Table 3 of APT)."""
    rows = [section(f"all {len(evaluation.everything.systems)} systems"), *_metric_rows(evaluation.everything)]
    if evaluation.rest is not None:
        rows += [section(f"without {', '.join(evaluation.removed)}"), *_metric_rows(evaluation.rest)]
    columns = ("", *_correlation_columns(evaluation.settings), "p")
    notes = []
    if len(evaluation.everything.metrics) > 1:
        notes.append("p: Williams' test against the best metric (Pearson), two-sided, corrected for all pairs (Holm)")
    if evaluation.scores.minimized:
        notes.append(f"lower is better, so the sign is changed: {', '.join(evaluation.scores.minimized)}")
    kept = [name for name in evaluation.outliers if name not in evaluation.removed]
    if kept:
        notes.append(f"outliers by their {evaluation.scores.human} score: {', '.join(kept)}; see --without auto")
    assessments = [evaluation.everything, *([evaluation.rest] if evaluation.rest else [])]
    notes += _few_systems(min(len(one.systems) for one in assessments))
    undefined = max(metric.pearson.undefined for one in assessments for metric in one.metrics.values())
    if evaluation.settings.interval == "bootstrap" and undefined * 100 >= evaluation.settings.samples:
        share = undefined / evaluation.settings.samples
        notes.append(f"up to {share:.0%} of the bootstrap samples are left out: a column is constant in them")
    title = f"Correlation with {evaluation.scores.human}"
    return Table(title, columns, tuple(rows), (*notes, f"signature {evaluation.signature}"))


def sweep_table(sweep: Sweep) -> Table:
    """Return a section per alignment and a row per choice of weights (Table 4 of APT)."""
    rows = []
    discards = {setting.discarded for setting in sweep.settings}
    for alignment in sweep.cases:
        rows.append(section(f"alignment {alignment}"))
        for setting in sweep.settings:
            if setting.alignment != alignment:
                continue
            name = f"w2 = {setting.w2:g}, w6 = {setting.w6:g}"
            if discards != {()}:
                cases = ", ".join(map(str, setting.discarded))
                name += f", without cases {cases}" if cases else ", all cases"
            rows += rows_of([(name, *_correlation_cells(setting.correlation))])
            if setting.without is not None:
                cells = (f"without {', '.join(sweep.removed)}", *_correlation_cells(setting.without))
                rows += rows_of([cells], indent=2)
    title = f"Correlation of APT with {sweep.human.human}, {len(sweep.human.systems)} systems"
    notes = (*_few_systems(len(sweep.human.systems) - len(sweep.removed)), f"signature {sweep.signature}")
    return Table(title, ("", *_correlation_columns(sweep.how)), tuple(rows), notes)


def judgment_table(judgments: CaseJudgments) -> Table:
    """Return the share of each judgment in each case (Table 5 of APT)."""
    names = [f"c{number} ({name})" for number, name in enumerate(CASE_TITLES, start=1)]
    rows = [Row((name, *_judgment_cells(case))) for name, case in zip(names, judgments.cases, strict=True)]
    rows.append(Row(("total", *_judgment_cells(judgments.total))))
    notes = [f"pronouns of APT without a judgment: {judgments.unjudged:,}"] if judgments.unjudged else []
    if judgments.unmatched:
        notes.append(f"judgments of pronouns that APT does not have: {judgments.unmatched:,}")
    columns = ("case", "n", "correct", "95 % interval", "incorrect", "bad translation")
    return Table("Human judgments of APT's cases", columns, tuple(rows), tuple(notes))


def _metric_rows(assessment: Assessment) -> list[Row]:
    pearson = {name: correlation.pearson.value for name, correlation in assessment.metrics.items()}
    best = max(pearson, key=lambda name: -2.0 if (value := pearson[name]) is None else value)
    adjusted = {frozenset((test.first, test.second)): test.p_adjusted for test in assessment.williams}
    rows = []
    for name, correlation in assessment.metrics.items():
        p = adjusted.get(frozenset((name, best)))
        last = "best" if name == best and len(assessment.metrics) > 1 else p_text(p)
        rows.append((name, *_correlation_cells(correlation), last))
    return rows_of(rows)


def _correlation_columns(settings: CorrelationSettings) -> list[str]:
    return [cell for name in COEFFICIENTS for cell in (name.capitalize(), level(settings.confidence))]


def _correlation_cells(correlation: Correlation) -> list[str]:
    coefficients = (correlation.pearson, correlation.spearman, correlation.kendall)
    return [cell for c in coefficients for cell in (decimal(c.value), interval_cell(c.interval))]


def _few_systems(systems: int) -> list[str]:
    rough = f"with only {systems} systems, intervals are rough, and that of a perfect correlation is meaningless"
    return [rough] if systems < FEW else []


def _judgment_cells(case: JudgmentCounts) -> tuple[str, ...]:
    correct, incorrect, bad = (case.share(judgment) for judgment in JUDGMENTS)
    low, high = case.interval()
    interval = f"[{low * 100:.0f}, {high * 100:.0f}]" if case.total else MISSING
    return f"{case.total:,}", percent(correct), interval, percent(incorrect), percent(bad)
