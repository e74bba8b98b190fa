"""Results: figures that carry their interval, and the settings that make them reproducible."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.measurement import PLAIN, Measurement, canonical
from anaphora.stats.intervals import Interval


@dataclass(frozen=True, slots=True)
class Figure:
    """How many of a number of examples are right, with an interval."""

    total: int
    correct: int
    interval: Interval

    @property
    def accuracy(self) -> float | None:
        """correct / total; None where there are no examples."""
        return self.correct / self.total if self.total else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "correct": self.correct,
            "accuracy": self.accuracy,
            "interval": list(self.interval),
        }


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a figure depends on besides the suite and the scores."""

    minimize: bool = False
    normalize: str = "sum"  # or "mean": per token
    scores_are: str = "sum"  # or "mean": what a score file holds, per token
    interval: str = "wilson"  # or "bootstrap"
    confidence: float = 0.95
    resample: str | None = None  # the tag whose groups are resampled whole; None: single items
    samples: int = 10_000
    seed: int = 12345

    def __post_init__(self) -> None:
        for name, value, known in (
            ("normalize", self.normalize, ("sum", "mean")),
            ("scores_are", self.scores_are, ("sum", "mean")),
            ("interval", self.interval, ("wilson", "bootstrap")),
        ):
            if value not in known:
                raise AnaphoraError(f"unknown {name} {value!r}. Known: {', '.join(known)}")
        if not 0 < self.confidence < 1 or self.samples < 1:
            raise AnaphoraError("confidence is a number between 0 and 1, samples a number from 1")


@dataclass(frozen=True, slots=True)
class Result:
    """What `evaluate` says of one system on one suite.

    protocol: settings of the scoring that differ from plain scoring, as in `Measurement`
    untagged: for each breakdown, how many examples have no value for it and are in none of its groups
    blocks: of which every example is right; cut_blocks: those not counted, as some of their examples were not scored
    unanswered: examples to which the system gave no answer: wrong, and no ties; answers: what it said to some of them
    priors: for templates without a right answer, the share of each choice
    unpaired: for each of these, how many examples lack the other order of their nouns and are not counted
    """

    suite: str
    sha256: str
    languages: str
    system: str
    figure: Figure
    ties: int
    breakdowns: Mapping[str, Mapping[str, Figure]]
    settings: Settings
    version: str
    context: str | None = None
    protocol: Mapping[str, Any] = field(default_factory=dict)
    untagged: Mapping[str, int] = field(default_factory=dict)
    blocks: Figure | None = None
    cut_blocks: int = 0
    unanswered: int = 0
    answers: tuple[str, ...] = ()
    priors: Mapping[str, Mapping[str, Figure]] = field(default_factory=dict)
    unpaired: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """The table, as on the command line."""
        from anaphora.reports.tables import result_table

        return result_table(self).render("table")

    def _repr_html_(self) -> str:
        """The table in a notebook."""
        from anaphora.reports.tables import result_table

        return result_table(self).render("html")

    @property
    def accuracy(self) -> float | None:
        return self.figure.accuracy

    @property
    def measurement(self) -> Measurement:
        """How the system was measured."""
        return Measurement(self.context, self.protocol)

    @property
    def signature(self) -> str:
        """Short, as sacreBLEU's: what distinguishes this figure from another."""
        from anaphora.evaluation.result import short

        return short(self)

    @property
    def long_signature(self) -> str:
        """Every setting spelled out, with the whole hash of the suite."""
        from anaphora.evaluation.result import long

        return long(self)

    def metrics(self) -> dict[str, float | int]:
        """Names and numbers without nesting, as `evaluate` and experiment trackers take them."""
        found: dict[str, float | int] = {"total": self.figure.total, "ties": self.ties}
        if self.accuracy is not None:
            found["accuracy"] = self.accuracy
        for name, groups in self.breakdowns.items():
            for group, figure in groups.items():
                if figure.accuracy is not None:
                    found[f"accuracy/{name}/{group}"] = figure.accuracy
        return found

    def to_dict(self) -> dict[str, Any]:
        """What `anaphora evaluate --json` prints."""
        return {
            "suite": self.suite,
            "system": self.system,
            "languages": self.languages,
            **self.figure.to_dict(),
            "ties": self.ties,
            "unanswered": self.unanswered,
            "breakdowns": {
                name: {group: figure.to_dict() for group, figure in groups.items()}
                for name, groups in self.breakdowns.items()
            },
            "untagged": dict(self.untagged),
            "blocks": self.blocks.to_dict() if self.blocks else None,
            "cut_blocks": self.cut_blocks,
            "priors": {
                name: {choice: _share(figure) for choice, figure in choices.items()}
                for name, choices in self.priors.items()
            },
            "unpaired": dict(self.unpaired),
            "sha256": self.sha256,
            "context": self.context,
            "protocol": dict(self.protocol),
            "signature": self.signature,
            "long_signature": self.long_signature,
        }


def _share(figure: Figure) -> dict[str, Any]:
    return {
        "total": figure.total,
        "count": figure.correct,
        "share": figure.accuracy,
        "interval": list(figure.interval),
    }


# Signatures in the style of sacreBLEU: one line that says how a figure was computed.

UNKNOWN = "?"
PLAINLY = "plain"  # no settings beyond plain scoring, where another run has some
MOST_NAMED = 3  # suites that are compared with the first one and named one by one


class Signature:
    """A signature that is put together part by part, in order; `str` gives the line."""

    def __init__(self, kind: str) -> None:
        self._parts = [kind]

    def __str__(self) -> str:
        return "|".join(self._parts)

    def add(self, key: str, value: object) -> Signature:
        """One part; None leaves it out."""
        if value is not None:
            self._parts.append(f"{key}:{value}")
        return self

    def suite(self, name: str, sha256: str) -> Signature:
        """The suite with the beginning of its hash."""
        return self.add("s", named(name, sha256))

    def others(self, suites: Sequence[str]) -> Signature:
        """Other suites, as name@hash, or how many there are with a hash of them all, whatever their order."""
        if len(suites) > MOST_NAMED:
            digest = hashlib.sha256("\n".join(sorted(suites)).encode()).hexdigest()
            return self.add("vs", named(str(len(suites)), digest))
        for suite in suites:
            self.add("vs", suite)
        return self

    def measured(self, *measurements: Measurement) -> Signature:
        """Context and settings of the scoring: once where all runs agree, else of each run in turn."""
        self.add("ctx", _joined([m.context for m in measurements], UNKNOWN))
        return self.add("set", _joined([m.code for m in measurements], PLAINLY))

    def decided(self, settings: Settings, ties: bool = True) -> Signature:
        """How scores become decisions, and whatever is unusual about it."""
        self.add("norm", settings.normalize).add("tie", "wrong" if ties else None)
        self.add("better", "lower" if settings.minimize else None)
        return self.add("conf", f"{settings.confidence:g}" if settings.confidence != Settings().confidence else None)

    def tested(self, test: str, settings: Settings) -> Signature:
        """The paired test, what it resamples, and the correction."""
        self.add("test", test).add("by", settings.resample or "items")
        return self.add("n", settings.samples).add("seed", settings.seed).add("adj", "holm")


def named(name: str, sha256: str) -> str:
    """A suite as it is called in signatures: its name and the beginning of its hash."""
    return f"{name}@{sha256[:6]}"


def short(result: Result) -> str:
    """What differs between figures: the suite, context, settings, normalization, ties, resampling, the version."""
    settings = result.settings
    line = Signature("ctr").suite(result.suite, result.sha256).measured(result.measurement).decided(settings)
    if settings.interval == "bootstrap":
        unit = f":{settings.resample}" if settings.resample else ""
        line.add("ci", f"bs{settings.samples}{unit}").add("seed", settings.seed)
    return str(line.add("v", result.version))


def long(result: Result) -> str:
    """All settings, in words."""
    settings, resampled = result.settings, result.settings.interval == "bootstrap"
    line = Signature("contrastive").add("suite", f"{result.suite}@{result.sha256}").add("languages", result.languages)
    line.add("context", result.context or "unknown")
    for name, value in sorted({**PLAIN, **result.protocol}.items() if result.context else result.protocol.items()):
        line.add(name, canonical(value))
    line.add("normalisation", settings.normalize).add("scores", None if settings.scores_are == "sum" else "mean")
    line.add("better", "lower" if settings.minimize else "higher")
    line.add("ties", "wrong").add("interval", settings.interval).add("confidence", f"{settings.confidence:g}")
    line.add("resampled", settings.resample or "items").add("samples", settings.samples if resampled else "none")
    return str(line.add("seed", settings.seed if resampled else "none").add("version", result.version))


def _joined(values: Sequence[str | None], missing: str) -> str | None:
    """One value if it is the same for all, else all of them; None where there is none."""
    if len(set(values)) == 1:
        return values[0]
    return ",".join(value or missing for value in values) if values else None
