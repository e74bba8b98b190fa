"""Metrics of whole texts against a reference, side by side: scores, intervals, and the systems compared in pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.errors import AnaphoraError
from anaphora.evaluation.intervals import Interval
from anaphora.files import read_parallel
from anaphora.metrics.sums import PairedTest, Resampling, Sums, paired_tests
from anaphora.registry import Registry

METRICS = Registry(
    "metric",
    {
        "bleu": "anaphora.metrics.surface:bleu",
        "chrf": "anaphora.metrics.surface:chrf",
        "chrf++": "anaphora.metrics.surface:chrf_plus_plus",
        "ter": "anaphora.metrics.surface:ter",
        "meteor": "anaphora.metrics.meteor.measure:meteor",
        "meteor-pronouns": "anaphora.metrics.meteor.measure:meteor_pronouns",
        "comet": "anaphora.metrics.comet:comet",
    },
    extras=dict.fromkeys(("bleu", "chrf", "chrf++", "ter", "meteor", "meteor-pronouns"), "metrics"),
)
USUAL = ("bleu", "chrf", "ter", "meteor")


@dataclass(frozen=True, slots=True)
class Texts:
    """Translations of the same sentences. tokenised: words are divided by spaces already."""

    reference: Sequence[str]
    systems: Mapping[str, Sequence[str]]
    source: Sequence[str] | None = None
    languages: tuple[str, str] = ("", "")
    tokenised: bool = False


def read_texts(
    reference: Path,
    hypotheses: Sequence[Path],
    *,
    source: Path | None = None,
    names: Sequence[str] = (),
    languages: str = "",
    tokenised: bool = False,
) -> Texts:
    """The texts of files that belong together line by line. names: of the systems; their paths if there are none."""
    systems = tuple(names) or tuple(map(str, hypotheses))
    if len(systems) != len(hypotheses):
        raise AnaphoraError(f"a name (--name) is needed for each of the {len(hypotheses)} translations, in their order")
    if len(set(systems)) != len(systems):
        raise AnaphoraError("two translations have the same name: tell them apart with --name, once for each")
    reference_text, *texts = read_parallel(reference, *hypotheses, *([source] if source else []))
    source_text = texts.pop() if source else None
    first, _, second = languages.partition("-")
    return Texts(
        reference_text, dict(zip(systems, texts, strict=True)), source_text, (first, second), tokenised=tokenised
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """One metric on all systems. decimals: how many are worth printing."""

    signature: str
    sums: Mapping[str, Sums]
    decimals: int = 2
    lower_is_better: bool = False


@dataclass(frozen=True, slots=True)
class MetricResult:
    """A metric's scores and their intervals by system, and every pair of systems."""

    name: str
    signature: str
    scores: Mapping[str, float]
    intervals: Mapping[str, Interval]
    pairs: tuple[PairedTest, ...]
    decimals: int
    lower_is_better: bool

    def of(self, system: str) -> dict[str, Any]:
        return {"score": self.scores[system], "interval": list(self.intervals[system]), "signature": self.signature}


@dataclass(frozen=True, slots=True)
class MetricsResult:
    """What `metrics` says of one or more systems with the same reference."""

    languages: str
    sentences: int
    systems: tuple[str, ...]
    metrics: tuple[MetricResult, ...]
    resampling: Resampling

    def to_dict(self) -> dict[str, Any]:
        """The first system's scores at the top, those of all under `systems`."""
        scores = {system: {metric.name: metric.of(system) for metric in self.metrics} for system in self.systems}
        pairs = [
            {"metric": metric.name, "lower_is_better": metric.lower_is_better, **pair.to_dict()}
            for metric in self.metrics
            for pair in metric.pairs
        ]
        return {
            "system": self.systems[0],
            "scores": scores[self.systems[0]],
            "systems": scores,
            "pairs": pairs,
            "languages": self.languages,
            "sentences": self.sentences,
            "resampling": self.resampling.signature,
        }


def measure(
    texts: Texts, metrics: Iterable[str] = USUAL, *, resampling: Resampling | None = None, **options: Any
) -> MetricsResult:
    """All systems by all metrics. Options are those of the metrics: each takes what it knows (see their functions)."""
    resampling = resampling or Resampling(test="bootstrap")
    wanted = {name: METRICS.load(name) for name in metrics}
    if not texts.reference:
        raise AnaphoraError("the texts are empty: there is nothing to measure")
    found = []
    for name, function in wanted.items():
        measured: Measured = function(texts, **options)
        found.append(_result(name, measured, resampling))
    return MetricsResult(
        languages="-".join(filter(None, texts.languages)),
        sentences=len(texts.reference),
        systems=tuple(texts.systems),
        metrics=tuple(found),
        resampling=resampling,
    )


def _result(name: str, measured: Measured, resampling: Resampling) -> MetricResult:
    return MetricResult(
        name=name,
        signature=measured.signature,
        scores={system: sums.values()["score"] for system, sums in measured.sums.items()},
        intervals={system: sums.intervals(resampling)["score"] for system, sums in measured.sums.items()},
        pairs=paired_tests(measured.sums, resampling).get("score", ()),
        decimals=measured.decimals,
        lower_is_better=measured.lower_is_better,
    )
