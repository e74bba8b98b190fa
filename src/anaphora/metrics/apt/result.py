"""Results of APT: scores and differences with intervals and tests that resample sentences with all their pronouns.

Pronouns of one sentence are translated together and go right or wrong together, so that the sentence is the unit, in
the intervals as in the paired tests.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.align.tokenize import Treatment
from anaphora.core.columns import tsv_line
from anaphora.core.files import atomic_writer
from anaphora.core.finite import NotFinite
from anaphora.evaluation.compare import Difference, Pair, corrected
from anaphora.evaluation.verdicts import ANSWERS, RIGHT_ANSWER, Judged, judged
from anaphora.metrics.apt.task import CASES, NO_CANDIDATE, Outcome, Triple, Weighting, count_cases
from anaphora.stats.intervals import Floats, Ints, bootstrap, generator, percentile_interval
from anaphora.stats.paired import (
    approximate_randomization,
    paired_bootstrap,
    resampled_totals,
    share_as_extreme,
    swapped_totals,
)
from anaphora.stats.resampling import TESTS, Interval, Resampling
from anaphora.table import Rendered

Unit = tuple[float, int]  # of a sentence: the sum of its credits, and the number of its pronouns
Both = tuple[float, int, float, int]  # the units of two systems
Judgment = tuple[Triple, str]  # a triple, and the annotators' verdict on it


def by_sentence(credits: Iterable[tuple[int, float | None]]) -> dict[int, Unit]:
    """The units of a system, from the sentence of each pronoun and what it adds to the score (None: not counted)."""
    sums: dict[int, Unit] = defaultdict(lambda: (0.0, 0))
    for sentence, credit in credits:
        if credit is not None:
            total, n = sums[sentence]
            sums[sentence] = total + credit, n + 1
    return dict(sums)


def score_interval(units: Mapping[int, Unit], sampling: Resampling) -> Interval:
    """The bootstrap interval of a score; all of [0, 1] where there is nothing to resample."""
    if not units:
        return 0.0, 1.0
    rows, counts = _kinds(Counter(units.values()))
    return percentile_interval(bootstrap(rows, counts, sampling.samples, generator(sampling.seed)), sampling.confidence)


def score_difference(first: Mapping[int, Unit], second: Mapping[int, Unit], sampling: Resampling) -> Difference:
    """The second score minus the first, tested on the same sentences.

    As a rule both systems have the same pronouns in a sentence. They do not where a case is discarded that depends on
    the candidate (1 to 4, or just one of 5 and 6); then the difference of the two ratios is resampled itself.
    """
    nothing: Unit = (0.0, 0)
    pairs = Counter(
        (*first.get(sentence, nothing), *second.get(sentence, nothing)) for sentence in first.keys() | second.keys()
    )
    rows, counts = _kinds(pairs)
    totals = counts @ rows if len(rows) else np.zeros(4)
    if not (totals[1] and totals[3]):
        return Difference(0, 0.0, 0.0, (0.0, 0.0), dict.fromkeys(TESTS, 1.0), 1.0)
    test = _test_same_pronouns if (rows[:, 1] == rows[:, 3]).all() else _test_ratios
    tests, values = test(rows, counts, sampling)
    return Difference(
        total=int(max(totals[1], totals[3])),
        first=float(totals[0] / totals[1]),
        second=float(totals[2] / totals[3]),
        interval=percentile_interval(values, sampling.confidence),
        tests=tests,
        p_value=tests[sampling.test],
    )


def _test_same_pronouns(rows: Floats, counts: Ints, sampling: Resampling) -> tuple[dict[str, float], Floats]:
    """The tests of contrastive results: units are sums of differences and sizes, of which few are different."""
    units: Counter[Unit] = Counter()
    changes: Counter[tuple[float]] = Counter()
    for (one, n, other, _), times in zip(rows.tolist(), counts.tolist(), strict=True):
        units[other - one, int(n)] += times
        changes[(other - one,)] += times
    p_bootstrap, values = paired_bootstrap(*_kinds(units), sampling.samples, generator(sampling.seed))
    change, times_of = _kinds(changes)
    p_random = approximate_randomization(change[:, 0], times_of, sampling.randomizations, generator(sampling.seed))
    return {"randomization": p_random, "bootstrap": p_bootstrap}, values


def _test_ratios(rows: Floats, counts: Ints, sampling: Resampling) -> tuple[dict[str, float], Floats]:
    """The same two tests for a difference of ratios with denominators of their own."""
    rows = np.repeat(rows, counts, axis=0)
    observed = abs(float(_ratio_differences(rows.sum(axis=0, keepdims=True))[0]))
    values = _ratio_differences(resampled_totals(rows, sampling))
    trials = swapped_totals(rows[:, :2], rows[:, 2:], sampling)
    swapped = _ratio_differences(np.hstack(trials))
    tests = {
        "randomization": share_as_extreme(swapped, observed),
        "bootstrap": share_as_extreme(values - values.mean(), observed),
    }
    return tests, values


def _ratio_differences(sums: Floats) -> Floats:
    """The second ratio minus the first; samples in which a system has no pronoun are left out."""
    sums = sums[(sums[:, 1] > 0) & (sums[:, 3] > 0)]
    if not len(sums):
        raise NotFinite("no resampled text has a pronoun of both systems. Draw more samples (--samples)")
    return np.asarray(sums[:, 2] / sums[:, 3] - sums[:, 0] / sums[:, 1])


def _kinds(
    units: Counter[Unit] | Counter[tuple[float]] | Counter[tuple[float, int, float, int]],
) -> tuple[Floats, Ints]:
    """The different units and how many there are of each, in an order that does not depend on the input's."""
    ordered = sorted(dict(units).items())
    return np.array([row for row, _ in ordered], float), np.array([n for _, n in ordered], np.int64)


# The results of APT: scores with intervals, cases, pronouns, confusions, and the systems against each other.

DETAILS = (
    *("system", "sentence", "position", "source"),
    *("reference_position", "reference", "reference_found"),
    *("candidate_position", "candidate", "candidate_found", "case"),
)


@dataclass(frozen=True, slots=True)
class Score:
    """APT of some pronouns. total: those that count, the discarded cases left out.

    annotators: how many of them found right, wrong and unclear, in place of a case; None if they were not asked
    """

    apt: float | None
    interval: Interval
    cases: tuple[int, ...]
    total: int
    annotators: tuple[int, ...] | None = None
    judged: Judged | None = None

    def to_dict(self) -> dict[str, Any]:
        figures = {"apt": self.apt, "interval": list(self.interval), "cases": list(self.cases), "total": self.total}
        if self.annotators is None or self.judged is None:
            return figures
        return {**figures, "people": dict(zip(ANSWERS, self.annotators, strict=True)), **self.judged.to_dict()}


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
        """Return how many translations were found by neighbors only, in the reference and the candidate."""
        triples = self.outcome.triples
        return sum(t.reference.rescued for t in triples), sum(t.candidate.rescued for t in triples)


@dataclass(frozen=True, slots=True)
class AptResult(Rendered):
    """The result of `apt` for one or more systems with the same source and reference.

    texts: what was done to each text before its words were counted
    """

    TABLES = "anaphora.reports.metric_tables:apt_tables"

    languages: str
    variant: str
    systems: tuple[SystemResult, ...]
    pairs: tuple[Pair, ...]
    weighting: Weighting
    sampling: Resampling
    signature: str
    texts: Mapping[str, Treatment] = field(default_factory=dict)

    @property
    def apt(self) -> float | None:
        """The score of the first system, which is often the only one."""
        return self.systems[0].score.apt

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of `anaphora apt`: the first system at the top, and all of them under `systems`."""
        systems = {system.name: self._system(system) for system in self.systems}
        first = next(iter(systems.values()))
        texts = {name: treatment.to_dict() for name, treatment in self.texts.items()}
        return {**first, "systems": systems, "pairs": [pair.to_dict() for pair in self.pairs], "texts": texts}

    def details(self) -> Iterator[tuple[str, ...]]:
        """One row per pronoun and system, under the names `DETAILS`; sentences and positions count from 0."""
        for system in self.systems:
            for sentence, *sides, case in system.outcome.triples:
                cells = []
                for side in sides:
                    how = "" if not side.positions else "rescued" if side.rescued else "aligned"
                    cells += [joined(side.positions), " ".join(side.words), how]
                yield (system.name, str(sentence), *cells[:2], *cells[3:], str(case))

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
    signature: str,
    by_pronoun: bool = False,
    texts: Mapping[str, Treatment] | None = None,
) -> AptResult:
    """Scores, intervals and tests from what a variant found. by_pronoun: compare systems pronoun by pronoun, too."""
    systems = tuple(_system(outcome, weighting, sampling) for outcome in outcomes)
    pairs = [_pair(*pair, weighting, sampling, by_pronoun) for pair in itertools.combinations(outcomes, 2)]
    return AptResult(languages, variant, systems, corrected(pairs), weighting, sampling, signature, texts or {})


def _system(outcome: Outcome, weighting: Weighting, sampling: Resampling) -> SystemResult:
    asked = bool(outcome.verdicts)
    groups: dict[str, list[Judgment]] = {}
    for group, judgment in zip(outcome.groups, outcome.judged, strict=True):
        groups.setdefault(group, []).append(judgment)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    pronouns = {group: _score(judgments, weighting, sampling, asked) for group, judgments in ordered}
    return SystemResult(_score(outcome.judged, weighting, sampling, asked), pronouns, outcome)


def _score(judgments: Sequence[Judgment], weighting: Weighting, sampling: Resampling, asked: bool) -> Score:
    cases = count_cases(triple.case for triple, verdict in judgments if not verdict)
    units = _units(judgments, weighting)
    total = sum(n for _, n in units.values())
    interval = score_interval(units, sampling)
    if not asked:
        return Score(weighting.score(cases), interval, cases, total)
    answers = Counter(verdict for _, verdict in judgments if verdict)
    apt = weighting.score(cases, answers[RIGHT_ANSWER], answers.total())
    by_whom = judged((triple.case < NO_CANDIDATE, verdict) for triple, verdict in judgments)
    return Score(apt, interval, cases, total, tuple(answers[answer] for answer in ANSWERS), by_whom)


def _units(judgments: Iterable[Judgment], weighting: Weighting) -> dict[int, Unit]:
    credits = _credits(weighting)
    return by_sentence((triple.sentence, credits[verdict or triple.case]) for triple, verdict in judgments)


def _credits(weighting: Weighting) -> dict[int | str, float | None]:
    """The credit of a pronoun by its case, or by the verdict of annotators, which replaces it."""
    cases: dict[int | str, float | None] = {case: weighting.credit(case) for case in CASES}
    return cases | {answer: float(answer == RIGHT_ANSWER) for answer in ANSWERS}


def _pair(first: Outcome, second: Outcome, weighting: Weighting, sampling: Resampling, by_pronoun: bool) -> Pair:
    """Both have the same pronouns in the same order, as they come from the same source and reference."""

    def difference(group: str | None) -> Difference:
        before, after = (
            _units((j for j, g in zip(one.judged, one.groups, strict=True) if group in (None, g)), weighting)
            for one in (first, second)
        )
        return score_difference(before, after, sampling)

    gained: list[str] = []
    lost: list[str] = []
    credits = _credits(weighting)
    for (one, verdict), (other, new) in zip(first.judged, second.judged, strict=True):
        change = (credits[new or other.case] or 0.0) - (credits[verdict or one.case] or 0.0)
        if change:
            (gained if change > 0 else lost).append(f"{one.sentence}:{joined(one.source.positions)}")
    groups = {group: difference(group) for group in sorted(set(first.groups))} if by_pronoun else {}
    breakdowns = {"pronoun": groups} if groups else {}
    return Pair(first.name, second.name, difference(None), breakdowns, tuple(gained), tuple(lost))


def joined(positions: Sequence[int]) -> str:
    return " ".join(map(str, positions))


def write_details(result: AptResult, path: Path) -> None:
    """Tab-separated, with a header; an empty cell is what was not found."""
    with atomic_writer(path) as out:
        for row in (DETAILS, *result.details()):
            out.write((tsv_line(row) + "\n").encode())
