"""Analysis of a study: which answers count, what they mean, and agreement between annotators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anaphora.core.errors import BadInput
from anaphora.evaluation.verdicts import ANSWERS
from anaphora.languages.pronouns import normalize_word
from anaphora.stats.agreement import COEFFICIENTS, bootstrap_intervals, counts_of
from anaphora.stats.intervals import Ints
from anaphora.stats.resampling import Interval, Resampling
from anaphora.study.model import BAD, EQUAL, OTHER, PAIRS, VERDICTS, A, B, Item, Study
from anaphora.study.store import Answer

REFERENCE, SYSTEM, TIE = "reference", "system", "tie"
CORRECT, INCORRECT = "correct", "incorrect"
UNDO = "undo-"  # how the request of an answer begins that brings back the one before
KINDS = {PAIRS: (REFERENCE, SYSTEM, TIE), VERDICTS: ANSWERS}  # what answers mean, the favorable one first
Key = tuple[str, str]  # annotator, item


@dataclass(frozen=True, slots=True)
class Ratings:
    """values: (items, annotators), categories as numbers, −1 where there is none."""

    items: tuple[Item, ...]
    annotators: tuple[str, ...]
    categories: tuple[str, ...]
    values: Ints
    left_out: int  # items that an annotator marked as neither or invalid


def current_answers(study: Study, log: Iterable[Answer], name: str) -> dict[Key, Answer]:
    """Return the last answer of each annotator to each item, without those taken back.

    name: of the log, for errors
    """
    current: dict[Key, Answer] = {}
    for answer in log:
        key = answer.annotator, answer.item
        problem = study.problem_with(answer.choice)
        if key not in study.orders:
            problem = f"{answer.item!r} was not assigned to {answer.annotator}"
        elif answer.shown != study.orders[key]:
            problem = f"the candidates of {answer.item!r} were shown in another order than in the study"
        if problem:
            remedy = "The answers belong to another study.json: restore the one they were collected with."
            raise BadInput(name, f"answer {answer.number:,}: {problem}", remedy=remedy)
        current.pop(key, None)
        if answer.choice:
            current[key] = answer
    return current


def undoable(log: Iterable[Answer]) -> list[Answer]:
    """Return what one annotator's undo restores, the next one last: for each answer the previous one to its item.

    An answer without a previous one is undone by an empty choice. An undo is itself an entry of the log, recognized by
    its request; that of 0.1.0 removed all answers to an item.
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
    """Return what an answer means, independent of the order on the page.

    For a pair: reference, system, tie, neither or invalid. For a gap: correct (the translation's word is among those
    chosen), incorrect, or bad. A verdict means what it says: right, wrong or unclear.
    """
    item = study.by_id[answer.item]
    if study.mode == VERDICTS:
        return answer.choice[0]
    if study.mode == PAIRS:
        choice = answer.choice[0]
        if choice in (A, B):
            return REFERENCE if answer.shown[0 if choice == A else 1] == item.gold else SYSTEM
        return TIE if choice == EQUAL else choice
    if BAD in answer.choice:
        return BAD
    return CORRECT if option_of(study, item.pronoun) in answer.choice else INCORRECT


def option_of(study: Study, word: str) -> str:
    """Return the option that a word of a translation belongs to; `other` if there is none."""
    plain = normalize_word(word)
    form = study.forms.get(plain, plain)
    return form if form in study.options else OTHER


def ratings(study: Study, current: Mapping[Key, Answer], *, ties: bool = True) -> Ratings:
    """Return the rating matrix of a study.

    Pairs that an annotator marked as invalid, or as neither correct, are left out (Jwalapuram et al. 2019, §3.1).
    ties: without them an answer “equally good” counts as not given
    """
    kinds = KINDS.get(study.mode, (CORRECT, INCORRECT, BAD))
    categories = kinds if ties or study.mode != PAIRS else kinds[:2]
    names = tuple(annotator.name for annotator in study.annotators)
    column_of = {name: k for k, name in enumerate(names)}
    row_of = {item.id: k for k, item in enumerate(study.items)}
    values = np.full((len(study.items), len(names)), -1, dtype=np.int64)
    out: set[str] = set()
    for (annotator, item), answer in current.items():
        category = meaning(study, answer)
        if category not in kinds:
            out.add(item)
        elif category in categories:
            values[row_of[item], column_of[annotator]] = categories.index(category)
    kept = np.array([item.id not in out for item in study.items], dtype=bool)
    items = tuple(item for item in study.items if item.id not in out)
    return Ratings(items, names, categories, values[kept], len(out))


# Agreement overall and for each pair of pronouns, with and without ties (eval-anaphora §3.1, Table 1).


@dataclass(frozen=True, slots=True)
class Agreement:
    """The coefficients of some items. items: those with two answers or more; values: None where one is not defined."""

    items: int
    answers: int
    values: Mapping[str, float | None]
    intervals: Mapping[str, Interval | None]

    def to_dict(self) -> dict[str, Any]:
        coefficients = {
            name: {"value": value, "interval": list(interval) if (interval := self.intervals[name]) else None}
            for name, value in self.values.items()
        }
        return {"items": self.items, "answers": self.answers, **coefficients}


@dataclass(frozen=True, slots=True)
class Group:
    """The items of a study, or of one pair of pronouns, and the answers to them.

    preferred: the mean over annotators of their share of answers for the reference (Table 1's Avg % Ref), or of
        answers by which the translation is correct, the first category; None without answers
    """

    name: str
    counts: Mapping[str, int]
    preferred: float | None
    with_ties: Agreement
    without_ties: Agreement | None  # None: only pairs have ties

    def to_dict(self) -> dict[str, Any]:
        return {
            "counts": dict(self.counts),
            "preferred": self.preferred,
            "with_ties": self.with_ties.to_dict(),
            "without_ties": self.without_ties.to_dict() if self.without_ties else None,
        }


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    """The agreement of a study. annotators: those who answered; left_out: items marked as invalid or neither."""

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


def study_agreement(
    study: Study, current: Mapping[Key, Answer], resampling: Resampling | None = None
) -> StudyAgreement:
    """Return the agreement of a study by its current answers; without resampling there are no intervals."""
    full = ratings(study, current)
    reduced = ratings(study, current, ties=False) if study.mode == PAIRS else None
    rows: dict[str, list[int]] = {}
    for row, item in enumerate(full.items):
        if item.pair is not None:
            rows.setdefault(":".join(item.pair), []).append(row)  # he:it, the reference first
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
    counts = Counter(full.categories[k] for k in values[values >= 0])
    answered = [column[column >= 0] for column in values.T]
    means = [float(np.mean(column == 0)) for column in answered if len(column)]
    return Group(
        name,
        {category: counts[category] for category in full.categories},
        sum(means) / len(means) if means else None,
        agreement(values, len(full.categories), resampling),
        agreement(reduced.values[rows], len(reduced.categories), resampling) if reduced else None,
    )


def agreement(values: Ints, categories: int, resampling: Resampling | None) -> Agreement:
    """Return all coefficients of ratings (items, raters); categories: how many could be chosen."""
    values = values[(values >= 0).any(axis=1)]
    counts = counts_of(values, categories)
    by_name = {name: coefficient.of(values, categories) for name, coefficient in COEFFICIENTS.items()}
    intervals = bootstrap_intervals(values, categories, resampling) if resampling else dict.fromkeys(COEFFICIENTS)
    paired = int((counts.sum(axis=1) >= 2).sum())
    return Agreement(paired, int(counts.sum()), by_name, intervals)
