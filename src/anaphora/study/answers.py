"""What the answers mean: which of the log count, what A and B were, and the ratings that agreement is reckoned from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from anaphora.core.errors import BadInput
from anaphora.languages.pronouns import normalise
from anaphora.stats.intervals import Ints
from anaphora.study.model import BAD, EQUAL, OTHER, PAIRS, A, B, Item, Study
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
    plain = normalise(word)
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
