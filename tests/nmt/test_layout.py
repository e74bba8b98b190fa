"""Every model of the papers is a layout of context."""

from __future__ import annotations

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.layout import ContextLayout, SpecialTokens, inputs_of, target_of

END, SEPARATOR = 0, 9


MARKS = SpecialTokens(separator=SEPARATOR, end=END, start=1, padding=2)
SOURCE = ([31, 32], [41], [51, 52])  # the current sentence is the last
TARGET = ([71], [81, 82])


@pytest.mark.parametrize(
    ("layout", "inputs", "target"),
    [
        (ContextLayout(), [(51, 52, 0)], (6, 0)),
        (ContextLayout(source_context=1), [(41, 9, 51, 52, 0)], (6, 0)),
        (ContextLayout(source_context=1, target_context=1), [(41, 9, 51, 52, 0)], (81, 82, 9, 6, 0)),
        (ContextLayout(context_encoders=("source",)), [(51, 52, 0), (41, 0)], (6, 0)),
        (ContextLayout(context_encoders=("source", "target")), [(51, 52, 0), (41, 0), (81, 82, 0)], (6, 0)),
        (ContextLayout(target_context=1, context_encoders=("source",)), [(51, 52, 0), (41, 0)], (81, 82, 9, 6, 0)),
        (ContextLayout(context_encoders=("target",), context_sentences=2), [(51, 52, 0), (71, 9, 81, 82, 0)], (6, 0)),
        (ContextLayout(source_context=5), [(31, 32, 9, 41, 9, 51, 52, 0)], (6, 0)),
    ],
)
def test_where_sentences_go(layout: ContextLayout, inputs: list[tuple[int, ...]], target: tuple[int, ...]) -> None:
    assert inputs_of(layout, MARKS, SOURCE, TARGET) == tuple(inputs)
    assert target_of(layout, MARKS, (*TARGET, [6])) == target


def test_the_first_sentence_of_a_document_has_an_empty_context() -> None:
    layout = ContextLayout(source_context=1, target_context=1, context_encoders=("source", "target"))
    assert inputs_of(layout, MARKS, ([51],), ()) == ((51, 0), (0,), (0,))
    assert inputs_of(layout, MARKS, ([], [51]), ([],)) == ((51, 0), (0,), (0,))
    assert target_of(layout, MARKS, ([6],)) == (6, 0)


def test_reach() -> None:
    assert ContextLayout().reach == 0
    assert ContextLayout(source_context=2).source_reach == 2
    assert ContextLayout(target_context=1, context_encoders=("source",), context_sentences=3).reach == 3
    assert ContextLayout(context_encoders=("target",)).target_reach == 1


def test_what_makes_no_sense() -> None:
    with pytest.raises(AnaphoraError, match="unknown context 'both'"):
        ContextLayout(context_encoders=("both",))
    with pytest.raises(AnaphoraError, match="0 or more"):
        ContextLayout(source_context=-1)
