"""Systems as Python has them: an object with a method `score`, or a function of source and translation."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example
from anaphora.systems import System
from anaphora.systems.context import Options
from anaphora.systems.scoring import Scorer, Shard, StartScorer, score_shard

ScoreFunction = Callable[[str, str], float]


class FunctionSystem:
    """A function that is given a source and one candidate, both with their context joined, and returns a score."""

    def __init__(self, function: ScoreFunction, options: Options) -> None:
        self.function, self.options = function, options

    def settings(self) -> Mapping[str, Any]:
        return {}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        for number, example in enumerate(examples):
            if number not in done:
                question = self.options.context.scoring_input(example)
                yield (
                    number,
                    CandidateScores([_number(self.function(question.source, text)) for text in question.targets]),
                )


def name_of(system: object) -> str:
    """What the system is called in the header of its run."""
    return f"python:{getattr(system, '__name__', None) or type(system).__name__}"


def scorer_of(system: System | ScoreFunction) -> StartScorer:
    """A scorer that asks this object, in this process."""
    if not callable(getattr(system, "score", None)) and not callable(system):
        raise AnaphoraError(
            f"{system!r} is no system: name one (KIND:WHAT), or pass a function of source and translation, "
            "or an object with the methods settings and score (see docs/extending.md)"
        )

    def start(spec: str, options: Options) -> tuple[System, Scorer]:
        asked: Any = system if callable(getattr(system, "score", None)) else FunctionSystem(system, options)  # type: ignore[arg-type]

        def compute(work: Iterable[Shard]) -> Iterator[tuple[int, CandidateScores]]:
            for shard in work:
                yield from score_shard(asked, options, shard)

        return asked, compute

    return start


def _number(score: Any) -> float:
    if not isinstance(score, Real):
        raise AnaphoraError(f"the score of a candidate is a number, not {score!r}")
    if not math.isfinite(score):
        raise AnaphoraError(f"the score of a candidate is a finite number, not {score!r}")
    return float(score)
