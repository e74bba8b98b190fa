"""Tables of attributions, and passages with each word shaded by what is attributed to it."""

from __future__ import annotations

from anaphora.evaluation.attribution_result import ALL, RIGHT, WRONG, Attributions, Figures
from anaphora.reports.tables import title_of
from anaphora.table import Row, Table, arrow, decimal, interval_cell, level, section

GROUPS = {ALL: "all", RIGHT: "right answers", WRONG: "wrong answers"}
MISSING = "–"
METHOD_NOTES = {
    "gradient": "gradient × input of log p(right) − log p(wrong) at the pronoun, in absolute values",
    "attention": "attention when the pronoun is predicted, the mean of layers and heads",
    "occlusion": "what log p(right) − log p(wrong) at the pronoun loses without a sentence; effect: its sum in nats",
}


def attribution_table(result: Attributions) -> Table:
    """Return how much lies on the antecedent and on highlighted words, of all, right and wrong answers."""
    rows: list[Row] = []
    occlusion = result.method == "occlusion"
    for title, groups in (("antecedent", result.antecedent), ("highlighted words", result.highlights)):
        if groups:
            rows.append(section(title))
            rows += [_row(GROUPS[name], figures) for name, figures in groups.items()]
    for name, groups in result.breakdowns.items():
        rows.append(section(f"antecedent by {title_of(name)}"))
        rows += [_row(group, figures) for group, figures in groups.items()]
    notes = [METHOD_NOTES[result.method]]
    if difference := result.difference.get("share"):
        change = f"{decimal(difference.mean, signed=True)} {interval_cell(difference.interval, signed=True)}"
        notes.append(f"share of the antecedent, right minus wrong answers: {change}")
    accuracy = result.accuracy
    notes.append(f"accuracy at the pronoun: {decimal(accuracy.accuracy)} {interval_cell(accuracy.interval)}")
    if result.rest is not None and not occlusion:
        notes.append(f"{decimal(result.rest)} of the whole lies on tokens that are no words, which are left out")
    for label, reasons in (("antecedent", result.reasons), ("highlights", result.highlights_reasons)):
        if reasons:
            notes.append(f"without {label}: {' · '.join(f'{reason} {n:,}' for reason, n in reasons.items())}")
    notes.append(f"uniform: if every token had the same, or in a random order · signature {result.signature}")
    unit = "sentences" if occlusion else "words"
    title = f"{result.suite} {arrow(result.languages)} · {result.system} · {result.method} by {unit}"
    confidence = level(result.settings.confidence)
    effect = "effect" if occlusion else "support"
    columns = ("", "n", "share", confidence, "uniform", "rank", confidence, "uniform", "AUC", effect, confidence)
    return Table(title, columns, tuple(rows), tuple(notes))


def _row(name: str, figures: Figures) -> Row:
    cells = [name, f"{figures['share'].total:,}"]
    for key, digits in (("share", 3), ("rank", 2)):
        figure = figures[key]
        cells += [decimal(figure.mean, digits), interval_cell(figure.interval, digits), decimal(figure.uniform, digits)]
    auc, support = figures.get("auc"), figures["support"]
    cells.append(MISSING if auc is None else decimal(auc.mean))
    cells += [decimal(support.mean, signed=True), interval_cell(support.interval, signed=True)]
    return Row(tuple(cells), indent=1)
