"""Pronouns of a system's translation that are not those of the reference (Jwalapuram et al. 2019, §3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from anaphora.measure.matching import match
from anaphora.measure.words import Word, places

Links = Collection[tuple[int, int]]


class Difference(NamedTuple):
    """A pronoun of the reference, and the one that stands for it: their words by number, and their forms."""

    place: int
    system_place: int
    reference: str
    system: str

    @property
    def pair(self) -> str:
        return f"{self.reference}:{self.system}"


def differences(
    reference: Sequence[Word], system: Sequence[Word], pronouns: frozenset[str], rescue: Links = ()
) -> list[Difference]:
    """The differing pronouns of two translations, found by edit distance.

    Only those count that stand in the same surroundings (the word before or the word behind them is the same in both
    texts), or that another alignment links as well (rescue): of the others about half are chance.
    """
    one, other = [word.normal for word in reference], [word.normal for word in system]
    if [one[i] for i in places(reference, pronouns)] == [other[j] for j in places(system, pronouns)]:
        return []
    found = linked_differences(match(one, other, pronouns), reference, system, pronouns)
    known = frozenset(rescue)
    return [d for d in found if (d.place, d.system_place) in known or _in_place(d, reference, system)]


def linked_differences(
    links: Links, reference: Sequence[Word], system: Sequence[Word], pronouns: frozenset[str]
) -> list[Difference]:
    """Pronouns that an alignment links to a different pronoun, and to no other word."""
    partners: dict[int, list[int]] = {}
    for i, j in links:
        partners.setdefault(i, []).append(j)
    found = []
    for i, (j, *more) in sorted(partners.items()):
        one, other = reference[i].normal, system[j].normal
        if not more and one != other and one in pronouns and other in pronouns:
            found.append(Difference(i, j, one, other))
    return found


def _in_place(found: Difference, reference: Sequence[Word], system: Sequence[Word]) -> bool:
    """Whether a neighbour of both is the same word; a sign is too common to tell anything."""
    for step in (-1, 1):
        i, j = found.place + step, found.system_place + step
        if 0 <= i < len(reference) and 0 <= j < len(system):
            one, other = reference[i], system[j]
            if one.normal == other.normal and one.text[0].isalnum():
                return True
    return False
