"""What APT says of systems: scores with intervals, cases, pronouns, confusions, and the systems against each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from anaphora.align.tokenize import Treatment
from anaphora.evaluation.compare import Pair, corrected
from anaphora.metrics.apt.cases import CASES, Weighting, count_cases
from anaphora.metrics.apt.statistics import Unit, by_sentence, score_difference, score_interval
from anaphora.metrics.apt.task import Outcome, Side, Triple
from anaphora.stats.intervals import Interval, Resampling

DETAILS = (
    *("system", "sentence", "position", "source"),
    *("reference_position", "reference", "reference_found"),
    *("candidate_position", "candidate", "candidate_found", "case"),
)


@dataclass(frozen=True, slots=True)
class Score:
    """APT of some pronouns. total: those that count, the discarded cases left out."""

    apt: float | None
    interval: Interval
    cases: tuple[int, ...]
    total: int

    def to_dict(self) -> dict[str, Any]:
        return {"apt": self.apt, "interval": list(self.interval), "cases": list(self.cases), "total": self.total}


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One system: its score, in all and by pronoun, and everything that was found."""

    score: Score
    pronouns: Mapping[str, Score]
    outcome: Outcome

    @property
    def name(self) -> str:
        return self.outcome.name

    @property
    def rescued(self) -> tuple[int, int]:
        """How many translations the alignment missed and the neighbours gave, in the reference and the candidate."""
        triples = self.outcome.triples
        return sum(t.reference.rescued for t in triples), sum(t.candidate.rescued for t in triples)


@dataclass(frozen=True, slots=True)
class AptResult:
    """What `apt` says of one or more systems with the same source and reference.

    parts: the settings that the signature is made of, in its order
    texts: what was done to each text before its words were counted
    """

    languages: str
    variant: str
    systems: tuple[SystemResult, ...]
    pairs: tuple[Pair, ...]
    weighting: Weighting
    sampling: Resampling
    parts: tuple[str, ...]
    texts: Mapping[str, Treatment] = field(default_factory=dict)

    def __str__(self) -> str:
        """The tables, as on the command line."""
        from anaphora.reports.apt import apt_tables

        return "\n\n".join(table.render("table") for table in apt_tables(self))

    def _repr_html_(self) -> str:
        """The tables in a notebook."""
        from anaphora.reports.apt import apt_tables

        return "".join(table.render("html") for table in apt_tables(self))

    @property
    def apt(self) -> float | None:
        """The score of the first system, which is often the only one."""
        return self.systems[0].score.apt

    @property
    def signature(self) -> str:
        return "|".join(self.parts)

    def to_dict(self) -> dict[str, Any]:
        """What `anaphora apt --json` prints: the first system at the top, and all of them under `systems`."""
        systems = {system.name: self._system(system) for system in self.systems}
        first = next(iter(systems.values()))
        texts = {name: treatment.to_dict() for name, treatment in self.texts.items()}
        return {**first, "systems": systems, "pairs": [pair.to_dict() for pair in self.pairs], "texts": texts}

    def details(self) -> Iterator[tuple[str, ...]]:
        """One row per pronoun and system, under the names `DETAILS`; sentences and positions count from 0."""
        for system in self.systems:
            for triple in system.outcome.triples:
                yield (system.name, *_cells(triple))

    def _system(self, system: SystemResult) -> dict[str, Any]:
        reference, candidate = system.rescued
        confusion = system.outcome.confusion
        return {
            "system": system.name,
            **system.score.to_dict(),
            "weights": list(self.weighting.weights),
            "discarded": list(self.weighting.discarded),
            "signature": self.signature,
            "languages": self.languages,
            "variant": self.variant,
            "rescued": {"reference": reference, "candidate": candidate},
            "unaligned": system.outcome.unaligned,
            "pronouns": {pronoun: score.to_dict() for pronoun, score in system.pronouns.items()},
            "confusion": {"labels": list(confusion.labels), "counts": [list(row) for row in confusion.counts]},
        }


def make_result(
    outcomes: Sequence[Outcome],
    *,
    languages: str,
    variant: str,
    weighting: Weighting,
    sampling: Resampling,
    parts: Sequence[str],
    by_pronoun: bool = False,
    texts: Mapping[str, Treatment] | None = None,
) -> AptResult:
    """Scores, intervals and tests from what a variant found. by_pronoun: compare systems pronoun by pronoun, too."""
    systems = tuple(_system(outcome, weighting, sampling) for outcome in outcomes)
    compared = [_Compared(outcome, _by_group(outcome, weighting, by_pronoun)) for outcome in outcomes]
    pairs = [_pair(a, b, weighting, sampling) for a, b in itertools.combinations(compared, 2)]
    return AptResult(languages, variant, systems, corrected(pairs), weighting, sampling, tuple(parts), texts or {})


def _system(outcome: Outcome, weighting: Weighting, sampling: Resampling) -> SystemResult:
    groups: dict[str, list[Triple]] = {}
    for group, triple in zip(outcome.groups, outcome.triples, strict=True):
        groups.setdefault(group, []).append(triple)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    pronouns = {group: _score(triples, weighting, sampling) for group, triples in ordered}
    return SystemResult(_score(outcome.triples, weighting, sampling), pronouns, outcome)


def _score(triples: Sequence[Triple], weighting: Weighting, sampling: Resampling) -> Score:
    cases = count_cases(triple.case for triple in triples)
    units = _units(triples, weighting)
    total = sum(n for _, n in units.values())
    return Score(weighting.score(cases), score_interval(units, sampling), cases, total)


def _units(triples: Iterable[Triple], weighting: Weighting) -> dict[int, Unit]:
    credit = {case: weighting.credit(case) for case in CASES}
    return by_sentence((triple.sentence, credit[triple.case]) for triple in triples)


class _Compared(NamedTuple):
    """A system as it is compared: the units of all its pronouns (under None), and of each pronoun if asked for."""

    outcome: Outcome
    units: dict[str | None, dict[int, Unit]]


def _by_group(outcome: Outcome, weighting: Weighting, by_pronoun: bool) -> dict[str | None, dict[int, Unit]]:
    found: dict[str | None, dict[int, Unit]] = {None: _units(outcome.triples, weighting)}
    for group in sorted(set(outcome.groups)) if by_pronoun else ():
        members = (t for t, g in zip(outcome.triples, outcome.groups, strict=True) if g == group)
        found[group] = _units(members, weighting)
    return found


def _pair(first: _Compared, second: _Compared, weighting: Weighting, sampling: Resampling) -> Pair:
    """Both have the same pronouns in the same order, as they come from the same source and reference."""
    gained: list[str] = []
    lost: list[str] = []
    credit = {case: weighting.credit(case) or 0.0 for case in CASES}
    for one, other in zip(first.outcome.triples, second.outcome.triples, strict=True):
        change = credit[other.case] - credit[one.case]
        if change:
            (gained if change > 0 else lost).append(f"{one.sentence}:{_joined(one.source.positions)}")
    differences = {g: score_difference(units, second.units[g], sampling) for g, units in first.units.items()}
    groups = {group: difference for group, difference in differences.items() if group is not None}
    breakdowns = {"pronoun": groups} if groups else {}
    names = first.outcome.name, second.outcome.name
    return Pair(*names, differences[None], breakdowns, tuple(gained), tuple(lost))


def _cells(triple: Triple) -> tuple[str, ...]:
    source = (_joined(triple.source.positions), " ".join(triple.source.words))
    return (str(triple.sentence), *source, *_found(triple.reference), *_found(triple.candidate), str(triple.case))


def _found(side: Side) -> tuple[str, str, str]:
    how = "" if not side.positions else "rescued" if side.rescued else "aligned"
    return _joined(side.positions), " ".join(side.words), how


def _joined(positions: Sequence[int]) -> str:
    return " ".join(map(str, positions))
