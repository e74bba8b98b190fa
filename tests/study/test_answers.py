"""What answers mean: the last one counts, A and B are turned back, pairs nobody can judge are left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from anaphora.core.errors import BadInput
from anaphora.study.answers import current_answers, meaning, option_of, ratings
from anaphora.study.model import Study
from anaphora.study.store import Answer

Make = Callable[..., Study]
Said = Callable[..., Answer]


def test_the_last_answer_counts(make: Make, said: Said) -> None:
    study = make()
    log = [
        said(study, "anna", "p0", "a"),
        said(study, "anna", "p1", "equal"),
        said(study, "anna", "p0", "b"),
        said(study, "anna", "p2", "a"),
        said(study, "anna", "p2"),
    ]
    current = current_answers(study, log, "log")
    assert {key: answer.choice for key, answer in current.items()} == {
        ("anna", "p1"): ("equal",),
        ("anna", "p0"): ("b",),
    }
    assert list(current) == [("anna", "p1"), ("anna", "p0")]  # in the order of the last answers


def test_a_and_b_depend_on_the_order_shown(make: Make) -> None:
    study = make(20)
    seen = set()
    for (annotator, name), order in study.orders.items():
        for choice, place in (("a", 0), ("b", 1)):
            expected = "reference" if order[place] == study.by_id[name].gold else "system"
            assert meaning(study, Answer(annotator, name, (choice,), order, "r")) == expected
            seen.add((order, choice, expected))
    assert len(seen) == 4
    order = study.orders["anna", "p0"]
    others = [meaning(study, Answer("anna", "p0", (c,), order, "r")) for c in ("equal", "neither", "invalid")]
    assert others == ["tie", "neither", "invalid"]


def test_a_gap_is_right_where_the_word_was_chosen(make_gaps: Make, said: Said) -> None:
    study = make_gaps()
    assert meaning(study, said(study, "anna", "a0", "il", "elle")) == "correct"
    assert meaning(study, said(study, "anna", "a0", "il")) == "incorrect"
    assert meaning(study, said(study, "anna", "a0", "bad")) == "bad"
    assert meaning(study, said(study, "anna", "b0", "cela")) == "correct"  # Ça
    assert option_of(study, "lui") == "other"


def test_ratings(make: Make, said: Said) -> None:
    study = make(4)
    log = [
        *(said(study, name, "p0", "r") for name in ("anna", "ben", "carla")),
        said(study, "anna", "p1", "t"),
        said(study, "ben", "p1", "s"),
        said(study, "anna", "p2", "r"),
        said(study, "ben", "p2", "i"),
    ]
    current = current_answers(study, log, "log")
    found = ratings(study, current)
    assert [item.id for item in found.items] == ["p0", "p1", "p3"]
    assert found.left_out == 1
    np.testing.assert_array_equal(found.values, [[0, 0, 0], [2, 1, -1], [-1, -1, -1]])
    without = ratings(study, current, ties=False)
    assert without.categories == ("reference", "system")
    np.testing.assert_array_equal(without.values, [[0, 0, 0], [-1, 1, -1], [-1, -1, -1]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"item": "p99"}, "answer 1: anna was not asked 'p99'"),
        ({"annotator": "eve"}, "answer 1: eve was not asked 'p0'"),
        ({"choice": ("c",)}, "answer 1: unknown choice 'c'"),
        ({"choice": ("a", "b")}, "answer 1: only one choice is possible"),
        ({"shown": (0,)}, "shown in another order"),
    ],
)
def test_answers_that_do_not_belong(make: Make, said: Said, change: dict[str, object], message: str) -> None:
    study = make()
    answer = replace(said(study, "anna", "p0", "a"), **change)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=message):
        current_answers(study, [answer], "log")


def test_choices_of_a_gap(make_gaps: Make) -> None:
    study = make_gaps()
    assert study.problem_with(("il", "other")) is None
    assert study.problem_with(()) is None
    assert study.problem_with(("il", "bad")) == "a bad translation has no other answer"
    assert study.problem_with(("il", "il")) == "a choice is there twice"
    assert study.problem_with(("ça",)) == "unknown choice 'ça'"
