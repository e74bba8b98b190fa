"""Prompts: of a file, or our own; values go to their places once, whatever is in them."""

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

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.systems.context import Options, ScoringInput
from anaphora.systems.encoding import LANGUAGES, english_name, find_code
from anaphora.systems.prompts import BASE_PROMPT, CHAT_PROMPT, PLACES, CausalInputs, continued, fill, read_prompt

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


# Prompted: every candidate is predicted whole after the same beginning, whatever a tokenizer makes of the seam.

QUESTION = ScoringInput("It was old.", ("Er war alt.", "Sie war alt."))
ENGLISH_GERMAN = Options(languages=("en", "de"))


class Merging:
    """A tokenizer of single characters but for what it merges; it marks no beginning, or one, as it is told."""

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


def base(tokenizer: Any, limit: int | None = None, **given: str) -> CausalInputs:
    return CausalInputs(tokenizer, given, ENGLISH_GERMAN, name="lm:x", limit=limit)


@pytest.fixture(scope="module")
def llama(tiny_llama: Path) -> Any:
    from anaphora.systems.encoding import load_tokenizer

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
    [encoded] = tokens.encode([ScoringInput("It was.", tuple(texts))])
    prompt = tokens.tokenizer(tokens.text("It was."), True).input_ids
    assert list(encoded.prompt) == prompt[: len(encoded.prompt)]
    for candidate, text in zip(encoded.candidates, texts, strict=True):
        assert candidate
        assert [*encoded.prompt, *candidate] == tokens.tokenizer(tokens.text("It was.", text), True).input_ids


@pytest.mark.parametrize(("bos", "first"), [(None, (1,)), (0, (0,))])
def test_a_model_given_nothing_reads_its_first_token(tmp_path: Path, bos: int | None, first: tuple[int, ...]) -> None:
    (tmp_path / "prompt").write_text("{source}")
    tokens = base(Merging(bos=bos), prompt=str(tmp_path / "prompt"))
    [encoded] = tokens.encode([ScoringInput("", ("Er.", "Es."))])
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
    assert str(caught.value) == "lm:x: its tokenizer has no chat template. Score it as a base model: lm:x?chat=no"


def test_a_chat_is_read_up_to_the_assistant_and_predicted_to_the_end_of_its_turn(llama: Any) -> None:
    [encoded] = base(llama).encode([QUESTION])
    read, *predicted = (llama.decode(list(ids)) for ids in (encoded.prompt, *encoded.candidates))
    assert read.startswith("<s><|user|>\nTranslate the following text from English into German.")
    assert read.endswith("It was old.</s>\n<|assistant|>\n")
    assert predicted == ["Er war alt.</s>\n", "Sie war alt.</s>\n"]
    assert encoded.prompt.count(llama.bos_token_id) == 1  # the template writes it; the tokenizer does not again
    assert base(llama).prompts(["It was old."]) == [encoded.prompt]


def test_a_template_that_begins_the_answer_by_itself_leaves_something_to_predict() -> None:
    """As those of models that think first do; an empty candidate is then the beginning of what asks for one."""

    class Thinking(Merging):
        chat_template = "…"

        def apply_chat_template(self, messages: Any, tokenize: bool, add_generation_prompt: bool) -> str:
            turns = "".join(f"{message['role'][0]}:{message['content']}" for message in messages)
            return turns + ("a:<think>" if add_generation_prompt else "")

    tokenizer = Thinking()
    [encoded] = base(tokenizer).encode([ScoringInput("It was.", ("", "Er."))])
    assert tokenizer.decode(encoded.prompt, False).endswith("\n\nIt was.a")
    assert [tokenizer.decode(candidate, False) for candidate in encoded.candidates] == [":", ":Er."]


def test_a_base_model_has_the_mark_of_its_tokenizer(llama: Any) -> None:
    [encoded] = base(llama, chat="no").encode([QUESTION])
    assert encoded.prompt[0] == llama.bos_token_id
    assert llama.decode(list(encoded.prompt)) == "<s>English: It was old.\nGerman:"


@settings(deadline=None)
@given(st.text(max_size=20), st.lists(st.text(max_size=20), min_size=2, max_size=3))
def test_any_text_is_predicted_whole_by_a_real_tokenizer(llama: Any, source: str, texts: list[str]) -> None:
    for chat in ("yes", "no"):
        tokens = base(llama, chat=chat)
        [encoded] = tokens.encode([ScoringInput(source, tuple(texts))])
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
    tokens = CausalInputs(Merging(), {}, Options(languages=("tlh", "")), name="lm:x", limit=None)
    assert tokens.text("nuqneH", "Was?") == "tlh: nuqneH\n: Was?\n"


# Languages as models name them.

NLLB = ("deu_Latn", "eng_Latn", "zho_Hans", "zho_Hant", "arb_Arab", "nob_Latn")
MBART = ("en_XX", "de_DE", "fr_XX", "zh_CN", "pt_XX")
M2M = ("en", "de", "zh", "pt")


@pytest.mark.parametrize(
    ("language", "codes", "found"),
    [
        ("de", M2M, "de"),
        ("de", NLLB, "deu_Latn"),
        ("zh", NLLB, "zho_Hans"),
        ("ar", NLLB, "arb_Arab"),
        ("no", NLLB, "nob_Latn"),
        ("de", MBART, "de_DE"),
        ("en", MBART, "en_XX"),
        ("zho_Hant", NLLB, "zho_Hant"),  # a code of the model's own is taken as it is
        ("sw", NLLB, None),
        ("d", MBART, None),  # no beginnings of codes
        ("", MBART, None),
        ("de", (), None),
    ],
)
def test_the_code_of_a_language(language: str, codes: tuple[str, ...], found: str | None) -> None:
    assert find_code(language, codes) == found


def test_names_for_prompts() -> None:
    assert english_name("de") == "German"
    assert english_name("tlh") == "tlh"


def test_the_table_is_sorted_and_has_no_language_twice() -> None:
    assert list(LANGUAGES) == sorted(LANGUAGES)
    assert len({three for three, _, _ in LANGUAGES.values()}) == len(LANGUAGES)
    assert len({name for _, _, name in LANGUAGES.values()}) == len(LANGUAGES)
