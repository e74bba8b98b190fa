"""The type that all packages share: one question put to a translation system, and how its texts are compared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

ORIGINAL = "attacked"  # the tag that names the original of an attacked example
Passage = tuple[str, ...]  # sentences, oldest context first, the current sentence last
Scalar = str | int | float | bool | None
Tag = Scalar | list["Tag"] | dict[str, "Tag"]
WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Example:
    """A contrastive question: which of these translations fits this source in its context?

    source, candidates: passages of one length; a context sentence that does not exist is ""
    gold: the index of the correct candidate; None for a prior, which has no correct answer
    tags: properties of the example; any tag can be a breakdown
    """

    id: str
    source: Passage
    candidates: tuple[Passage, ...]
    gold: int | None
    tags: Mapping[str, Tag] = field(default_factory=dict)

    def with_context(self, sentences: int) -> Example:
        """The same question with at most this many sentences of context."""
        keep = slice(-1 - sentences, None)
        return replace(self, source=self.source[keep], candidates=tuple(c[keep] for c in self.candidates))

    @property
    def context_size(self) -> int:
        """Number of sentences before the current one."""
        return len(self.source) - 1


class Translation(NamedTuple):
    """The translation of one sentence.

    surplus: separators beyond those that the context makes, or, negative, how many are missing
    nbest: all that search found, the best first, with the sums of their log-probabilities
    """

    text: str
    surplus: int = 0
    nbest: tuple[tuple[str, float], ...] = ()


def split_words(text: str) -> list[str]:
    """Return the words and signs of a text in any language."""
    return WORD.findall(text)


def common_prefix(sequences: Sequence[Sequence[Any]]) -> int:
    """Return the number of items that all sequences start with."""
    for number, items in enumerate(zip(*sequences, strict=False)):
        if any(item != items[0] for item in items):
            return number
    return min(map(len, sequences))
