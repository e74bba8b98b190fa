"""How much do APT's weights matter? Correlation with people over w2 × w6 × alignment (APT §4.2, Table 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.align.tokenize import DEFAULT
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.parsing import read_json
from anaphora.languages.pronouns import normalize_word, pronoun_lists
from anaphora.metrics.apt import paper as apt_paper
from anaphora.metrics.apt.task import CASES, Files, Weighting, count_cases, read_task
from anaphora.metrics.meta.evaluation import Scores, removed_systems, signature_of
from anaphora.stats.correlation import Correlation, Settings, correlation

Counts = Mapping[str, tuple[int, ...]]  # of each system, the pronouns in each of the six cases
TABLE_4 = ((0.0, 0.0), (1.0, 0.0), (0.5, 0.0), (1.0, 1.0), (0.5, 0.5))  # (w2, w6), in the order of the table
FULL = tuple((w2, w6) for w6 in (0.0, 0.5, 1.0) for w2 in (0.0, 0.5, 1.0))
NOTHING: frozenset[int] = frozenset()
REMEDY = "Write the file with: anaphora apt … --json"


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to compute APT, its scores, and how they correlate with the human ones."""

    alignment: str
    w2: float
    w6: float
    discarded: tuple[int, ...]  # cases, counted from 1
    scores: Mapping[str, float]
    correlation: Correlation
    without: Correlation | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "alignment": self.alignment,
            "w2": self.w2,
            "w6": self.w6,
            "discarded": list(self.discarded),
            "scores": dict(self.scores),
            **self.correlation.to_dict(),
            "without": None if self.without is None else self.without.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Sweep:
    """What `meta sweep` finds."""

    human: Scores
    removed: tuple[str, ...]
    cases: Mapping[str, Counts]  # by alignment
    settings: tuple[Setting, ...]
    how: Settings

    @property
    def signature(self) -> str:
        return signature_of("sweep", self.human, self.removed, self.how)

    def totals(self) -> dict[str, tuple[int, ...]]:
        """The pronouns in each case over all systems, by alignment (Figure 2)."""
        return {name: tuple(map(sum, zip(*counts.values(), strict=True))) for name, counts in self.cases.items()}

    def to_dict(self) -> dict[str, Any]:
        return {
            "systems": list(self.human.systems),
            "human": self.human.human,
            "removed": list(self.removed),
            "cases": {
                alignment: {system: list(numbers) for system, numbers in counts.items()}
                for alignment, counts in self.cases.items()
            },
            "settings": [setting.to_dict() for setting in self.settings],
            "signature": self.signature,
        }


def sweep(
    scores: Scores,
    cases: Mapping[str, Counts],
    *,
    weights: Sequence[tuple[float, float]] = TABLE_4,
    discard: Sequence[frozenset[int]] = (NOTHING,),
    without: Sequence[str] = (),
    settings: Settings | None = None,
) -> Sweep:
    """Correlate APT with the human scores for every alignment, pair of weights and choice of discarded cases.

    cases: by the name of an alignment, the case counts of each system; weights: pairs of w2 and w6
    """
    settings = settings or Settings()
    removed = removed_systems(scores, without)
    ordered = {name: _in_order(name, counts, scores) for name, counts in cases.items()}
    found = [
        _setting(scores, alignment, counts, pair, dropped, removed, settings)
        for alignment, counts in ordered.items()
        for dropped in dict.fromkeys(discard)
        for pair in _distinct(weights, dropped)
    ]
    return Sweep(scores, removed, ordered, tuple(found), settings)


def read_cases(files: Sequence[tuple[str, Path]]) -> dict[str, dict[str, tuple[int, ...]]]:
    """What `anaphora apt --json` wrote, by alignment: documents of one system (called by the file's name) or of many.

    files: pairs of an alignment's name and a file; several files of the same alignment are put together
    """
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    for alignment, path in files:
        counts = found.setdefault(alignment, {})
        for system, document in _systems(path, read_json(path)).items():
            if system in counts:
                raise BadInput(path, f"the system {system!r} is there twice for the alignment {alignment!r}")
            counts[system] = _counts(path, system, document)
    return found


def _systems(path: Path, document: Any) -> dict[str, Any]:
    if isinstance(document, dict):
        if isinstance(document.get("systems"), dict) and document["systems"]:
            return dict(document["systems"])
        if "cases" in document:
            return {str(document.get("system") or path.name.removesuffix(".gz").removesuffix(".json")): document}
    raise BadInput(path, "no case counts", remedy=REMEDY)


def _counts(path: Path, system: str, document: Any) -> tuple[int, ...]:
    cases = document.get("cases") if isinstance(document, dict) else None
    if isinstance(cases, list) and len(cases) == len(CASES) and all(type(n) is int and n >= 0 for n in cases):
        return tuple(cases)
    raise BadInput(path, f"{system}: 'cases' must be six counts", remedy=REMEDY)


def _in_order(alignment: str, counts: Counts, scores: Scores) -> dict[str, tuple[int, ...]]:
    """The counts in the order of the human scores; both must be of the same systems."""
    for one, other, what in ((scores.systems, counts, "case counts"), (counts, scores.systems, "human score")):
        missing = [system for system in one if system not in other]
        if missing:
            names = ", ".join(missing)
            raise AnaphoraError(f"{alignment}: no {what} for {names}. Name the systems alike in both (apt --name)")
    return {system: counts[system] for system in scores.systems}


def _distinct(weights: Sequence[tuple[float, float]], dropped: frozenset[int]) -> list[tuple[float, float]]:
    """Pairs of weights that make a difference: that of a discarded case makes none."""
    return list(dict.fromkeys((0.0 if 2 in dropped else w2, 0.0 if 6 in dropped else w6) for w2, w6 in weights))


def _setting(
    scores: Scores,
    alignment: str,
    counts: Counts,
    weights: tuple[float, float],
    dropped: frozenset[int],
    removed: Sequence[str],
    how: Settings,
) -> Setting:
    w2, w6 = weights
    weighting = Weighting((1.0, w2, 0.0, 0.0, 0.0, w6), tuple(dropped))  # the other weights are never in question
    values: dict[str, float] = {}
    for system, numbers in counts.items():
        value = weighting.score(numbers)
        if value is None:
            raise AnaphoraError(f"{alignment}: {system} has no pronoun that counts. Discard fewer cases")
        values[system] = value
    apt = replace(scores, metrics={"apt": np.array(list(values.values()))})
    rest = _correlate(apt.without(removed), how) if removed else None
    return Setting(alignment, w2, w6, weighting.discarded, values, _correlate(apt, how), rest)


def _correlate(scores: Scores, settings: Settings) -> Correlation:
    return correlation(scores.human_scores, scores.metrics["apt"], settings)


# The case counts of a sweep from the texts themselves: each alignment as it is, and with APT's heuristics.

ALIGNMENTS = {"basic": False, "heuristics": True}  # the two of Table 4: without and with the rescue of §2.3


def cases_of_texts(
    files: Files,
    languages: str,
    *,
    pronouns: Sequence[str] = (),
    lists: Path | None = None,
    tokenize: str = DEFAULT,
    normalize: bool = True,
) -> dict[str, dict[str, tuple[int, ...]]]:
    """For both alignments, how many pronouns of each system are in each case (APT as the paper has it)."""
    wanted = tuple(map(normalize_word, pronouns))
    one, _, other = languages.partition("-")
    words = files.tokenization(tokenize, normalize, (one, other))
    task = read_task(files, words, pronoun_lists(languages, lists), pronouns=wanted)
    return {
        name: {
            outcome.name: count_cases(triple.case for triple in outcome.triples)
            for outcome in apt_paper.outcomes(replace(task, rescue=rescue))
        }
        for name, rescue in ALIGNMENTS.items()
    }
