"""Examples in ids: within what a model takes, with the part that counts, and in trees of what is asked together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.arrangement import Arrangement, Marks
from anaphora.nmt.questions import Question, Wanted, batches, make_question, units
from anaphora.suites.example import Example

MARKS = Marks(separator=2, end=0, start=99, padding=99)


class Letters:
    """Every letter is a token: a is 10."""

    marks = MARKS

    def encode_source(self, sentence: str) -> list[int]:
        return [ord(letter) - 87 for letter in sentence]

    encode_target = encode_source


def example(*candidates: tuple[str, str], source: tuple[str, str] = ("ab", "cd")) -> Example:
    return Example("1", source, candidates, 0)


def question(
    item: Example, focus: str = "candidate", limit: int | None = None, truncate: bool = False, **how: Any
) -> Any:
    text: Any = Letters()
    return make_question(item, text, Arrangement(**how), focus, limit, truncate)


TO_2 = {"joined_source": 1, "joined_target": 1}


def test_the_whole_candidate() -> None:
    found = question(example(("k", "lm"), ("k", "n")), **TO_2)
    source = ((10, 11, 2, 12, 13, 0),)
    assert found == Question((Wanted(source, (20, 2, 21, 22, 0)), Wanted(source, (20, 2, 23, 0))), 0)
    assert found.shared


def test_the_current_sentence_given_the_context() -> None:
    found = question(example(("k", "lm"), ("kk", "n")), "current", **TO_2)
    assert [wanted.read for wanted in found.candidates] == [2, 3]  # the context and the separator
    assert not found.shared
    assert [w.read for w in question(example(("k", "lm"), ("k", "n")), "current").candidates] == [0, 0]


def test_the_token_that_decides() -> None:
    found = question(example(("k", "lm"), ("k", "ln")), "pronoun", **TO_2)
    assert [(w.target, w.read) for w in found.candidates] == [((20, 2, 21, 22), 3), ((20, 2, 21, 23), 3)]
    same = question(example(("k", "l"), ("k", "l")), "pronoun")
    assert [(w.target, w.read) for w in same.candidates] == [((21, 0), 1)] * 2
    shorter = question(example(("k", "l"), ("k", "lm")), "pronoun")  # the end against one more token
    assert [(w.target, w.read) for w in shorter.candidates] == [((21, 0), 1), ((21, 22), 1)]


def test_candidates_with_contexts_of_their_own_have_inputs_of_their_own() -> None:
    found = question(example(("k", "l"), ("m", "l")), contexts=("target",))
    assert [w.inputs[1] for w in found.candidates] == [(20, 0), (22, 0)]
    assert not found.shared


def test_what_is_too_long_is_an_error_or_is_cut() -> None:
    item = example(("k", "lmn"), ("k", "lmo"))
    with pytest.raises(AnaphoraError, match=r"6 tokens, but the model takes 5.*'cd'.*--truncate"):
        question(item, limit=5, **TO_2)
    found = question(item, limit=5, truncate=True, **TO_2)
    assert found.candidates[0].inputs == ((11, 2, 12, 13, 0),)  # the oldest context goes first
    assert found.candidates[0].target == (20, 2, 21, 22, 23)
    assert found.truncated == 3  # the source, and two targets
    assert question(item, limit=6, **TO_2).truncated == 0


tokens = st.lists(st.integers(3, 5), max_size=3).map(lambda ids: (*ids, 0))
candidates = st.tuples(st.sampled_from([((3, 0),), ((4, 0),)]), tokens).map(lambda pair: Wanted(*pair))
asked = st.lists(st.lists(candidates, min_size=1, max_size=3).map(lambda c: Question(tuple(c))), max_size=6)


@given(asked, st.integers(1, 20))
def test_every_candidate_is_in_one_tree_with_its_inputs(questions: list[Question], budget: int) -> None:
    found = [unit for batch in batches(units(questions, 99, budget), budget) for unit in batch]
    members = [member for unit in found for member in unit.members]
    assert sorted(members) == [(n, k) for n, q in enumerate(questions) for k in range(len(q.candidates))]
    for unit in found:
        for (number, place), (_, predicted) in zip(unit.members, unit.tree.paths, strict=True):
            wanted = questions[number].candidates[place]
            assert unit.inputs == wanted.inputs
            assert tuple(predicted) == wanted.target
        assert unit.tree.tokens[0] == 99


@given(asked, st.integers(1, 40))
def test_batches_keep_to_the_budget(questions: list[Question], budget: int) -> None:
    for batch in batches(units(questions, 99, budget), budget):
        assert len(batch) == 1 or sum(unit.size for unit in batch) <= budget


def test_equal_inputs_are_one_tree_across_questions() -> None:
    source = ((3, 0),)
    both = [Question((Wanted(source, (4, 5, 0)),)), Question((Wanted(source, (4, 6, 0)),))]
    (one,) = units(both, 99, 100)
    assert one.members == [(0, 0), (1, 0)]
    assert len(one.tree) == 4  # start, 4, 5, 6
    assert len(units(both, 99, 5)) == 2  # where they are too large together


def test_what_is_read_stands_before_the_tree() -> None:
    source = ((3, 0),)
    asked = [Question((Wanted(source, (4, 5, 0), 1), Wanted(source, (4, 6, 0), 1), Wanted(source, (5, 6, 0), 1)))]
    found = units(asked, 99, 100)
    assert [unit.members for unit in found] == [[(0, 0), (0, 1)], [(0, 2)]]
    assert found[0].tree.tokens.tolist() == [99, 4, 5, 6]
    assert [predicted.tolist() for _, predicted in found[0].tree.paths] == [[5, 0], [6, 0]]
