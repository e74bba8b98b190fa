"""The six cases of APT and the score made of them (APT §2.4)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import PronounLists

SAME, EQUIVALENT, DIFFERENT, NO_CANDIDATE, NO_REFERENCE, NEITHER = CASES = (1, 2, 3, 4, 5, 6)
TITLES = ("same", "equivalent", "different", "no candidate", "no reference", "neither")
DEFAULT_WEIGHTS = (1.0, 0.5, 0.0, 0.0, 0.0, 0.0)  # the best of the paper's Table 4 with its alignment heuristics
WEIGHTS_ARE = "six numbers from 0 to 1, one per case, such as 1,0.5,0,0,0,0"


@dataclass(frozen=True, slots=True)
class Weighting:
    """How much each case is worth, and which cases are left out of the score altogether."""

    weights: tuple[float, ...] = DEFAULT_WEIGHTS
    discarded: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.weights) != len(CASES) or not all(0 <= w <= 1 for w in self.weights):  # a nan is in no range
            raise AnaphoraError(f"not weights: {','.join(f'{w:g}' for w in self.weights)}. They are {WEIGHTS_ARE}")
        unknown = set(self.discarded) - set(CASES)
        if unknown or set(self.discarded) == set(CASES):
            what = f"no case {min(unknown)}" if unknown else "nothing would be left"
            raise AnaphoraError(f"cannot discard {','.join(map(str, self.discarded))}: {what}. The cases are 1 to 6")
        object.__setattr__(self, "discarded", tuple(sorted(set(self.discarded))))

    def credit(self, case: int) -> float | None:
        """What one pronoun of a case adds to the score; None where the case is discarded."""
        return None if case in self.discarded else self.weights[case - 1]

    def score(self, counts: Sequence[int]) -> float | None:
        """APT: the weighted share of the pronouns that are right; None where none is counted."""
        kept = [case for case in CASES if case not in self.discarded]
        total = sum(counts[case - 1] for case in kept)
        if not total:
            return None
        return math.fsum(self.weights[case - 1] * counts[case - 1] for case in kept) / total


def parse_weights(text: str) -> tuple[float, ...]:
    """`1,0.5,0,0,0,0` as it is written after --weights."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise AnaphoraError(f"not weights: {text!r}. They are {WEIGHTS_ARE}") from None


def parse_cases(text: str) -> tuple[int, ...]:
    """`5,6` as it is written after --discard."""
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise AnaphoraError(f"not cases: {text!r}. They are numbers from 1 to 6, such as 5,6") from None


def case_of(reference: str | None, candidate: str | None, lists: PronounLists) -> int:
    """Which case a pair of translations of a source pronoun is; None: not found."""
    if reference is None:
        return NEITHER if candidate is None else NO_REFERENCE
    if candidate is None:
        return NO_CANDIDATE
    if lists.canonical(reference) == lists.canonical(candidate):
        return SAME
    return EQUIVALENT if lists.are_equivalent(reference, candidate) else DIFFERENT


def count_cases(cases: Iterable[int]) -> tuple[int, ...]:
    """How many of each case there are, from the first to the sixth."""
    counts = [0] * len(CASES)
    for case in cases:
        counts[case - 1] += 1
    return tuple(counts)
