"""Log-probabilities of a prompt: what servers tell, what they only seem to tell, and where a candidate begins."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.systems.openai.answers import (
    Completion,
    PromptLogprobs,
    Reply,
    add_up,
    combine,
    common_tokens,
    comparable,
    first_token,
    is_of,
    lettered,
    parse_completion,
    parse_echo,
    parse_reply,
    resembles,
    rotations,
    similarity,
)
from anaphora.systems.openai.http import UnexpectedAnswer


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
        echo = read_echo(answer(["<s>", "a", " b", "c"], [None, -1, -2, -3]), "a b", 1)
        assert echo == PromptLogprobs(("<s>", "a", " b"), (None, -1.0, -2.0))

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
            answer(["a", " b", "\n"], [None, -1, 0.5]),  # far above 0
            answer(["a", " b", "\n"], [None, 0, 0.0]),  # placeholders
            answer(["a", " b", "\n"], [None, 0.5, 0.9]),  # probabilities
            answer(["▁b", "\n"], [None, -1], size=2),  # a text of which the beginning is missing
            answer(["▁a", "▁b"], [None, -1], size=1),  # the end
            answer(["▁c", "▁d", "\n"], [None, -1, -2], size=3),  # another text
            answer(["▁c", "▁d", "\n"], [None, -1, -2], text="a b\n"),
            {"choices": [{"text": "a b\n"}]},
            {"choices": [{"text": "a b\n", "logprobs": None}]},
            {"choices": [{"text": "a b\n", "logprobs": {"content": [{"token": "a", "logprob": -1}]}}]},
        ],
    )
    def test_what_is_not_the_prompt(self, given: dict[str, Any]) -> None:
        assert read_echo(given, "a b\n", 0) is None

    def test_the_logarithm_of_nothing_is_a_number(self) -> None:
        echo = read_echo(answer(["a", " b"], [None, -math.inf]), "a b", 0)
        assert echo is not None
        assert echo.logprobs == (None, -9999.0)


@pytest.mark.parametrize(
    ("names", "sent"),
    [
        (["<s>", "▁Er", "▁kommt", "."], "Er kommt."),
        (["Ġer", "Ġkommt", "."], "Er kommt."),
        (["Er", " kommt", "bytes:\\xe2\\x80", "bytes:\\xa6"], "Er kommt…"),
        (["<0x45>", "r", "<0xC3>"], "Erß"),
        (["é"], "e\u0301"),
        (["<0xC4>", "<0xB0>", "▁a"], "İ a"),
        (["token_id:17", "token_id:4"], "Er kommt."),
        (["…"], "…"),
    ],
)
def test_names_that_may_be_of_a_text(names: list[str], sent: str) -> None:
    assert resembles("".join(names), sent)


@given(st.text("abc01 "), st.text("xyz ▁"), st.data())
def test_more_tokens_are_allowed_but_not_fewer(sent: str, more: str, data: st.DataObject) -> None:
    places = [data.draw(st.sampled_from(["", *more])) for _ in range(len(sent) + 1)]
    read = "".join(place + sign for place, sign in zip(places, [*sent, ""], strict=True))
    assert resembles(read, sent)
    assert not resembles(read, f"{sent}a")
    assert not resembles(read, f"a{sent}")
    assert resembles(read, f"a0 {sent}", missing=2)


def listed_answer(texts: list[str]) -> Completion:
    tokens = [{str(n): {"logprob": -1.0, "decoded_token": text}} for n, text in enumerate(texts)]
    return parse_completion({"choices": [{"prompt_logprobs": [None, *tokens]}]})


def test_prompt_logprobs_of_another_text() -> None:
    assert is_of(listed_answer([" comes", "."]), "He comes.")
    assert not is_of(listed_answer([" goes", "."]), "He comes." * 10)
    assert not is_of(replace(listed_answer([" comes", "."]), prompt_tokens=4), "He comes.")
    assert is_of(replace(listed_answer([" comes", "."]), prompt_tokens=3), "He comes.")
    assert is_of(parse_completion({"choices": [{"prompt_logprobs": [None, {"7": {"logprob": -1}}]}]}), "He comes." * 10)


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
        sums = add_up([self.ONE, self.OTHER], 2)
        assert (sums.scores, sums.tokens, sums.undecidable) == ([-6, -10], [2, 2], [])

    def test_margins(self) -> None:
        sums = add_up([self.ONE, self.OTHER], 2, margins_only=True)
        assert (sums.scores, sums.tokens) == ([-4, -8], [1, 1])

    def test_prompts_that_are_read_differently_are_predicted_as_well(self) -> None:
        other = PromptLogprobs(("p", "qa", "y"), (None, -3, -8))
        assert add_up([self.ONE, other], 2).scores == [-7, -11]

    def test_the_first_token_of_all_cannot_be_predicted(self) -> None:
        with pytest.raises(AnaphoraError, match="no log-probability"):
            add_up([self.ONE, self.OTHER], 0)


# What a model's words say about candidates.


def read_reply(choice: dict[str, Any], size: int) -> Reply:
    return parse_reply(parse_completion({"choices": [choice]}), size)


@given(st.integers(1, 26))
def test_every_candidate_stands_at_every_place_once(size: int) -> None:
    orders = rotations(size)
    assert all(sorted(column) == list(range(size)) for column in (*orders, *zip(*orders, strict=True)))


def test_candidates_are_shown_under_letters() -> None:
    assert lettered(["Er.", "Sie."]) == "A: Er.\nB: Sie."


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        (" b", None),
        ("**C**", "C"),
        ("(A)", "A"),
        ("B: Sie ist groß.", "B"),
        ("A because it fits", "A"),  # not an article, as there is no other
        ("The answer is B.", "B"),
        ("A good one would be C", "C"),
        ("<think>A? No.</think>\n\nB", "B"),
        ("D", None),
        ("Both", None),
        ("", None),
    ],
)
def test_the_letter_of_an_answer(text: str, letter: str | None) -> None:
    assert read_reply({"message": {"content": text}}, 3) == Reply(letter, None)


def test_an_answer_may_be_missing() -> None:
    assert read_reply({"message": {"content": None}}, 2) == read_reply({}, 2) == Reply(None, None)


@pytest.mark.parametrize(
    "document",
    [
        {"choices": [{"message": {"content": "A"}, "finish_reason": "error"}]},
        {"choices": [{"message": {"content": "A"}, "error": {"code": 502}}]},
        {"choices": [{"message": {"content": "A"}}], "error": {"message": "overloaded"}},
    ],
)
def test_text_with_an_error_besides_is_no_answer(document: Any) -> None:
    """Servers that forward requests return what was written until a provider failed."""
    with pytest.raises(UnexpectedAnswer, match="it has an error besides the text"):
        parse_completion(document)


def test_what_was_withheld_was_cut() -> None:
    assert parse_completion({"choices": [{"text": "Er", "finish_reason": "content_filter"}], "error": None}).cut


def token(text: str, **top: float) -> dict[str, Any]:
    return {"token": text, "logprob": -1, "top_logprobs": [{"token": t, "logprob": p} for t, p in top.items()]}


def logprobs(*tokens: dict[str, Any]) -> Any:
    text = "".join(token["token"] for token in tokens)
    return read_reply({"message": {"content": text}, "logprobs": {"content": list(tokens)}}, 3).logprobs


class TestLetterLogprobs:
    def test_one_for_each_letter(self) -> None:
        assert logprobs(token("B", B=-0.5, A=-1.5, C=-2.5)) == [-1.5, -0.5, -2.5]

    def test_ways_to_write_a_letter_are_added_up(self) -> None:
        actual = logprobs(token("A", **{"A": math.log(0.25), " A": math.log(0.25), "B": -2, "C.": -3}))
        assert actual == [pytest.approx(math.log(0.5)), -2, -3]

    def test_a_letter_without_probability_is_the_least_likely(self) -> None:
        assert logprobs(token("A", A=-0.1, B=-4, the=-7)) == [-0.1, -4, -7]

    def test_where_the_letter_is(self) -> None:
        assert logprobs(token("\n", x=-1, A=-9), token(" B", A=-3, B=-1, C=-2)) == [-3, -1, -2]

    def test_after_thoughts(self) -> None:
        tokens = (token("A", A=-0.1), token("</think>", x=-1), token("C", A=-2, B=-3, C=-1))
        assert logprobs(*tokens) == [-2, -3, -1]

    def test_none_where_no_letter_has_a_probability(self) -> None:
        assert logprobs(token("Er", Er=-1, Sie=-2)) is None
        assert logprobs({"token": "A", "logprob": -1, "top_logprobs": []}) is None

    def test_one_alternative_says_nothing_about_the_others(self) -> None:
        assert logprobs(token("A", A=-0.1)) is None

    def test_what_are_no_log_probabilities_is_not_used(self) -> None:
        assert logprobs(token("A", A=0.0, B=0.0, C=0.0)) is None  # placeholders
        assert logprobs(token("A", A=0.7, B=0.2, C=0.1)) is None  # probabilities
        assert logprobs(token("A", A=0.01, B=-5, C=-6)) == [0.01, -5, -6]  # rounding

    def test_the_logarithm_of_nothing_is_a_number(self) -> None:
        assert logprobs(token("B", A=-math.inf, B=-0.5, C=-1)) == [-9999, -0.5, -1]


@given(st.lists(st.floats(-20, 0), min_size=2, max_size=5), st.lists(st.floats(-5, 5), min_size=5, max_size=5))
def test_what_places_are_worth_cancels_out(values: list[float], places: list[float]) -> None:
    replies = [
        Reply(None, [values[candidate] + places[position] for position, candidate in enumerate(order)])
        for order in rotations(len(values))
    ]
    bias = sum(places[: len(values)]) / len(values)
    assert combine(replies) == pytest.approx([value + bias for value in values], abs=1e-9)


@given(st.lists(st.floats(-20, 0), min_size=3, max_size=3))
def test_candidates_that_tie_stay_ties(places: list[float]) -> None:
    assert len(set(combine([Reply(None, places)] * 3))) == 1


def test_one_reply_without_log_probabilities_makes_it_a_count() -> None:
    replies = [Reply("A", [-1, -2]), Reply("B", None)]  # the first candidate in both orders
    assert combine(replies) == [math.log(3 / 4), math.log(1 / 4)]


# How near a candidate is to a translation


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Sie ist groß.", "  sie  ist GROSS !", True),
        ("Sie ist groß.", "Sie ist groß", True),
        ("Wer, er?", "Wer er", False),
        ("e\u0301", "é", True),
        ("?", "!", False),
        ("", "", True),
    ],
)
def test_what_makes_no_other_translation(one: str, other: str, same: bool) -> None:
    assert (comparable(one) == comparable(other)) is same


def test_by_hand() -> None:
    # words: none of 1; characters: 1 of 2, 0 of 1, so that precision = recall = F = 1/4, which counts a tenth
    assert similarity("ab", "ac") == pytest.approx(0.1 / 4)
    # words: 1 of 1, of 2: precision 1, recall 1/2; characters: 2 of 2, of 4, and 1 of 1, of 3: recall (1/2 + 1/3) / 2
    words, characters = (5 * r / (4 + r) for r in (1 / 2, 5 / 12))
    assert similarity("ab", "ab cd") == pytest.approx(0.9 * words + 0.1 * characters)


def test_a_pronoun_counts_as_a_word() -> None:
    translation = "dieser alte schrank aber war es nicht"
    assert similarity(translation, "es war alt") > similarity(translation, "er war alt")


@given(st.text(), st.text())
def test_between_nothing_and_one(one: str, other: str) -> None:
    assert 0.0 <= similarity(one, other) <= 1.0 + 1e-12
    assert similarity(one, one) == pytest.approx(1.0 if one.strip() else 0.0)
