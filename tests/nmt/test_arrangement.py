"""Every model of the papers is an arrangement of sentences."""

from __future__ import annotations

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.arrangement import Arrangement, Marks, inputs_of, target_of

END, SEPARATOR = 0, 9


MARKS = Marks(separator=SEPARATOR, end=END, start=1, padding=2)
SOURCE = ([31, 32], [41], [51, 52])  # the current sentence is the last
TARGET = ([71], [81, 82])


@pytest.mark.parametrize(
    ("arrangement", "inputs", "target"),
    [
        (Arrangement(), [(51, 52, 0)], (6, 0)),
        (Arrangement(joined_source=1), [(41, 9, 51, 52, 0)], (6, 0)),
        (Arrangement(joined_source=1, joined_target=1), [(41, 9, 51, 52, 0)], (81, 82, 9, 6, 0)),
        (Arrangement(contexts=("source",)), [(51, 52, 0), (41, 0)], (6, 0)),
        (Arrangement(contexts=("source", "target")), [(51, 52, 0), (41, 0), (81, 82, 0)], (6, 0)),
        (Arrangement(joined_target=1, contexts=("source",)), [(51, 52, 0), (41, 0)], (81, 82, 9, 6, 0)),
        (Arrangement(contexts=("target",), context_sentences=2), [(51, 52, 0), (71, 9, 81, 82, 0)], (6, 0)),
        (Arrangement(joined_source=5), [(31, 32, 9, 41, 9, 51, 52, 0)], (6, 0)),
    ],
)
def test_where_sentences_go(arrangement: Arrangement, inputs: list[tuple[int, ...]], target: tuple[int, ...]) -> None:
    assert inputs_of(arrangement, MARKS, SOURCE, TARGET) == tuple(inputs)
    assert target_of(arrangement, MARKS, (*TARGET, [6])) == target


def test_the_first_sentence_of_a_document_has_an_empty_context() -> None:
    arrangement = Arrangement(joined_source=1, joined_target=1, contexts=("source", "target"))
    assert inputs_of(arrangement, MARKS, ([51],), ()) == ((51, 0), (0,), (0,))
    assert inputs_of(arrangement, MARKS, ([], [51]), ([],)) == ((51, 0), (0,), (0,))
    assert target_of(arrangement, MARKS, ([6],)) == (6, 0)


def test_reach() -> None:
    assert Arrangement().reach == 0
    assert Arrangement(joined_source=2).source_reach == 2
    assert Arrangement(joined_target=1, contexts=("source",), context_sentences=3).reach == 3
    assert Arrangement(contexts=("target",)).target_reach == 1


def test_what_makes_no_sense() -> None:
    with pytest.raises(AnaphoraError, match="unknown context 'both'"):
        Arrangement(contexts=("both",))
    with pytest.raises(AnaphoraError, match="0 or more"):
        Arrangement(joined_source=-1)
