"""Tables of attributions, and passages with each word shaded by what is attributed to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from anaphora.evaluation.attribution import OCCLUSION, SIDES
from anaphora.evaluation.attribution_result import (
    ALL,
    RIGHT,
    WRONG,
    Attributions,
    Figures,
    attribution_of,
    attributions_of,
)
from anaphora.reports.chapters import Part, joined, slug
from anaphora.reports.charts import Dot, Group, SystemStyle, dots
from anaphora.reports.tables import title_of
from anaphora.runs import Run, load
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
    occlusion = result.method == OCCLUSION
    for title, groups in (("antecedent", result.antecedent), ("highlighted words", result.highlights)):
        if groups:
            rows.append(section(title))
            rows += [_row(GROUPS[name], figures) for name, figures in groups.items()]
    for name, groups in result.breakdowns.items():
        rows.append(section(f"antecedent by {title_of(name)}"))
        rows += [_row(group, figures) for group, figures in groups.items()]
    notes = [METHOD_NOTES[result.method]]
    compared = "support" if occlusion else "share"
    if difference := result.difference.get(compared):
        change = f"{decimal(difference.mean, signed=True)} {interval_cell(difference.interval, signed=True)}"
        what = "effect" if occlusion else "share of the antecedent"
        notes.append(f"{what}, right minus wrong answers: {change}")
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


# The chapter of a report

SHOWN = 5  # passages with a right answer, and as many with a wrong one
LEGEND = "{}, {}; dashed: uniform"
KEY = (
    '<p class="mark key">The stronger the color of a {unit}, the more is attributed to it: '
    '<i class="for" style="--much:.7">blue</i> {unit}s favor the right pronoun, '
    '<i class="against" style="--much:.7">red</i> ones the wrong one; '
    '<i class="found">underlined</i> is the antecedent, or what translators have highlighted.{more}</p>'
)
LEFT_OUT = " Only sentences of the context are left out in turn; the current sentence is not shown."


@dataclass(frozen=True, slots=True)
class ShownAttributions:
    """The attributions of a run: their figures, and the examples that are shown, with their records."""

    result: Attributions
    languages: tuple[str, str]
    examples: Sequence[tuple[str, Mapping[str, Any]]]


def read_attributions(run: Run) -> ShownAttributions:
    """Read the attributions of a run. The examples that are shown are those whose answers are most certain."""
    run = load(run)
    result = attributions_of(run)
    records = [(item.id, attribution_of(run, item)) for item in run]
    records = [(name, record) for name, record in records if "antecedent" in record or "highlights" in record]
    shown = []
    for right in (True, False):
        members = [pair for pair in records if pair[1]["right"] is right]
        shown += sorted(members, key=lambda pair: -abs(pair[1]["contrast"]))[:SHOWN]
    return ShownAttributions(result, (run.header.source_language, run.header.target_language), shown)


def attribution_parts(
    systems: Sequence[tuple[str, str, ShownAttributions]], styles: Mapping[str, SystemStyle]
) -> Iterator[tuple[Part, list[str]]]:
    """Yield a chart for each suite and method, then the figures and passages of each system.

    systems: with their names, and the names of their files
    """
    kinds: dict[tuple[str, str], list[tuple[str, str, ShownAttributions]]] = {}
    for system in systems:
        result = system[2].result
        kinds.setdefault((result.suite, result.method), []).append(system)
    for (suite, method), members in kinds.items():
        groups = _groups([(name, shown.result) for name, _, shown in members]) if method != OCCLUSION else []
        if groups:
            title = "Attribution on the antecedent"
            chart = dots(title, groups, styles, LEGEND.format(suite, method))
            yield Part(slug(f"attribution {suite} {method}"), title, chart), []
        for name, file, shown in members:
            part = slug(f"attribution {file}")
            table = attribution_table(shown.result)
            yield Part(f"{part}-table", table.title, None, table, printed=True), _sentences(name, shown.result)
            if shown.examples:
                yield (
                    Part(part, f"{name}: what its most certain answers depend on ({method})", html=_passages(shown)),
                    [],
                )


def _groups(results: Sequence[tuple[str, Attributions]]) -> list[Group]:
    groups = []
    for key, label in GROUPS.items():
        shares = {name: result.antecedent[key]["share"] for name, result in results if key in result.antecedent}
        if shares:
            drawn = {
                name: Dot(mean.mean, *mean.interval, f"{name}: {100 * mean.mean:.1f} % on the antecedent")
                for name, mean in shares.items()
            }
            uniform = sum(mean.uniform or 0.0 for mean in shares.values()) / len(shares)
            totals = joined(sorted({f"{mean.total:,}" for mean in shares.values()}))
            groups.append(Group(label, f"n = {totals}", drawn, chance=uniform))
    return groups


def _sentences(name: str, result: Attributions) -> list[str]:
    """Return a sentence for the summary."""
    if ALL not in result.antecedent:
        return []
    share, support = result.antecedent[ALL]["share"], result.antecedent[ALL]["support"]
    if result.method == OCCLUSION:
        effect = f"{decimal(support.mean, signed=True)} {interval_cell(support.interval, signed=True)}"
        return [f"Without the sentence of the antecedent, {name} loses {effect} nats of log p(right) − log p(wrong)."]
    return [
        f"{name} puts {100 * share.mean:.1f} % of its attribution ({result.method}) on the antecedent in "
        f"{result.suite}; if every token had the same, it would be {100 * (share.uniform or 0):.1f} %."
    ]


def _passages(shown: ShownAttributions) -> str:
    occluded = shown.result.method == OCCLUSION
    key = KEY.format(unit="sentence" if occluded else "word", more=LEFT_OUT if occluded else "")
    return key + "".join(_passage(name, record, shown.languages, occluded) for name, record in shown.examples)


def _passage(name: str, record: Mapping[str, Any], languages: tuple[str, str], occluded: bool) -> str:
    """Return an example with each word, or each occluded sentence, shaded by its share of the largest value."""
    right, wrong = record["choice"]
    outcome = "right" if record["right"] else "wrong"
    figures = record.get("antecedent") or record.get("highlights") or {}
    where = "the antecedent" if "antecedent" in record else "highlighted words"
    share = f"{100 * figures['share']:.0f} % on {where} (uniform {100 * figures['uniform_share']:.0f} %)"
    effect = f"{decimal(figures['support'], 2, signed=True)} lost without the sentences of {where}, one at a time"
    head = (
        f"{name} · {outcome} answer: log p({right or '∅'}) − log p({wrong or '∅'}) = "
        f"{decimal(record['contrast'], 2, signed=True)} · {effect if occluded else share}"
    )
    marked = set(figures["at"])
    passages = [record["words"][side] for side in SIDES]
    largest = max((abs(value) for passage in passages for words in passage for _, value in words), default=0) or 1
    number, lines = 0, []
    for language, passage in zip(languages, passages, strict=True):
        texts = []
        for words in passage:
            parts = []
            for word, value in words:
                parts.append(_word(word, value / largest, number in marked))
                number += 1
            texts.append(_spaced([word for word, _ in words], parts))
        if language == languages[1]:
            texts.append(f"<b>{escape(right)}</b> …")
        lines.append(f'<p lang="{escape(language)}">{" ".join(filter(None, texts))}</p>')
    return f'<div class="passage"><p class="mark">{escape(head)}</p>{"".join(lines)}</div>'


def _word(word: str, much: float, marked: bool) -> str:
    kind = " ".join(filter(None, ("for" if much >= 0 else "against", "found" if marked else "")))
    return f'<span class="{kind}" style="--much:{abs(much):.2f}" title="{much:+.2f}">{escape(word)}</span>'


def _spaced(words: Sequence[str], parts: Sequence[str]) -> str:
    """Return words with spaces between them, but none before signs that end something and after those that begin it."""
    text = ""
    for k, (word, part) in enumerate(zip(words, parts, strict=True)):
        glued = re.fullmatch(r"[.,;:!?)\]’'…%]", word) or (k and re.search(r"[(\['’]$", words[k - 1]))
        text += part if glued or not k else f" {part}"
    return text
