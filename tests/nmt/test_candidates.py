"""Candidates through trees and one by one are the same; an ensemble is the mean; what is done is left alone."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch")

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.arrangement import Arrangement, Marks
from anaphora.nmt.candidates import CandidateScorer, EncodedQuestion, encode_question
from anaphora.nmt.config import ModelConfig
from anaphora.nmt.loading import Loaded
from anaphora.nmt.recurrent import build
from anaphora.scoring.stepwise import StepwiseScorer
from anaphora.scoring.tree import EncodedCandidate
from anaphora.suites.example import Example

MARKS = Marks(separator=2, end=0, start=8, padding=8)
ONE, OTHER = ((3, 4, 0), (5, 0)), ((3, 4, 0), (6, 7, 0))
QUESTIONS = [
    EncodedQuestion((EncodedCandidate(ONE, (), (3, 4, 5, 0)), EncodedCandidate(ONE, (), (3, 4, 6, 0)))),
    EncodedQuestion(
        (EncodedCandidate(ONE, (), (3, 5, 0)), EncodedCandidate(OTHER, (), (3, 6, 0)))
    ),  # contexts of their own
    EncodedQuestion(
        (EncodedCandidate(OTHER, (7, 6), (5, 0)), EncodedCandidate(OTHER, (7, 6), (4, 0)))
    ),  # the beginning is given
    EncodedQuestion((EncodedCandidate(OTHER, (), (7, 0)),) * 2),
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
    trees = tuple(StepwiseScorer(model, MARKS.padding).score for model in models)
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


# Examples in ids: within what a model takes, with the part that counts, and in trees of what is asked together.

MARKS_QUESTIONS = Marks(separator=2, end=0, start=99, padding=99)


class Letters:
    """Every letter is a token: a is 10."""

    marks = MARKS_QUESTIONS

    def encode_source(self, sentence: str) -> list[int]:
        return [ord(letter) - 87 for letter in sentence]

    encode_target = encode_source


def example(*candidates: tuple[str, str], source: tuple[str, str] = ("ab", "cd")) -> Example:
    return Example("1", source, candidates, 0)


def question(
    item: Example, scope: str = "candidate", limit: int | None = None, truncate: bool = False, **how: Any
) -> Any:
    text: Any = Letters()
    return encode_question(item, text, Arrangement(**how), scope, limit, truncate)


TO_2 = {"joined_source": 1, "joined_target": 1}


def test_the_whole_candidate() -> None:
    found = question(example(("k", "lm"), ("k", "n")), **TO_2)
    source = ((10, 11, 2, 12, 13, 0),)
    assert found == EncodedQuestion(
        (EncodedCandidate(source, (), (20, 2, 21, 22, 0)), EncodedCandidate(source, (), (20, 2, 23, 0))), 0
    )


def test_the_current_sentence_given_the_context() -> None:
    found = question(example(("k", "lm"), ("kk", "n")), "current", **TO_2)
    assert [c.given for c in found.candidates] == [(20, 2), (20, 20, 2)]  # the context and the separator
    assert [c.given for c in question(example(("k", "lm"), ("k", "n")), "current").candidates] == [(), ()]


def test_the_token_that_decides() -> None:
    found = question(example(("k", "lm"), ("k", "ln")), "pronoun", **TO_2)
    assert [(c.given, c.predicted) for c in found.candidates] == [((20, 2, 21), (22,)), ((20, 2, 21), (23,))]
    same = question(example(("k", "l"), ("k", "l")), "pronoun")
    assert [(c.given, c.predicted) for c in same.candidates] == [((21,), (0,))] * 2
    shorter = question(example(("k", "l"), ("k", "lm")), "pronoun")  # the end against one more token
    assert [(c.given, c.predicted) for c in shorter.candidates] == [((21,), (0,)), ((21,), (22,))]


def test_candidates_with_contexts_of_their_own_have_inputs_of_their_own() -> None:
    found = question(example(("k", "l"), ("m", "l")), contexts=("target",))
    assert [c.inputs[1] for c in found.candidates] == [(20, 0), (22, 0)]


def test_what_is_too_long_is_an_error_or_is_cut() -> None:
    item = example(("k", "lmn"), ("k", "lmo"))
    with pytest.raises(AnaphoraError, match=r"6 tokens, but the model takes 5.*'cd'.*--truncate"):
        question(item, limit=5, **TO_2)
    found = question(item, limit=5, truncate=True, **TO_2)
    assert found.candidates[0].inputs == ((11, 2, 12, 13, 0),)  # the oldest context goes first
    assert found.candidates[0].predicted == (20, 2, 21, 22, 23)
    assert found.truncated == 3  # the source, and two targets
    assert question(item, limit=6, **TO_2).truncated == 0
