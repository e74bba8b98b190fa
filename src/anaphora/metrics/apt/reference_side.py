"""APT from the reference's side, as document-level translation work reports it (Miculicich et al. 2018, HAN).

The pronouns of the reference are looked up, go back to the source through the reference's alignment, and on to the
candidate. Reference pronouns that are aligned to nothing are left out, so that the cases 5 and 6 cannot occur. There is
no rescue and no list of equivalents. Where several candidate words are pronouns and none is the right one, the
confusion matrix has the one that a set of Python 2.7 gives first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from anaphora.align.alignment import links, transposed
from anaphora.metrics.apt.idiap import OTHER, Python2Set
from anaphora.metrics.apt.task import (
    DIFFERENT,
    NO_CANDIDATE,
    NONE,
    SAME,
    Confusion,
    Outcome,
    Side,
    Task,
    Translation,
    Triple,
    Words,
)


class Occurrence(NamedTuple):
    """A reference pronoun with its position, and the source words that it is aligned to."""

    sentence: int
    reference: Side
    source: Side


def outcomes(task: Task) -> list[Outcome]:
    """The triples of every system."""
    pronouns = tuple(dict.fromkeys(task.pronouns or task.lists.reference_side or task.lists.target))
    occurrences = find_occurrences(task, frozenset(pronouns))
    return [_outcome(system, pronouns, occurrences) for system in task.systems]


def find_occurrences(task: Task, pronouns: frozenset[str]) -> list[Occurrence]:
    """The pronouns of the reference, aligned or not."""
    occurrences = []
    for number, sentence in enumerate(task.reference.sentences):
        words = [(j, word) for j, token in enumerate(sentence) if (word := token.lower()) in pronouns]
        if words:
            back = links(transposed(task.reference.alignments[number]), len(sentence))
            source = task.source[number]
            occurrences += [Occurrence(number, Side((j,), (word,)), _side(source, back[j])) for j, word in words]
    return occurrences


def _outcome(system: Translation, pronouns: tuple[str, ...], occurrences: Sequence[Occurrence]) -> Outcome:
    labels = (*pronouns, OTHER, NONE)
    index = {label: k for k, label in enumerate(labels)}
    cells: Counter[tuple[int, int]] = Counter()
    triples, groups = [], []
    for number, reference, source in occurrences:
        if not source.positions:
            continue
        (word,) = reference.words
        positions = sorted({j for i, j in system.alignments[number] if i in source.positions})
        candidate = _side(system.sentences[number], positions)
        case, column = _judged(word, candidate, index)
        triples.append(Triple(number, source, reference, candidate, case))
        groups.append(word)
        cells[index[word], column] += 1
    size = range(len(labels))
    matrix = tuple(tuple(cells[row, column] for column in size) for row in size)
    return Outcome(system.name, triples, groups, Confusion(labels, matrix), len(occurrences) - len(triples))


def _side(sentence: Words, positions: Sequence[int]) -> Side:
    return Side(tuple(positions), tuple([sentence[k].lower() for k in positions]))


def _judged(word: str, candidate: Side, index: dict[str, int]) -> tuple[int, int]:
    """The case, and the column of the confusion matrix."""
    if not candidate.positions:
        return NO_CANDIDATE, index[NONE]
    if word in candidate.words:
        return SAME, index[word]
    listed = Python2Set(index[w] for w in candidate.words if w in index)
    return DIFFERENT, next(iter(listed), index[OTHER])
