"""A language model as a judge: each candidate is rated by itself, and only a number is a rating."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.cli import main
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.demo.corpus import demo_suite
from anaphora.evaluation.contrastive import evaluate_items
from anaphora.runs import CandidateScores, open_run
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of
from anaphora.systems import load_system
from anaphora.systems.context import Context, Options
from anaphora.systems.openai.answers import Completion
from anaphora.systems.openai.system import parse_rating
from anaphora.systems.scoring import score_suite
from tests.systems.openai.conftest import KEY, Serve

pytestmark = pytest.mark.usefixtures("environment")

NOWHERE = "judge:http://localhost:1/v1?model=tiny"
PRONOUNS = Example("1", ("I see the tree.", "It is big."), (("Der Baum.", "Er ist groß."), ("Der Baum.", "Es ist.")), 0)


def answers(spec: str, *examples: Example, **options: Any) -> list[CandidateScores]:
    scores = dict(load_system(spec, Options(languages=("en", "de"), **options)).score(examples))
    return [scores[number] for number in range(len(examples))]


def suite(*examples: Example) -> Suite:
    return suite_of(demo_suite().header, lambda: iter(examples))


def many(number: int) -> list[Example]:
    return [Example(str(n), ("It.",), (("Er " + "x" * n,), ("Sie " + "x" * n,)), 0) for n in range(1, number + 1)]


def test_each_candidate_is_rated_by_itself_in_its_context(serve: Serve) -> None:
    server = serve(ratings={"Der Baum. Er ist groß.": "95", "Der Baum. Es ist.": "Score: 40.5/100"})
    actual = answers(server.spec("judge", concurrency=1), PRONOUNS, context=Context(1))
    assert actual == [CandidateScores([95.0, 40.5], None, [])]
    first, second = server.seen["bodies"]
    (message,) = first["messages"]
    assert "from English to German" in message["content"]
    assert (
        "English source: I see the tree. It is big.\nGerman translation: Der Baum. Er ist groß." in message["content"]
    )
    assert "pronouns" in message["content"]
    assert "Es ist." not in message["content"]
    assert "Der Baum. Es ist." in second["messages"][0]["content"]
    assert (first["temperature"], first["max_tokens"], "logprobs" in first) == (0, 16, False)


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("85", 85.0),
        (" **85.5** ", 85.5),
        ("Score: 85", 85.0),
        ("85 / 100.", 85.0),
        ("<think>60? No, 70.</think>\n85", 85.0),
        ("85\n\nThe 2 sentences are good.", 85.0),
        ("**Rating: 85 / 100**\n1. Good.\n2. Fluent.", 85.0),
        ("-5\n\nBad.", None),
        ("850\n\nGreat.", None),
        ("85,5\nor so", None),
        ("80-90\nor so", None),
        ("1. Meaning: good\n2. Grammar: good", None),
        ("Sentence 1\nis good", 1.0),  # the only number
        ("0", 0.0),
        ("100", 100.0),
        ("100/100", 100.0),
        ("101", None),
        ("-5", None),
        ("−5", None),
        ("80-90", None),
        ("85/1000", None),
        ("85,5", None),
        ("1e1", None),
        ("8 of 10", None),
        ("eighty", None),
        ("٨٥", None),
        ("9" * 400, None),
        ("", None),
    ],
)
def test_a_rating_is_the_first_line_or_the_only_number(text: str, rating: float | None) -> None:
    assert parse_rating(Completion(text)) == rating


def test_a_number_that_may_be_cut_is_no_rating() -> None:
    assert parse_rating(Completion("The translation is worth 8", cut=True)) is None
    assert parse_rating(Completion("8", cut=True)) is None
    assert parse_rating(Completion("85\n\nThe translation is", cut=True)) == 85.0


@given(st.text())
def test_whatever_is_written_is_a_rating_or_none(text: str) -> None:
    rating = parse_rating(Completion(text))
    assert rating is None or 0 <= rating <= 100


def test_a_prompt_of_ones_own(serve: Serve, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{source} is {target_language}?\nA translation: {translation}", encoding="utf-8")
    server = serve()
    (actual,) = answers(server.spec("judge", prompt=prompt, max_tokens=4000), PRONOUNS)
    assert actual.scores == [100 - 12, 100 - 7]
    contents = {body["messages"][0]["content"] for body in server.seen["bodies"]}
    assert contents == {f"It is big. is German?\nA translation: {text}" for text in ("Er ist groß.", "Es ist.")}
    assert server.seen["bodies"][0]["max_tokens"] == 4000


def test_equal_candidates_are_rated_once_and_undecidable(serve: Serve) -> None:
    server = serve()
    (actual,) = answers(server.spec("judge"), Example("1", ("It.",), (("Er.",), ("Es.",), ("Er.",)), 0))
    assert (actual.scores, actual.undecidable) == ([97.0, 97.0, 97.0], [(0, 2)])
    assert server.seen["requests"] == 2


class TestMissingRatings:
    def test_without_one_the_example_has_no_answer(self, serve: Serve, tmp_path: Path) -> None:
        """The right candidate is not preferred because a wrong one could not be rated, nor the other way round."""
        server = serve(ratings={"Es ist.": "I'd rather not.", "Sie x": "no"})
        run = score_suite(suite(PRONOUNS, *many(2)), server.spec("judge"), tmp_path / "run")
        unrated, also, rated = open_run(run.path)
        assert (unrated.scores, unrated.extra) == ([0.0, 0.0], {"unanswered": 1, "answer": "I'd rather not."})
        assert (unrated.unanswered, also.unanswered, rated.unanswered) == (True, True, False)
        result = evaluate_items([unrated, also, rated], about=run.header)
        assert (result.figure.correct, result.ties, result.unanswered) == (1, 0, 2)

    def test_equal_ratings_are_ties(self, serve: Serve, tmp_path: Path) -> None:
        server = serve(ratings={"Er ist groß.": "90", "Es ist.": "90"})
        run = score_suite(suite(PRONOUNS), server.spec("judge"), tmp_path / "run")
        result = evaluate_items(list(run), about=run.header)
        assert (result.figure.correct, result.ties, result.unanswered) == (0, 1, 0)

    def test_a_judge_that_never_rates_is_not_asked_for_ever(self, serve: Serve) -> None:
        server = serve(ratings={"Er.": "Let me think", "Es.": "Let me think"})
        example = Example("1", ("It.",), (("Er.",), ("Es.",)), 0)
        with pytest.raises(AnaphoraError, match=r"a number from 0 to 100, but 'Let me think'\..*\?max_tokens=4000"):
            answers(server.spec("judge", concurrency=2), *[example] * 50)
        assert server.seen["requests"] < 50

    def test_a_key_that_is_repeated_is_not_kept(self, serve: Serve) -> None:
        (actual,) = answers(serve(ratings={"Es ist.": f"key {KEY}"}).spec("judge"), PRONOUNS)
        assert actual.extra["answer"] == "key …"


def test_a_server_that_stops_midway_loses_nothing(serve: Serve, tmp_path: Path) -> None:
    first = serve(die_after=8)
    spec = first.spec("judge", concurrency=3, retries=1)
    with pytest.raises(AnaphoraError, match="use --resume to continue"):
        score_suite(suite(*many(12)), spec, tmp_path / "run")
    part = (tmp_path / "run" / "run.jsonl.part").read_text("utf-8").splitlines()
    second = serve(port=first.port)
    run = score_suite(suite(*many(12)), spec, tmp_path / "run", resume=True)
    assert second.seen["requests"] == 2 * (12 - (len(part) - 1))
    whole = score_suite(suite(*many(12)), spec, tmp_path / "whole")
    assert run.path.read_bytes() == whole.path.read_bytes()


def test_the_header_says_how_it_was_made(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    settings = score_suite(suite(PRONOUNS), server.spec("judge"), tmp_path / "run").header.settings
    assert (settings["url"], settings["model"]) == (f"http://127.0.0.1:{server.port}/v1", "tiny")
    assert settings["max_tokens"] == 16
    assert "{translation}" in settings["prompt"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("judge:gpt-4o", r"not an address: 'gpt-4o'\. Write, for example, judge:http"),
        ("judge:http://localhost:1/v1", r"the model is missing\. Write judge:http://localhost:1/v1\?model=NAME"),
        (f"{NOWHERE}&mode=choose", r"unknown setting 'mode'"),
        (f"{NOWHERE}&key={KEY}", "a spec must not contain a key"),
        (f"{NOWHERE}&max_tokens=0", "max_tokens must be a number above 0"),
    ],
)
def test_a_spec_that_is_wrong_says_how_to_write_it(spec: str, message: str) -> None:
    with pytest.raises(AnaphoraError, match=message) as caught:
        load_system(spec)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_prompt_must_show_the_translation(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{source}", encoding="utf-8")
    with pytest.raises(BadInput, match=r"no \{translation\}.*Write \{translation\} where"):
        load_system(f"{NOWHERE}&prompt={prompt}")


def test_what_a_judge_does_not_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite(PRONOUNS).write(tmp_path / "suite.jsonl")
    arguments = ["score", str(tmp_path / "suite.jsonl"), "--system", NOWHERE, "-o", str(tmp_path / "run")]
    for more, message in (
        (["--margins-only"], "--margins-only is not supported by judge: systems"),
        (["--workers", "2"], "set concurrency=N in the spec"),
        (["--context", "1", "--target-context", "produced"], "needs a system that translates"),
    ):
        with pytest.raises(SystemExit) as ended:
            main([*arguments, *more])
        assert ended.value.code == 2
        assert message in capsys.readouterr().err
