"""Context is data: how many sentences, joined by what, on which side."""

from __future__ import annotations

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.systems.context import (
    Context,
    Options,
    ScoringInput,
    parse_bool,
    split_settings,
    split_spec,
    with_target_context,
)

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
    question = context.scoring_input(LAMP)
    assert question.source == source
    assert question.targets[0] == first
    assert len(question.targets) == 2


def test_sentences_that_do_not_exist_leave_no_separator() -> None:
    beginning = Example("a", ("", "", "It broke."), (("", "", "Sie zerbrach."),), 0)
    assert Context(2, separator=" | ").scoring_input(beginning) == ScoringInput("It broke.", ("Sie zerbrach.",))


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


# Specs and their settings: what a user types, and what is said when it is wrong.


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("hf:Helsinki-NLP/opus-mt-en-de", ("hf", "Helsinki-NLP/opus-mt-en-de")),
        ("lm:C:\\models\\x", ("lm", "C:\\models\\x")),
        ("openai:http://host:8000/v1?model=x", ("openai", "http://host:8000/v1?model=x")),
    ],
)
def test_a_spec_is_split_at_its_first_colon(spec: str, parts: tuple[str, str]) -> None:
    assert split_spec(spec) == parts


@pytest.mark.parametrize("spec", ["", "hf", "hf:"])
def test_what_is_no_spec_says_how_to_write_one(spec: str) -> None:
    with pytest.raises(AnaphoraError, match="Write KIND:WHAT"):
        split_spec(spec)


@pytest.mark.parametrize("name", ["Helsinki-NLP/opus-mt-en-de", "models/mine", "./mine"])
def test_a_model_without_its_kind_is_recognized(name: str) -> None:
    with pytest.raises(AnaphoraError, match=rf"did you mean hf:{name} \(a translation model\) or lm:{name}"):
        split_spec(name)


@pytest.mark.parametrize(
    ("what", "settings"),
    [
        ("name", {}),
        ("name?", {}),
        ("name?dtype=bfloat16", {"dtype": "bfloat16"}),
        ("name?prefix=translate%20this%3A+&dtype=x", {"prefix": "translate this: ", "dtype": "x"}),
        ("name?prefix=", {"prefix": ""}),
    ],
)
def test_settings_follow_a_question_mark(what: str, settings: dict[str, str]) -> None:
    assert split_settings(what, ("dtype", "prefix")) == ("name", settings)


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown setting 'dtpye'.*did you mean dtype\?.*Known: dtype, device"):
        split_settings("name?dtpye=float32", ("dtype", "device"))


def test_yes_and_no() -> None:
    assert [parse_bool(word) for word in ("1", "yes", "TRUE", "on", "")] == [True] * 5
    assert [parse_bool(word) for word in ("0", "no", "False", "off")] == [False] * 4
    with pytest.raises(AnaphoraError, match="yes or no is expected, not 'maybe'"):
        parse_bool("maybe")


def test_the_defaults_are_exact_and_refuse_to_cut() -> None:
    options = Options()
    assert (options.plain, options.margins_only, options.truncate) == (False, False, False)
    assert options.context.label == "0+0"
