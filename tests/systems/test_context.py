"""Context is data: how many sentences, joined by what, on which side."""

from __future__ import annotations

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.systems.context import Context, Question, with_target_context

LAMP = Example(
    "lamp",
    ("We had a guest.", "The lamp fell.", "It broke."),
    (("Ein Gast war da.", "Die Lampe fiel.", "Sie zerbrach."), ("Ein Gast war da.", "Die Lampe fiel.", "Er zerbrach.")),
    0,
)


@pytest.mark.parametrize(
    ("context", "source", "first"),
    [
        (Context(), "It broke.", "Sie zerbrach."),
        (Context(1), "The lamp fell. It broke.", "Die Lampe fiel. Sie zerbrach."),
        (Context(9), "We had a guest. The lamp fell. It broke.", "Ein Gast war da. Die Lampe fiel. Sie zerbrach."),
        (Context(1, target="none"), "The lamp fell. It broke.", "Sie zerbrach."),
        (Context(1, separator=" </s> "), "The lamp fell. </s> It broke.", "Die Lampe fiel. </s> Sie zerbrach."),
        (Context(1, separator=""), "The lamp fell.It broke.", "Die Lampe fiel.Sie zerbrach."),
        (Context(1, separator="\n"), "The lamp fell.\nIt broke.", "Die Lampe fiel.\nSie zerbrach."),
    ],
)
def test_a_question_in_context(context: Context, source: str, first: str) -> None:
    question = context.question(LAMP)
    assert question.source == source
    assert question.targets[0] == first
    assert len(question.targets) == 2


def test_sentences_that_do_not_exist_leave_no_separator() -> None:
    beginning = Example("a", ("", "", "It broke."), (("", "", "Sie zerbrach."),), 0)
    assert Context(2, separator=" | ").question(beginning) == Question("It broke.", ("Sie zerbrach.",))


@pytest.mark.parametrize(
    ("context", "label"),
    [
        (Context(), "0+0"),
        (Context(2), "2+2"),
        (Context(2, target="none"), "2+0"),
        (Context(2, target="produced"), "2+2p"),
    ],
)
def test_the_label_says_both_sides(context: Context, label: str) -> None:
    assert context.label == label


def test_an_unknown_target_context_is_refused() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown target context 'golden'\. Known: gold, produced, none"):
        Context(1, target="golden")


def test_a_negative_number_of_sentences_is_refused() -> None:
    with pytest.raises(AnaphoraError, match="-1"):
        Context(-1)


def test_other_target_context_for_every_candidate() -> None:
    changed = with_target_context(LAMP.with_context(1), ("Das Licht ging aus.",))
    assert changed.candidates == (
        ("Das Licht ging aus.", "Sie zerbrach."),
        ("Das Licht ging aus.", "Er zerbrach."),
    )
    assert changed.source == ("The lamp fell.", "It broke.")
    assert with_target_context(LAMP, ()) == LAMP
