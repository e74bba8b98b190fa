"""Analysis of a study: which answers count, agreement between annotators, and exports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.core.cells import tsv_line
from anaphora.core.columns import read_columns
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer
from anaphora.languages.pronouns import normalize_word
from anaphora.measure.pair_list import COLUMNS as PAIR_COLUMNS
from anaphora.measure.pair_list import Judged, pair_list_json, pair_list_rows
from anaphora.stats.agreement import COEFFICIENTS, bootstrap_intervals, counts_of
from anaphora.stats.intervals import Interval, Ints, Resampling
from anaphora.study.model import BAD, EQUAL, GAPS, OTHER, PAIRS, A, B, Item, Study
from anaphora.study.store import Answer

REFERENCE, SYSTEM, TIE = "reference", "system", "tie"
CORRECT, INCORRECT = "correct", "incorrect"
UNDO = "undo-"  # how the request of an answer begins that brings back the one before
Key = tuple[str, str]  # annotator, item


@dataclass(frozen=True, slots=True)
class Ratings:
    """values: (items, annotators), categories as numbers, −1 where there is none."""

    items: tuple[Item, ...]
    annotators: tuple[str, ...]
    categories: tuple[str, ...]
    values: Ints
    left_out: int  # items that somebody found neither correct nor valid


def current_answers(study: Study, log: Iterable[Answer], place: str) -> dict[Key, Answer]:
    """The last answer of each person to each item, without those taken back; what cannot be one is an error."""
    current: dict[Key, Answer] = {}
    for answer in log:
        key = answer.annotator, answer.item
        problem = study.problem_with(answer.choice)
        if key not in study.orders:
            problem = f"{answer.annotator} was not asked {answer.item!r}"
        elif answer.shown != study.orders[key]:
            problem = f"the candidates of {answer.item!r} were shown in another order than the study says"
        if problem:
            remedy = "The answers do not belong to this study.json: restore the one they were given to."
            raise BadInput(place, f"answer {answer.number:,}: {problem}", remedy=remedy)
        current.pop(key, None)
        if answer.choice:
            current[key] = answer
    return current


def undoable(log: Iterable[Answer]) -> list[Answer]:
    """What one annotator's undo brings back, the last first to go: for each answer the one before it to the same item.

    An answer without one before it is undone by an empty choice. An undo is itself an entry of the log, by the name of
    its request; that of 0.1.0 took all answers to an item away.
    """
    current: dict[str, Answer] = {}
    undo: list[Answer] = []
    for answer in log:
        before = current.get(answer.item, replace(answer, choice=(), seconds=None, elapsed=None))
        if not answer.choice:
            undo = [one for one in undo if one.item != answer.item]
        elif answer.request.startswith(UNDO) and undo and undo[-1].item == answer.item:
            undo.pop()
        else:
            undo.append(before)
        current[answer.item] = answer
    return undo


def meaning(study: Study, answer: Answer) -> str:
    """What an answer says, whatever the order on the page.

    Of a pair: reference, system, tie, neither or invalid. Of a gap: correct (the translation's word is among those
    chosen), incorrect, or bad.
    """
    item = study.by_id[answer.item]
    if study.mode == PAIRS:
        choice = answer.choice[0]
        if choice in (A, B):
            return REFERENCE if answer.shown[0 if choice == A else 1] == item.gold else SYSTEM
        return TIE if choice == EQUAL else choice
    if BAD in answer.choice:
        return BAD
    return CORRECT if option_of(study, item.pronoun) in answer.choice else INCORRECT


def option_of(study: Study, word: str) -> str:
    """The option that a translation's word is; other if it is none."""
    plain = normalize_word(word)
    form = study.forms.get(plain, plain)
    return form if form in study.options else OTHER


def ratings(study: Study, current: Mapping[Key, Answer], *, ties: bool = True) -> Ratings:
    """The ratings of a study.

    Pairs that somebody found invalid, or without a correct candidate, are left out (Jwalapuram et al. 2019, §3.1).
    ties: without them an answer “equally good” counts as not given
    """
    kinds = (REFERENCE, SYSTEM, TIE) if study.mode == PAIRS else (CORRECT, INCORRECT, BAD)
    categories = kinds if ties or study.mode != PAIRS else kinds[:2]
    names = tuple(annotator.name for annotator in study.annotators)
    place = {name: k for k, name in enumerate(names)}
    row_of = {item.id: k for k, item in enumerate(study.items)}
    values = np.full((len(study.items), len(names)), -1, dtype=np.int64)
    out: set[str] = set()
    for (annotator, item), answer in current.items():
        said = meaning(study, answer)
        if said not in kinds:
            out.add(item)
        elif said in categories:
            values[row_of[item], place[annotator]] = categories.index(said)
    kept = np.array([item.id not in out for item in study.items], dtype=bool)
    items = tuple(item for item in study.items if item.id not in out)
    return Ratings(items, names, categories, values[kept], len(out))


# How well people agree: in all and for each pair of pronouns, with and without ties (eval-anaphora §3.1, Table 1).


@dataclass(frozen=True, slots=True)
class Agreement:
    """The coefficients of some items. items: those with two answers or more; values: None where one is not defined."""

    items: int
    answers: int
    values: Mapping[str, float | None]
    intervals: Mapping[str, Interval | None]

    def to_dict(self) -> dict[str, Any]:
        found = {
            name: {"value": value, "interval": list(interval) if (interval := self.intervals[name]) else None}
            for name, value in self.values.items()
        }
        return {"items": self.items, "answers": self.answers, **found}


@dataclass(frozen=True, slots=True)
class Group:
    """The items of a study, or of one pair of pronouns, and what was said of them.

    preferred: the mean over annotators of their share of answers for the reference (Table 1's Avg % Ref), or of
        answers by which the translation is correct; None without answers
    """

    name: str
    counts: Mapping[str, int]
    preferred: float | None
    with_ties: Agreement
    without_ties: Agreement | None  # None: there are no ties in gaps

    def to_dict(self) -> dict[str, Any]:
        without = self.without_ties.to_dict() if self.without_ties else None
        counts = dict(self.counts)
        return {
            "counts": counts,
            "preferred": self.preferred,
            "with_ties": self.with_ties.to_dict(),
            "without_ties": without,
        }


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    """All of it. annotators: who has answered; left_out: items found invalid or with no correct candidate."""

    title: str
    languages: str
    mode: str
    annotators: tuple[str, ...]
    answered: int
    asked: int
    left_out: int
    overall: Group
    pairs: tuple[Group, ...]
    resampling: Resampling | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "study": self.title,
            "languages": self.languages,
            "mode": self.mode,
            "annotators": list(self.annotators),
            "answered": self.answered,
            "asked": self.asked,
            "left_out": self.left_out,
            **self.overall.to_dict(),
            "pairs": {group.name: group.to_dict() for group in self.pairs},
            "samples": self.resampling.samples if self.resampling else 0,
            "confidence": (self.resampling or Resampling()).confidence,
            "seed": (self.resampling or Resampling()).seed,
        }


def pair_name(pair: tuple[str, str]) -> str:
    """he:it, the reference's pronoun first, as the tag pronoun_pair of the suites has it."""
    return ":".join(pair)


def study_agreement(
    study: Study, current: Mapping[Key, Answer], resampling: Resampling | None = None
) -> StudyAgreement:
    """The agreement of a study by the answers that count; without resampling there are no intervals."""
    full = ratings(study, current)
    reduced = ratings(study, current, ties=False) if study.mode == PAIRS else None
    rows: dict[str, list[int]] = {}
    for row, item in enumerate(full.items):
        if item.pair is not None:
            rows.setdefault(pair_name(item.pair), []).append(row)
    everything = list(range(len(full.items)))
    answering = {name for name, _ in current}
    pairs = [_group(name, full, reduced, some, resampling) for name, some in rows.items()]
    pairs = [group for group in pairs if sum(group.counts.values())]
    return StudyAgreement(
        title=study.title,
        languages=f"{study.source_language}→{study.target_language}",
        mode=study.mode,
        annotators=tuple(a.name for a in study.annotators if a.name in answering),
        answered=len(current),
        asked=len(study.orders),
        left_out=full.left_out,
        overall=_group("all", full, reduced, everything, resampling),
        pairs=tuple(sorted(pairs, key=lambda group: (-group.with_ties.items, group.name))),
        resampling=resampling,
    )


def _group(
    name: str, full: Ratings, reduced: Ratings | None, rows: Sequence[int], resampling: Resampling | None
) -> Group:
    values = full.values[rows]
    wanted = full.categories.index(REFERENCE if REFERENCE in full.categories else CORRECT)
    counts = Counter(full.categories[k] for k in values[values >= 0])
    answered = [column[column >= 0] for column in values.T]
    means = [float(np.mean(column == wanted)) for column in answered if len(column)]
    return Group(
        name,
        {category: counts[category] for category in full.categories},
        sum(means) / len(means) if means else None,
        agreement(values, len(full.categories), resampling),
        agreement(reduced.values[rows], len(reduced.categories), resampling) if reduced else None,
    )


def agreement(values: Ints, categories: int, resampling: Resampling | None) -> Agreement:
    """All coefficients of a set of ratings (items, raters); the categories are those that could be chosen."""
    values = values[(values >= 0).any(axis=1)]
    counts = counts_of(values, categories)
    found = {name: coefficient.of(values, categories) for name, coefficient in COEFFICIENTS.items()}
    intervals = bootstrap_intervals(values, categories, resampling) if resampling else dict.fromkeys(COEFFICIENTS)
    paired = int((counts.sum(axis=1) >= 2).sum())
    return Agreement(paired, int(counts.sum()), found, intervals)


# What a study gives away: its answers, the list of pronoun pairs, and human judgements of systems.

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
    """What `anaphora meta cases` reads: answers to gaps, by system, sentence and position."""
    _needs_gaps(study, "--judgements")
    rows = []
    for (annotator, name), answer in sorted(current.items(), key=lambda entry: entry[1].number):
        item = study.by_id[name]
        rows.append((item.system, item.sentence, item.position or "0", annotator, "|".join(answer.choice)))
    return table_text(("system", "sentence", "position", "annotator", "answers"), rows)


def gap_annotations(study: Study, current: Mapping[Key, Answer]) -> str:
    """What `anaphora meta discomt` reads: of each gap the translation's word and the options that people accept.

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
    """What `anaphora meta correlate` reads: systems, the column human, and the columns of a table of metrics."""
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
