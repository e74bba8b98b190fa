"""Candidates through trees and one by one are the same; an ensemble is the mean; what is done is left alone."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from anaphora.nmt.arrangement import Arrangement, Marks  # noqa: E402
from anaphora.nmt.candidates import CandidateScorer  # noqa: E402
from anaphora.nmt.config import ModelConfig  # noqa: E402
from anaphora.nmt.loading import Loaded  # noqa: E402
from anaphora.nmt.questions import Question, Wanted  # noqa: E402
from anaphora.nmt.recurrent import build  # noqa: E402
from anaphora.nmt.tree_scorer import TreeScorer  # noqa: E402

MARKS = Marks(separator=2, end=0, start=8, padding=8)
ONE, OTHER = ((3, 4, 0), (5, 0)), ((3, 4, 0), (6, 7, 0))
QUESTIONS = [
    Question((Wanted(ONE, (3, 4, 5, 0)), Wanted(ONE, (3, 4, 6, 0)))),
    Question((Wanted(ONE, (3, 5, 0)), Wanted(OTHER, (3, 6, 0)))),  # contexts of their own
    Question((Wanted(OTHER, (7, 6, 5, 0), 2), Wanted(OTHER, (7, 6, 4, 0), 2))),  # the beginning is given
    Question((Wanted(OTHER, (7, 0)),) * 2),
]


class Words:
    marks = MARKS


def scorer(seeds: list[int], batch_tokens: int = 64) -> CandidateScorer:
    models = []
    for seed in seeds:
        torch.manual_seed(seed)
        config = ModelConfig(kind="recurrent", contexts=("target",), embedding=6, hidden=5)
        models.append(build(config, 9, 9, MARKS).eval())
        for parameter in models[-1].parameters():
            torch.nn.init.normal_(parameter, std=0.5)
    trees = tuple(TreeScorer(model, MARKS).score for model in models)
    text: Any = Words()
    return CandidateScorer(Loaded(tuple(models), trees, text, Arrangement(), None, {}), batch_tokens)


def scores(found: Any) -> dict[int, list[float]]:
    return {number: [score for score, _ in values] for number, values in found}


@pytest.mark.parametrize("batch_tokens", [1, 12, 64])
def test_trees_and_one_by_one(batch_tokens: int) -> None:
    chosen = scorer([1], batch_tokens)
    trees, plain = (dict(f) for f in (chosen.through_trees(QUESTIONS, False), chosen.one_by_one(QUESTIONS)))
    assert sorted(trees) == sorted(plain) == [0, 1, 2, 3]
    for number, values in plain.items():
        assert [n for _, n in trees[number]] == [n for _, n in values]
        assert [s for s, _ in trees[number]] == pytest.approx([s for s, _ in values], abs=1e-4)
    assert [n for _, n in trees[2]] == [2, 2]


def test_an_ensemble_is_the_mean_of_its_models() -> None:
    both, one, two = (scores(scorer(seeds).through_trees(QUESTIONS, False)) for seeds in ([1, 2], [1], [2]))
    for number in both:
        expected = [(a + b) / 2 for a, b in zip(one[number], two[number], strict=True)]
        assert both[number] == pytest.approx(expected, abs=1e-5)
    assert scores(scorer([1, 2]).one_by_one(QUESTIONS))[0] == pytest.approx(both[0], abs=1e-4)


def test_margins_only_where_candidates_have_the_same_inputs() -> None:
    """What they share is as probable for both then, and may be left out; else it is not."""
    chosen = scorer([1])
    whole, margins = (scores(chosen.through_trees(QUESTIONS, leave_out)) for leave_out in (False, True))
    assert margins[0][0] - margins[0][1] == pytest.approx(whole[0][0] - whole[0][1], abs=1e-4)
    assert margins[0][0] > whole[0][0]
    assert margins[1] == pytest.approx(whole[1], abs=1e-5)
    assert margins[3] == [0.0, 0.0]


def test_batches_of_what_is_done_are_passed_over() -> None:
    """Those of what is not are as if nothing were done, to the last digit."""
    chosen = scorer([1], 12)
    everything = dict(chosen.through_trees(QUESTIONS, False))
    rest = dict(chosen.through_trees(QUESTIONS, False, done={0, 2}))
    assert {1, 3} <= set(rest) < {0, 1, 2, 3}
    assert all(rest[number] == everything[number] for number in rest)
