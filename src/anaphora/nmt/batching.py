"""Which examples are trained on together, and in which order: a function of the seed and the epoch alone.

So training can stop after any update and go on as if it had not: where it was is two numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
POOL = 100  # batches that are sorted by length together; more save padding, fewer mix better


@dataclass(frozen=True, slots=True)
class Position:
    """Where training is: so many batches of an epoch have been taken."""

    epoch: int = 0
    batch: int = 0


def batches_of_epoch(lengths: Ints, tokens: int, seed: int, epoch: int, sentences: int = 0) -> list[Ints]:
    """The examples of each batch, by number.

    lengths: (n, 2), the longest input and the target of every example
    tokens: how many the padded longer side of a batch may have; an example that has more is a batch of its own
    sentences: how many examples a batch may have; 0: any number
    """
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(lengths))
    longest = lengths.max(axis=1) if len(lengths) else np.empty(0, np.int64)
    mean = max(1.0, float(longest.mean())) if len(longest) else 1.0
    size = max(1, min(int(POOL * tokens / mean), POOL * sentences or len(order)))
    found: list[Ints] = []
    for start in range(0, len(order), size):
        pool = order[start : start + size]
        pool = pool[np.lexsort((lengths[pool, 1], longest[pool]))]  # by the longer side, then by the target
        found += _cut(pool, longest, tokens, sentences)
    return [found[number] for number in rng.permutation(len(found))]


def in_order(lengths: Ints, tokens: int) -> list[Ints]:
    """Batches of like length, the shortest first: for validation, where order does not matter."""
    longest = lengths.max(axis=1) if len(lengths) else np.empty(0, np.int64)
    return _cut(np.lexsort((lengths[:, 1], longest)), longest, tokens)


def updates(
    lengths: Ints, tokens: int, seed: int, together: int, start: Position, sentences: int = 0
) -> Iterator[tuple[list[Ints], Position]]:
    """The batches of each update, so many together, and the position behind them; it goes on for ever.

    The last update of an epoch has what is left.
    """
    epoch, taken = start.epoch, start.batch
    while True:
        batches = batches_of_epoch(lengths, tokens, seed, epoch, sentences)
        while taken < len(batches):
            part = batches[taken : taken + together]
            taken += len(part)
            yield part, Position(epoch, taken)
        epoch, taken = epoch + 1, 0


def _cut(order: Ints, longest: Ints, tokens: int, sentences: int = 0) -> list[Ints]:
    """Sorted examples in batches within the budget."""
    found = []
    start = 0
    for place in range(1, len(order) + 1):
        size = place + 1 - start  # with the next example
        full = place == len(order) or int(longest[order[place]]) * size > tokens
        if full or 0 < sentences < size:
            found.append(order[start:place])
            start = place
    return found
