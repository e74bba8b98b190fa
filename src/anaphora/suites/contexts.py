"""Suites with another context: none, shuffled, or that of another example. Does a system look at it at all?

The current sentences stay as they are. Source and target context go together: the right translation of the wrong
context. Every example points back to its original by the tag `attacked`.
"""

from __future__ import annotations

import hashlib
import heapq
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.parsing import shown
from anaphora.suites.example import ORIGINAL, Example, Passage, Tag
from anaphora.suites.suite import LineDigest, Suite, suite_of

Change = Callable[[Example], Example]


def random_context(suite: Suite, seed: int) -> Suite:
    """Each example with the context of another one, drawn at random; contexts that are empty are not drawn."""
    contexts = [(e.source[:-1], e.candidates[e.gold or 0][:-1]) for e in suite if any(e.source[:-1])]

    def change(example: Example) -> Example:
        for k in range(8):
            drawn = random.Random(f"{seed}/{example.id}/{k}").choice(contexts)
            source, target = (_fitted(context, example.context_size) for context in drawn)
            if source != example.source[:-1]:
                return _with_context(example, source, target)
        return example

    return _changed(suite, "random-context", change) if contexts else suite


def shuffled_context(suite: Suite, seed: int) -> Suite:
    """The sentences of each context in another order (with one sentence of context there is none)."""

    def change(example: Example) -> Example:
        if any(len(candidate) != len(example.source) for candidate in example.candidates):
            problem = f"example {shown(example.id)}: a candidate does not have as many sentences as its source"
            remedy = "Check the suite with: anaphora suites validate."
            raise BadInput(suite.path or suite.header.name, problem, remedy=remedy)
        order = list(range(example.context_size))
        random.Random(f"{seed}/{example.id}").shuffle(order)
        if order == sorted(order) and len(order) > 1:
            order = order[1:] + order[:1]
        source, *candidates = (
            (*(passage[i] for i in order), passage[-1]) for passage in (example.source, *example.candidates)
        )
        return replace(example, source=source, candidates=tuple(candidates))

    return _changed(suite, "shuffled-context", change)


def no_context(suite: Suite) -> Suite:
    """Each example without its context; passages keep their length."""

    def change(example: Example) -> Example:
        empty = ("",) * example.context_size
        return _with_context(example, empty, empty)

    return _changed(suite, "no-context", change)


def _changed(suite: Suite, attack: str, change: Change) -> Suite:
    def examples() -> Iterator[Example]:
        for example in suite:
            changed = change(example)
            tags = {**example.tags, "attack": attack, ORIGINAL: example.id}
            yield replace(changed, id=f"{attack}/{example.id}", tags=tags)

    header = replace(suite.header, name=f"{suite.header.name}-{attack}")
    return suite_of(header, examples, suite.path)


def _fitted(context: Passage, size: int) -> Passage:
    return ("",) * (size - len(context)) + context[max(0, len(context) - size) :]


def _with_context(example: Example, source: Passage, target: Passage) -> Example:
    candidates = tuple((*target, candidate[-1]) for candidate in example.candidates)
    return replace(example, source=(*source, example.source[-1]), candidates=candidates)


# A part of a suite: its first examples, or a random sample. The part has a hash of its own.

SEED = 12345


class Selection(NamedTuple):
    """Examples of a suite, in its order.

    sha256: of their lines, as if they were a suite of their own
    whole: whether it is the whole suite
    cut_blocks: the blocks of the suite of which some examples are in the part, and some are not
    limit, sample: how they were selected; a sample is SIZE@SEED
    """

    examples: list[Example]
    sha256: str
    whole: bool
    cut_blocks: tuple[Tag, ...] = ()
    limit: int | None = None
    sample: str | None = None

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
        raise AnaphoraError("--limit (the first examples) and --sample (random examples) cannot be combined")
    is_in = _drawn(suite, sample, seed) if sample is not None else lambda number: limit is None or number < limit
    digest, line = hashlib.sha256(), LineDigest()
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
    drawn = None if sample is None else f"{sample}@{seed}"
    return Selection(examples, digest.hexdigest(), whole, tuple(sorted(inside & outside, key=str)), limit, drawn)


def most_context(examples: Iterable[Example]) -> int:
    """The most sentences of context that an example has."""
    return max((example.context_size for example in examples), default=0)


def _drawn(suite: Suite, size: int, seed: int) -> Callable[[int], bool]:
    def rank(example: Example) -> bytes:
        name = f"{seed}/{example.tags.get(ORIGINAL) or example.id}"
        return hashlib.sha256(name.encode(errors="surrogatepass")).digest()

    ranks = ((rank(example), number) for number, example in enumerate(suite))
    return {number for _, number in heapq.nsmallest(size, ranks)}.__contains__
