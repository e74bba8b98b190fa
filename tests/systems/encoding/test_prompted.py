"""Prompted: every candidate is predicted whole after the same beginning, whatever a tokeniser makes of the seam."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.systems.context import Question
from anaphora.systems.encoding.prompted import PromptTokens
from anaphora.systems.options import Options

QUESTION = Question("It was old.", ("Er war alt.", "Sie war alt."))
ENGLISH_GERMAN = Options(languages=("en", "de"))


class Merging:
    """A tokeniser of single characters but for what it merges; it marks no beginning, or one, as it is told."""

    chat_template = None
    eos_token_id = 1

    def __init__(self, merges: Sequence[str] = (), bos: int | None = None) -> None:
        self.bos_token_id = bos
        self._pattern = re.compile("|".join([*map(re.escape, merges), "."]), re.DOTALL)
        self._numbers = count(2)
        self._ids: dict[str, int] = {}

    def __call__(self, text: str, add_special_tokens: bool) -> Any:
        pieces = self._pattern.findall(text)
        ids = [self._ids[piece] if piece in self._ids else self._new(piece) for piece in pieces]
        marks = [self.bos_token_id] if add_special_tokens and self.bos_token_id is not None else []
        return SimpleNamespace(input_ids=marks + ids)

    def _new(self, piece: str) -> int:
        return self._ids.setdefault(piece, next(self._numbers))

    def decode(self, ids: Sequence[int], skip_special_tokens: bool) -> str:
        names = {number: piece for piece, number in self._ids.items()}
        return "".join(names[i] for i in ids if i > 1 or not skip_special_tokens)


def base(tokenizer: Any, limit: int | None = None, **given: str) -> PromptTokens:
    return PromptTokens(tokenizer, given, ENGLISH_GERMAN, name="lm:x", limit=limit)


@pytest.fixture(scope="module")
def llama(tiny_llama: Path) -> Any:
    from anaphora.systems.encoding.tokens import load_tokenizer

    return load_tokenizer(str(tiny_llama))


# The seam


def test_a_base_model_reads_the_prompt_and_predicts_a_line() -> None:
    tokenizer = Merging()
    [encoded] = base(tokenizer).encode([QUESTION])
    assert encoded.source == ()
    assert tokenizer.decode(encoded.prompt, False) == "English: It was old.\nGerman:"
    assert [tokenizer.decode(c, False) for c in encoded.candidates] == [" Er war alt.\n", " Sie war alt.\n"]


def test_a_merge_across_the_seam_is_predicted_with_every_candidate() -> None:
    """Here ": E" is one token: after "German" nothing may be taken as read, for the other candidate neither."""
    tokenizer = Merging([": E"])
    [encoded] = base(tokenizer).encode([QUESTION])
    assert tokenizer.decode(encoded.prompt, False).endswith("\nGerman")
    assert [tokenizer.decode(c, False) for c in encoded.candidates] == [": Er war alt.\n", ": Sie war alt.\n"]


merges = st.lists(st.sampled_from([": ", ": E", "n:", "an: Er w", " S", "German: ", "\nG", "t.\n"]), max_size=4)
targets = st.lists(st.sampled_from(["Er war.", "Sie war.", "Er", "", "\n", ": E"]), min_size=1, max_size=4)


@given(merges, targets, st.sampled_from([None, 0]))
def test_reading_and_predicting_together_are_the_tokens_of_the_whole(
    merged: list[str], texts: list[str], bos: int | None
) -> None:
    tokens = base(Merging(merged, bos))
    [encoded] = tokens.encode([Question("It was.", tuple(texts))])
    prompt = tokens.tokenizer(tokens.text("It was."), True).input_ids
    assert list(encoded.prompt) == prompt[: len(encoded.prompt)]
    for candidate, text in zip(encoded.candidates, texts, strict=True):
        assert candidate
        assert [*encoded.prompt, *candidate] == tokens.tokenizer(tokens.text("It was.", text), True).input_ids


@pytest.mark.parametrize(("bos", "first"), [(None, (1,)), (0, (0,))])
def test_a_model_given_nothing_reads_its_first_token(tmp_path: Path, bos: int | None, first: tuple[int, ...]) -> None:
    (tmp_path / "prompt").write_text("{source}")
    tokens = base(Merging(bos=bos), prompt=str(tmp_path / "prompt"))
    [encoded] = tokens.encode([Question("", ("Er.", "Es."))])
    assert encoded.prompt == first
    assert [tokens.tokenizer.decode(c, False) for c in encoded.candidates] == [" Er.\n", " Es.\n"]
    assert tokens.prompts([""]) == [first]


# How long


def test_there_is_room_for_the_longest_candidate() -> None:
    [whole] = base(Merging()).encode([QUESTION])
    assert base(Merging(), limit=whole.longest).encode([QUESTION]) == [whole]
    with pytest.raises(AnaphoraError) as caught:
        base(Merging(), limit=whole.longest - 1).encode([QUESTION])
    assert str(caught.value) == (
        f"{whole.longest} tokens, but the model takes {whole.longest - 1}: 'It was old.'… Use less --context"
    )


def test_there_is_room_for_one_token_of_an_answer() -> None:
    [prompt] = base(Merging()).prompts(["It was old."])
    size = len("English: It was old.\nGerman:")
    assert len(prompt) == size
    assert base(Merging(), limit=size + 1).prompts(["It was old."]) == [prompt]
    with pytest.raises(AnaphoraError, match=rf"^{size + 1} tokens, but the model takes {size}: 'It was old\.'"):
        base(Merging(), limit=size).prompts(["It.", "It was old."])


# Chat


def test_a_template_makes_a_chat_unless_told_otherwise(llama: Any) -> None:
    assert base(llama).chat
    assert not base(llama, chat="no").chat
    assert not base(Merging()).chat
    assert base(llama).settings()["prompt"] != base(llama, chat="no").settings()["prompt"]


def test_without_a_template_there_is_no_chat() -> None:
    with pytest.raises(AnaphoraError) as caught:
        base(Merging(), chat="yes")
    assert str(caught.value) == "lm:x: its tokeniser has no chat template. Score it as a base model: lm:x?chat=no"


def test_a_chat_is_read_up_to_the_assistant_and_predicted_to_the_end_of_its_turn(llama: Any) -> None:
    [encoded] = base(llama).encode([QUESTION])
    read, *predicted = (llama.decode(list(ids)) for ids in (encoded.prompt, *encoded.candidates))
    assert read.startswith("<s><|user|>\nTranslate the following text from English into German.")
    assert read.endswith("It was old.</s>\n<|assistant|>\n")
    assert predicted == ["Er war alt.</s>\n", "Sie war alt.</s>\n"]
    assert encoded.prompt.count(llama.bos_token_id) == 1  # the template writes it; the tokeniser does not again
    assert base(llama).prompts(["It was old."]) == [encoded.prompt]


def test_a_template_that_begins_the_answer_by_itself_leaves_something_to_predict() -> None:
    """As those of models that think first do; an empty candidate is then the beginning of what asks for one."""

    class Thinking(Merging):
        chat_template = "…"

        def apply_chat_template(self, messages: Any, tokenize: bool, add_generation_prompt: bool) -> str:
            turns = "".join(f"{message['role'][0]}:{message['content']}" for message in messages)
            return turns + ("a:<think>" if add_generation_prompt else "")

    tokenizer = Thinking()
    [encoded] = base(tokenizer).encode([Question("It was.", ("", "Er."))])
    assert tokenizer.decode(encoded.prompt, False).endswith("\n\nIt was.a")
    assert [tokenizer.decode(candidate, False) for candidate in encoded.candidates] == [":", ":Er."]


def test_a_base_model_has_the_mark_of_its_tokeniser(llama: Any) -> None:
    [encoded] = base(llama, chat="no").encode([QUESTION])
    assert encoded.prompt[0] == llama.bos_token_id
    assert llama.decode(list(encoded.prompt)) == "<s>English: It was old.\nGerman:"


@settings(deadline=None)
@given(st.text(max_size=20), st.lists(st.text(max_size=20), min_size=2, max_size=3))
def test_any_text_is_predicted_whole_by_a_real_tokeniser(llama: Any, source: str, texts: list[str]) -> None:
    for chat in ("yes", "no"):
        tokens = base(llama, chat=chat)
        [encoded] = tokens.encode([Question(source, tuple(texts))])
        for candidate, text in zip(encoded.candidates, texts, strict=True):
            whole = llama(tokens.text(source, text), add_special_tokens=chat == "no").input_ids
            assert [*encoded.prompt, *candidate] == whole


# Answers


def test_an_answer_is_a_line_or_a_turn(llama: Any) -> None:
    written = llama(" Er war alt.\nEnglish: And</s>", add_special_tokens=False).input_ids
    assert base(llama, chat="no").answer(written) == "Er war alt."
    assert base(llama, chat="yes").answer(written) == "Er war alt.\nEnglish: And"
    assert base(llama).answer([]) == ""


def test_unknown_languages_stay_as_they_are() -> None:
    tokens = PromptTokens(Merging(), {}, Options(languages=("tlh", "")), name="lm:x", limit=None)
    assert tokens.text("nuqneH", "Was?") == "tlh: nuqneH\n: Was?\n"
