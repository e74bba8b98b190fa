"""How near a candidate is to a translation: for systems that translate but do not score."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

CHARACTERS, WORDS, BETA = 6, 2, 2.0  # longest n-grams, and how much recall counts: those of chrF++


def normalise(text: str) -> str:
    """What does not make a translation another one is left out: case, spaces, punctuation at the end.

    >>> normalise("Sie  ist  GROSS!»") == normalise("sie ist groß.")
    True
    """
    words = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    end = len(words)
    while end and (words[end - 1] == " " or unicodedata.category(words[end - 1])[0] == "P"):
        end -= 1
    return words[:end] or words  # a text that is punctuation only is not the same as any other such


def similarity(translation: str, candidate: str) -> float:
    """chrF++ (Popović 2017) from 0 to 1: the F-score of n-grams of characters, and of words so that a pronoun counts
    as a word and not only where its letters happen to stand in another one.
    """
    precisions, recalls = [], []
    for found, wanted in zip(_ngrams(translation), _ngrams(candidate), strict=True):
        if found and wanted:
            common = (found & wanted).total()
            precisions.append(common / found.total())
            recalls.append(common / wanted.total())
    if not precisions:
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    if not precision + recall:
        return 0.0
    return (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)


def _ngrams(text: str) -> list[Counter[tuple[str, ...]]]:
    """Character n-grams (without spaces) of each length, then word n-grams of each length."""
    characters, words = "".join(text.split()), re.findall(r"\w+|[^\w\s]", text)
    lengths = [(characters, n) for n in range(1, CHARACTERS + 1)] + [(words, n) for n in range(1, WORDS + 1)]
    return [Counter(tuple(items[i : i + n]) for i in range(len(items) - n + 1)) for items, n in lengths]
