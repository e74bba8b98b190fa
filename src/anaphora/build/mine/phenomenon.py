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
    """An annotated document and its translation, sentence by sentence.

    alignments: the links between the tokens of each sentence, source to target
    first: sentences before this one only serve as context, since a piece of a long document begins with the end of the
        previous one; nothing is mined from them or counted in them
    """

    name: str
    source: Document
    target: Document
    alignments: tuple[Alignment, ...]
    first: int = 0


@dataclass(frozen=True, slots=True)
class MinedExample:
    """An example found in a document.

    sentence: the number of its sentence in the document, from 0
    label: the class by which a suite is balanced (er, sie, es)
    right: the target sentence; wrong: its contrastive variants
    """

    document: str
    sentence: int
    label: str
    right: str
    wrong: tuple[str, ...]
    tags: Mapping[str, Any] = field(default_factory=dict)


class Phenomenon(Protocol):
    """A discourse phenomenon that can be found in a pair of annotated documents."""

    @property
    def name(self) -> str: ...

    @property
    def breakdowns(self) -> tuple[str, ...]:
        """The tags by which accuracy is reported."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """Return everything that its examples depend on."""
        ...

    def extract(self, pair: AnnotatedPair, counts: Counter[str]) -> Iterator[MinedExample]:
        """Yield the examples of a document; update `counts` with the outcome of each candidate."""
        ...


# Phenomena by name: those of this package, and those that other packages register as entry points.


OURS = {"pronouns": "anaphora.build.mine.pronouns:Pronouns"}
GROUP = "anaphora.phenomena"  # entry points of other packages: NAME = "module:Class"


@cache
def phenomena() -> Registry:
    """Return all installed phenomena; those of this package cannot be replaced."""
    others = {point.name: point.value for point in entry_points(group=GROUP)}
    return Registry("phenomenon", others | OURS)


def load_phenomenon(name: str, languages: tuple[str, str], options: Mapping[str, Any]) -> Phenomenon:
    """Return a phenomenon for a language pair; raise AnaphoraError for unknown languages or options."""
    kind = phenomena().load(name)
    try:
        phenomenon: Phenomenon = kind(*languages, **options)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise AnaphoraError(f"phenomenon {name!r}: {str(error).partition(') ')[2] or error}") from None
    return phenomenon


# Options of a phenomenon, which are text on the command line.


def number_of(value: float | str, name: str) -> float:
    """Return an option as a number of at least 0; a confidence is at most 1."""
    try:
        number = float(value)
    except ValueError:
        raise AnaphoraError(f"{name}: not a number: {value!r}") from None
    if not 0 <= number < math.inf or (name == "confidence" and number > 1):
        raise AnaphoraError(f"{name}: {value} is out of range")
    return number


def switch_of(value: bool | str, name: str) -> bool:
    """Return an option as a boolean."""
    known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if isinstance(value, bool):
        return value
    if value.lower() not in known:
        raise AnaphoraError(f"{name}: yes or no, not {value!r}")
    return known[value.lower()]
