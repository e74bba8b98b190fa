"""Orders that a Python 2.7 program leaves to chance, and that its published output shows.

The original program of APT ran on Python 2.7 with NumPy of its time. It takes the first element of sets, lists the
words of a set, and sorts counts with ties by an unstable sort. To reproduce its files byte for byte, the order of
Python 2.7's sets (64 bits, without hash randomization) and of NumPy's quicksort of that time is computed here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from anaphora.metrics.apt.task import (
    DIFFERENT,
    EQUIVALENT,
    NEITHER,
    NO_CANDIDATE,
    NO_REFERENCE,
    NONE,
    SAME,
    Confusion,
    Occurrence,
    Outcome,
    Side,
    Task,
    Translation,
    Triple,
    Words,
)

Key = TypeVar("Key", bound="str | int | None")
BITS = (1 << 64) - 1
PERTURB_SHIFT = 5
SMALL = 15  # NumPy's quicksort leaves parts of one more than this to insertion sort


def python2_hash(key: str | int | None) -> int:
    """The hash of a text or a small number, as an unsigned number. That of None was an address: any will do."""
    if not isinstance(key, str):
        return key or 0
    if not key:
        return 0
    value = ord(key[0]) << 7
    for character in key:
        value = ((1000003 * value) & BITS) ^ ord(character)
    value ^= len(key)
    return value if value != BITS else BITS - 1


class Python2Set(Generic[Key]):
    """A set that is iterated in the order of Python 2.7: open addressing in a table that grows by four."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self._table: list[tuple[Key] | None] = [None] * 8
        self._used = 0
        self.update(keys)

    def __len__(self) -> int:
        return self._used

    def __iter__(self) -> Iterator[Key]:
        return (entry[0] for entry in self._table if entry is not None)

    def __contains__(self, key: Key) -> bool:
        return self._table[self._slot(key)] is not None

    def update(self, keys: Iterable[Key]) -> None:
        for key in keys:
            if self._insert(key) and self._used * 3 >= len(self._table) * 2:
                self._resize(self._used * (4 if self._used <= 50_000 else 2))

    def union(self, other: Python2Set[Key]) -> Python2Set[Key]:
        """A copy of this set, joined by the other in the other's order, each with one resize before."""
        result: Python2Set[Key] = Python2Set()
        for part in (self, other):
            if (result._used + part._used) * 3 >= len(result._table) * 2:
                result._resize((result._used + part._used) * 2)
            for key in part:
                result._insert(key)
        return result

    def intersection(self, other: Python2Set[Key]) -> Python2Set[Key]:
        """The common elements, added in the order of the other set, or of this one if it is the smaller."""
        large, small = (self, other) if len(other) <= len(self) else (other, self)
        return Python2Set(key for key in small if key in large)

    def _slot(self, key: Key) -> int:
        """The position of a key in the table, or the one it would have."""
        mask = len(self._table) - 1
        slot = perturb = python2_hash(key)
        while (entry := self._table[slot & mask]) is not None and entry[0] != key:
            slot = slot * 5 + perturb + 1
            perturb >>= PERTURB_SHIFT
        return slot & mask

    def _insert(self, key: Key) -> bool:
        slot = self._slot(key)
        if self._table[slot] is not None:
            return False
        self._table[slot] = (key,)
        self._used += 1
        return True

    def _resize(self, more_than: int) -> None:
        size = 8
        while size <= more_than:
            size *= 2
        keys = list(self)
        self._table = [None] * size
        self._used = 0
        for key in keys:
            self._insert(key)


def numpy_argsort(values: Sequence[int]) -> list[int]:
    """The order that `numpy.argsort` gave: quicksort by the median of three, insertion sort for short parts."""
    order = list(range(len(values)))
    parts = [(0, len(values) - 1)]
    while parts:
        low, high = parts.pop()
        while high - low > SMALL:
            split = _partition(values, order, low, high)
            if split - low < high - split:
                parts.append((split + 1, high))
                high = split - 1
            else:
                parts.append((low, split - 1))
                low = split + 1
        order[low : high + 1] = sorted(order[low : high + 1], key=values.__getitem__)  # stable, as insertion is
    return order


def _partition(values: Sequence[int], order: list[int], low: int, high: int) -> int:
    """Move smaller values to the left and larger ones to the right of the median of three; returns its position."""

    def swap(i: int, j: int) -> None:
        order[i], order[j] = order[j], order[i]

    middle = low + ((high - low) >> 1)
    for left, right in ((low, middle), (middle, high), (low, middle)):
        if values[order[right]] < values[order[left]]:
            swap(left, right)
    pivot = values[order[middle]]
    i, j = low, high - 1
    swap(middle, j)
    while True:
        i += 1
        while values[order[i]] < pivot:
            i += 1
        j -= 1
        while pivot < values[order[j]]:
            j -= 1
        if i >= j:
            break
        swap(i, j)
    swap(i, high - 1)
    return i


# APT as the original program computes it (idiap/APT, version 4), its departures from the paper included.

OTHER = "OTHER"
REACH = 2  # words to the left and right of the aligned ones in which the rescue looks
Axis = Python2Set[int | None]  # labels by their number; None: not a label
Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class IdiapSettings:
    """The settings in a config of the original program, besides the texts.

    positions: (sentence, position) of the pronouns, where they are not looked up by the words of `source_pronouns`
    equal, similar: the dictionaries; valid_source, valid_target: the words that its rescue goes by
    cases, weights: the cases in use, and a weight for each of these
    """

    source_pronouns: tuple[str, ...] = ()
    positions: tuple[tuple[int, int], ...] | None = None
    target_pronouns: tuple[str, ...] = ()
    source_separator: str | None = None
    target_separator: str | None = None
    equal: Groups = ()
    similar: Groups = ()
    valid_source: frozenset[str] = frozenset()
    valid_target: frozenset[str] = frozenset()
    cases: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    weights: tuple[float, ...] = (1.0, 0.5, 0.0, 0.0, 0.0, 0.0)
    count_other: bool = False
    count_multiword: bool = False
    longest: int = 10


def settings_for(task: Task) -> IdiapSettings:
    """The lists of a language pair as the settings of a config of the original program."""
    lists, source = task.lists, task.pronouns or task.lists.pronouns
    return IdiapSettings(
        source_pronouns=source,
        target_pronouns=lists.target,
        source_separator=lists.source_separators[:1] or None,
        target_separator=lists.separators[:1] or None,
        equal=lists.identical,
        similar=lists.equivalent,
        valid_source=frozenset(source if task.rescue else ()),
        valid_target=frozenset(lists.target if task.rescue else ()),
    )


def outcomes(task: Task, settings: IdiapSettings | None = None) -> list[Outcome]:
    """The triples of every system."""
    settings = settings or settings_for(task)
    occurrences = find_occurrences(task.source, settings)
    return [_outcome(occurrences, system, task, settings) for system in task.systems]


def split(line: str) -> Words:
    """At every single space: two spaces make an empty word."""
    return line.strip().split(" ")


def find_occurrences(source: Sequence[Words], settings: IdiapSettings) -> list[Occurrence]:
    """The source pronouns; a word with two of them, divided by the separator, counts twice."""
    if settings.positions is not None:
        return [Occurrence(s, k, source[s][k].lower()) for s, k in settings.positions]
    wanted = set(settings.source_pronouns)
    return [
        Occurrence(number, position, part)
        for number, sentence in enumerate(source)
        for position, word in enumerate(sentence)
        for part in word.lower().split(settings.source_separator)
        if part in wanted
    ]


def find_sides(occurrences: Sequence[Occurrence], text: Translation, task: Task, settings: IdiapSettings) -> list[Side]:
    """The words that each source pronoun is aligned to, as the labels know them, before any rescue."""
    sides = []
    listed = set(settings.target_pronouns)
    for occurrence in occurrences:
        positions = sorted(j for i, j in text.alignments[occurrence.sentence] if i == occurrence.position)
        words = [text.sentences[occurrence.sentence][j].lower() for j in positions]
        if listed and words:
            parts = (next((p for p in w.split(settings.target_separator) if p in listed), None) for w in words)
            words = [part for part in parts if part is not None] or [OTHER]
        sides.append(Side(tuple(positions), tuple(words)))
    return sides


def rescued(occurrence: Occurrence, side: Side, text: Translation, task: Task, settings: IdiapSettings) -> Side:
    """A side with the target pronoun nearest to the middle of the words around the aligned ones, if it has none."""
    if not side.positions or not settings.valid_target.isdisjoint(side.words):
        return side
    sentence = text.sentences[occurrence.sentence]
    around = range(max(min(side.positions) - REACH, 0), min(max(side.positions) + REACH, len(sentence) - 1) + 1)
    source, alignment = task.source[occurrence.sentence], text.alignments[occurrence.sentence]
    taken = {j for i, j in alignment if source[i] in settings.valid_source}  # by another source pronoun
    candidates = []
    for k in around:
        last = sentence[k].split("-")[-1]
        if last in settings.valid_target and last not in side.words and k not in taken:
            candidates.append(k)
    if not candidates:
        return side
    half = len(around) // 2

    def distance(k: int) -> int:
        """The program's distance from the middle; the word in the middle is as far as its neighbors: 1."""
        offset = k - around.start - half
        return -offset if offset < 0 else max(offset + (len(around) % 2 == 0), 1)

    best = min(candidates, key=lambda k: (distance(k), k))
    words = () if side.words == (OTHER,) else side.words
    return Side((*side.positions, best), (*words, sentence[best]), rescued=True)


def _outcome(occurrences: Sequence[Occurrence], system: Translation, task: Task, settings: IdiapSettings) -> Outcome:
    sides = [find_sides(occurrences, text, task, settings) for text in (task.reference, system)]
    labels = settings.target_pronouns
    labels = (*labels, OTHER, NONE) if labels else (*_vocabulary(occurrences, sides), NONE)
    judge = _judge(labels, settings)
    matrix = np.zeros((len(labels), len(labels)), dtype=np.int64)
    triples = []
    for occurrence, *pair in zip(occurrences, *sides, strict=True):
        reference, candidate = (
            rescued(occurrence, side, text, task, settings)
            for side, text in zip(pair, (task.reference, system), strict=True)
        )
        case, rows, columns = judge(reference, candidate)
        source = Side((occurrence.position,), (occurrence.pronoun,))
        triples.append(Triple(occurrence.sentence, source, reference, candidate, case))
        if case in settings.cases:
            cells = list(itertools.product(rows, columns))
            for row, column in cells if settings.count_multiword else cells[:1]:
                matrix[row, column] += 1
    confusion = Confusion(labels, tuple(tuple(map(int, row)) for row in matrix))
    return Outcome(system.name, triples, [occurrence.pronoun for occurrence in occurrences], confusion)


def _vocabulary(occurrences: Sequence[Occurrence], sides: Sequence[Sequence[Side]]) -> list[str]:
    """The labels without a list of target pronouns: every aligned word, in the order of the program's sets."""
    words: list[Python2Set[str]] = [Python2Set(), Python2Set()]
    for number in sorted(range(len(occurrences)), key=lambda n: occurrences[n].sentence):
        for known, system_sides in zip(words, sides, strict=True):
            known.update(system_sides[number].words)
    return list(words[0].union(words[1]))


Judge = Callable[[Side, Side], tuple[int, Iterable[int | None], Iterable[int | None]]]


def _judge(labels: Sequence[str], settings: IdiapSettings) -> Judge:
    """The function from two sides to a case, and the labels that it is counted under in the matrix."""
    number = {label: k for k, label in reversed(list(enumerate(labels)))}
    equal = [[word for word in group if word in number] for group in settings.equal]
    canonical = {word: group[0] for group in reversed(equal) if len(group) > 1 for word in group}
    other = number.get(OTHER)
    missing = [-1]  # the last label, NONE

    def number_of(word: str) -> int | None:
        return number.get(canonical.get(word, word))

    similar: list[Axis] = [
        Python2Set(number_of(word) for word in group if word in number) for group in settings.similar
    ]

    def judge(reference: Side, candidate: Side) -> tuple[int, Iterable[int | None], Iterable[int | None]]:
        rows: Axis = Python2Set(map(number_of, reference.words))
        columns: Axis = Python2Set(map(number_of, candidate.words))
        if not reference.positions:
            return (NO_REFERENCE, missing, columns) if candidate.positions else (NEITHER, missing, missing)
        if not candidate.positions:
            return NO_CANDIDATE, rows, missing
        shared = rows.intersection(
            columns if settings.count_other or other is None else Python2Set(k for k in columns if k != other)
        )
        if shared:
            return SAME, shared, shared
        for group in similar:
            if (r := rows.intersection(group)) and (c := columns.intersection(group)):
                return EQUIVALENT, r, c
        return DIFFERENT, rows, columns

    return judge
