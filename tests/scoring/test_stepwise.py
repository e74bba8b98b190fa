"""Scores through branched states are those of every candidate by itself, whatever stands next to it in a batch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from anaphora.nmt.candidates import padded_scores
from anaphora.nmt.config import COMBINATIONS, ModelConfig
from anaphora.nmt.layout import SpecialTokens
from anaphora.nmt.recurrent import build
from anaphora.scoring import stepwise as tree_scorer
from anaphora.scoring.batching import select_rows
from anaphora.scoring.stepwise import StepwiseScorer
from anaphora.scoring.tree import build_tree

MARKS = SpecialTokens(separator=2, end=0, start=8, padding=8)
Ids = tuple[int, ...]


def random_model(contexts: tuple[str, ...] = ("source",), combination: str = "hierarchical") -> Any:
    torch.manual_seed(7)
    config = ModelConfig(
        kind="recurrent", context_encoders=contexts, combination=combination, embedding=8, hidden=6, dropout=0.3
    )
    model = build(config, 9, MARKS).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


MODEL = random_model()

# Few different tokens, so that candidates share much, part anywhere, repeat, and are prefixes of each other.
sentences = st.lists(st.integers(3, 5), max_size=5).map(lambda ids: (*ids, 0))
inputs = st.tuples(sentences, sentences)
candidates = st.lists(sentences, min_size=1, max_size=5)
questions = st.lists(st.tuples(inputs, candidates), min_size=1, max_size=5)


def through_trees(model: Any, asked: list[tuple[tuple[Ids, ...], list[Ids]]], margins: bool = False) -> list[Any]:
    trees = [build_tree((MARKS.start,), actual) for _, actual in asked]
    return StepwiseScorer(model, MARKS.padding).score(trees, [given for given, _ in asked], margins)


def one_by_one(model: Any, asked: list[tuple[tuple[Ids, ...], list[Ids]]]) -> list[list[float]]:
    return [padded_scores(model, [(given, target) for target in actual], MARKS, 64) for given, actual in asked]


@settings(max_examples=60)
@given(questions)
def test_it_is_plain_scoring(asked: list[tuple[tuple[Ids, ...], list[Ids]]]) -> None:
    for actual, expected in zip(through_trees(MODEL, asked), one_by_one(MODEL, asked), strict=True):
        assert [score for score, _ in actual] == pytest.approx(expected, abs=1e-4)


@settings(max_examples=30)
@given(questions)
def test_margins_leave_out_what_all_share_and_keep_the_differences(asked: list[Any]) -> None:
    for margins, whole, (_, targets) in zip(
        through_trees(MODEL, asked, margins=True), through_trees(MODEL, asked), asked, strict=True
    ):
        left_out = [a - b for (a, _), (b, _) in zip(whole, margins, strict=True)]
        assert left_out == pytest.approx([left_out[0]] * len(left_out), abs=1e-4)
        if len(set(targets)) == 1:
            assert [score for score, _ in margins] == [0.0] * len(targets)


@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize("contexts", [(), ("target",), ("source", "target")])
def test_every_recurrent_model(contexts: tuple[str, ...], combination: str) -> None:
    model = random_model(contexts, combination)
    asked = [
        (tuple((3, 4, 5, 0)[n:] for n in range(1 + len(contexts))), [(4, 5, 3, 0), (4, 4, 3, 0), (4, 5, 0), (0,)]),
        (tuple((5, 0) for _ in range(1 + len(contexts))), [(3, 3, 3, 3, 3, 3, 0), (3, 3, 4, 3, 3, 3, 0)]),
    ]
    for actual, expected in zip(through_trees(model, asked), one_by_one(model, asked), strict=True):
        assert [score for score, _ in actual] == pytest.approx(expected, abs=1e-4)


def test_what_is_read_first_is_not_scored() -> None:
    """A prompt of three tokens: the score of the rest is the whole without it."""
    given, whole = ((3, 4, 0), (5, 0)), (4, 5, 3, 3, 0)
    tree = build_tree((MARKS.start, *whole[:2]), [whole[2:]])
    ((scores, tokens),) = StepwiseScorer(MODEL, MARKS.padding).score([tree], [given])[0]
    with_it, without = padded_scores(MODEL, [(given, whole), (given, whole[:2])], MARKS, 64)
    assert tokens == 3
    assert scores == pytest.approx(with_it - without, abs=1e-4)


class Counting:
    """A model that counts the rows it computes."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.stepped = self.projected = self.encoded = 0
        self.memories: list[list[int]] = []

    def parameters(self) -> Any:
        return self.model.parameters()

    def start(self, memory: Any) -> Any:
        return self.model.start(memory)

    def encode(self, inputs: Any) -> Any:
        self.encoded += len(inputs[0].lengths)
        return self.model.encode(inputs)

    def step(self, memory: Any, state: Any, tokens: Any) -> Any:
        self.stepped += len(tokens)
        return self.model.step(memory, state, tokens)

    def project(self, output: Any) -> Any:
        self.projected += len(output)
        return self.model.project(output)

    def select_rows(self, structure: Any, rows: Any) -> Any:
        if not isinstance(structure, torch.Tensor):
            self.memories.append(rows.tolist())
        return select_rows(structure, rows)


def test_what_is_shared_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_scorer, "ROWS", 2)
    counting = Counting(MODEL)
    monkeypatch.setattr(tree_scorer, "select_rows", counting.select_rows)
    asked = [(((3, 0), (0,)), [(3, 4, 5, 0), (3, 4, 3, 0)]), (((4, 0), (5, 0)), [(3, 3, 3, 0), (3, 3, 3, 0)])]
    actual = through_trees(counting, asked)
    # start, 3, 4, then 5 and 3; start, 3, 3, 3
    assert (counting.encoded, counting.stepped, counting.projected) == (2, 9, 9)
    assert counting.memories == [[0, 0, 1]]  # where the first tree branches, and not again
    for values, expected in zip(actual, one_by_one(MODEL, asked), strict=True):
        assert [score for score, _ in values] == pytest.approx(expected, abs=1e-4)


def test_nodes_that_predict_nothing_are_not_projected() -> None:
    counting = Counting(MODEL)
    tree = build_tree((MARKS.start, 3, 4), [(5, 0)])
    StepwiseScorer(counting, MARKS).score([tree], [((3, 0), (0,))])
    assert (counting.stepped, counting.projected) == (4, 2)


def test_parents() -> None:
    tree = build_tree([0], [[1, 2, 9], [3, 4, 9], [1, 5, 9]])
    assert tree_scorer._parents(tree.depth).tolist() == [0, 0, 1, 1, 0, 4]


def test_a_tree_of_empty_candidates() -> None:
    tree = replace(build_tree([8], [[0]]), paths=((np.empty(0, np.int64), np.empty(0, np.int64)),))
    assert StepwiseScorer(MODEL, MARKS.padding).score([tree], [((3, 0), (0,))]) == [[(0.0, 0)]]
