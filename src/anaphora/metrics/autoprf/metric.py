"""AutoPRF (Hardmeier and Federico 2010; APT paper §3.2): the words aligned to source pronouns, against a reference's.

For each source pronoun, C are the words that the candidate translation aligns to it, R those of the reference. A word
counts as a match as often as it occurs in both (clipped counts); precision = matches / |C|, recall = matches / |R|.

Where counts are clipped. Hardmeier and Federico clip pronoun by pronoun: a word matches only the reference's words for
the very same occurrence. The formula in the APT paper reads as if C and R were lists of the whole text, where an *il*
here pays for an *il* in another sentence; that is a comparison of two frequency lists, and far more lenient. The
original program clips by occurrence, and so do we; `clip="corpus"` is the formula as printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anaphora.core.errors import AnaphoraError
from anaphora.metrics.aligned_pronouns import Occurrence
from anaphora.stats.intervals import Floats, Interval, Resampling
from anaphora.stats.paired import Sums, harmonic, ratio

CLIPS = ("occurrence", "corpus")


@dataclass(frozen=True, slots=True)
class Score:
    """Counts and the three figures with their intervals; a figure is None where there is nothing to divide by."""

    occurrences: int
    matches: int
    candidate: int
    reference: int
    intervals: dict[str, Interval]

    @property
    def precision(self) -> float | None:
        return self.matches / self.candidate if self.candidate else None

    @property
    def recall(self) -> float | None:
        return self.matches / self.reference if self.reference else None

    @property
    def f(self) -> float | None:
        """2PR / (P + R), which is 2 matches / (|C| + |R|)."""
        return 2 * self.matches / (self.candidate + self.reference) if self.candidate and self.reference else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f": self.f,
            "intervals": {name: list(interval) for name, interval in self.intervals.items()},
            "matches": self.matches,
            "candidate": self.candidate,
            "reference": self.reference,
            "occurrences": self.occurrences,
        }


@dataclass(frozen=True, slots=True)
class AutoPRF:
    """What the metric says of one system, in all and by source pronoun."""

    score: Score
    by_pronoun: dict[str, Score]
    sums: Sums  # for comparisons with other systems
    signature: str

    def to_dict(self) -> dict[str, Any]:
        by_pronoun = {pronoun: score.to_dict() for pronoun, score in self.by_pronoun.items()}
        return {**self.score.to_dict(), "by_pronoun": by_pronoun, "signature": self.signature}


def autoprf(
    found: Iterable[Occurrence],
    sentences: int,
    *,
    clip: str = "occurrence",
    resampling: Resampling | None = None,
    settings: str = "",
) -> AutoPRF:
    """Precision, recall and F of the occurrences of a text of so many sentences, which are what is resampled.

    settings: what else the signature says, for example the case of words
    """
    if clip not in CLIPS:
        raise AnaphoraError(f"unknown clipping {clip!r}. Known: {', '.join(CLIPS)}")
    resampling = resampling or Resampling()
    found = list(found)
    pronouns = sorted({one.pronoun for one in found})
    sums = _sums(found, sentences, clip)
    parts = {p: [one for one in found if one.pronoun == p] for p in pronouns}
    signature = "|".join(filter(None, ["autoprf", f"clip:{clip}", settings, resampling.signature]))
    return AutoPRF(
        score=_score(found, clip, sums, resampling),
        by_pronoun={p: _score(part, clip, _sums(part, sentences, clip), resampling) for p, part in parts.items()},
        sums=sums,
        signature=signature,
    )


def _score(found: Sequence[Occurrence], clip: str, sums: Sums, resampling: Resampling) -> Score:
    if clip == "occurrence":
        matches = sum(one.matches for one in found)
    else:
        matches = (_words(one.candidate for one in found) & _words(one.reference for one in found)).total()
    return Score(
        occurrences=len(found),
        matches=matches,
        candidate=sum(len(one.candidate) for one in found),
        reference=sum(len(one.reference) for one in found),
        intervals=sums.intervals(resampling) if found else {},
    )


def _sums(found: Sequence[Occurrence], sentences: int, clip: str) -> Sums:
    """The three figures as functions of sums over sentences."""
    rows = _rows_by_occurrence(found, sentences) if clip == "occurrence" else _rows_by_word(found, sentences)
    return Sums(rows, _figures)


def _rows_by_occurrence(found: Sequence[Occurrence], sentences: int) -> Floats:
    """(sentences, 4): |C|, |R|, and matches as what C and what R have of them."""
    rows = np.zeros((sentences, 4))
    for one in found:
        rows[one.sentence] += (len(one.candidate), len(one.reference), one.matches, one.matches)
    return rows


def _rows_by_word(found: Sequence[Occurrence], sentences: int) -> Floats:
    """(sentences, 2 + 2 words): |C|, |R|, then how often each word is in C, and in R.

    Only words of R can match: the others need no column. So the columns are the same for all systems.
    """
    index = {word: k for k, word in enumerate(sorted(_words(one.reference for one in found)))}
    rows = np.zeros((sentences, 2 + 2 * len(index)))
    for one in found:
        for side, words in enumerate((one.candidate, one.reference)):
            rows[one.sentence, side] += len(words)
            for word in words:
                if word in index:
                    rows[one.sentence, 2 + side * len(index) + index[word]] += 1
    return rows


def _figures(totals: Floats) -> dict[str, Floats]:
    candidate, reference = totals[:, 0], totals[:, 1]
    in_candidate, in_reference = np.split(totals[:, 2:], 2, axis=1)
    matches = np.minimum(in_candidate, in_reference).sum(axis=1)
    precision, recall = ratio(matches, candidate), ratio(matches, reference)
    return {"precision": precision, "recall": recall, "f": harmonic(precision, recall)}


def _words(lists: Iterable[tuple[str, ...]]) -> Counter[str]:
    return Counter(word for words in lists for word in words)
