"""How sure is an APT score, and a difference of two? Sentences are resampled, with all their pronouns.

Pronouns of one sentence are translated together and go right or wrong together, so that the sentence is the unit, in
the intervals as in the paired tests.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from anaphora.core.finite import NotFinite
from anaphora.evaluation.compare import Difference
from anaphora.stats.intervals import (
    TESTS,
    Floats,
    Interval,
    Ints,
    Resampling,
    bootstrap,
    generator,
    percentile_interval,
)
from anaphora.stats.paired import (
    approximate_randomisation,
    paired_bootstrap,
    resampled_totals,
    share_as_extreme,
    swapped_totals,
)

Unit = tuple[float, int]  # of a sentence: the sum of its credits, and the number of its pronouns
Both = tuple[float, int, float, int]  # the units of two systems


def by_sentence(credits: Iterable[tuple[int, float | None]]) -> dict[int, Unit]:
    """The units of a system, from the sentence of each pronoun and what it adds to the score (None: not counted)."""
    found: dict[int, Unit] = defaultdict(lambda: (0.0, 0))
    for sentence, credit in credits:
        if credit is not None:
            total, n = found[sentence]
            found[sentence] = total + credit, n + 1
    return dict(found)


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
    """As contrastive results are compared: units are sums of differences and sizes, of which few are different."""
    units: Counter[Unit] = Counter()
    changes: Counter[tuple[float]] = Counter()
    for (one, n, other, _), times in zip(rows.tolist(), counts.tolist(), strict=True):
        units[other - one, int(n)] += times
        changes[(other - one,)] += times
    p_bootstrap, values = paired_bootstrap(*_kinds(units), sampling.samples, generator(sampling.seed))
    change, times_of = _kinds(changes)
    p_random = approximate_randomisation(change[:, 0], times_of, sampling.randomizations, generator(sampling.seed))
    return {"randomisation": p_random, "bootstrap": p_bootstrap}, values


def _test_ratios(rows: Floats, counts: Ints, sampling: Resampling) -> tuple[dict[str, float], Floats]:
    """The same two tests for a difference of ratios with denominators of their own."""
    rows = np.repeat(rows, counts, axis=0)
    observed = abs(float(_ratio_differences(rows.sum(axis=0, keepdims=True))[0]))
    values = _ratio_differences(resampled_totals(rows, sampling))
    trials = swapped_totals(rows[:, :2], rows[:, 2:], sampling)
    swapped = _ratio_differences(np.hstack(trials))
    tests = {
        "randomisation": share_as_extreme(swapped, observed),
        "bootstrap": share_as_extreme(values - values.mean(), observed),
    }
    return tests, values


def _ratio_differences(sums: Floats) -> Floats:
    """The second ratio minus the first; samples in which a system has no pronoun say nothing and are left out."""
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
