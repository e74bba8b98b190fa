"""How well people agree: in all and for each pair of pronouns, with and without ties (eval-anaphora §3.1, Table 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anaphora.stats.intervals import Interval, Ints
from anaphora.study.answers import CORRECT, REFERENCE, Key, Ratings, ratings
from anaphora.study.coefficients import COEFFICIENTS, bootstrap_intervals, counts_of
from anaphora.study.model import PAIRS, Study
from anaphora.study.store import Answer


@dataclass(frozen=True, slots=True)
class Settings:
    samples: int = 2_000
    confidence: float = 0.95
    seed: int = 12345


@dataclass(frozen=True, slots=True)
class Agreement:
    """The coefficients of some items. items: those with two answers or more; values: None where one is not defined."""

    items: int
    answers: int
    values: Mapping[str, float | None]
    intervals: Mapping[str, Interval | None]

    def to_dict(self) -> dict[str, Any]:
        found = {
            name: {"value": value, "interval": list(interval) if (interval := self.intervals[name]) else None}
            for name, value in self.values.items()
        }
        return {"items": self.items, "answers": self.answers, **found}


@dataclass(frozen=True, slots=True)
class Group:
    """The items of a study, or of one pair of pronouns, and what was said of them.

    preferred: the mean over annotators of their share of answers for the reference (Table 1's Avg % Ref), or of
        answers by which the translation is correct; None without answers
    """

    name: str
    counts: Mapping[str, int]
    preferred: float | None
    with_ties: Agreement
    without_ties: Agreement | None  # None: there are no ties in gaps

    def to_dict(self) -> dict[str, Any]:
        without = self.without_ties.to_dict() if self.without_ties else None
        counts = dict(self.counts)
        return {
            "counts": counts,
            "preferred": self.preferred,
            "with_ties": self.with_ties.to_dict(),
            "without_ties": without,
        }


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    """All of it. annotators: who has answered; left_out: items found invalid or with no correct candidate."""

    title: str
    languages: str
    mode: str
    annotators: tuple[str, ...]
    answered: int
    asked: int
    left_out: int
    overall: Group
    pairs: tuple[Group, ...]
    settings: Settings

    def to_dict(self) -> dict[str, Any]:
        return {
            "study": self.title,
            "languages": self.languages,
            "mode": self.mode,
            "annotators": list(self.annotators),
            "answered": self.answered,
            "asked": self.asked,
            "left_out": self.left_out,
            **self.overall.to_dict(),
            "pairs": {group.name: group.to_dict() for group in self.pairs},
            "samples": self.settings.samples,
            "confidence": self.settings.confidence,
            "seed": self.settings.seed,
        }


def pair_name(pair: tuple[str, str]) -> str:
    """he:it, the reference's pronoun first, as the tag pronoun_pair of the suites has it."""
    return ":".join(pair)


def study_agreement(study: Study, current: Mapping[Key, Answer], settings: Settings | None = None) -> StudyAgreement:
    """The agreement of a study by the answers that count."""
    settings = settings or Settings()
    full = ratings(study, current)
    reduced = ratings(study, current, ties=False) if study.mode == PAIRS else None
    rows: dict[str, list[int]] = {}
    for row, item in enumerate(full.items):
        if item.pair is not None:
            rows.setdefault(pair_name(item.pair), []).append(row)
    everything = list(range(len(full.items)))
    answering = {name for name, _ in current}
    pairs = [_group(name, full, reduced, some, settings) for name, some in rows.items()]
    pairs = [group for group in pairs if sum(group.counts.values())]
    return StudyAgreement(
        title=study.title,
        languages=f"{study.source_language}→{study.target_language}",
        mode=study.mode,
        annotators=tuple(a.name for a in study.annotators if a.name in answering),
        answered=len(current),
        asked=len(study.orders),
        left_out=full.left_out,
        overall=_group("all", full, reduced, everything, settings),
        pairs=tuple(sorted(pairs, key=lambda group: (-group.with_ties.items, group.name))),
        settings=settings,
    )


def _group(name: str, full: Ratings, reduced: Ratings | None, rows: Sequence[int], settings: Settings) -> Group:
    values = full.values[rows]
    wanted = full.categories.index(REFERENCE if REFERENCE in full.categories else CORRECT)
    counts = Counter(full.categories[k] for k in values[values >= 0])
    answered = [column[column >= 0] for column in values.T]
    means = [float(np.mean(column == wanted)) for column in answered if len(column)]
    return Group(
        name,
        {category: counts[category] for category in full.categories},
        sum(means) / len(means) if means else None,
        agreement(values, len(full.categories), settings),
        agreement(reduced.values[rows], len(reduced.categories), settings) if reduced else None,
    )


def agreement(values: Ints, categories: int, settings: Settings) -> Agreement:
    """All coefficients of a set of ratings (items, raters); the categories are those that could be chosen."""
    values = values[(values >= 0).any(axis=1)]
    counts = counts_of(values, categories)
    found = {name: coefficient.of(values, categories) for name, coefficient in COEFFICIENTS.items()}
    intervals = bootstrap_intervals(
        values, categories, samples=settings.samples, confidence=settings.confidence, seed=settings.seed
    )
    paired = int((counts.sum(axis=1) >= 2).sum())
    return Agreement(paired, int(counts.sum()), found, intervals)
