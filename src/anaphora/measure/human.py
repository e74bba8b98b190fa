"""Agreement with people, where pairs say what people preferred (Jwalapuram et al. 2019, §5.3 and Table 5).

Pairs have it in one of two ways: `preference`, the answer of people on this very pair (REF, SYS or Tie), or
`human_reference`, `human_system` and `human_ties`, how often each answer was given for this pronoun pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.suites.example import Tag
from anaphora.systems.scored import Scored


@dataclass(frozen=True, slots=True)
class Human:
    """ac1: Gwet's AC1 between measure and people, ties of people left out, as the measure has none

    accuracy: how often both prefer the same, ties left out; pairs: how many were compared; ties: left out
    """

    pairs: int
    ties: int
    accuracy: float | None
    ac1: float | None

    def to_dict(self) -> dict[str, Any]:
        return {"pairs": self.pairs, "ties": self.ties, "accuracy": self.accuracy, "ac1": self.ac1}


def human_agreement(items: Sequence[Scored], *, minimize: bool = False) -> Human | None:
    """How the scores agree with people; None where no pair says what people preferred."""
    both: list[tuple[bool, bool]] = []  # the reference is preferred: by the scores, by people
    ties = known = 0
    for item in items:
        answers = _answers(item)
        if item.gold is None or len(item.scores) != 2 or answers is None:
            continue
        known += 1
        reference, system, tied = answers
        if tied >= max(reference, system) or reference == system:
            ties += 1
            continue
        ours = item.scores[item.gold] - item.scores[1 - item.gold]
        both.append(((ours < 0) if minimize else (ours > 0), reference > system))
    if not known:
        return None
    if not both:
        return Human(0, ties, None, None)
    same = sum(one == other for one, other in both) / len(both)
    return Human(len(both), ties, same, ac1(both))


def ac1(ratings: Sequence[tuple[bool, bool]]) -> float:
    """Gwet 2008, eqs. 4–6, two raters and two categories: (p − e) / (1 − e), where e = 2 q (1 − q).

    p: share of equal ratings; q: mean share of one category over both raters. Chance e is at most a half.
    """
    agreement = sum(one == other for one, other in ratings) / len(ratings)
    share = sum(one + other for one, other in ratings) / (2 * len(ratings))
    chance = 2 * share * (1 - share)
    return (agreement - chance) / (1 - chance)


def _answers(item: Scored) -> tuple[int, int, int] | None:
    preference = item.tags.get("preference")
    if preference is not None:
        word = str(preference).upper()
        return int(word == "REF"), int(word == "SYS"), int(word not in ("REF", "SYS"))
    if "human_reference" not in item.tags:
        return None
    return tuple(_count(item.tags.get(name)) for name in ("human_reference", "human_system", "human_ties"))  # type: ignore[return-value]


def _count(value: Tag) -> int:
    return value if isinstance(value, int) else 0
