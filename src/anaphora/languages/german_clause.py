"""The case of a German noun phrase by the closed-class words of its clause, where they tell it."""

from __future__ import annotations

import re
from collections.abc import Sequence

SIGNS = re.compile(r"[,;:.!?…\"„“”»«()–—]| - ")
# between clauses; und and oder may as well join nouns, so what is beyond them is not looked at
JOINING = ("und", "oder", "aber", "denn", "sondern")
OPENING = (
    "dass",
    "daß",
    "weil",
    "wenn",
    "ob",
    "als",
    "obwohl",
    "damit",
    "bevor",
    "nachdem",
    "bis",
    "wie",
    "was",
    "wer",
)
BETWEEN = frozenset([*JOINING, *OPENING, "wie", "was", "wer", "wo"])
SUBJECTS = frozenset(["ich", "du", "er", "wir", "man"])
TO_BE = frozenset(["ist", "war", "sei", "wäre", "wurde", "bin", "bist", "waren"])
# with these a second nominative is possible, or a subject behind the pronoun
OTHER_VERBS = frozenset(
    ["hat", "hatte", "haben", "hast", "habe", "wird", "werden", "werde", "wirst", "kann", "will", "soll", "muss", "muß"]
)


def case_in_clause(before: str, after: str) -> str | None:
    """Nom, Acc, or None where the clause does not tell.

    before, after: the text of the sentence on both sides of the noun phrase, which has no preposition

    >>> case_in_clause("Gut, ich habe ", ".")
    'Acc'
    >>> case_in_clause("Das ist ", ", sagte er.")
    'Nom'
    """
    words = _clause(before, -1) + _clause(after, 0)
    to_be = any(word in TO_BE for word in words)
    if any(word in SUBJECTS for word in words):
        return None if to_be else "Acc"  # ich bin die ganze Straße gelaufen
    if to_be and not any(word in OTHER_VERBS for word in words):
        return "Nom"
    return None


def _clause(text: str, side: int) -> list[str]:
    """The words of the text next to the noun phrase, as far as its clause surely reaches."""
    words: Sequence[str] = SIGNS.split(text)[side].lower().split()
    found: list[str] = []
    for word in reversed(words) if side else words:
        if word in BETWEEN:
            break
        found.append(word)
    return found
