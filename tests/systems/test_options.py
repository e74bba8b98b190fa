"""Specs and their settings: what a user types, and what is said when it is wrong."""

from __future__ import annotations

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.systems.options import Options, split_settings, split_spec, yes


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
    assert [yes(word) for word in ("1", "yes", "TRUE", "on", "")] == [True] * 5
    assert [yes(word) for word in ("0", "no", "False", "off")] == [False] * 4
    with pytest.raises(AnaphoraError, match="yes or no is expected, not 'maybe'"):
        yes("maybe")


def test_the_defaults_are_exact_and_refuse_to_cut() -> None:
    options = Options()
    assert (options.plain, options.margins_only, options.truncate) == (False, False, False)
    assert options.context.label == "0+0"
