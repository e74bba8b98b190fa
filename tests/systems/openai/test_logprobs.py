"""Log-probabilities of a prompt: what servers tell, what they only seem to tell, and where a candidate begins."""

from __future__ import annotations

import math
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.systems.openai.logprobs import (
    PromptLogprobs,
    add_up,
    common_tokens,
    first_token,
    parse_completion,
    parse_echo,
)


def answer(tokens: list[str], logprobs: list[Any], text: str = "", size: int | None = None) -> dict[str, Any]:
    usage = {"usage": {"prompt_tokens": size}} if size is not None else {}
    return {"choices": [{"text": text, "logprobs": {"tokens": tokens, "token_logprobs": logprobs}}], **usage}


def read_echo(document: dict[str, Any], sent: str, generated: int) -> PromptLogprobs | None:
    return parse_echo(parse_completion(document), sent, generated)


def read_prompt_logprobs(document: dict[str, Any]) -> PromptLogprobs | None:
    return parse_completion(document).prompt


READ = PromptLogprobs(("a", " b", "\n"), (None, -1.0, -2.0))


class TestReadEcho:
    def test_nothing_is_added(self) -> None:
        assert read_echo(answer(["a", " b", "\n"], [None, -1, -2]), "a b\n", 0) == READ

    @pytest.mark.parametrize("added", [" c", ""])
    def test_what_is_added_is_dropped(self, added: str) -> None:
        assert read_echo(answer(["a", " b", "\n", added], [None, -1, -2, -3]), "a b\n", 1) == READ

    def test_a_server_that_adds_nothing_although_it_may(self) -> None:
        assert read_echo(answer(["a", " b", "\n"], [None, -1, -2]), "a b\n", 1) == READ

    def test_a_token_for_the_beginning(self) -> None:
        found = read_echo(answer(["<s>", "a", " b", "c"], [None, -1, -2, -3]), "a b", 1)
        assert found == PromptLogprobs(("<s>", "a", " b"), (None, -1.0, -2.0))

    def test_names_that_are_not_the_text_are_counted(self) -> None:
        names, logprobs = ["▁a", "▁b", "<0x0A>", "▁c"], [None, -1, -2, -3]
        wanted = PromptLogprobs(("▁a", "▁b", "<0x0A>"), (None, -1.0, -2.0))
        assert read_echo(answer(names, logprobs, size=3), "a b\n", 1) == wanted
        assert read_echo(answer(names, logprobs, text="a b\n c"), "a b\n", 1) == wanted

    @pytest.mark.parametrize(
        "given",
        [
            answer(["x", " y"], [-1, -2], size=9),  # what was added only, as llama.cpp does
            answer(["x", " y"], [-1, -2], text="x y"),
            answer(["a", " b", "\n"], [None, None, -1]),
            answer(["a", " b", "\n"], [None, "no", -1]),
            answer(["a", " b", "\n"], [None, math.nan, -1]),
            answer(["a", " b", "\n"], [None, -1]),
            answer([], []),
            {"choices": [{"text": "a b\n"}]},
            {"choices": [{"text": "a b\n", "logprobs": None}]},
            {"choices": [{"text": "a b\n", "logprobs": {"content": [{"token": "a", "logprob": -1}]}}]},
        ],
    )
    def test_what_is_not_the_prompt(self, given: dict[str, Any]) -> None:
        assert read_echo(given, "a b\n", 0) is None

    def test_the_logarithm_of_nothing_is_a_number(self) -> None:
        found = read_echo(answer(["a", " b"], [None, -math.inf]), "a b", 0)
        assert found is not None
        assert found.logprobs == (None, -9999.0)


def test_prompt_logprobs_of_vllm() -> None:
    listed = [None, {"17": {"logprob": -1.0, "rank": 5}, "3": {"logprob": -0.1, "rank": 1}}, {"9": {"logprob": -2.0}}]
    wanted = PromptLogprobs(("", "17", "9"), (None, -1.0, -2.0))
    assert read_prompt_logprobs({"choices": [{"prompt_logprobs": listed}]}) == wanted
    assert read_prompt_logprobs({"choices": [{}], "prompt_logprobs": listed}) == wanted
    assert read_prompt_logprobs({"choices": [{}]}) is None


def test_where_a_candidate_begins() -> None:
    tokens = ("<s>", "It", ":", " Er", "\n")
    assert first_token(tokens, "It: Er\n", len("It:")) == 3
    assert first_token(tokens, "It: Er\n", len("It: ")) == 3  # a token across the place belongs to the candidate
    assert first_token(tokens, "It: er\n", 3) is None


def test_one_token_is_left_to_predict() -> None:
    assert common_tokens("abc", "abd") == 2
    assert common_tokens("abc", "abc") == common_tokens("abcd", "abc") == 2


class TestAddUp:
    ONE, OTHER = (
        PromptLogprobs(("p", "q", "a", "x"), (None, -1, -2, -4)),
        PromptLogprobs(("p", "q", "a", "y"), (None, -1, -2, -8)),
    )

    def test_from_where_candidates_begin(self) -> None:
        found = add_up([self.ONE, self.OTHER], 2)
        assert (found.scores, found.tokens, found.undecidable) == ([-6, -10], [2, 2], [])

    def test_margins(self) -> None:
        found = add_up([self.ONE, self.OTHER], 2, margins_only=True)
        assert (found.scores, found.tokens) == ([-4, -8], [1, 1])

    def test_prompts_that_are_read_differently_are_predicted_as_well(self) -> None:
        other = PromptLogprobs(("p", "qa", "y"), (None, -3, -8))
        assert add_up([self.ONE, other], 2).scores == [-7, -11]

    def test_the_first_token_of_all_cannot_be_predicted(self) -> None:
        with pytest.raises(AnaphoraError, match="no log-probability"):
            add_up([self.ONE, self.OTHER], 0)
