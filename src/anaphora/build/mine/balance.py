"""As many finds of each class, drawn by chance, whatever their order, the shards and the workers (ContraPro §3.1).

Each find has a random number that comes from the seed and from itself; those with the smallest are taken. So a sample
is the same however the corpus was worked on, and a larger one holds the smaller.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from anaphora.core.errors import AnaphoraError

Find = Mapping[str, Any]  # a row of the stage `extract`
Place = tuple[int, int]  # the shard of a find, and its number there


def parse_size(text: str) -> int | str | None:
    """`--per-class`: a number, `all` (None), or `even`: as many of each as the rarest has."""
    if text in ("all", "even"):
        return None if text == "all" else "even"
    if text.isascii() and text.isdigit() and int(text):
        return int(text)
    raise AnaphoraError(
        f"--per-class {text}: write a number, all, or even (as many of each as there are of the rarest)"
    )


def choose(finds: Iterable[tuple[Place, Find]], size: int | None, seed: int) -> set[Place] | None:
    """The places of the finds that are taken: so many of each class, or all there are of it; None: every one."""
    if size is None:
        return None
    smallest: dict[str, list[tuple[int, int, int]]] = {}  # heaps whose first is the largest number: all are negative
    for (shard, number), find in finds:
        heap = smallest.setdefault(find["label"], [])
        entry = (-draw(find, seed), -shard, -number)
        if len(heap) < size:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)
    return {(-shard, -number) for heap in smallest.values() for _, shard, number in heap}


def draw(find: Find, seed: int) -> int:
    """The random number of a find."""
    tags = find["tags"]
    parts = (str(seed), str(tags["document"]), str(tags["sentence"]), find["label"], find["right"], *find["wrong"])
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=8).digest(), "big")


def size_of(wanted: int | str | None, found: Counter[str]) -> int | None:
    """How many of each class are taken at most."""
    if wanted == "even":
        return min(found.values(), default=0)
    assert wanted is None or isinstance(wanted, int)
    return wanted


def chosen_finds(finds: Iterable[tuple[Place, Find]], places: set[Place] | None) -> Iterator[tuple[Place, Find]]:
    """Those that were taken, in the order of the corpus."""
    return ((place, find) for place, find in finds if places is None or place in places)
