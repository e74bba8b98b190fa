"""Accuracy of a measure on pairs, and its agreement with people where what they preferred is known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from anaphora.evaluation.result import Result, Settings
from anaphora.measure.encoder import Progress
from anaphora.measure.human import Human
from anaphora.measure.items import candidate_texts
from anaphora.measure.judged import judge
from anaphora.measure.measure import Measure
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite
from anaphora.systems.run import describe
from anaphora.systems.scored import Scored


def score_examples(measure: Measure, examples: Sequence[Example], progress: Progress | None = None) -> Iterator[Scored]:
    """The examples with the measure's score of each candidate."""
    texts = [candidate_texts(example, measure.config, measure.readings) for example in examples]
    measure.prepare((text for candidates in texts for text in candidates), progress)
    for example, candidates in zip(examples, texts, strict=True):
        scores = [found.score for found in measure.score(candidates)]
        yield Scored(example.id, example.gold, example.tags, scores)


def evaluate_measure(
    measure: Measure,
    suite: Suite,
    name: str,
    *,
    breakdowns: Sequence[str] = (),
    settings: Settings | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> tuple[Result, Human | None]:
    """Accuracy of a measure on a suite of pairs, by pronoun pair and error class, and its agreement with people."""
    digest = hashlib.sha256()
    examples = list(suite.examples(digest))[:limit]
    items = list(score_examples(measure, examples, progress))
    about = describe(suite, sha256=digest.hexdigest(), system=f"measure:{name}", context=measure.config.context)
    return judge(items, about, breakdowns, settings)
