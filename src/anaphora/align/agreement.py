"""How well alignments agree with given ones: precision, recall and F of their points (Och and Ney 2003)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from anaphora.align.alignment import Alignment


@dataclass(frozen=True, slots=True)
class Agreement:
    """Points found, points given, and points that are both. Nothing found or nothing given is no figure."""

    found: int
    given: int
    both: int

    @property
    def precision(self) -> float | None:
        return self.both / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        return self.both / self.given if self.given else None

    @property
    def f(self) -> float | None:
        """Where all links are sure, 1 − F is the alignment error rate."""
        return 2 * self.both / (self.found + self.given) if self.found and self.given else None

    def to_dict(self) -> dict[str, float | int | None]:
        return asdict(self) | {"precision": self.precision, "recall": self.recall, "f": self.f}


def agreement(found: Iterable[Alignment], given: Iterable[Alignment]) -> Agreement:
    """Over all sentence pairs together; a point that is given twice counts once."""
    numbers = [0, 0, 0]
    for one, other in zip(found, given, strict=True):
        ours, theirs = set(one), set(other)
        for k, points in enumerate((ours, theirs, ours & theirs)):
            numbers[k] += len(points)
    return Agreement(*numbers)
