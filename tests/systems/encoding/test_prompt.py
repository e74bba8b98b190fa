"""Prompts: of a file, or our own; values go to their places once, whatever is in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import BadInput
from anaphora.systems.encoding.prompt import BASE_PROMPT, CHAT_PROMPT, PLACES, continued, fill, read_prompt

VALUES = {"source": "It broke.", "source_language": "English", "target_language": "German"}
# Texts with many braces, and with names of places in them
texts = st.lists(st.sampled_from(["{", "}", "{source}", "{target_language}", "\\1", r"\g<0>", "x", "\n"])).map("".join)


def test_our_own_prompts_have_every_place() -> None:
    for prompt in (BASE_PROMPT, CHAT_PROMPT):
        assert all(f"{{{place}}}" in prompt for place in PLACES)
        assert "{" not in fill(prompt, VALUES)
    assert fill(BASE_PROMPT, VALUES) == "English: It broke.\nGerman:"


def test_other_braces_stay_as_they_are() -> None:
    prompt = '{"text": "{source}", "to": {nothing}, {{target_language}}, {sources}, { source }}'
    assert fill(prompt, VALUES) == '{"text": "It broke.", "to": {nothing}, {German}, {sources}, { source }}'


@given(st.lists(st.sampled_from([*(f"{{{place}}}" for place in PLACES), "-"]), max_size=5), texts, texts)
def test_what_is_put_in_is_not_looked_at_again(parts: list[str], source: str, language: str) -> None:
    values = {"source": source, "source_language": language, "target_language": "German"}
    expected = [values.get(part[1:-1], part) for part in parts]
    assert fill("".join(parts), values) == "".join(expected)


# Files


@pytest.mark.parametrize(
    ("data", "prompt"),
    [
        ("{source} =\n", "{source} =\n"),  # a template may end in a line break
        ("{source} =", "{source} ="),
        ("\ufeff{source}\r\n\r\n{target_language}:\r\n", "{source}\n\n{target_language}:\n"),
        ("{source}\n\n", "{source}\n\n"),
        ("Über {source}? ", "Über {source}? "),
    ],
)
def test_the_prompt_of_a_file(tmp_path: Path, data: str, prompt: str) -> None:
    (tmp_path / "prompt").write_bytes(data.encode())
    assert read_prompt(str(tmp_path / "prompt")) == prompt


@pytest.mark.parametrize(
    ("prompt", "whole"),
    [
        ("German:", "German: Es regnet.\n"),
        ("German: ", "German: Es regnet.\n"),
        ("German:\n", "German:\nEs regnet.\n"),
        ("German:\t", "German:\tEs regnet.\n"),
    ],
)
def test_a_space_stands_before_the_candidate_unless_there_is_one(prompt: str, whole: str) -> None:
    assert continued(prompt, "Es regnet.") == whole


def test_no_file_is_no_prompt() -> None:
    assert read_prompt(None) is None


@pytest.mark.parametrize("data", ["", "{target_language}", "{ source }", "{source"])
def test_a_prompt_must_say_where_the_source_goes(tmp_path: Path, data: str) -> None:
    (tmp_path / "prompt").write_text(data)
    with pytest.raises(BadInput) as caught:
        read_prompt(str(tmp_path / "prompt"))
    assert str(caught.value) == (
        f"{tmp_path / 'prompt'}: the prompt has no {{source}}. "
        "It may have {source}, {source_language}, {target_language}."
    )


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        read_prompt(str(tmp_path / "nothing"))
    (tmp_path / "prompt").write_bytes("{source} auf Französisch".encode("latin1"))
    with pytest.raises(BadInput, match="line 1: not UTF-8"):
        read_prompt(str(tmp_path / "prompt"))
