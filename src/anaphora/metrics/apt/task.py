"""What an APT variant is given and what it hands back: texts with their alignments, triples with their cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from anaphora.align.alignment import Alignment
from anaphora.align.tokenize import Treatment
from anaphora.languages.pronouns import PronounLists

NONE = "NONE"  # in a confusion matrix: no translation was found
Words = list[str]


class Side(NamedTuple):
    """One side of a triple: words and their positions, both empty where nothing was found.

    rescued: found by the neighbours and not by a link; it comes last in a side of several words
    """

    positions: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    rescued: bool = False


class Triple(NamedTuple):
    """A source pronoun with its translations (APT §2.2); the sentence and positions count from 0."""

    sentence: int
    source: Side
    reference: Side
    candidate: Side
    case: int


@dataclass(frozen=True, slots=True)
class Translation:
    """A translation of the source: its sentences, the source's alignment with them, perhaps a tag for each word."""

    name: str
    sentences: Sequence[Words]
    alignments: Sequence[Alignment]
    tags: Sequence[Words] | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """The input of a variant.

    pronouns: those to evaluate, normalised; empty: the ones that the lists name
    pronoun_tags: the tags that pronouns have in texts with tags
    aligned_by: where the alignments come from, for the signature
    texts: what was done to each text before its words were counted; normalized: whether signs were made one
    """

    source: Sequence[Words]
    reference: Translation
    systems: Sequence[Translation]
    lists: PronounLists
    pronouns: tuple[str, ...] = ()
    rescue: bool = True
    source_tags: Sequence[Words] | None = None
    pronoun_tags: frozenset[str] = frozenset()
    aligned_by: str = "given"
    texts: Mapping[str, Treatment] = field(default_factory=dict)
    normalized: bool = False


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often the reference's pronoun (row) became the candidate's (column)."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a variant found for one system.

    groups: of each triple, the pronoun under which it is broken down
    unaligned: reference pronouns that are left out, in the variant that has them
    """

    name: str
    triples: Sequence[Triple]
    groups: Sequence[str]
    confusion: Confusion
    unaligned: int | None = field(default=None)


def confusion_of(pairs: Counter[tuple[str, str]]) -> Confusion:
    """A matrix from counts of (reference, candidate); the most often right label first, NONE last."""
    labels = {label for pair in pairs for label in pair}
    total: Counter[str] = Counter()
    for (row, column), n in pairs.items():
        total[row] += n
        total[column] += n
    ordered = sorted(labels, key=lambda label: (label == NONE, -pairs[label, label], -total[label], label))
    return Confusion(tuple(ordered), tuple(tuple(pairs[row, column] for column in ordered) for row in ordered))
