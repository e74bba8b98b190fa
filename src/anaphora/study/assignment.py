"""Who is asked what: every item by as many people as wanted, everybody about as much, and pairs of people mixed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from anaphora.study.model import Annotator, Assignment


def assign(items: Sequence[str], names: Sequence[str], overlap: int, candidates: int, seed: int) -> list[Annotator]:
    """Deal items out.

    Each item goes to those who have least so far and, among them, to those who have shared the fewest items with the
    people it has already; equal ones by chance. So no load differs from another by more than one. Each annotator gets
    the items in an order of their own. In half of them, give or take one, the first candidate is shown first, in the
    others the second.
    """
    rng = random.Random(seed)
    dealt = list(items)
    rng.shuffle(dealt)
    load: Counter[str] = Counter()
    shared: Counter[frozenset[str]] = Counter()
    given: dict[str, list[str]] = {name: [] for name in names}
    for item in dealt:
        chosen: list[str] = []
        while len(chosen) < overlap:
            rest = [name for name in names if name not in chosen]
            rng.shuffle(rest)
            best = min(rest, key=lambda n: (load[n], sum(shared[frozenset((n, c))] for c in chosen)))
            for other in chosen:
                shared[frozenset((best, other))] += 1
            chosen.append(best)
        for name in chosen:
            load[name] += 1
            given[name].append(item)
    return [Annotator(name, _shown(given[name], candidates, rng)) for name in names]


def _shown(items: list[str], candidates: int, rng: random.Random) -> tuple[Assignment, ...]:
    """An annotator's items in an order of chance, with balanced orders of two candidates."""
    rng.shuffle(items)
    if candidates == 1:
        return tuple(Assignment(item, (0,)) for item in items)
    swapped = [k % 2 == 1 for k in range(len(items))]
    if len(items) % 2 and rng.random() < 0.5:
        swapped = [not swap for swap in swapped]
    rng.shuffle(swapped)
    return tuple(Assignment(item, (1, 0) if swap else (0, 1)) for item, swap in zip(items, swapped, strict=True))
