"""Exports of a study: its answers, the list of pronoun pairs, and human judgments of systems."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from anaphora.core.columns import read_columns, tsv_line
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer
from anaphora.languages.pair_list import COLUMNS as PAIR_COLUMNS
from anaphora.languages.pair_list import PairJudgments, pair_list_json, pair_list_rows
from anaphora.study.analysis import CORRECT, REFERENCE, SYSTEM, TIE, Key, StudyAgreement, meaning, option_of
from anaphora.study.model import BAD, GAPS, PAIRS, Study
from anaphora.study.store import Answer

COLUMNS = (
    *("annotator", "item", "choice", "meaning", "shown", "pair", "system", "pronoun"),
    *("at", "seconds", "elapsed_seconds", "number"),
)


def answer_rows(study: Study, answers: Iterable[Answer]) -> Iterator[dict[str, Any]]:
    """Yield answers as rows. meaning is None for an answer that was taken back."""
    for answer in answers:
        item = study.by_id[answer.item]
        yield {
            "annotator": answer.annotator,
            "item": answer.item,
            "choice": list(answer.choice),
            "meaning": meaning(study, answer) if answer.choice else None,
            "shown": list(answer.shown),
            "pair": ":".join(item.pair) if item.pair else None,
            "system": item.system or None,
            "pronoun": item.pronoun or None,
            "at": answer.at,
            "seconds": answer.seconds,
            "elapsed_seconds": answer.elapsed,
            "number": answer.number,
        }


def as_jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_tsv(rows: Iterable[Mapping[str, Any]]) -> str:
    cells = ([row[name] for name in COLUMNS] for row in rows)
    return table_text(
        COLUMNS,
        (
            ["|".join(map(str, cell)) if isinstance(cell, list) else "" if cell is None else str(cell) for cell in row]
            for row in cells
        ),
    )


def table_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return tab-separated lines; tabs and line ends in cells become spaces, and no cell is a formula."""
    return "".join(tsv_line(list(row)) + "\n" for row in (columns, *rows))


def write_text(path: Path, text: str) -> None:
    with atomic_writer(path) as out:
        out.write(text.encode())


def pair_list(agreement: StudyAgreement, min_agreement: float | None = None) -> dict[str, PairJudgments]:
    """Return the pronoun pairs (he:it) with their agreement (AC1 with ties) and the answers.

    Pairs whose agreement is undefined, as no item has two answers, are left out. min_agreement: only pairs with at
    least this agreement for which annotators do not prefer the system's pronoun (§5.1).
    """
    listed = {}
    for group in agreement.pairs:
        value, counts = group.with_ties.values["ac1"], group.counts
        good = min_agreement is None or ((value or 0) >= min_agreement and counts[SYSTEM] <= counts[REFERENCE])
        if value is not None and good:
            listed[group.name] = PairJudgments(value, *(counts[kind] for kind in (REFERENCE, SYSTEM, TIE)))
    return listed


def pair_list_text(agreement: StudyAgreement, path: Path, min_agreement: float | None = None) -> str:
    """Return the list that `measure pairs --pair-list` reads: JSON, or a table for a name that ends in .tsv."""
    if agreement.mode != PAIRS:
        raise AnaphoraError(f"a study of {agreement.mode} has no pairs of pronouns: leave out --pairs")
    listed = pair_list(agreement, min_agreement)
    if not path.name.endswith((".tsv", ".tsv.gz")):
        return pair_list_json(listed)
    return table_text(PAIR_COLUMNS, pair_list_rows(listed))


def judgments(study: Study, current: Mapping[Key, Answer]) -> str:
    """Return what `anaphora meta cases` reads: answers to gaps, by system, sentence and position."""
    _needs_gaps(study, "--judgments")
    rows = []
    for (annotator, name), answer in sorted(current.items(), key=lambda entry: entry[1].number):
        item = study.by_id[name]
        rows.append((item.system, item.sentence, item.position or "0", annotator, "|".join(answer.choice)))
    return table_text(("system", "sentence", "position", "annotator", "answers"), rows)


def gap_annotations(study: Study, current: Mapping[Key, Answer]) -> str:
    """Return what `anaphora meta discomt` reads: for each gap the translation's word and the accepted options.

    Where several annotators filled a gap, an option is accepted if at least half of them chose it, and the translation
    is bad if at least half of them said so.
    """
    _needs_gaps(study, "--annotations")
    by_item: dict[str, list[Answer]] = {}
    for (_, name), answer in current.items():
        by_item.setdefault(name, []).append(answer)
    rows = []
    for item in study.items:
        if answers := by_item.get(item.id):
            votes = Counter(word for answer in answers for word in answer.choice)
            accepted = [word for word in study.choices if 2 * votes[word] >= len(answers)]
            # without a majority, any chosen option is accepted rather than calling the translation bad
            accepted = [BAD] if BAD in accepted else accepted or [w for w in study.choices if votes[w] and w != BAD]
            name = f"{item.sentence}.{item.position}" if item.position else item.sentence
            rows.append((item.system or "system", name, option_of(study, item.pronoun), ",".join(accepted)))
    return table_text(("system", "item", "translation", "accepted"), rows)


def human_accuracy(study: Study, current: Mapping[Key, Answer]) -> dict[str, float]:
    """Return for each system the share of answers by which its pronoun is correct; a bad translation is not."""
    _needs_gaps(study, "--human-scores")
    correct: dict[str, list[bool]] = {}
    for (_, name), answer in current.items():
        correct.setdefault(study.by_id[name].system or "system", []).append(meaning(study, answer) == CORRECT)
    return {system: sum(right) / len(right) for system, right in sorted(correct.items())}


def scores_table(accuracy: Mapping[str, float], metrics: Path | None = None) -> str:
    """Return what `anaphora meta correlate` reads: systems, the column human, and the columns of a table of metrics."""
    if metrics is None:
        return table_text(("system", "human"), [(system, f"{value:.6f}") for system, value in accuracy.items()])
    table = read_columns(metrics)
    first, *rest = table.names
    if "human" in rest:
        raise BadInput(metrics, "the column 'human' already exists", line=1, remedy="Rename it.")
    listed = {record.cells[first]: record for record in table.records}
    if missing := [system for system in accuracy if system not in listed]:
        remedy = "Its first column must name the systems as the study does."
        raise BadInput(metrics, f"no row for the system {missing[0]!r}", remedy=remedy)
    rows = [
        (name, f"{accuracy[name]:.6f}", *(record.cells[column] for column in rest))
        for name, record in listed.items()
        if name in accuracy
    ]
    return table_text((first, "human", *rest), rows)


def _needs_gaps(study: Study, option: str) -> None:
    if study.mode != GAPS:
        raise AnaphoraError(f"{option} needs a study of gaps, not of {study.mode}: create one with --mode gaps")
