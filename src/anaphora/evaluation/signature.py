"""Signatures in the style of sacreBLEU: one line that says how a figure was computed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from anaphora.evaluation.result import Result, Settings
from anaphora.systems.measurement import PLAIN, Measurement, canonical

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
