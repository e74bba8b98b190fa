"""Meta-evaluation: which metric agrees with human scores over systems (APT §3.3, §4.1, §4.2, Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anaphora import __version__
from anaphora.core.columns import Columns, read_columns
from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.finite import no_overflow
from anaphora.core.parsing import read_json
from anaphora.metrics.apt.task import CASES, Weighting
from anaphora.stats.correlation import Correlation, CorrelationSettings, Williams, all_pairs, correlation
from anaphora.stats.intervals import Floats
from anaphora.stats.signature import Signature
from anaphora.table import Rendered

AUTO = "auto"  # instead of a system's name: whatever the rule below finds
FAR = 2.5  # deviations from the median that make an outlier
FEWEST = 3  # two systems always correlate perfectly


@dataclass(frozen=True, slots=True)
class Scores:
    """A human score and metrics of the same systems. Higher is better: columns where it is not have changed sign."""

    systems: tuple[str, ...]
    human: str
    human_scores: Floats
    metrics: Mapping[str, Floats]
    minimized: tuple[str, ...] = ()

    def without(self, systems: Sequence[str]) -> Scores:
        keep = np.array([system not in systems for system in self.systems])
        names = tuple(system for system in self.systems if system not in systems)
        metrics = {name: scores[keep] for name, scores in self.metrics.items()}
        return replace(self, systems=names, human_scores=self.human_scores[keep], metrics=metrics)


@dataclass(frozen=True, slots=True)
class Assessment:
    """The correlations of metrics with the human score over these systems, and tests of their differences."""

    systems: tuple[str, ...]
    metrics: Mapping[str, Correlation]
    williams: tuple[Williams, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "systems": list(self.systems),
            "metrics": {name: result.to_dict() for name, result in self.metrics.items()},
            "williams": [test.to_dict() for test in self.williams],
        }


@dataclass(frozen=True, slots=True)
class MetaEvaluation(Rendered):
    """The result of `meta correlate`, with all systems and without the excluded ones."""

    TABLES = "anaphora.reports.metric_tables:correlation_table"

    scores: Scores
    everything: Assessment
    outliers: tuple[str, ...]  # by the rule, whether they were left out or not
    removed: tuple[str, ...]
    rest: Assessment | None
    settings: CorrelationSettings

    @property
    def signature(self) -> str:
        return signature_of("cor", self.scores, self.removed, self.settings)

    def to_dict(self) -> dict[str, Any]:
        document = {
            "human": self.scores.human,
            **self.everything.to_dict(),
            "minimized": list(self.scores.minimized),
            "outliers": list(self.outliers),
        }
        rest = None if self.rest is None else {"removed": list(self.removed), **self.rest.to_dict()}
        return {**document, "without": rest, "signature": self.signature}


def meta_evaluate(
    scores: Scores, *, without: Sequence[str] = (), settings: CorrelationSettings | None = None
) -> MetaEvaluation:
    """Correlate every metric with the human score.

    without: names of systems to leave out in a second assessment; "auto" for the outliers of the human scores
    """
    settings = settings or CorrelationSettings()
    far_off = outliers(scores)
    removed = removed_systems(scores, without)
    rest = _assess(scores.without(removed), settings) if removed else None
    return MetaEvaluation(scores, _assess(scores, settings), far_off, removed, rest, settings)


def outliers(scores: Scores) -> tuple[str, ...]:
    """Mathur et al. 2020 (§4.1): systems whose human score is far from the median, in units of the median deviation.

    1.483 makes the median absolute deviation that of a normal distribution's standard deviation. Where more than half
    of the systems share a score it is 0 and there is no unit to measure in: then no system is an outlier.
    """
    with no_overflow(f"the outliers of {len(scores.systems)} systems", "Write the scores on another scale."):
        deviations = np.abs(scores.human_scores - np.median(scores.human_scores))
        unit = 1.483 * float(np.median(deviations))
        return tuple(s for s, d in zip(scores.systems, deviations, strict=True) if unit > 0 and d > FAR * unit)


def removed_systems(scores: Scores, without: Sequence[str]) -> tuple[str, ...]:
    """The systems that are left out, in the order of the scores; if too few remain, it is an error."""
    unknown = [name for name in without if name not in scores.systems and name != AUTO]
    if unknown:
        near = did_you_mean(unknown[0], scores.systems)
        raise AnaphoraError(f"no system {unknown[0]!r} to leave out{near}. Known: {', '.join(scores.systems)}")
    chosen = {name for name in without if name in scores.systems}
    if AUTO in without:
        chosen.update(outliers(scores))
    if len(scores.systems) - len(chosen) < FEWEST:
        raise AnaphoraError(f"{len(scores.systems) - len(chosen)} systems are left, but {FEWEST} are needed")
    return tuple(system for system in scores.systems if system in chosen)


def signature_of(kind: str, scores: Scores, removed: Sequence[str], settings: CorrelationSettings) -> str:
    line = Signature(kind).add("n", len(scores.systems)).add("human", scores.human)
    line.add("lower", ",".join(scores.minimized) or None).add("without", ",".join(removed) or None)
    if settings.interval == "fisher":
        line.add("ci", "fisher").confidence(settings)
    else:
        line.resampled(settings)
    return str(line.add("v", __version__))


def read_scores(
    path: Path, *, human: str = "human", metrics: Sequence[str] = (), minimize: Sequence[str] = ()
) -> Scores:
    """A table with a header: systems in the first column, one column of human scores, the others metrics.

    metrics: only these columns, in this order; minimize: columns where lower is better, which change their sign
    """
    table = _table(path, [human, *metrics, *minimize])
    wanted = list(dict.fromkeys(metrics)) or [name for name in table.names[1:] if name != human]
    if not wanted:
        raise BadInput(path, f"no column besides {human!r}", line=1, remedy="Add a column for each metric.")
    signs = dict.fromkeys(minimize, -1.0)
    values = {name: signs.get(name, 1.0) * _numbers(table, name) for name in wanted}
    judged = signs.get(human, 1.0) * _numbers(table, human)
    return Scores(_names(table), human, judged, values, tuple(signs))


def read_human(path: Path, human: str = "human") -> Scores:
    """Read only the human scores."""
    table = _table(path, [human])
    return Scores(_names(table), human, _numbers(table, human), {})


def _table(path: Path, wanted: Sequence[str]) -> Columns:
    table = read_columns(path)
    table.require(wanted[:1], "Name the column of human scores with --human.")
    table.require(wanted)
    if table.names[0] in wanted:
        raise BadInput(path, f"the first column, {table.names[0]!r}, holds the names of the systems", line=1)
    return table


def _names(table: Columns) -> tuple[str, ...]:
    lines: dict[str, int] = {}
    for record in table.records:
        name = record.cells[table.names[0]]
        if not name or name in lines:
            problem = f"the system {name!r} is also in line {lines[name]:,}" if name else "a system without a name"
            raise BadInput(table.path, problem, line=record.line)
        lines[name] = record.line
    if len(lines) < FEWEST:
        raise BadInput(table.path, f"{len(lines)} systems", remedy=f"A correlation needs at least {FEWEST}.")
    return tuple(lines)


def _numbers(table: Columns, name: str) -> Floats:
    return np.array([record.number(name) for record in table.records])


def _assess(scores: Scores, settings: CorrelationSettings) -> Assessment:
    correlations = {name: correlation(scores.human_scores, values, settings) for name, values in scores.metrics.items()}
    return Assessment(scores.systems, correlations, all_pairs(scores.human_scores, scores.metrics))


# How much do APT's weights matter? Correlation with human scores over w2 × w6 × alignment (APT §4.2, Table 4).

Counts = Mapping[str, tuple[int, ...]]  # of each system, the pronouns in each of the six cases
TABLE_4 = ((0.0, 0.0), (1.0, 0.0), (0.5, 0.0), (1.0, 1.0), (0.5, 0.5))  # (w2, w6), in the order of the table
FULL = tuple((w2, w6) for w6 in (0.0, 0.5, 1.0) for w2 in (0.0, 0.5, 1.0))
NOTHING: frozenset[int] = frozenset()
REMEDY = "Write the file with: anaphora apt … --json"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of APT, its scores, and their correlation with the human scores."""

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
    """The result of `meta sweep`."""

    human: Scores
    removed: tuple[str, ...]
    cases: Mapping[str, Counts]  # by alignment
    settings: tuple[Setting, ...]
    how: CorrelationSettings

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
    settings: CorrelationSettings | None = None,
) -> Sweep:
    """Correlate APT with the human scores for every alignment, pair of weights and choice of discarded cases.

    cases: by the name of an alignment, the case counts of each system; weights: pairs of w2 and w6
    """
    settings = settings or CorrelationSettings()
    removed = removed_systems(scores, without)
    ordered: dict[str, Counts] = {}
    swept = []
    for alignment, counts in cases.items():
        for one, other, what in ((scores.systems, counts, "case counts"), (counts, scores.systems, "human score")):
            if missing := [system for system in one if system not in other]:
                problem = f"{alignment}: no {what} for {', '.join(missing)}"
                raise AnaphoraError(f"{problem}. Use the same system names in both (apt --name)")
        ordered[alignment] = {system: counts[system] for system in scores.systems}
        for dropped in dict.fromkeys(discard):
            # the weight of a discarded case makes no difference
            pairs = dict.fromkeys((0.0 if 2 in dropped else w2, 0.0 if 6 in dropped else w6) for w2, w6 in weights)
            for w2, w6 in pairs:
                weighting = Weighting((1.0, w2, 0.0, 0.0, 0.0, w6), tuple(dropped))  # the other weights are always 0
                values: dict[str, float] = {}
                for system, numbers in ordered[alignment].items():
                    value = weighting.score(numbers)
                    if value is None:
                        raise AnaphoraError(f"{alignment}: {system} has no pronoun that counts. Discard fewer cases")
                    values[system] = value
                apt = replace(scores, metrics={"apt": np.array(list(values.values()))})
                everything = correlation(apt.human_scores, apt.metrics["apt"], settings)
                some = apt.without(removed)
                rest = correlation(some.human_scores, some.metrics["apt"], settings) if removed else None
                swept.append(Setting(alignment, w2, w6, weighting.discarded, values, everything, rest))
    return Sweep(scores, removed, ordered, tuple(swept), settings)


def read_cases(files: Sequence[tuple[str, Path]]) -> dict[str, dict[str, tuple[int, ...]]]:
    """The case counts in files of `anaphora apt --json`, by alignment; a file may have one system or many.

    files: pairs of an alignment's name and a file; files of the same alignment are merged. A single system without a
        name has that of its file
    """
    by_alignment: dict[str, dict[str, tuple[int, ...]]] = {}
    for alignment, path in files:
        counts = by_alignment.setdefault(alignment, {})
        document = read_json(path)
        systems = document.get("systems") if isinstance(document, dict) else None
        if isinstance(document, dict) and "cases" in document and not (isinstance(systems, dict) and systems):
            name = document.get("system") or path.name.removesuffix(".gz").removesuffix(".json")
            systems = {str(name): document}
        if not isinstance(systems, dict) or not systems:
            raise BadInput(path, "no case counts", remedy=REMEDY)
        for system, row in systems.items():
            if system in counts:
                raise BadInput(path, f"the system {system!r} occurs twice for the alignment {alignment!r}")
            cases = row.get("cases") if isinstance(row, dict) else None
            known = cases if isinstance(cases, list) else []
            if len(known) != len(CASES) or any(type(n) is not int or n < 0 for n in known):
                raise BadInput(path, f"{system}: 'cases' must be six counts", remedy=REMEDY)
            counts[system] = tuple(known)
    return by_alignment
