"""Results: figures that carry their interval, and the settings that make them reproducible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.stats.intervals import Interval
from anaphora.systems.measurement import Measurement


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
        from anaphora.evaluation.signature import short

        return short(self)

    @property
    def long_signature(self) -> str:
        """Every setting spelled out, with the whole hash of the suite."""
        from anaphora.evaluation.signature import long

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
