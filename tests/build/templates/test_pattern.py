"""Patterns: sentences with slots in braces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.build.templates.pattern import PatternError, Slot, parse_pattern, switched


def test_text_and_slots() -> None:
    assert parse_pattern("{animal: the} ate {food: the accusative}.") == (
        Slot("animal", features=("the",)),
        " ate ",
        Slot("food", features=("the", "accusative")),
        ".",
    )
    assert parse_pattern("It rained.") == ("It rained.",)
    assert parse_pattern("{it}") == (Slot("it"),)


def test_agreement_with_one_slot_or_several() -> None:
    assert parse_pattern("{size: like it}") == (Slot("size", like=("it",)),)
    assert parse_pattern("{feeling: comparative like animal+human}") == (
        Slot("feeling", features=("comparative",), like=("animal", "human")),
    )
    assert parse_pattern("{'mangé': like it}") == (Slot(None, word="mangé", like=("it",)),)


def test_a_slot_depends_on_itself_and_on_what_it_agrees_with() -> None:
    (own, word) = parse_pattern("{size: like it}{'est': like animal}")
    assert isinstance(own, Slot)
    assert isinstance(word, Slot)
    assert (own.names, word.names) == (("size", "it"), ("animal",))


@pytest.mark.parametrize(
    "text", ["{animal", "animal}", "{{animal}}", "{animal {food}}", "{}", "{a b}", "{: the}", "{'x}"]
)
def test_what_is_no_pattern_is_said(text: str) -> None:
    with pytest.raises(PatternError, match=r"brace|is not a slot"):
        parse_pattern(text)


@pytest.mark.parametrize("text", ["{a: like b c}", "{a: like b+}", "{a: like b the}"])
def test_like_stands_last_and_names_slots(text: str) -> None:
    with pytest.raises(PatternError, match="'like' names slots, and stands last"):
        parse_pattern(text)


def test_two_slots_change_places() -> None:
    pattern = parse_pattern("{animal: the} and {human} {'was': like animal+human}, {size}.")
    assert switched(pattern, "animal", "human") == parse_pattern(
        "{human: the} and {animal} {'was': like human+animal}, {size}."
    )
    assert switched(switched(pattern, "animal", "human"), "animal", "human") == pattern


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="{}"), max_size=20)
NAME = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)


@given(st.lists(st.tuples(TEXT, NAME, st.lists(NAME.filter(lambda n: n != "like"), max_size=3)), max_size=5), TEXT)
def test_whatever_is_written_is_read(parts: list[tuple[str, str, list[str]]], end: str) -> None:
    text = "".join(f"{before}{{{name}: {' '.join(features)}}}" for before, name, features in parts) + end
    expected: list[str | Slot] = []
    for before, name, features in parts:
        expected += [before, Slot(name, features=tuple(features))]
    assert list(parse_pattern(text)) == [piece for piece in [*expected, end] if piece != ""]


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_any_text_is_a_pattern_or_a_pattern_error(text: str) -> None:
    try:
        pattern = parse_pattern(text)
    except PatternError:
        return
    assert all(isinstance(piece, Slot) or not set("{}") & set(piece) for piece in pattern)
