"""Answers and scored examples: what they hold without being told, and that nobody shares by accident."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import pytest

from anaphora.systems.scored import Answer, Scored


def test_an_answer_needs_scores_alone() -> None:
    assert Answer([-1.0]) == Answer([-1.0], None, (), 0, {})


def test_an_answer_goes_to_another_process_as_it_is() -> None:
    """Also one that nobody gave extras: a mapping proxy could not be sent."""
    for answer in (Answer([-1.0, -2.5]), Answer([0.0], [3], [(0, 1)], 2, {"translation": "ß"})):
        assert pickle.loads(pickle.dumps(answer)) == answer


def test_what_is_replaced_in_one_answer_is_not_in_another() -> None:
    one = Answer([-1.0])
    other = one._replace(extra={**one.extra, "unanswered": 1})
    assert (one.extra, Answer([-2.0]).extra, other.extra) == ({}, {}, {"unanswered": 1})


def test_a_scored_example_that_nobody_remarked_on() -> None:
    scored = Scored("a.1", None, {}, [-1.0])
    assert (scored.tokens, dict(scored.extra)) == (None, {})
    with pytest.raises(TypeError):
        scored.extra["undecidable"] = 1  # type: ignore[index]
    assert isinstance(scored.extra, Mapping)


def test_neither_can_be_changed() -> None:
    for item in (Scored("a.1", 0, {}, [-1.0]), Answer([-1.0])):
        with pytest.raises(AttributeError):
            item.scores = [0.0]  # type: ignore[misc]
