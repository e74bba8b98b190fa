"""What a study gives away: its answers, the list of pronoun pairs, and human judgements of systems."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from anaphora.core.cells import tsv_line
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer
from anaphora.measure.pair_list import COLUMNS as PAIR_COLUMNS
from anaphora.measure.pair_list import Judged, pair_list_json, pair_list_rows
from anaphora.metrics.columns import read_columns
from anaphora.study.agreement import StudyAgreement
from anaphora.study.answers import CORRECT, REFERENCE, SYSTEM, TIE, Key, meaning, option_of
from anaphora.study.model import BAD, GAPS, PAIRS, Study
from anaphora.study.store import Answer

MIN_AGREEMENT = 0.8  # Jwalapuram et al. 2019, §5.1
COLUMNS = (
    *("annotator", "item", "choice", "meaning", "shown", "pair", "system", "pronoun"),
    *("at", "seconds", "elapsed_seconds", "number"),
)


def answer_rows(study: Study, answers: Iterable[Answer]) -> Iterator[dict[str, Any]]:
    """Answers as they go out. meaning is None for an answer that was taken back."""
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
    return table_text(COLUMNS, ([_cell(row[name]) for name in COLUMNS] for row in rows))


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return "|".join(map(str, value))
    return "" if value is None else str(value)


def table_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Tab-separated lines; a tab or a line end inside a cell becomes a space, and no cell is a formula."""
    return "".join(tsv_line(list(row)) + "\n" for row in (columns, *rows))


def write_text(path: Path, text: str) -> None:
    with atomic_writer(path) as out:
        out.write(text.encode())


def pair_list(found: StudyAgreement, min_agreement: float | None = None) -> dict[str, Judged]:
    """The pronoun pairs (he:it) with their agreement (AC1 with ties) and what was chosen.

    Pairs whose agreement is not known, as nobody answered an item twice, are not in it. min_agreement: only pairs with
    at least this agreement for which people do not prefer the system's pronoun (§5.1).
    """
    listed = {}
    for group in found.pairs:
        value = group.with_ties.values["ac1"]
        if value is None:
            continue
        if min_agreement is not None and (value < min_agreement or group.counts[SYSTEM] > group.counts[REFERENCE]):
            continue
        listed[group.name] = Judged(value, *(group.counts[kind] for kind in (REFERENCE, SYSTEM, TIE)))
    return listed


def pair_list_text(found: StudyAgreement, path: Path, min_agreement: float | None = None) -> str:
    """The list as `measure pairs --pair-list` reads it: JSON, or a table for a name that ends in .tsv."""
    if found.mode != PAIRS:
        raise AnaphoraError("a study of gaps has no pairs of pronouns: leave out --pairs")
    listed = pair_list(found, min_agreement)
    if not path.name.endswith((".tsv", ".tsv.gz")):
        return pair_list_json(listed)
    return table_text(PAIR_COLUMNS, pair_list_rows(listed))


def judgements(study: Study, current: Mapping[Key, Answer]) -> str:
    """What `anaphora apt-judgements` reads: answers to gaps, by system, sentence and position."""
    _needs_gaps(study, "--judgements")
    rows = []
    for (annotator, name), answer in sorted(current.items(), key=lambda entry: entry[1].number):
        item = study.by_id[name]
        rows.append((item.system, item.sentence, item.position or "0", annotator, "|".join(answer.choice)))
    return table_text(("system", "sentence", "position", "annotator", "answers"), rows)


def gap_annotations(study: Study, current: Mapping[Key, Answer]) -> str:
    """What `anaphora discomt` reads: of each gap the translation's word and the options that people accept.

    Where several people filled a gap, an option counts that at least half of them chose, and the translation is bad if
    at least half of them found it so.
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
            # people who chose nothing in common: what anybody chose is better than calling it bad
            accepted = [BAD] if BAD in accepted else accepted or [w for w in study.choices if votes[w] and w != BAD]
            place = f"{item.sentence}.{item.position}" if item.position else item.sentence
            rows.append((item.system or "system", place, option_of(study, item.pronoun), ",".join(accepted)))
    return table_text(("system", "item", "translation", "accepted"), rows)


def human_accuracy(study: Study, current: Mapping[Key, Answer]) -> dict[str, float]:
    """For each system the share of answers by which its pronoun is correct; a bad translation is not."""
    _needs_gaps(study, "--human")
    said: dict[str, list[bool]] = {}
    for (_, name), answer in current.items():
        said.setdefault(study.by_id[name].system or "system", []).append(meaning(study, answer) == CORRECT)
    return {system: sum(right) / len(right) for system, right in sorted(said.items())}


def scores_table(accuracy: Mapping[str, float], metrics: Path | None = None) -> str:
    """What `anaphora correlate` reads: systems, the column human, and the columns of a table of metrics."""
    if metrics is None:
        return table_text(("system", "human"), [(system, f"{value:.6f}") for system, value in accuracy.items()])
    table = read_columns(metrics)
    first, *rest = table.names
    if "human" in rest:
        raise BadInput(metrics, "there is a column 'human' already", line=1, remedy="Call it something else.")
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
        raise AnaphoraError(f"{option} is about gaps, and this is a study of pairs: make one with --mode gaps")
