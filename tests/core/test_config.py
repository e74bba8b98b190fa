"""Typed configuration files: sections, types, overrides, earlier names, and TOML that is read back."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.config import merge_documents, parse_overrides, rename_keys, typed_config, write_toml
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.parsing import parse_toml

PATH = Path("c.toml")


@dataclass(frozen=True)
class Section:
    count: int = 1
    share: float = 0.5
    name: str = ""
    on: bool = False
    words: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.count < 0:
            raise AnaphoraError("section.count must be 0 or more")


@dataclass(frozen=True)
class Whole:
    description: str = ""
    section: Section = field(default_factory=Section)


def test_values_have_the_types_of_their_fields() -> None:
    document = {"description": "d", "section": {"share": 1, "words": "one", "numbers": [1, 2], "on": True}}
    config = typed_config(Whole, document, PATH)
    assert config == Whole("d", Section(share=1.0, words=("one",), numbers=(1, 2), on=True))
    assert type(config.section.share) is float
    assert typed_config(Whole, {}, PATH) == Whole()


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"sektion": {}}, "unknown section 'sektion' (did you mean section or description?). Known: "),
        ({"section": 3}, "section must be a section. Write [section] and its keys below it."),
        ({"section": {"nmae": ""}}, "unknown key section.nmae (did you mean name?). Known: count, share"),
        ({"section": {"count": 1.5}}, "section.count must be a whole number, not 1.5"),
        ({"section": {"count": True}}, "section.count must be a whole number, not True"),
        ({"section": {"numbers": [1, "2"]}}, "section.numbers must be a whole number, not '2'"),
        ({"section": {"share": "much"}}, "section.share must be a number, not 'much'"),
        ({"section": {"on": 1}}, "section.on must be true or false, not 1"),
        ({"section": {"words": [["x"]]}}, "section.words must be a string, not ['x']"),
        ({"section": {"count": -1}}, "section.count must be 0 or more"),
        ({"description": 1}, "description must be a string, not 1"),
    ],
)
def test_problems_are_named(document: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput) as error:
        typed_config(Whole, document, PATH)
    assert str(error.value).startswith(f"c.toml: {problem}")


def test_one_document_over_another() -> None:
    under = {"a": {"x": 1, "y": 2}, "b": 3}
    assert merge_documents(under, {"a": {"y": 5}, "c": {"z": 6}}) == {"a": {"x": 1, "y": 5}, "b": 3, "c": {"z": 6}}
    assert under == {"a": {"x": 1, "y": 2}, "b": 3}


def test_overrides_are_toml_or_plain_words() -> None:
    overrides = {"a.x": "1e-3", "a.y": "word", "b.z": '["p", "q"]', "b.on": "true", "b.path": "a b=c"}
    expected = {"a": {"x": 1e-3, "y": "word"}, "b": {"z": ["p", "q"], "on": True, "path": "a b=c"}}
    assert parse_overrides(overrides, "a.x=1") == expected
    with pytest.raises(AnaphoraError, match=r"--set x=1: write section\.key=value, for example a\.x=1"):
        parse_overrides({"x": "1"}, "a.x=1")


def test_earlier_names_are_replaced() -> None:
    aliases = {"section.amount": "count"}
    document = {"section": {"amount": 3, "name": "n"}, "other": {"amount": 1}}
    assert rename_keys(document, aliases, PATH) == {"section": {"count": 3, "name": "n"}, "other": {"amount": 1}}
    assert rename_keys({"section": 3}, aliases, PATH) == {"section": 3}
    with pytest.raises(BadInput, match=r"section\.amount is the earlier name of section\.count\. Give only one"):
        rename_keys({"section": {"amount": 3, "count": 4}}, aliases, PATH)


sections = st.builds(
    Section,
    count=st.integers(0, 2**40),
    share=st.floats(allow_nan=False, allow_infinity=False),
    name=st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t")),
    on=st.booleans(),
    words=st.lists(st.text("ab\"\\ '", max_size=4)).map(tuple),
    numbers=st.lists(st.integers(-9, 9)).map(tuple),
)


@given(st.builds(Whole, st.text('xy "\\\n'), sections))
def test_what_is_written_is_read_back(config: Whole) -> None:
    assert typed_config(Whole, parse_toml(write_toml(config), PATH), PATH) == config
    assert "count" not in write_toml(config, ["section.count"]).split("[section]")[1].split("name")[0]
