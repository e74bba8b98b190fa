"""Results: figures that carry their interval, and the settings that make them reproducible."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from anaphora.core.errors import check_name
from anaphora.measurement import PLAIN, Measurement, canonical
from anaphora.stats.resampling import Interval, Resampling
from anaphora.stats.signature import Signature, with_hash
from anaphora.table import Rendered


@dataclass(frozen=True, slots=True)
class Proportion:
    """A number of correct examples out of a total, with an interval."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Resampling):
    """Settings of an evaluation: how to compare scores, and how to resample."""

    minimize: bool = False
    normalize: str = "sum"  # or "mean": per token
    scores_are: str = "sum"  # or "mean": what a score file holds, per token
    interval: str = "wilson"  # or "bootstrap"
    resample: str | None = None  # the tag whose groups are resampled whole; None: single items

    def __post_init__(self) -> None:
        for name, value, known in (
            ("normalize", self.normalize, ("sum", "mean")),
            ("scores_are", self.scores_are, ("sum", "mean")),
            ("interval", self.interval, ("wilson", "bootstrap")),
        ):
            check_name(name, value, known)
        Resampling.__post_init__(self)


@dataclass(frozen=True, slots=True)
class Result(Rendered):
    """The result of `evaluate` for one system on one suite.

    protocol: settings of the scoring that differ from plain scoring, as in `Measurement`
    untagged: for each breakdown, the number of examples without a value, which are in none of its groups
    blocks: blocks in which every example is right; cut_blocks: blocks that are not counted, because they were not
        scored completely
    unanswered: number of examples without an answer, which are wrong and not ties; answers: some of the responses
    priors: for templates without a right answer, the share of each choice
    unpaired: for each of these, the number of examples that lack the other order of their nouns and are not counted
    """

    TABLES = "anaphora.reports.tables:result_table"

    suite: str
    sha256: str
    languages: str
    system: str
    figure: Proportion
    ties: int
    breakdowns: Mapping[str, Mapping[str, Proportion]]
    settings: Settings
    version: str
    context: str | None = None
    protocol: Mapping[str, Any] = field(default_factory=dict)
    untagged: Mapping[str, int] = field(default_factory=dict)
    blocks: Proportion | None = None
    cut_blocks: int = 0
    unanswered: int = 0
    answers: tuple[str, ...] = ()
    priors: Mapping[str, Mapping[str, Proportion]] = field(default_factory=dict)
    unpaired: Mapping[str, int] = field(default_factory=dict)
    scored: Callable[[], Iterable[Any]] | None = field(default=None, repr=False, compare=False)

    def items(self) -> Iterator[dict[str, Any]]:
        """Yield a row per example: its id, gold and chosen candidate, `correct`, `tie`, scores and tags.

        The rows are read from the run or the scores again, so that a Result stays small.
        """
        from anaphora.evaluation.decision import decide

        for item in self.scored() if self.scored is not None else ():
            decision = decide(item, minimize=self.settings.minimize, normalize=self.settings.normalize)
            correct = None if item.gold is None else decision.correct
            row = {"id": item.id, "gold": item.gold, "chosen": decision.chosen, "correct": correct}
            yield {**row, "tie": decision.tie, "scores": list(item.scores), **item.tags}

    def to_pandas(self) -> Any:
        """Return `items` as a pandas data frame (pandas is not installed with anaphora)."""
        from importlib import import_module

        return import_module("pandas").DataFrame(self.items())

    @property
    def accuracy(self) -> float | None:
        return self.figure.accuracy

    @property
    def measurement(self) -> Measurement:
        """The context and settings under which the system was scored."""
        return Measurement(self.context, self.protocol)

    @property
    def signature(self) -> str:
        """A short signature, as in sacreBLEU."""
        return str(_result_signature(self))

    @property
    def long_signature(self) -> str:
        """Every setting spelled out, with the whole hash of the suite."""
        return _result_signature(self).long

    def metrics(self) -> dict[str, float | int]:
        """The figures as a flat dict, for the library `evaluate` and for experiment trackers."""
        numbers: dict[str, float | int] = {"total": self.figure.total, "ties": self.ties}
        if self.accuracy is not None:
            numbers["accuracy"] = self.accuracy
        for name, groups in self.breakdowns.items():
            for group, figure in groups.items():
                if figure.accuracy is not None:
                    numbers[f"accuracy/{name}/{group}"] = figure.accuracy
        return numbers

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that `anaphora evaluate --json` prints."""
        return {
            "suite": self.suite,
            "system": self.system,
            "languages": self.languages,
            **self.figure.to_dict(),
            "ties": self.ties,
            "unanswered": self.unanswered,
            "breakdowns": as_documents(self.breakdowns),
            "untagged": dict(self.untagged),
            "blocks": self.blocks.to_dict() if self.blocks else None,
            "cut_blocks": self.cut_blocks,
            "priors": {
                name: {
                    choice: {"total": p.total, "count": p.correct, "share": p.accuracy, "interval": list(p.interval)}
                    for choice, p in choices.items()
                }
                for name, choices in self.priors.items()
            },
            "unpaired": dict(self.unpaired),
            "sha256": self.sha256,
            "context": self.context,
            "protocol": dict(self.protocol),
            "signature": self.signature,
            "long_signature": self.long_signature,
        }


def as_documents(groups: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the figures of breakdowns (by name and group) as `--json` prints them."""
    return {name: {group: figure.to_dict() for group, figure in figures.items()} for name, figures in groups.items()}


# What the signatures of evaluations have in common.

UNKNOWN = "?"
PLAINLY = "plain"  # no settings beyond plain scoring, where another run has some
MOST_NAMED = 3  # suites that are compared with the first one and named one by one


class RunSignature(Signature):
    """The signature of a figure that is computed from runs."""

    __slots__ = ()

    def suite(self, name: str, sha256: str) -> Self:
        """The suite with the beginning of its hash; the long form has the whole hash."""
        return self.add("s", with_hash(name, sha256), "suite", f"{name}@{sha256}")

    def others(self, suites: Sequence[str]) -> Self:
        """Other suites, as name@hash, or their number with a hash of them all, whatever their order."""
        if len(suites) > MOST_NAMED:
            digest = hashlib.sha256("\n".join(sorted(suites)).encode()).hexdigest()
            return self.add("vs", with_hash(str(len(suites)), digest))
        for suite in suites:
            self.add("vs", suite)
        return self

    def measured(self, *measurements: Measurement) -> Self:
        """Context and settings of the scoring: once where all runs agree, else those of each run in turn."""
        self.add("ctx", _joined([m.context for m in measurements], UNKNOWN))
        return self.add("set", _joined([m.code for m in measurements], PLAINLY))

    def decided(self, settings: Settings, ties: bool = True) -> Self:
        """Add how scores become decisions, with every setting that is not the default."""
        self.add("norm", settings.normalize).add("tie", "wrong" if ties else None)
        return self.add("better", "lower" if settings.minimize else None).confidence(settings)

    def tested(self, test: str, settings: Settings) -> Self:
        """The paired test, what it resamples, and the correction."""
        self.add("test", test).add("by", settings.resample or "items")
        return self.add("n", settings.samples).add("seed", settings.seed).add("adj", "holm")


def _result_signature(result: Result) -> Signature:
    """Short: what distinguishes this figure from another. Long: every setting, with the whole hash of the suite."""
    settings, resampled = result.settings, result.settings.interval == "bootstrap"
    line = RunSignature("ctr", "contrastive").suite(result.suite, result.sha256).measured(result.measurement)
    line.decided(settings).spell("languages", result.languages).spell("context", result.context or "unknown")
    for name, value in sorted({**PLAIN, **result.protocol}.items() if result.context else result.protocol.items()):
        line.spell(name, canonical(value))
    line.spell("normalization", settings.normalize).spell("scores", None if settings.scores_are == "sum" else "mean")
    line.spell("better", "lower" if settings.minimize else "higher").spell("ties", "wrong")
    line.spell("interval", settings.interval).spell("confidence", f"{settings.confidence:g}")
    line.spell("resampled", settings.resample or "items").spell("samples", settings.samples if resampled else "none")
    if resampled:
        unit = f":{settings.resample}" if settings.resample else ""
        line.add("ci", f"bs{settings.samples}{unit}").add("seed", settings.seed)
    line.spell("seed", settings.seed if resampled else "none")
    return line.add("v", result.version, "version", result.version)


def _joined(values: Sequence[str | None], missing: str) -> str | None:
    """One value if it is the same for all, else all of them; None where there is none."""
    if len(set(values)) == 1:
        return values[0]
    return ",".join(value or missing for value in values) if values else None
