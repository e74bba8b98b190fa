"""How near a candidate is to a translation: for systems that translate but do not score."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from anaphora.normalization import normalize

WORDS, CHARACTERS, BETA = 2, 6, 2.0  # longest n-grams, and how much recall counts: those of chrF++
SHARE = 0.1  # how much characters count


def normalise(text: str) -> str:
    """What does not make a translation another one is left out: case, spaces, how signs are written, what ends it.

    >>> normalise("Sie  ist  GROSS!»") == normalise("sie ist groß.")
    True
    """
    words = " ".join(normalize(text).casefold().split())
    end = len(words)
    while end and (words[end - 1] == " " or unicodedata.category(words[end - 1])[0] == "P"):
        end -= 1
    return words[:end] or words  # a text that is punctuation only is not the same as any other such


def similarity(translation: str, candidate: str) -> float:
    """How much of a candidate is in a translation, and little else: from 0 to 1.

    It is made like chrF++ (Popović 2017), of F-scores of word and character n-grams, but words decide, and characters
    only where words do not: candidates differ in a pronoun, and the letters of *er* are in every *aber*.
    """
    words = _f_score(_words(translation), _words(candidate), WORDS)
    characters = _f_score("".join(translation.split()), "".join(candidate.split()), CHARACTERS)
    return (1 - SHARE) * words + SHARE * characters


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def _f_score(found: Sequence[str], wanted: Sequence[str], longest: int) -> float:
    """The F-score of precision and recall, each the mean over all lengths of n-grams that both texts have."""
    precisions, recalls = [], []
    for n in range(1, min(longest, len(found), len(wanted)) + 1):
        one, other = _ngrams(found, n), _ngrams(wanted, n)
        common = (one & other).total()
        precisions.append(common / one.total())
        recalls.append(common / other.total())
    if not any(precisions):
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    return (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)


def _ngrams(items: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(items[i : i + n]) for i in range(len(items) - n + 1))
