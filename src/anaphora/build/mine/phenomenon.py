"""The interface of phenomena, which find examples in a pair of annotated documents, and their registry."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol

from anaphora.align.alignment import Alignment
from anaphora.annotate.document import Document
from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry


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
class MinedExample:
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

    def extract(self, pair: AnnotatedPair, counts: Counter[str]) -> Iterator[MinedExample]:
        """The sentences that test it; counts grows by what became of each candidate, by reason."""
        ...


# Phenomena by name: those of this package, and those that other packages register as entry points.


OURS = {"pronouns": "anaphora.build.mine.pronouns:Pronouns"}
GROUP = "anaphora.phenomena"  # entry points of other packages: NAME = "module:Class"


@cache
def phenomena() -> Registry:
    """All that are installed; a name of this package is not given away."""
    others = {point.name: point.value for point in entry_points(group=GROUP)}
    return Registry("phenomenon", others | OURS)


def load_phenomenon(name: str, languages: tuple[str, str], options: Mapping[str, Any]) -> Phenomenon:
    """A phenomenon for a language pair. It says itself if it does not know the languages or an option."""
    kind = phenomena().load(name)
    try:
        found: Phenomenon = kind(*languages, **options)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise AnaphoraError(f"phenomenon {name!r}: {str(error).partition(') ')[2] or error}") from None
    return found


# Options of a phenomenon, which are text on the command line.


def number_of(value: float | str, name: str) -> float:
    """A number of at least 0; a confidence is at most 1."""
    try:
        found = float(value)
    except ValueError:
        raise AnaphoraError(f"{name}: not a number: {value!r}") from None
    if not 0 <= found < math.inf or (name == "confidence" and found > 1):
        raise AnaphoraError(f"{name}: {value} is out of range")
    return found


def switch_of(value: bool | str, name: str) -> bool:
    """Yes or no."""
    known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if isinstance(value, bool):
        return value
    if value.lower() not in known:
        raise AnaphoraError(f"{name}: yes or no, not {value!r}")
    return known[value.lower()]
