"""Learning which pronouns are equivalent from translations that people marked as right or wrong (APT §2.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.core.columns import read_columns
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronouns import PronounLists, normalize_word

LEAST_SHARE = 0.05  # rarer pairs are left out
ABOVE = 0.5  # the probability that a kept pair exceeds
YES, NO = ("1", "yes", "true", "correct"), ("0", "no", "false", "incorrect")


class Sample(NamedTuple):
    """A pronoun of a translation (t), the reference's (r), and whether a person found it right (c)."""

    candidate: str
    reference: str
    correct: bool


@dataclass(frozen=True, slots=True)
class PairCounts:
    """How often a candidate pronoun stood for another one of the reference, and was right."""

    candidate: str
    reference: str
    count: int
    correct: int

    @property
    def probability(self) -> float:
        """p(c = 1 | t, r)."""
        return self.correct / self.count


@dataclass(frozen=True, slots=True)
class Learned:
    """The pairs of a sample, the most frequent first, and what is kept of them.

    The formula tells (t, r) from (r, t); the metric's lists do not (Table 2), so that a pair that is kept in either
    order makes the two pronouns equivalent.
    """

    samples: int
    pairs: tuple[PairCounts, ...]
    least_share: float = LEAST_SHARE
    above: float = ABOVE

    def is_kept(self, pair: PairCounts) -> bool:
        return pair.count >= self.least_share * self.samples - 1e-9 and pair.probability > self.above

    @property
    def equivalent(self) -> tuple[tuple[str, str], ...]:
        """The list for the metric: two pronouns each, in alphabetical order."""
        kept = {(min(p.candidate, p.reference), max(p.candidate, p.reference)) for p in self.pairs if self.is_kept(p)}
        return tuple(sorted(kept))

    def to_dict(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "least_share": self.least_share,
            "above": self.above,
            "pairs": [
                {
                    "candidate": pair.candidate,
                    "reference": pair.reference,
                    "count": pair.count,
                    "correct": pair.correct,
                    "probability": pair.probability,
                    "kept": self.is_kept(pair),
                }
                for pair in self.pairs
            ],
            "equivalent": [list(group) for group in self.equivalent],
        }


def learn_equivalents(
    samples: Iterable[Sample],
    *,
    lists: PronounLists | None = None,
    least_share: float = LEAST_SHARE,
    above: float = ABOVE,
) -> Learned:
    """Count pairs of different pronouns; the share is of all samples, those with equal pronouns included.

    lists: identical forms are counted as one pronoun (c' as ce), if their lists are given
    """
    form = lists.canonical if lists else str
    found: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    total = 0
    for candidate, reference, correct in samples:
        total += 1
        pair = form(normalize_word(candidate)), form(normalize_word(reference))
        if pair[0] != pair[1]:
            found[pair] += 1
            right[pair] += correct
    if not total:
        raise AnaphoraError("no samples to learn from")
    ordered = sorted(found, key=lambda pair: (-found[pair], pair))
    return Learned(total, tuple(PairCounts(*pair, found[pair], right[pair]) for pair in ordered), least_share, above)


def read_samples(path: Path) -> list[Sample]:
    """A table with the columns candidate, reference and correct (1 or 0, yes or no)."""
    table = read_columns(path)
    table.require(["candidate", "reference", "correct"], "One row per pronoun that a person has judged.")
    samples = []
    for record in table.records:
        candidate, reference, verdict = (record.cells[name] for name in ("candidate", "reference", "correct"))
        if not candidate or not reference:
            raise BadInput(path, "a pronoun is missing", line=record.line, remedy="Leave out what was not found.")
        if verdict.casefold() not in YES + NO:
            raise BadInput(path, f"neither right nor wrong: {verdict!r}", line=record.line, remedy="Write 1 or 0.")
        samples.append(Sample(candidate, reference, verdict.casefold() in YES))
    return samples
