"""A part of a suite: its first examples, or a random sample. The part has a hash of its own."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable
from typing import NamedTuple

from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import ORIGINAL, Example, Tag
from anaphora.suites.suite import Suite

SEED = 12345


class Selection(NamedTuple):
    """Examples of a suite, in its order.

    sha256: of their lines, as if they were a suite of their own
    whole: whether it is the whole suite
    cut_blocks: the blocks of the suite of which some examples are in the part, and some are not
    """

    examples: list[Example]
    sha256: str
    whole: bool
    cut_blocks: tuple[Tag, ...] = ()

    @property
    def context(self) -> int:
        """The most sentences of context that an example has."""
        return most_context(self.examples)


def select(suite: Suite, *, limit: int | None = None, sample: int | None = None, seed: int = SEED) -> Selection:
    """The first `limit` examples, or a random sample of that size, or all.

    A sample of fewer examples is part of a sample of more with the same seed, and the same on every machine: the
    examples whose hash with the seed is lowest are taken. Attacked examples are drawn with their originals.
    """
    if limit is not None and sample is not None:
        raise AnaphoraError("--limit takes the first examples, --sample a random part of them: give one of the two")
    is_in = _drawn(suite, sample, seed) if sample is not None else lambda number: limit is None or number < limit
    digest, line = hashlib.sha256(), _Line()
    examples: list[Example] = []
    inside, outside = set[Tag](), set[Tag]()  # values of the tag that blocks go by
    whole, tag = True, suite.header.blocks
    for number, example in enumerate(suite.examples(line)):
        chosen, text = is_in(number), line.take()
        if chosen:
            examples.append(example)
            digest.update(text)
        else:
            whole = False
            if tag is None and limit is not None:
                break
        if tag is not None and not isinstance(block := example.tags.get(tag), list | dict | None):
            (inside if chosen else outside).add(block)
    return Selection(examples, digest.hexdigest(), whole, tuple(sorted(inside & outside, key=str)))


def most_context(examples: Iterable[Example]) -> int:
    """The most sentences of context that an example has."""
    return max((example.context_size for example in examples), default=0)


class _Line:
    """A digest that keeps the bytes of the last example's line."""

    def __init__(self) -> None:
        self._bytes = b""

    def update(self, data: bytes, /) -> None:
        self._bytes += data

    def take(self) -> bytes:
        found, self._bytes = self._bytes, b""
        return found


def _drawn(suite: Suite, size: int, seed: int) -> Callable[[int], bool]:
    def rank(example: Example) -> bytes:
        name = f"{seed}/{example.tags.get(ORIGINAL) or example.id}"
        return hashlib.sha256(name.encode(errors="surrogatepass")).digest()

    ranks = ((rank(example), number) for number, example in enumerate(suite))
    return {number for _, number in heapq.nsmallest(size, ranks)}.__contains__
