"""The tables of meta-evaluation: metrics against people, the sweep of APT's weights, cases against judgements."""

from __future__ import annotations

from anaphora.metrics.apt.task import TITLES
from anaphora.metrics.meta.evaluation import Assessment, MetaEvaluation
from anaphora.metrics.meta.judgements import JUDGEMENTS, CaseJudgements, Judged
from anaphora.metrics.meta.sweep import Sweep
from anaphora.stats.correlation import COEFFICIENTS, Coefficient, Correlation, Settings
from anaphora.stats.intervals import Interval
from anaphora.table import Row, Table, p_text, rows_of, section

FEW = 10  # systems; below, intervals are rough


def correlation_table(found: MetaEvaluation) -> Table:
    """A row per metric; with and without outliers (Table 3 of APT)."""
    rows = [section(f"all {len(found.everything.systems)} systems"), *_metrics(found.everything)]
    if found.rest is not None:
        rows += [section(f"without {', '.join(found.removed)}"), *_metrics(found.rest)]
    columns = ("", *_columns(found.settings), "p")
    notes = []
    if len(found.everything.metrics) > 1:
        notes.append("p: Williams' test against the best metric (Pearson), two-sided, corrected for all pairs (Holm)")
    if found.scores.minimized:
        notes.append(f"lower is better, so the sign is changed: {', '.join(found.scores.minimized)}")
    kept = [name for name in found.outliers if name not in found.removed]
    if kept:
        notes.append(f"outliers by their {found.scores.human} score: {', '.join(kept)}; see --without auto")
    notes += _remarks(found)
    title = f"Correlation with {found.scores.human}"
    return Table(title, columns, tuple(rows), (*notes, f"signature {found.signature}"))


def sweep_table(found: Sweep) -> Table:
    """Table 4 of APT: a section per alignment, a row per choice of weights."""
    rows = []
    discards = {setting.discarded for setting in found.settings}
    for alignment in found.cases:
        rows.append(section(f"alignment {alignment}"))
        for setting in found.settings:
            if setting.alignment != alignment:
                continue
            name = f"w2 = {setting.w2:g}, w6 = {setting.w6:g}"
            if discards != {()}:
                name += f", without cases {_listed(setting.discarded)}" if setting.discarded else ", all cases"
            cells = [(name, *_cells(setting.correlation))]
            rows += rows_of(cells)
            if setting.without is not None:
                rows += rows_of([(f"without {', '.join(found.removed)}", *_cells(setting.without))], indent=2)
    title = f"Correlation of APT with {found.human.human}, {len(found.human.systems)} systems"
    notes = (*_few(len(found.human.systems) - len(found.removed)), f"signature {found.signature}")
    return Table(title, ("", *_columns(found.how)), tuple(rows), notes)


def judgement_table(found: CaseJudgements) -> Table:
    """Table 5 of APT: the share of each judgement in each case."""
    names = [f"c{number} ({name})" for number, name in enumerate(TITLES, start=1)]
    rows = [Row((name, *_shares(case))) for name, case in zip(names, found.cases, strict=True)]
    rows.append(Row(("total", *_shares(found.total))))
    notes = [f"pronouns of APT without a judgement: {found.unjudged:,}"] if found.unjudged else []
    if found.unmatched:
        notes.append(f"judgements of pronouns that APT does not have: {found.unmatched:,}")
    columns = ("case", "n", "correct", "95 % interval", "incorrect", "bad translation")
    return Table("Human judgements of APT's cases", columns, tuple(rows), tuple(notes))


def figure(value: float | None) -> str:
    """A correlation as it is printed; the minus sign is a real one."""
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def _metrics(assessment: Assessment) -> list[Row]:
    best = max(assessment.metrics, key=lambda name: _rank(assessment.metrics[name]))
    adjusted = {frozenset((test.first, test.second)): test.p_adjusted for test in assessment.williams}
    rows = []
    for name, found in assessment.metrics.items():
        p = adjusted.get(frozenset((name, best)))
        said = "best" if name == best and len(assessment.metrics) > 1 else p_text(p)
        rows.append((name, *_cells(found), said))
    return rows_of(rows)


def _rank(found: Correlation) -> float:
    return -2.0 if found.pearson.value is None else found.pearson.value


def _columns(settings: Settings) -> list[str]:
    level = f"{settings.confidence * 100:g} % interval"
    return [cell for name in COEFFICIENTS for cell in (name.capitalize(), level)]


def _cells(found: Correlation) -> list[str]:
    coefficients: list[Coefficient] = [found.pearson, found.spearman, found.kendall]
    return [cell for c in coefficients for cell in (figure(c.value), _interval(c.interval))]


def _interval(interval: Interval | None) -> str:
    return "–" if interval is None else f"[{figure(interval[0])}, {figure(interval[1])}]"


def _remarks(found: MetaEvaluation) -> list[str]:
    """What a reader should know of the intervals."""
    parts = [found.everything, *([found.rest] if found.rest else [])]
    remarks = _few(min(len(part.systems) for part in parts))
    undefined = max(metric.pearson.undefined for part in parts for metric in part.metrics.values())
    if found.settings.interval == "bootstrap" and undefined * 100 >= found.settings.samples:
        share = undefined / found.settings.samples
        remarks.append(f"up to {share:.0%} of the bootstrap samples are left out: a column is constant in them")
    return remarks


def _few(systems: int) -> list[str]:
    if systems >= FEW:
        return []
    return [f"{systems} systems are few: intervals are rough, and that of a perfect correlation says nothing"]


def _listed(cases: tuple[int, ...]) -> str:
    return ", ".join(map(str, cases))


def _shares(case: Judged) -> tuple[str, ...]:
    correct, incorrect, bad = (case.share(judgement) for judgement in JUDGEMENTS)
    low, high = case.interval()
    interval = f"[{low * 100:.0f}, {high * 100:.0f}]" if case.total else "–"
    return f"{case.total:,}", _percent(correct), interval, _percent(incorrect), _percent(bad)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.0f} %"
