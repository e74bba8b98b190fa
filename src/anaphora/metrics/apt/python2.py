"""Orders that a Python 2.7 program leaves to chance, and that its published output shows.

The original program of APT ran on Python 2.7 with NumPy of its time. It takes the first element of sets, lists the
words of a set, and sorts counts with ties by an unstable sort. To reproduce its files byte for byte, the order of
Python 2.7's sets (64 bits, without hash randomisation) and of NumPy's quicksort of that time is computed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

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
        """What both have, added in the order of the other one, or of this one if it is the smaller."""
        large, small = (self, other) if len(other) <= len(self) else (other, self)
        return Python2Set(key for key in small if key in large)

    def without(self, key: Key) -> Python2Set[Key]:
        return Python2Set(k for k in self if k != key)

    def _slot(self, key: Key) -> int:
        """Where a key is, or would be."""
        mask = len(self._table) - 1
        place = perturb = python2_hash(key)
        while (entry := self._table[place & mask]) is not None and entry[0] != key:
            place = place * 5 + perturb + 1
            perturb >>= PERTURB_SHIFT
        return place & mask

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
    """Move smaller values to the left and larger ones to the right of the median of three; returns its place."""

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
