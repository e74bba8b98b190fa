"""A naive Bayes that knows nothing but words: which gender do the words of the previous German sentence go with?

Trained on the *it* passages of the last stage, with a uniform prior. What it reaches on ContraPro with gold target
context is what no translation is needed for.
"""

from __future__ import annotations

import gzip
import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from _text import SEPARATOR, plain

GENDERS = {"er": "masculine", "sie": "feminine", "es": "neuter"}
SMOOTHING = 0.5
SEED = 12345


class Bayes:
    """How probable a sentence is before a pronoun of each gender."""

    def __init__(self, passages: dict[str, list[str]]) -> None:
        self.counts = {gender: Counter(f for s in found for f in features(s)) for gender, found in passages.items()}
        self.totals = {gender: sum(counts.values()) for gender, counts in self.counts.items()}
        self.size = len(set().union(*self.counts.values()))

    def score(self, sentence: str, gender: str) -> float:
        counts, total = self.counts[gender], self.totals[gender] + SMOOTHING * self.size
        return sum(math.log((counts[feature] + SMOOTHING) / total) for feature in features(sentence))


def features(sentence: str) -> Iterator[str]:
    """Words and pairs of words."""
    words = plain(sentence).split()
    yield from words
    yield from map(" ".join, pairwise(words))


def write_scores(data: Path, text: Path, path: Path, *, others: bool) -> Path:
    """A score for each candidate of ContraPro, in order; one whose pronoun is unknown has the best wrong one.

    others: with the context of another item, drawn at random
    """
    bayes = Bayes({gender: previous_sentences(text / f"{gender}.de") for gender in GENDERS.values()})
    with gzip.open(data / "contrapro/contrapro_reconstructed.jsonl.gz", "rt", encoding="utf-8") as file:
        items = [json.loads(line) for line in file]
    contexts = [item["ref_context"] for item in items]
    if others:
        random.Random(SEED).shuffle(contexts)
    with path.open("w", encoding="utf-8") as out:
        for item, context in zip(items, contexts, strict=True):
            scores = {pronoun: bayes.score(context, gender) for pronoun, gender in GENDERS.items()}
            right = scores.pop(item["ref_pronoun"])
            wrong = [scores.get(pronoun, max(scores.values())) for pronoun in item["contrastive_pronoun"]]
            out.writelines(f"{score}\n" for score in (right, *wrong))
    return path


def previous_sentences(path: Path) -> list[str]:
    return [line.partition(SEPARATOR)[0] for line in path.read_text("utf-8").splitlines() if line]
