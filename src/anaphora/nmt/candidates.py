"""Scores of the candidates of questions: through prefix trees, or one by one as the yardstick."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from anaphora.nmt.examples import Asked
from anaphora.nmt.loading import Loaded
from anaphora.nmt.questions import Question, Unit, batches, units
from anaphora.nmt.scoring import plain_scores
from anaphora.systems.huggingface.memory import in_halves

Found = tuple[float, int]  # the score of a candidate, and how many tokens it was added up over
Scored = Iterator[tuple[int, list[Found]]]  # the number of each question, and what was found for its candidates


@dataclass(frozen=True)
class CandidateScorer:
    """One or more models that score together: a candidate's score is the mean of theirs."""

    loaded: Loaded
    batch_tokens: int

    def through_trees(self, questions: Sequence[Question], margins: bool, done: Container[int] = ()) -> Scored:
        """Questions as they are complete, short ones first.

        margins: leave out of the scores what all candidates of a question share, where their inputs are the same
        done: questions that need no answer; batches are made as if they did
        """
        missing = {number: len(question.candidates) for number, question in enumerate(questions)}
        found: dict[tuple[int, int], Found] = {}
        made = units(questions, self.loaded.text.marks.start, self.batch_tokens)
        for whole in (True, False):
            for batch in batches([unit for unit in made if unit.whole is whole], self.batch_tokens):
                if all(number in done for unit in batch for number, _ in unit.members):
                    continue
                for unit, values in zip(batch, self._batch(batch, margins and whole), strict=True):
                    found |= zip(unit.members, values, strict=True)
                    for number, _ in unit.members:
                        missing[number] -= 1
                        if not missing[number]:
                            size = len(questions[number].candidates)
                            yield number, [found.pop((number, place)) for place in range(size)]

    def one_by_one(self, questions: Sequence[Question]) -> Scored:
        """Each candidate by itself in padded batches; of a part of a candidate, what is left without the other part."""
        wanted = [candidate for question in questions for candidate in question.candidates]
        totals = self._plain([Asked(w.inputs, w.target) for w in wanted])
        given = iter(self._plain([Asked(w.inputs, w.target[: w.read]) for w in wanted if w.read]))
        values = []
        for total, candidate in zip(totals, wanted, strict=True):
            before = next(given) if candidate.read else 0.0
            values.append((total - before, len(candidate.target) - candidate.read))
        place = 0
        for number, question in enumerate(questions):
            yield number, values[place : place + len(question.candidates)]
            place += len(question.candidates)

    def _batch(self, batch: Sequence[Unit], margins: bool) -> list[list[Found]]:
        """What is found for every tree, in halves where memory does not suffice."""

        def score(part: Sequence[Unit]) -> list[list[Found]]:
            trees, inputs = [unit.tree for unit in part], [unit.inputs for unit in part]
            by_model = [scorer(trees, inputs, margins) for scorer in self.loaded.scorers]
            return [[_mean(values) for values in zip(*of_tree, strict=True)] for of_tree in zip(*by_model, strict=True)]

        return in_halves(score, batch, lambda unit: unit.size)

    def _plain(self, asked: Sequence[Asked]) -> list[float]:
        marks = self.loaded.text.marks
        by_model = [plain_scores(model, asked, marks, self.batch_tokens) for model in self.loaded.models]
        return [sum(scores) / len(scores) for scores in zip(*by_model, strict=True)]


def _mean(values: Sequence[Found]) -> Found:
    """The same candidate by several models."""
    return sum(score for score, _ in values) / len(values), values[0][1]
