"""Does a system use context at all? Accuracy and cross-mutual information over context sizes and wrong contexts.

CXMI (Fernandes et al. 2021): how much more probable the right translation of the current sentence becomes when the
system sees context, log p(y | x, C) − log p(y | x), on average; P-CXMI (Fernandes et al. 2023) is the same for one
sentence. Both are given for the whole current sentence and for the first token in which candidates differ, which is
where a pronoun is chosen. In nats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.core.errors import AnaphoraError
from anaphora.evaluation.contrastive import evaluate_run
from anaphora.evaluation.result import Proportion, RunSignature, Settings
from anaphora.measurement import Measurement
from anaphora.runs import Run, RunHeader
from anaphora.stats.intervals import Floats, bootstrap_mean, percentile_interval
from anaphora.stats.resampling import Interval
from anaphora.suites.contexts import most_context, random_context, shuffled_context
from anaphora.suites.suite import Suite
from anaphora.systems.context import LABEL, Options, check_asked, within

Scorer = Callable[[Suite, Options, Path], Run]
SCOPES = ("current", "pronoun")


@dataclass(frozen=True, slots=True)
class MeanCXMI:
    """A mean in nats with its interval."""

    mean: float
    interval: Interval
    positive: float  # the share of sentences for which context helps

    def to_dict(self) -> dict[str, Any]:
        return {"mean": self.mean, "interval": list(self.interval), "positive": self.positive}


@dataclass(frozen=True, slots=True)
class Condition:
    """One context condition: accuracy, and the CXMI of the sentence and of the pronoun."""

    name: str
    sentences: int
    figure: Proportion
    cxmi: Mapping[str, MeanCXMI]  # by scope; empty without context

    def to_dict(self) -> dict[str, Any]:
        figures = {f"cxmi_{scope}": information.to_dict() for scope, information in self.cxmi.items()}
        return {"sentences": self.sentences, **self.figure.to_dict(), **figures}


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """The result of `context-usage`. reads: sentences that the system reads, if more were requested."""

    suite: str
    languages: str
    system: str
    conditions: tuple[Condition, ...]
    settings: Settings
    signature: str = ""
    reads: int | None = None

    def to_dict(self) -> dict[str, Any]:
        conditions = {condition.name: condition.to_dict() for condition in self.conditions}
        about = {"suite": self.suite, "system": self.system, "conditions": conditions}
        return {**about, "reads": self.reads, "signature": self.signature}


def context_usage(
    suite: Suite,
    system: str,
    options: Options,
    folder: Path,
    score: Scorer,
    settings: Settings | None = None,
    *,
    most: int | None = None,
) -> ContextUsage:
    """Score a suite without context, with 1 … n sentences of it, and with n sentences of random and shuffled context.

    options: the largest context; a system that reads less of it is given as much as it reads
    folder: where the runs go, two for each condition; unfinished ones are resumed
    most: how many sentences of context the examples that are scored have at most; default: those of the suite
    """
    settings = settings or Settings()
    largest = options.context.sentences
    if not largest:
        raise AnaphoraError("context usage needs context. Set the number of sentences with --context")
    check_asked(
        largest, most_context(suite) if most is None else most, f"the scored examples of {suite.header.name} have"
    )

    def scored(name: str, examples: Suite, sentences: int) -> tuple[Condition, dict[str, Floats], RunHeader]:
        context = replace(options.context, sentences=sentences)
        values, figures = {}, []
        for scope in SCOPES:
            output = folder / f"{name.replace(' ', '-')}-{scope}"
            run = score(examples, replace(options, context=context, scope=scope, own_context=False), output)
            values[scope] = _gold_scores(run)
            figures.append(evaluate_run(run, settings=settings).figure)
        return Condition(name, sentences, figures[0], {}), values, run.header

    none, without, header = scored("none", suite, 0)
    scores = [(none, without)]
    reads = 0
    for n in range(1, largest + 1):
        condition, values, header = scored(f"{n} sentences" if n != 1 else "1 sentence", suite, n)
        sizes = LABEL.fullmatch(header.context or "")
        if not sizes or max(int(sizes[1]), int(sizes[2])) < n:  # the model reads no more than before
            break
        reads = n
        scores.append((condition, values))
    if not reads:
        raise AnaphoraError(f"{system} reads no context: there is nothing to compare")
    scores.append(scored("random", random_context(suite, settings.seed), reads)[:2])
    if reads > 1:
        scores.append(scored("shuffled", shuffled_context(suite, settings.seed), reads)[:2])
    conditions = [
        replace(condition, cxmi={f: _mean_cxmi(values[f] - without[f], settings) for f in SCOPES})
        for condition, values in scores[1:]
    ]
    return ContextUsage(
        suite.header.name,
        suite.header.languages,
        system,
        (none, *conditions),
        settings,
        _signature(header, reads, settings),
        reads if reads < largest else None,
    )


def _signature(header: RunHeader, reads: int, settings: Settings) -> str:
    """header: of a run with context, which says how the system was measured."""
    protocol = {name: value for name, value in header.measurement.settings.items() if name != "focus"}
    line = RunSignature("cxmi").suite(header.suite, header.sha256)
    line.measured(Measurement(within(header.context or "", reads), protocol)).decided(settings)
    return str(line.add("n", settings.samples).add("seed", settings.seed).add("v", header.version))


def _gold_scores(run: Run) -> Floats:
    scores = [item.scores[item.gold] for item in run if item.gold is not None]
    if not scores:
        raise AnaphoraError(f"{run.header.suite}: no example has a correct answer, so CXMI cannot be measured")
    return np.array(scores)


def _mean_cxmi(differences: Floats, settings: Settings) -> MeanCXMI:
    values = bootstrap_mean(differences, settings.samples, settings.seed)
    positive = float((differences > 0).mean())
    return MeanCXMI(float(differences.mean()), percentile_interval(values, settings.confidence), positive)


def kept(folder: Path) -> str:
    """Describe what an interrupted `context-usage` has kept; empty where there is nothing."""
    runs = [*folder.glob("**/run.jsonl"), *folder.glob("**/*.jsonl.part")] if folder.is_dir() else []
    return f"every answer so far is kept in {folder}" if runs else ""
