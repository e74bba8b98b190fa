"""Corpus metrics against a reference, side by side: scores, intervals, and the systems compared in pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from anaphora.align.tokenize import (
    DEFAULT,
    Mismatch,
    Text,
    Tokenization,
    Treatment,
    mismatches,
    normalize,
    sign_name,
    signs_of,
)
from anaphora.core.documents import read_parallel
from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry
from anaphora.metrics import system_names
from anaphora.stats.paired import PairedTest, SufficientStats, paired_tests
from anaphora.stats.resampling import Interval, Resampling
from anaphora.stats.signature import Signature

METRICS = Registry(
    "metric",
    {
        "bleu": "anaphora.metrics.external:bleu",
        "chrf": "anaphora.metrics.external:chrf",
        "chrf++": "anaphora.metrics.external:chrf_plus_plus",
        "ter": "anaphora.metrics.external:ter",
        "meteor": "anaphora.metrics.meteor:meteor",
        "meteor-pronouns": "anaphora.metrics.meteor:meteor_pronouns",
        "comet": "anaphora.metrics.external:comet",
    },
    extras=dict.fromkeys(("bleu", "chrf", "chrf++", "ter", "meteor", "meteor-pronouns", "comet"), "metrics"),
)
USUAL = ("bleu", "chrf", "ter", "meteor")
METEORS = {"meteor", "meteor-pronouns"}
SURFACE = {"bleu": "BLEU", "chrf": "chrF", "chrf++": "chrF++", "ter": "TER"}  # they compare text as it is


@dataclass(frozen=True)
class Texts:
    """Translations of the same sentences, and one or more references.

    tokenize: how METEOR divides text into words (see `anaphora.align.tokenize`); none: BLEU takes it as tokenized, too
    normalize: whether signs that are written in several ways are made one: for METEOR only (None), for all metrics
        (True), for none (False)
    """

    reference: Sequence[str]
    systems: Mapping[str, Sequence[str]]
    source: Sequence[str] | None = None
    languages: tuple[str, str] = ("", "")
    tokenize: str = DEFAULT
    normalize: bool | None = None
    more_references: tuple[Sequence[str], ...] = ()

    @property
    def references(self) -> dict[str, Sequence[str]]:
        """Return all references by name."""
        more = {f"reference {k}": text for k, text in enumerate(self.more_references, start=2)}
        return {"reference": self.reference, **more}

    @property
    def tokenization(self) -> Tokenization:
        return Tokenization(self.tokenize, self.normalize is not False, self.languages)

    @cached_property
    def words(self) -> dict[str, Text]:
        """Return the tokenized references and systems."""
        return {name: self.tokenization.target(text) for name, text in {**self.references, **self.systems}.items()}

    @cached_property
    def as_compared(self) -> Texts:
        """The texts for metrics that compare text as it is: normalized only on request."""
        if not self.normalize:
            return self
        return replace(
            self,
            reference=[normalize(line) for line in self.reference],
            systems={name: [normalize(line) for line in text] for name, text in self.systems.items()},
            source=None if self.source is None else [normalize(line) for line in self.source],
            more_references=tuple([normalize(line) for line in text] for text in self.more_references),
        )

    @property
    def norm(self) -> str:
        """The end of the signature of a metric that compares text as it is: empty unless the text is changed."""
        return "|norm:signs" if self.normalize else ""


def read_texts(
    references: Path | Sequence[Path],
    hypotheses: Sequence[Path],
    *,
    source: Path | None = None,
    names: Sequence[str] = (),
    languages: str = "",
    tokenize: str = DEFAULT,
    normalize: bool | None = None,
) -> Texts:
    """The texts of files that are aligned line by line. names: of the systems; their paths if there are none."""
    systems = system_names(hypotheses, names)
    paths = [references] if isinstance(references, Path) else list(references)
    taken = next((name for name in systems if name.partition(" ")[0] == "reference"), None)
    if taken is not None:
        raise AnaphoraError(f"a translation cannot be called {taken!r}: name it with --name")
    lines = read_parallel(*paths, *hypotheses, *([source] if source else []))
    reference, *more = lines[: len(paths)]
    texts = lines[len(paths) : len(paths) + len(systems)]
    first, _, second = languages.partition("-")
    return Texts(
        reference,
        dict(zip(systems, texts, strict=True)),
        lines[-1] if source else None,
        (first, second),
        tokenize=tokenize,
        normalize=normalize,
        more_references=tuple(more),
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """One metric on all systems. decimals: the number of decimals to print."""

    signature: str
    sums: Mapping[str, SufficientStats]
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
    """The result of `metrics` for one or more systems with the same reference."""

    languages: str
    sentences: int
    systems: tuple[str, ...]
    metrics: tuple[MetricResult, ...]
    resampling: Resampling
    references: int = 1
    texts: Mapping[str, Treatment] = field(default_factory=dict)  # what METEOR's words are
    written_differently: Mapping[str, Sequence[Mismatch]] = field(default_factory=dict)  # by system

    def warnings(self) -> list[str]:
        """Signs that the reference writes in another way, which metrics that compare text as it is count as errors."""
        names = [SURFACE[metric.name] for metric in self.metrics if metric.name in SURFACE]
        verbs = ("compares", "counts") if len(names) == 1 else ("compare", "count")
        messages = []
        for system, differing in self.written_differently.items():
            signs = "; ".join(map(_mismatch, differing))
            messages.append(
                f"{system}: {signs}. {', '.join(names)} {verbs[0]} text as it is, and {verbs[1]} the difference as "
                "errors. Pass --normalize-text to normalize them"
            )
        return messages

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
            "resampling": str(Signature().resampled(self.resampling)),
            "references": self.references,
            "texts": {name: treatment.to_dict() for name, treatment in self.texts.items()},
            "written_differently": {
                system: {sign_name(one.sign): {"system": one.text, "reference": one.reference} for one in signs}
                for system, signs in self.written_differently.items()
            },
        }


def measure(
    texts: Texts, metrics: Iterable[str] = USUAL, *, resampling: Resampling | None = None, **options: Any
) -> MetricsResult:
    """Compute all metrics for all systems. Each metric uses the options that it supports (see their functions)."""
    resampling = resampling or Resampling(test="bootstrap")
    wanted = {name: METRICS.load(name) for name in metrics}
    if not texts.reference:
        raise AnaphoraError("the texts are empty: there is nothing to measure")
    results = []
    as_it_is = [name for name in wanted if name in SURFACE] if not texts.normalize else []
    for name, function in wanted.items():
        measured: Measured = function(texts, **options)
        results.append(
            MetricResult(
                name=name,
                signature=measured.signature,
                scores={system: sums.values()["score"] for system, sums in measured.sums.items()},
                intervals={system: sums.intervals(resampling)["score"] for system, sums in measured.sums.items()},
                pairs=paired_tests(measured.sums, resampling).get("score", ()),
                decimals=measured.decimals,
                lower_is_better=measured.lower_is_better,
            )
        )
    return MetricsResult(
        languages="-".join(filter(None, texts.languages)),
        sentences=len(texts.reference),
        systems=tuple(texts.systems),
        metrics=tuple(results),
        resampling=resampling,
        references=len(texts.references),
        texts={name: text.treatment for name, text in texts.words.items()} if wanted.keys() & METEORS else {},
        written_differently=_written_differently(texts) if as_it_is else {},
    )


def _written_differently(texts: Texts) -> dict[str, list[Mismatch]]:
    reference = signs_of(texts.reference)
    differing = {name: mismatches(signs_of(text), reference, len(text)) for name, text in texts.systems.items()}
    return {name: signs for name, signs in differing.items() if signs}


def _mismatch(mismatch: Mismatch) -> str:
    text, reference = (f"{count:,}" if count else "no" for count in mismatch[1:])
    sign = sign_name(mismatch.sign)
    return f"{text} {sign}, {'none' if reference == 'no' else reference} in the reference"
