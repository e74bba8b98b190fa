"""Context usage as a table and as a curve."""

from __future__ import annotations

from anaphora.evaluation.context_usage import Condition, ContextUsage, sentences_of
from anaphora.reports.curve import Point, Series, curve
from anaphora.reports.page.systems import looks, short_name
from anaphora.table import Row, Table


def usage_table(usage: ContextUsage) -> Table:
    """A row per condition: accuracy, and CXMI of the sentence and of the pronoun in nats."""
    rows = tuple(Row((condition.name, *_cells(condition))) for condition in usage.conditions)
    columns = ("context", "n", "accuracy", "interval", "CXMI", "interval", "pronoun", "interval")
    reads = f"the system reads at most {usage.reads} of the sentences asked for" if usage.reads else ""
    notes = (
        *filter(None, [reads]),
        "CXMI: how much more probable the right translation becomes, in nats; pronoun: its first differing token",
        f"{usage.settings.confidence:.0%} intervals · signature {usage.signature}",
    )
    title = f"{usage.suite} {usage.languages.replace('-', '→')} · {usage.system}"
    return Table(title, columns, rows, notes)


def usage_curve(usage: ContextUsage) -> str:
    """Accuracy over the number of context sentences, with random and shuffled context to compare with."""
    points = [_point(str(c.sentences), c) for c in sentences_of(usage)]
    levels = [_point(f"{c.name} context", c) for c in usage.conditions if c.name in ("random", "shuffled")]
    (look,) = looks([short_name(usage.system)]).values()
    title = f"Accuracy by context: {usage.suite}"
    return curve(title, "sentences of context", "accuracy in %", [Series(look, points, levels)])


def _point(label: str, condition: Condition) -> Point:
    return Point(label, condition.figure.accuracy or 0.0, *condition.figure.interval)


def _cells(condition: Condition) -> tuple[str, ...]:
    figure = condition.figure
    cells = [
        f"{figure.total:,}",
        f"{figure.accuracy or 0:.3f}",
        f"[{figure.interval[0]:.3f}, {figure.interval[1]:.3f}]",
    ]
    for focus in ("current", "pronoun"):
        information = condition.cxmi.get(focus)
        if information is None:
            cells += ["–", ""]
        else:
            low, high = information.interval
            cells += [f"{information.mean:+.3f}", f"[{low:+.3f}, {high:+.3f}]"]
    return tuple(cells)
