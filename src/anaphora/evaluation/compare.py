"""Paired comparison of runs on the same suite, or on a suite and attacks on it."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from anaphora.core.errors import AnaphoraError, BadInput, check_name
from anaphora.evaluation import decision as by
from anaphora.evaluation.decision import Key, decide, unit_of
from anaphora.evaluation.result import RunSignature, Settings, as_documents
from anaphora.measurement import Measurement, canonical
from anaphora.runs import Run, ScoredExample
from anaphora.stats.intervals import generator, percentile_interval
from anaphora.stats.paired import approximate_randomization, holm, mcnemar, paired_bootstrap
from anaphora.stats.resampling import EARLIER_NAMES, Interval
from anaphora.stats.signature import with_hash
from anaphora.suites.example import ORIGINAL, Example
from anaphora.table import Rendered

TESTS = ("mcnemar", "randomization", "bootstrap")
Outcomes = tuple[bool, ...]  # whether each system is right on an item
Counts = dict[Hashable, Counter[Outcomes]]  # unit (None where single items are resampled) → outcomes


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference in accuracy of two systems on the same items: second minus first."""

    total: int
    first: float
    second: float
    interval: Interval
    tests: dict[str, float]
    p_value: float
    p_adjusted: float = 1.0

    @property
    def delta(self) -> float:
        return self.second - self.first

    def to_dict(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "first": self.first,
            "second": self.second,
            "delta": self.delta,
            "interval": list(self.interval),
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
            "tests": self.tests,
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """A comparison of two systems. gained, lost: the items that only the second or only the first gets right."""

    first: str
    second: str
    overall: Difference
    breakdowns: dict[str, dict[str, Difference]]
    gained: tuple[str, ...]
    lost: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "systems": [self.first, self.second],
            **self.overall.to_dict(),
            "breakdowns": as_documents(self.breakdowns),
            "gained": list(self.gained),
            "lost": list(self.lost),
        }


@dataclass(frozen=True, slots=True)
class Comparison(Rendered):
    """All pairs of systems on one suite.

    attacks: the other suites, where runs of attacks on the suite are compared with it, as name@hash
    repeated: omitted breakdowns whose groups contain the same items as another breakdown, and the name of the other
    measurements: how each system was measured
    """

    TABLES = "anaphora.reports.tables:comparison_table"

    suite: str
    sha256: str
    languages: str
    systems: tuple[str, ...]
    pairs: tuple[Pair, ...]
    test: str
    settings: Settings
    version: str
    attacks: tuple[str, ...] = ()
    repeated: Mapping[str, str] = field(default_factory=dict)
    measurements: tuple[Measurement, ...] = ()

    @property
    def signature(self) -> str:
        line = RunSignature("cmp").suite(self.suite, self.sha256).others(self.attacks).measured(*self.measurements)
        return str(line.decided(self.settings).tested(self.test, self.settings).add("v", self.version))

    def to_dict(self) -> dict[str, Any]:
        return {
            "suite": self.suite,
            "sha256": self.sha256,
            "systems": list(self.systems),
            "pairs": [pair.to_dict() for pair in self.pairs],
            "test": self.test,
            "correction": "holm",
            "repeated": dict(self.repeated),
            "signature": self.signature,
        }


def compare_runs(
    runs: Sequence[Run],
    *,
    breakdowns: Sequence[str] = (),
    settings: Settings | None = None,
    test: str | None = None,
) -> Comparison:
    """Compare every pair of runs, the earlier one first.

    test: which p-value is the p_value: McNemar's exact test, unless items are resampled in groups (it takes items
        to be independent); then approximate randomization
    The correction is for the number of pairs overall, and for pairs × groups in the breakdowns. A breakdown that has
    the same items in its groups as an earlier one (`it:er` for `er`) is left out: it would be tested twice.
    """
    settings = settings or Settings()
    test = test or ("mcnemar" if settings.resample is None else "randomization")
    test = EARLIER_NAMES.get(test, test)
    if len(runs) < 2:
        raise AnaphoraError("a comparison needs two or more runs")
    check_name("test", test, TESTS)
    if test == "mcnemar" and settings.resample is not None:
        raise AnaphoraError("McNemar's test assumes independent items. With --resample, choose another --test")
    about = runs[0].header
    # each group is one more test to correct for: crossed breakdowns are compared when asked for
    wanted = by.parse_all(breakdowns or [b for b in about.breakdowns if "×" not in b])
    tally = _Tally(len(runs), wanted, settings)
    for items in zip_runs(runs):
        tally.add(items)
    if breakdowns:
        by.check_known(wanted.values(), tally.tags)
    specs = [run.header.system for run in runs]
    names = tuple(specs if len(set(specs)) == len(specs) else [str(run.path) for run in runs])
    suites = dict.fromkeys(with_hash(run.header.suite, run.header.sha256) for run in runs)
    return Comparison(
        about.suite,
        about.sha256,
        about.languages,
        names,
        corrected(tally.pairs(names, test)),
        test,
        settings,
        ",".join(dict.fromkeys(run.header.version for run in runs)),
        tuple(suites)[1:],
        tally.repeated(),
        tuple(run.header.measurement for run in runs),
    )


class _Tally:
    """Counts of correct answers, overall and by group, and the items on which runs differ."""

    def __init__(self, runs: int, wanted: Mapping[str, by.Breakdown], settings: Settings) -> None:
        self.wanted, self.settings = wanted, settings
        self.tags: set[str] = set()
        self._everything: Counts = defaultdict(Counter)
        self._keys: set[tuple[Key, ...]] = set()
        self._groups: list[dict[Key, Counts]] = [defaultdict(lambda: defaultdict(Counter)) for _ in wanted]
        self._flips: dict[tuple[int, int], tuple[list[str], list[str]]] = {
            pair: ([], []) for pair in itertools.combinations(range(runs), 2)
        }

    def add(self, items: Sequence[ScoredExample]) -> None:
        """Add the answers of all runs to one item."""
        item, settings = items[0], self.settings
        self.tags.update(item.tags)
        if item.gold is None:
            return  # a prior has no right answer to compare
        outcomes = tuple(decide(i, minimize=settings.minimize, normalize=settings.normalize).correct for i in items)
        unit = unit_of(item, settings.resample)
        self._everything[unit][outcomes] += 1
        keys = tuple([by.keyed(breakdown, item.tags) for breakdown in self.wanted.values()])
        self._keys.add(keys)
        for key, counts in zip(keys, self._groups, strict=True):
            counts[key][unit][outcomes] += 1
        for (a, b), (gained, lost) in self._flips.items():
            if outcomes[a] != outcomes[b]:
                (gained if outcomes[b] else lost).append(item.id)

    def repeated(self) -> dict[str, str]:
        """Return the breakdowns that repeat another one."""
        breakdowns = self.wanted.values()
        groups = ([b.group(key) for b, key in zip(breakdowns, keys, strict=True)] for keys in self._keys)
        return by.repeated(list(self.wanted), groups)

    def pairs(self, names: Sequence[str], test: str) -> list[Pair]:
        """Return every pair of runs, with uncorrected p-values."""
        settings, copies = self.settings, self.repeated()
        merged: dict[str, dict[str, Counts]] = {}
        for (name, breakdown), counts in zip(self.wanted.items(), self._groups, strict=True):
            for key, units in counts.items():
                group = breakdown.group(key)
                if group is not None and name not in copies:  # without a value an item is in no group
                    groups = merged.setdefault(name, defaultdict(lambda: defaultdict(Counter)))
                    for unit, outcomes in units.items():
                        groups[group][unit].update(outcomes)
        return [
            Pair(
                first=names[a],
                second=names[b],
                overall=_difference(self._everything, a, b, settings, test),
                breakdowns={
                    name: {g: _difference(groups[g], a, b, settings, test) for g in sorted(groups, key=by.order)}
                    for name, groups in merged.items()
                },
                gained=tuple(gained),
                lost=tuple(lost),
            )
            for (a, b), (gained, lost) in self._flips.items()
        ]


def _difference(counts: Counts, a: int, b: int, settings: Settings, test: str) -> Difference:
    table: Counter[tuple[bool, bool]] = Counter()
    rows: Counter[tuple[int, int]] = Counter()  # (sum of differences, size) of a unit → number of such units
    for unit, outcomes in counts.items():
        change = size = 0
        for outcome, n in outcomes.items():
            table[outcome[a], outcome[b]] += n
            step = outcome[b] - outcome[a]
            change, size = change + step * n, size + n
            if unit is None:
                rows[step, 1] += n
        if unit is not None:
            rows[change, size] += 1
    total = table.total()
    if not total:
        return Difference(0, 0.0, 0.0, (0.0, 0.0), dict.fromkeys(TESTS, 1.0), 1.0)
    units = np.array(sorted(rows), float)
    times = np.array([rows[row] for row in sorted(rows)], np.int64)
    p_random = approximate_randomization(units[:, 0], times, settings.samples, generator(settings.seed))
    p_bootstrap, values = paired_bootstrap(units, times, settings.samples, generator(settings.seed))
    tests = {"mcnemar": mcnemar(table[True, False], table[False, True])} if settings.resample is None else {}
    tests |= {"randomization": p_random, "bootstrap": p_bootstrap}
    return Difference(
        total=total,
        first=(table[True, True] + table[True, False]) / total,
        second=(table[True, True] + table[False, True]) / total,
        interval=percentile_interval(values, settings.confidence),
        tests=tests,
        p_value=tests[test],
    )


def corrected(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return the pairs with p-values corrected for the number of pairs, and for pairs × groups in breakdowns."""
    overall = iter(holm([pair.overall.p_value for pair in pairs]))
    parts = iter(holm([d.p_value for pair in pairs for groups in pair.breakdowns.values() for d in groups.values()]))
    return tuple(
        replace(
            pair,
            overall=replace(pair.overall, p_adjusted=next(overall)),
            breakdowns={
                name: {group: replace(d, p_adjusted=next(parts)) for group, d in groups.items()}
                for name, groups in pair.breakdowns.items()
            },
        )
        for pair in pairs
    )


# Which answers of several runs belong together: those to one example, or to an example and to its attacked forms.


def zip_runs(runs: Sequence[Run]) -> Iterator[tuple[ScoredExample, ...]]:
    """Yield the answers of all runs example by example, in the order of the first run.

    Runs of one suite are read in parallel. Runs of a suite and of attacks on it are paired by the tag
    `attacked`, on the examples that all of them have.
    """
    if len({run.header.sha256 for run in runs}) == 1:
        return _in_step(runs)
    return _by_original(runs)


def check_examples(run: Run, examples: Iterable[Example]) -> None:
    """Raise an error unless a run has these examples: their ids, right answers and tags.

    The run may have others as well, so that a part of its suite will do.
    """
    scored = {item.id: item for item in run if item.gold is not None}
    for example in examples:
        item = scored.get(example.id)
        if item is None:
            problem = f"example {example.id!r} is not in the run, which is of {run.header.suite}"
            raise BadInput(run.path, problem, remedy="Score the suite that was translated.")
        tags = item.tags == example.tags or canonical(item.tags) == canonical(example.tags)  # a tuple is read as a list
        if item.gold != example.gold or not tags:
            what = "has other tags" if item.gold == example.gold else "has another right answer"
            problem = f"a run of another suite ({run.header.suite}), in which example {example.id!r} {what}"
            raise BadInput(run.path, problem, remedy="Score the suite that was translated.")


def original_of(item: ScoredExample) -> str | None:
    """Return the id of the original example of an attack; None if the example is not attacked."""
    original = item.tags.get(ORIGINAL)
    return original if isinstance(original, str) else None


def _in_step(runs: Sequence[Run]) -> Iterator[tuple[ScoredExample, ...]]:
    for row in itertools.zip_longest(*runs):
        if None in row or len({item.id for item in row}) > 1:
            seen = ", ".join(f"{r.path}: {item.id if item else 'ended'}" for r, item in zip(runs, row, strict=True))
            raise AnaphoraError(f"the runs do not have the same examples in the same order ({seen})")
        yield row


def _by_original(runs: Sequence[Run]) -> Iterator[tuple[ScoredExample, ...]]:
    answers = [list(run) for run in runs]
    ids = [{item.id for item in items} for items in answers]
    originals = [{original_of(item) for item in items} - {None} for items in answers]
    tables = []
    for k, (run, items) in enumerate(zip(runs, answers, strict=True)):
        others = [j for j, other in enumerate(runs) if other.header.sha256 != run.header.sha256]
        if any(originals[j] & ids[k] for j in others):
            keys = [item.id for item in items]  # others are attacks on this very suite
        elif any(originals[k] & (ids[j] | originals[j]) for j in others):
            keys = [original_of(item) or item.id for item in items]
        else:
            raise _unrelated(run if k else runs[others[0]], runs[0])
        if len(set(keys)) < len(keys):
            raise AnaphoraError(
                f"{run.path}: it has several attacks on one example. Compare each with: anaphora robustness"
            )
        tables.append(dict(zip(keys, items, strict=True)))
    common = [key for key in tables[0] if all(key in table for table in tables)]
    if not common:
        raise AnaphoraError(f"the runs have no example in common ({', '.join(str(run.path) for run in runs)})")
    return (tuple(table[key] for table in tables) for key in common)


def _part(run: Run) -> str:
    header = run.header
    number = "examples" if header.examples is None else f"{header.examples:,} examples"
    if sample := header.settings.get("sample"):
        size, _, seed = str(sample).partition("@")
        return f"a random sample of {size} examples (seed {seed})"
    limit = header.settings.get("limit")
    return f"{'the first' if limit is not None and header.examples in (None, limit) else 'all'} {number}"


def _unrelated(run: Run, other: Run) -> AnaphoraError:
    one, two = (_part(r) for r in (run, other))
    if run.header.suite == other.header.suite and one != two:
        return AnaphoraError(
            f"{run.path} has {one} of {run.header.suite}, but {other.path} has {two}. "
            "Score both with the same --limit or --sample"
        )
    this, that = (f"{r.header.suite}@{r.header.sha256[:6]}" for r in (run, other))
    return AnaphoraError(
        f"{run.path}: a run of {this}, but {other.path} is one of {that}. "
        "Score both systems on the same suite, or on a suite and an attack on it"
    )
