"""What mining works on, a document in both languages, and what it finds there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from anaphora.align.alignment import Alignment
from anaphora.annotate.document import Document


@dataclass(frozen=True, slots=True)
class AnnotatedPair:
    """A document and its translation, sentence by sentence.

    alignments: for each sentence the links between the tokens of its annotation, source to target
    first: sentences before this one are there for their context alone, as a part of a long document begins with the
        end of the part before it: nothing is found or counted in them
    """

    name: str
    source: Document
    target: Document
    alignments: tuple[Alignment, ...]
    first: int = 0


@dataclass(frozen=True, slots=True)
class Mined:
    """A sentence that tests something, as found in a document.

    sentence: its number in the document, from 0
    label: the class that a suite is balanced by (er, sie, es)
    right: the target sentence as it is; wrong: its contrastive variants
    """

    document: str
    sentence: int
    label: str
    right: str
    wrong: tuple[str, ...]
    tags: Mapping[str, Any] = field(default_factory=dict)


class Phenomenon(Protocol):
    """Something that only context tells, and how to find it in a pair of annotated documents."""

    @property
    def name(self) -> str: ...

    @property
    def breakdowns(self) -> tuple[str, ...]:
        """The tags by which accuracy is broken down."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """All that its finds depend on."""
        ...

    def extract(self, pair: AnnotatedPair, counts: Counter[str]) -> Iterator[Mined]:
        """The sentences that test it; counts grows by what became of each candidate, by reason."""
        ...
