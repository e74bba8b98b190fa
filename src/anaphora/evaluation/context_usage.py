"""Does a system use context at all? Accuracy and cross-mutual information over context sizes and wrong contexts.

CXMI (Fernandes et al. 2021): how much more probable the right translation of the current sentence becomes when the
system sees context, log p(y | x, C) − log p(y | x), on average; P-CXMI (Fernandes et al. 2023) is the same for one
sentence. Both are given for the whole current sentence and for the first token in which candidates differ, which is
where a pronoun is chosen. In nats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.errors import AnaphoraError
from anaphora.evaluation.contrastive import evaluate_run
from anaphora.evaluation.intervals import Floats, Interval, bootstrap, generator, percentile_interval
from anaphora.evaluation.result import Figure, Settings
from anaphora.suites.contexts import random_context, shuffled_context
from anaphora.suites.suite import Suite
from anaphora.systems.options import Options
from anaphora.systems.run import Run

Scorer = Callable[[Suite, Options, Path], Run]
FOCUSES = ("current", "pronoun")


@dataclass(frozen=True, slots=True)
class Information:
    """A mean in nats with its interval, and the values behind it."""

    mean: float
    interval: Interval
    positive: float  # the share of sentences to which context is a help

    def to_dict(self) -> dict[str, Any]:
        return {"mean": self.mean, "interval": list(self.interval), "positive": self.positive}


@dataclass(frozen=True, slots=True)
class Condition:
    """One way to give context: accuracy, and what it tells about the sentence and about the pronoun."""

    name: str
    sentences: int
    figure: Figure
    cxmi: Mapping[str, Information]  # by focus; empty without context

    def to_dict(self) -> dict[str, Any]:
        figures = {f"cxmi_{focus}": information.to_dict() for focus, information in self.cxmi.items()}
        return {"sentences": self.sentences, **self.figure.to_dict(), **figures}


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """What `context-usage` finds."""

    suite: str
    languages: str
    system: str
    conditions: tuple[Condition, ...]
    settings: Settings

    def to_dict(self) -> dict[str, Any]:
        conditions = {condition.name: condition.to_dict() for condition in self.conditions}
        return {"suite": self.suite, "system": self.system, "conditions": conditions}


def context_usage(
    suite: Suite, system: str, options: Options, folder: Path, score: Scorer, settings: Settings | None = None
) -> ContextUsage:
    """Score a suite without context, with 1 … n sentences of it, and with n sentences of random and shuffled context.

    options: the largest context
    folder: where the runs go, two for each condition; unfinished ones are gone on with
    """
    settings = settings or Settings()
    largest = options.context.sentences
    if not largest:
        raise AnaphoraError("context usage needs context: say how many sentences with --context")
    plan: list[tuple[str, Suite, int]] = [
        (f"{n} sentences" if n != 1 else "1 sentence", suite, n) for n in range(1, largest + 1)
    ]
    plan = [("none", suite, 0), *plan, ("random", random_context(suite, settings.seed), largest)]
    if largest > 1:
        plan.append(("shuffled", shuffled_context(suite, settings.seed), largest))
    without: dict[str, Floats] = {}
    conditions = []
    for name, examples, sentences in plan:
        context = replace(options.context, sentences=sentences)
        values, figure = {}, None
        for focus in FOCUSES:
            place = folder / f"{name.replace(' ', '-')}-{focus}"
            run = score(examples, replace(options, context=context, focus=focus, own_context=False), place)
            values[focus] = _gold_scores(run)
            figure = figure or evaluate_run(run, settings=settings).figure
        if sentences == 0:
            without = values
        information = {f: _information(values[f] - without[f], settings) for f in FOCUSES} if sentences else {}
        assert figure is not None
        conditions.append(Condition(name, sentences, figure, information))
    return ContextUsage(suite.header.name, suite.header.languages, system, tuple(conditions), settings)


def _gold_scores(run: Run) -> Floats:
    return np.array([item.scores[item.gold] for item in run if item.gold is not None])


def _information(differences: Floats, settings: Settings) -> Information:
    rows = np.stack([differences, np.ones_like(differences)], axis=1)
    counts = np.ones(len(rows), np.int64)
    values = bootstrap(rows, counts, min(settings.samples, 2000), generator(settings.seed))
    positive = float((differences > 0).mean())
    return Information(float(differences.mean()), percentile_interval(values, settings.confidence), positive)


def sentences_of(usage: ContextUsage) -> Sequence[Condition]:
    """The conditions with the right context, from none to the largest: the points of the curve."""
    return [condition for condition in usage.conditions if condition.name not in ("random", "shuffled")]
