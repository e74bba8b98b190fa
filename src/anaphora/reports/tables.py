"""Tables of evaluation: accuracy, comparisons, attacks, generative accuracy, context usage and diagnoses."""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from anaphora.align.tokenize import notes as text_notes
from anaphora.core.files import atomic_writer
from anaphora.evaluation.compare import Comparison, Difference, Pair
from anaphora.evaluation.context_usage import Condition, ContextUsage
from anaphora.evaluation.diagnosis import Check, Diagnosis
from anaphora.evaluation.diagnosis_evidence import STEPS
from anaphora.evaluation.generative import Counts, Generative
from anaphora.evaluation.own_antecedent import NO_CONTEXT, AgreementCounts
from anaphora.evaluation.result import Proportion, Result
from anaphora.evaluation.robustness import Attack, Robustness
from anaphora.languages.attack_presets import built_in
from anaphora.measurement import Measurement
from anaphora.stats.resampling import Interval
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
    rows_of,
    section,
)

T = TypeVar("T")
# what the tags of the published suites are called in their papers
TITLES = {
    "reference_pronoun": "reference pronoun",
    "source_pronoun": "source pronoun",
    "pronoun_pair": "pronoun pair",  # source and reference in some suites, reference and system in others
    "location": "antecedent location",
    "distance": "antecedent distance",
    "reference_gender": "reference gender",
    "form": "gender and number",
    "correctness": "translation of the antecedent",
}


def title_of(breakdown: str) -> str:
    """Return the heading of a breakdown."""
    return " × ".join(TITLES.get(tag, tag) for tag in breakdown.split("×"))


def result_table(result: Result) -> Table:
    """Return accuracy overall and by every breakdown, with intervals."""
    rows = []
    if result.figure.total:
        rows.append(Row(("all", *proportion_cells(result.figure))))
    if result.blocks:
        rows.append(Row(("blocks entirely right", *proportion_cells(result.blocks))))
    for name, groups in result.breakdowns.items():
        rows.append(section(title_of(name)))
        rows += rows_of([(group, *proportion_cells(figure)) for group, figure in groups.items()])
    for name, choices in result.priors.items():
        rows.append(section(f"{name}: what is chosen (no right answer)"))
        rows += rows_of([(choice, *proportion_cells(figure)) for choice, figure in choices.items()])
    notes = [f"{title_of(name)}: {n:,} without a value" for name, n in result.untagged.items()]
    for name, n in result.unpaired.items():
        notes.append(f"{name}: {n:,} without the other order of {'its' if n == 1 else 'their'} nouns, not counted")
    if result.cut_blocks:
        are, them = ("block is", "it") if result.cut_blocks == 1 else ("blocks are", "them")
        notes.append(f"{result.cut_blocks:,} {are} not counted, as not every example of {them} was scored")
    if result.unanswered:
        example = f", e.g. {result.answers[0]!r}" if result.answers else ""
        are = "example has" if result.unanswered == 1 else "examples have"
        notes.append(f"{result.unanswered:,} {are} no answer and count as wrong{example}")
    notes.append(f"{result.ties:,} {'tie' if result.ties == 1 else 'ties'} · signature {result.signature}")
    columns = ("", "n", "accuracy", level(result.settings.confidence))
    context = f" · context {result.context}" if result.context else ""
    title = f"{result.suite} {arrow(result.languages)}{f' · {result.system}' if result.system else ''}{context}"
    return Table(title, columns, tuple(rows), tuple(notes))


def comparison_table(comparison: Comparison, *, breakdowns: bool = True) -> Table:
    """Return differences with intervals and p-values: a section per pair or, without breakdowns, a row per pair."""
    rows = []
    for pair in comparison.pairs:
        if not breakdowns:
            rows.append(Row((f"{pair.first} → {pair.second}", *difference_cells(pair.overall))))
            continue
        rows += pair_rows(pair, f"{len(pair.gained):,} items gained, {len(pair.lost):,} lost")
    columns = ("", "n", "first", "second", "difference", level(comparison.settings.confidence), "p")
    notes = [p_note(comparison.test)]
    if comparison.repeated and breakdowns:
        notes.append(left_out(comparison.repeated))
    notes.append(f"signature {comparison.signature}")
    return Table(f"{comparison.suite} {arrow(comparison.languages)}", columns, tuple(rows), tuple(notes))


def pair_rows(pair: Pair, changed: str, digits: int = 3, *, titled: bool = True) -> list[Row]:
    """Return the section of a pair of systems: differences overall and by breakdown, and how many items changed.

    titled: whether groups stand after the title of their breakdown
    """
    rows = [section(f"{pair.first} → {pair.second}")]
    rows += rows_of([("all", *difference_cells(pair.overall, digits))])
    for name, groups in pair.breakdowns.items():
        lead = f"{title_of(name)}: " if titled else ""
        rows += rows_of([(f"{lead}{group}", *difference_cells(groups[group], digits)) for group in groups], indent=2)
    return [*rows, *rows_of([(changed, *[""] * 6)])]


def left_out(repeated: Mapping[str, str]) -> str:
    """Return a note on breakdowns that are not shown because another one has the same groups."""
    names = (f"{title_of(name)} (the same groups as {title_of(kept)})" for name, kept in repeated.items())
    return f"left out: {', '.join(names)}"


def proportion_cells(figure: Proportion) -> tuple[str, str, str]:
    """Return n, accuracy and interval."""
    return f"{figure.total:,}", decimal(figure.accuracy), interval_cell(figure.interval)


def difference_cells(difference: Difference, digits: int = 3) -> tuple[str, ...]:
    """Return n, the two figures, their difference with its interval, and p with stars."""
    figures = (f"{difference.first:.{digits}f}", f"{difference.second:.{digits}f}")
    change = change_cells(difference.delta, difference.interval, difference.p_adjusted, digits)
    return (f"{difference.total:,}", *figures, *change)


def change_cells(delta: float, interval: Interval, p: float, digits: int) -> tuple[str, str, str]:
    """Return a difference with its sign, its interval, and p with stars."""
    return decimal(delta, digits, signed=True), interval_cell(interval, digits, signed=True), p_text(p)


# Attacks: tables in the form of ContraCAT's Tables 4 and 5.

PRESETS = {"phrase-addition": "phrase", "possessive-extension": "possessive"}  # whose presets have rows in the paper


def robustness_table(robustness: Robustness) -> Table:
    """Return accuracy before and after each attack on the same items, by kind of attack."""
    figure = robustness.before
    rows = [Row(("not attacked", f"{figure.total:,}", decimal(figure.accuracy or 0), "", "", "", ""))]
    for kind, attacks in itertools.groupby(robustness.attacks, key=lambda attack: attack.kind):
        members = list(attacks)
        indent = int(members[0].name != kind)  # no heading over a kind that is one attack, such as no-context
        if indent:
            rows.append(section(kind.replace("-", " ")))
        for attack in members:
            rows += rows_of([(attack_label(attack), *difference_cells(attack.pair.overall))], indent)
            for name, groups in attack.pair.breakdowns.items():
                cells = [(f"{title_of(name)}: {g}", *difference_cells(groups[g])) for g in groups]
                rows += rows_of(cells, indent + 1)
    columns = ("", "n", "before", "after", "change", level(robustness.settings.confidence), "p")
    everything = f"all {figure.total:,} items: {interval_cell(figure.interval)}"
    notes = (
        f"before and after: accuracy on the n attacked items; {everything}",
        p_note(robustness.test),
        *([left_out(robustness.repeated)] if robustness.repeated else []),
        f"signature {robustness.signature}",
    )
    title = f"{robustness.suite} {arrow(robustness.languages)} · {robustness.system}"
    return Table(title, columns, tuple(rows), notes)


def attack_label(attack: Attack) -> str:
    """Return the name of an attack, with its wording in the paper's tables where it is one of theirs."""
    name, wording = attack.name.partition("/")[2], _wording(attack)
    return f"{name}  {wording}" if wording else name or attack.name.replace("-", " ")


def attack_wording(attack: Attack) -> str:
    """Return the wording of an attack in the paper's tables; its name where it is not one of theirs."""
    return _wording(attack) or attack.name.partition("/")[2] or attack.name.replace("-", " ")


def _wording(attack: Attack) -> str:
    presets = built_in(PRESETS[attack.kind]) if attack.kind in PRESETS else {}
    return str(presets.get(attack.name.partition("/")[2], {}).get("table", ""))


# Generative accuracy and context usage.


def generative_table(results: list[Generative]) -> Table:
    """Return the pronouns that are correct, wrong and not found, with a section for each system."""

    def cells(numbers: Counts) -> tuple[str, ...]:
        figures = (decimal(numbers.accuracy), interval_cell(numbers.interval), decimal(numbers.among_found))
        outcomes = [numbers.total, numbers.correct, numbers.wrong, numbers.not_found]
        outcomes += [] if numbers.unclear is None else [numbers.unclear]
        return (*counts(outcomes), *figures)

    first = results[0]
    asked = first.judged is not None
    rows: list[Row] = []
    notes = text_notes({name: treatment for result in results for name, treatment in result.texts.items()})
    for result in results:
        lead = f"{result.system}: " if len(results) > 1 else ""
        rows += _outcome_rows(lead, result.counts, result.breakdowns, cells)
        if result.gap is not None:
            gap = result.gap.difference
            by = f"{'higher' if gap > 0 else 'lower'} by {abs(gap):.3f}" if round(gap, 3) else "the same"
            difference = f"{decimal(gap, signed=True)} {interval_cell(result.gap.interval, signed=True)}"
            accuracy = f"{decimal(result.gap.contrastive)}, {by} (difference {difference})"
            notes.append(f"{lead}contrastive accuracy on the same examples {accuracy}")
        methods = " · ".join(f"{how} {number:,}" for how, number in sorted(result.how.items()))
        notes.append(f"{lead}decided by {methods}")
        if result.judged is not None:
            notes.append(f"{lead}{result.judged}")
    if first.ceiling is not None:
        notes.append(f"the references themselves, judged in the same way: {first.ceiling:.3f}")
    uncounted = "what is not found or unclear" if asked else "what is not found"
    notes.append(f"{uncounted} counts as wrong · signature {first.signature}")
    title = f"{first.suite} {arrow(first.languages)} · the system's own translations"
    unclear = ("unclear",) if asked else ()
    columns = ("", "n", "correct", "wrong", "not found", *unclear, "accuracy", "95 % interval", "among found")
    return Table(title if len(results) > 1 else f"{title} · {first.system}", columns, tuple(rows), tuple(notes))


def _outcome_rows(
    lead: str, overall: T, breakdowns: Mapping[str, Mapping[str, T]], cells: Callable[[T], tuple[str, ...]]
) -> list[Row]:
    """Return the rows of one system: all examples, and a section for each breakdown.

    lead: the name of the system and a colon, where there are several
    """
    rows = [section(lead.removesuffix(": "))] if lead else []
    rows += rows_of([("all", *cells(overall))])
    for name, groups in breakdowns.items():
        rows += [section(f"{lead}{title_of(name)}"), *rows_of([(group, *cells(groups[group])) for group in groups])]
    return rows


def usage_table(usage: ContextUsage) -> Table:
    """Return a row per condition: accuracy, and CXMI of the sentence and of the pronoun in nats."""
    rows = tuple(Row((condition.name, *_usage_cells(condition))) for condition in usage.conditions)
    columns = ("context", "n", "accuracy", "interval", "CXMI", "interval", "pronoun", "interval")
    reads = f"the system reads at most {usage.reads} of the sentences asked for" if usage.reads else ""
    notes = (
        *filter(None, [reads]),
        "CXMI: how much more probable the right translation becomes, in nats; pronoun: its first differing token",
        f"{usage.settings.confidence:.0%} intervals · signature {usage.signature}",
    )
    return Table(f"{usage.suite} {arrow(usage.languages)} · {usage.system}", columns, rows, notes)


def _usage_cells(condition: Condition) -> tuple[str, ...]:
    figure = condition.figure
    cells = [f"{figure.total:,}", decimal(figure.accuracy or 0), interval_cell(figure.interval)]
    for focus in ("current", "pronoun"):
        cxmi = condition.cxmi.get(focus)
        if cxmi is None:
            cells += [MISSING, ""]
        else:
            cells += [decimal(cxmi.mean, signed=True), interval_cell(cxmi.interval, signed=True)]
    return tuple(cells)


# Diagnosis: statements first, then one table with a group of columns per system.

MARKS = {"failure": "✗", "weakness": "~", "note": "·", "strength": "✓"}
WIDTH = 110
STATEMENT_FORMATS = ("table", "markdown")  # the formats that have statements above the table


def diagnosis_text(diagnoses: Sequence[Diagnosis], format: str = "table") -> str:
    """Return the statements on each system and what to try, as wrapped lines or as Markdown lists."""
    texts = []
    for diagnosis in diagnoses:
        title, statements = diagnosis_title(diagnosis), diagnosis_statements(diagnosis)
        if format == "markdown":
            lines = [f"**{title}**\n", *(f"- {line}" for line in statements)]
        else:
            wrapped = [textwrap.wrap(line, WIDTH, subsequent_indent="  ") for line in statements]
            lines = [title, *itertools.chain.from_iterable(wrapped)]
        texts.append("\n".join(lines))
    return "\n\n".join(texts)


def diagnosis_statements(diagnosis: Diagnosis) -> list[str]:
    """Return the statements on a system, each with its mark, and what to try."""
    lines = [f"{MARKS[statement.severity]} {statement.text}" for statement in diagnosis.statements]
    lines = lines or ["· Nothing can be said: there are too few items."]
    reasons: dict[str, list[str]] = {}
    for command, text, _ in diagnosis.advice:
        reasons.setdefault(command, []).append(text)
    return [*lines, *(f"→ what to try: {command} ({'; '.join(texts)})" for command, texts in reasons.items())]


def diagnosis_table(diagnoses: Sequence[Diagnosis]) -> Table:
    """Return a row per check under its step; several systems are next to each other, called A, B …"""
    several = len(diagnoses) > 1
    heading = level(diagnoses[0].settings.confidence)
    columns = [""]
    for k in range(len(diagnoses)):
        letter = f"{letter_of(k)} " if several else ""
        columns += [f"{letter}{name}" for name in ("n", "figure", heading, "verdict")]
    rows: list[Row] = []
    for step in STEPS:
        by_system = [{(c.rule, c.name): c for c in d.checks if c.step == step} for d in diagnoses]
        keys = list(dict.fromkeys(key for checks in by_system for key in checks))
        if not keys:
            continue
        rows.append(section(step))
        for key in keys:
            cells = [cell for checks in by_system for cell in _check_cells(checks.get(key))]
            part = any(checks[key].part for checks in by_system if key in checks)
            rows += rows_of([(key[1], *cells)], indent=1 + part)
    return Table("which step fails, and why", tuple(columns), tuple(rows), _diagnosis_notes(diagnoses, several))


def write_items(diagnoses: Sequence[Diagnosis], folder: Path) -> list[Path]:
    """Write the items behind the statements as JSON Lines, a file per rule; several systems have a folder each."""
    rows: dict[Path, list[dict[str, Any]]] = {}
    for k, diagnosis in enumerate(diagnoses):
        subfolder = folder / letter_of(k) if len(diagnoses) > 1 else folder
        for statement in diagnosis.statements:
            file = rows.setdefault(subfolder / f"{statement.rule.replace('/', '-')}.jsonl", [])
            for check in statement.checks:
                about = {"rule": check.rule, "verdict": check.measured.verdict, "suite": check.suite}
                file += [{"id": item, **about} for item in check.measured.items]
    for path, lines in rows.items():
        with atomic_writer(path) as out:
            out.writelines(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
    return list(rows)


def diagnosis_title(diagnosis: Diagnosis) -> str:
    """Return the system, the languages and how the system was measured."""
    context = f" · context {diagnosis.context}" if diagnosis.context else ""
    if code := Measurement(settings=diagnosis.protocol).code:
        context += f" · settings {code}"
    return f"{diagnosis.system} · {arrow(diagnosis.languages)}{context}"


def letter_of(k: int) -> str:
    """Return A, B … Z, then A2, B2 …"""
    return chr(ord("A") + k % 26) + (str(k // 26 + 1) if k >= 26 else "")


def _check_cells(check: Check | None) -> tuple[str, str, str, str]:
    if check is None:
        return MISSING, MISSING, MISSING, MISSING
    value, interval = check.measured.value, check.measured.interval
    figures = decimal(value, signed=check.signed), interval_cell(interval, signed=check.signed)
    return f"{check.measured.total:,}", *figures, check.shown


def _diagnosis_notes(diagnoses: Sequence[Diagnosis], several: bool) -> tuple[str, ...]:
    limits = diagnoses[0].thresholds
    names = [f"{letter_of(k)}: {diagnosis_title(d)}" for k, d in enumerate(diagnoses)] if several else []
    verdicts = f"known: interval above {limits.known:g}; fails: interval not above chance; "
    verdicts += f"figures of fewer than {limits.minimum} items are not interpreted; rules: docs/diagnosis.md"
    letters = [f"{letter_of(k)} " if several else "" for k in range(len(diagnoses))]
    signatures = [f"{letter}signature {d.signature}" for letter, d in zip(letters, diagnoses, strict=True)]
    return (*names, verdicts, *signatures)


# Tables of the agreement of pronouns with the antecedents in a system's own translations.


OWN_NOTE = "agreement: the share that agrees among the decided, which are those that agree or disagree"


def own_table(results: list[Generative]) -> Table:
    """Return the pronouns that agree with the own antecedent or not, with a section for each system."""

    def cells(numbers: AgreementCounts) -> tuple[str, ...]:
        interval = None if numbers.agreement is None else numbers.interval
        figures = (decimal(numbers.agreement), interval_cell(interval))
        every = (numbers.total, numbers.agrees, numbers.disagrees, numbers.not_found, numbers.unclear)
        return (*counts(every), *figures)

    first = results[0]
    rows: list[Row] = []
    notes: list[str] = []
    for result in results:
        own = result.own
        if own is None:
            continue
        lead = f"{result.system}: " if len(results) > 1 else ""
        rows += _outcome_rows(lead, own.counts, own.breakdowns, cells)
        figures = own.to_dict()
        if figures["accuracy_by_reference"] is not None:
            notes.append(
                f"{lead}by the reference {decimal(figures['accuracy_by_reference'])} of the same examples are correct; "
                f"{figures['wrong_but_agrees']:,} that are wrong by the reference agree with the own antecedent, "
                f"{figures['correct_but_disagrees']:,} that are correct do not"
            )
        if own.judged is not None:
            notes.append(f"{lead}{own.judged}")
        if own.reasons:
            notes.append(f"{lead}{' · '.join(f'{reason} {number:,}' for reason, number in own.reasons.items())}")
        if own.reasons.get(NO_CONTEXT):
            notes.append(f"{lead}translate documents to find all antecedents: suites convert --to sources --documents")
        if own.untagged:
            notes.append(f"{lead}{own.untagged:,} examples without a known antecedent are not counted")
    notes += [OWN_NOTE, f"signature {first.signature}"]
    title = f"{first.suite} {arrow(first.languages)} · agreement with the own antecedent"
    columns = ("", "n", "agrees", "disagrees", "not found", "unclear", "agreement", "95 % interval")
    return Table(title if len(results) > 1 else f"{title} · {first.system}", columns, tuple(rows), tuple(notes))
