"""Suites with another context: none, shuffled, or that of another example. Does a system look at it at all?

The current sentences stay as they are. Source and target context go together: the right translation of the wrong
context. Every example points back to its original by the tag `attacked`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Suite, suite_of

Change = Callable[[Example], Example]


def random_context(suite: Suite, seed: int) -> Suite:
    """Each example with the context of another one, drawn at random; contexts that are empty are not drawn."""
    contexts = [(e.source[:-1], e.candidates[_right(e)][:-1]) for e in suite if any(e.source[:-1])]

    def change(example: Example) -> Example:
        others = [c for c in (_drawn(contexts, example, seed, k) for k in range(8)) if c[0] != example.source[:-1]]
        return _with_context(example, *others[0]) if others else example

    return _changed(suite, "random-context", change) if contexts else suite


def shuffled_context(suite: Suite, seed: int) -> Suite:
    """The sentences of each context in another order (with one sentence of context there is none)."""

    def change(example: Example) -> Example:
        order = list(range(example.context_size))
        random.Random(f"{seed}/{example.id}").shuffle(order)
        if order == sorted(order) and len(order) > 1:
            order = order[1:] + order[:1]
        return replace(
            example,
            source=_ordered(example.source, order),
            candidates=tuple(_ordered(candidate, order) for candidate in example.candidates),
        )

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
            tags = {**example.tags, "attack": attack, "attacked": example.id}
            yield replace(changed, id=f"{attack}/{example.id}", tags=tags)

    header = replace(suite.header, name=f"{suite.header.name}-{attack}")
    return suite_of(header, examples, suite.path)


def _drawn(contexts: Sequence[tuple[Passage, Passage]], example: Example, seed: int, k: int) -> tuple[Passage, Passage]:
    source, target = random.Random(f"{seed}/{example.id}/{k}").choice(contexts)
    return _fitted(source, example.context_size), _fitted(target, example.context_size)


def _fitted(context: Passage, size: int) -> Passage:
    return ("",) * (size - len(context)) + context[max(0, len(context) - size) :]


def _with_context(example: Example, source: Passage, target: Passage) -> Example:
    candidates = tuple((*target, candidate[-1]) for candidate in example.candidates)
    return replace(example, source=(*source, example.source[-1]), candidates=candidates)


def _ordered(passage: Passage, order: Sequence[int]) -> Passage:
    return (*(passage[i] for i in order), passage[-1])


def _right(example: Example) -> int:
    return example.gold or 0
