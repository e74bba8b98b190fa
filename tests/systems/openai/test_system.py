"""Models behind servers: what they say is added up rightly, and whatever happens on the way, nothing is lost or told.

Everything here is asked of a real server process on this machine (`fake_openai.py`), which fails as it is told to.
"""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anaphora.cli import main
from anaphora.core.errors import AnaphoraError
from anaphora.demo.corpus import demo_suite
from anaphora.runs import CandidateScores, open_run
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of
from anaphora.systems import System, Translator, load_system
from anaphora.systems.context import Options
from anaphora.systems.scoring import score_suite
from tests.systems.openai.conftest import KEY, Process, Serve

pytestmark = pytest.mark.usefixtures("environment")


def example(*targets: str, source: str = "It is big.", name: str = "1") -> Example:
    return Example(name, (source,), tuple((target,) for target in targets), 0)


PRONOUNS = example("Er ist groß.", "Sie ist groß.", "Es ist groß.")
ENGLISH_GERMAN = Options(languages=("en", "de"))


def system(spec: str, **options: Any) -> System:
    return load_system(spec, Options(languages=("en", "de"), **options))


def answers(spec: str, *examples: Example, **options: Any) -> list[CandidateScores]:
    scores = dict(system(spec, **options).score(examples))
    return [scores[number] for number in range(len(examples))]


def many(number: int) -> list[Example]:
    return [example("Er ist " + "x" * n, "Sie ist " + "x" * n, name=str(n)) for n in range(1, number + 1)]


class TestScore:
    """Log-probabilities of candidates. A token of the server is worth −¼ for each of its characters."""

    # " Er" " ist" " groß" "." "\n": 3 + 4 + 5 + 1 + 1 characters
    SCORES = (-14 / 4, -15 / 4, -14 / 4)

    def test_only_the_candidates_tokens_count(self, serve: Serve) -> None:
        server = serve()
        assert answers(server.spec(), PRONOUNS) == [CandidateScores(list(self.SCORES), [5, 5, 5], [])]
        body = server.seen["bodies"][0]
        assert body["prompt"] == "English: It is big.\nGerman: Er ist groß.\n"
        assert (body["echo"], body["max_tokens"], body["model"]) == (True, 0, "tiny")

    @pytest.mark.parametrize(
        "without",
        [
            ["max_tokens=0"],
            ["max_tokens=0", "usage"],
            ["echo"],
            ["spelling"],
            ["spelling", "usage"],
            ["spelling", "max_tokens=0"],
            ["spelling", "max_tokens=0", "usage"],
        ],
    )
    def test_servers_differ_in_how_they_tell(self, serve: Serve, without: list[str]) -> None:
        actual = answers(serve(without=without).spec(concurrency=2), PRONOUNS, PRONOUNS)
        assert actual == [CandidateScores(list(self.SCORES), [5, 5, 5], [])] * 2

    def test_margins_leave_out_what_candidates_share(self, serve: Serve) -> None:
        question = example("Dort ist er.", "Dort ist sie.")
        spec = serve().spec()
        [whole], [margins] = answers(spec, question), answers(spec, question, margins_only=True)
        assert (margins.scores, margins.tokens) == ([-5 / 4, -6 / 4], [3, 3])  # " er" "." "\n"
        assert whole.scores[0] - whole.scores[1] == margins.scores[0] - margins.scores[1]

    def test_candidates_that_are_the_same_are_undecidable(self, serve: Serve) -> None:
        [actual] = answers(serve().spec(), example("Er ist da.", "Sie ist da.", "Er ist da."))
        assert actual.undecidable == [(0, 2)]

    @pytest.mark.parametrize("without", [["telling", "prompt_logprobs"], ["echo", "prompt_logprobs"], ["completions"]])
    def test_without_log_probabilities_the_error_says_what_to_do(self, serve: Serve, without: list[str]) -> None:
        with pytest.raises(AnaphoraError, match=r"\?mode=choose or \?mode=generate") as error:
            answers(serve(without=without).spec(), PRONOUNS)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize("how", [{"without": ["prompt_logprobs"]}, {"rejects": {"prompt_logprobs": "unknown"}}])
    def test_of_a_chat_without_log_probabilities_too(self, serve: Serve, how: dict[str, Any]) -> None:
        with pytest.raises(AnaphoraError, match=r"\?mode=choose or \?mode=generate, or score .*\?chat=no"):
            answers(serve(**how).spec(chat="yes"), PRONOUNS)

    def test_a_text_that_is_too_long_is_named(self, serve: Serve) -> None:
        spec = serve().spec(concurrency=1)
        with pytest.raises(AnaphoraError, match=r"maximum context length is 2000 characters.*English: x y x y"):
            answers(spec, PRONOUNS, example("Er.", source="x y " * 600))

    def test_prompt_of_a_file(self, serve: Serve, tmp_path: Path) -> None:
        prompt = tmp_path / "prompt.txt"
        prompt.write_text("{source_language} {source} {target_language} {nothing}:", encoding="utf-8")
        server = serve()
        one = system(server.spec(prompt=prompt))
        assert dict(one.score([PRONOUNS]))[0].scores == list(self.SCORES)
        assert server.seen["bodies"][0]["prompt"] == "English It is big. German {nothing}: Er ist groß.\n"
        assert one.settings()["prompt"] == "{source_language} {source} {target_language} {nothing}:"


@pytest.fixture(scope="module")
def tiny_server(tiny_llama: Path) -> Iterator[Process]:
    process = Process(model=str(tiny_llama), without=["max_tokens=0"])
    yield process
    process.stop()


@pytest.mark.parametrize("chat", ["no", "yes"])
def test_scores_are_those_of_the_same_model_here(tiny_server: Process, tiny_llama: Path, chat: str) -> None:
    """A real model behind the server. 🙂 takes several of its tokens, so that they do not spell the text."""
    examples = [*list(demo_suite())[::90], example("Er ist da 🙂.", "Sie ist da 🙂.", source="It is here 🙂.")]
    here = answers(f"lm:{tiny_llama}?chat={chat}", *examples, plain=True)
    there = answers(tiny_server.spec(chat=chat), *examples)
    for one, other in zip(here, there, strict=True):
        assert other.tokens == one.tokens
        assert other.scores == pytest.approx(one.scores, abs=1e-3)


class TestChoose:
    """The server's model likes short candidates (−¼ for each character), and the first place, by one more."""

    def test_every_order_is_asked_and_averaged(self, serve: Serve) -> None:
        server = serve()
        [actual] = answers(server.spec(mode="choose"), PRONOUNS)
        # 12, 13 and 12 characters; each candidate is once in the first place
        assert actual.scores == [pytest.approx(-12 / 4 + 1 / 3), pytest.approx(-13 / 4 + 1 / 3), actual.scores[0]]
        assert actual.tokens is None
        shown = [body["messages"][0]["content"].split("\n\n")[2].splitlines() for body in server.seen["bodies"]]
        assert shown[0] == ["A: Er ist groß.", "B: Sie ist groß.", "C: Es ist groß."]
        assert sorted(lines[0] for lines in shown) == ["A: Er ist groß.", "A: Es ist groß.", "A: Sie ist groß."]

    def test_without_log_probabilities_choices_are_counted(self, serve: Serve) -> None:
        spec = serve(without=["top_logprobs"]).spec(mode="choose")
        # "Er" is shorter by more than the first place is worth: it is chosen in both orders; then a tie in length
        long, tie = answers(spec, example("Er.", "Sie selbst."), example("Er.", "Es."))
        assert long.scores == [math.log(3 / 4), math.log(1 / 4)]
        assert tie.scores == [math.log(2 / 4)] * 2

    @pytest.mark.parametrize(
        ("rejects", "scores"),
        [
            ({"top_logprobs": "top_logprobs must be at most 5"}, [-3 / 4 + 1 / 2, -11 / 4 + 1 / 2]),
            ({"logprobs": "You are not allowed to request logprobs."}, [math.log(3 / 4), math.log(1 / 4)]),
            ({"max_tokens": "Use max_completion_tokens, not max_tokens."}, [-3 / 4 + 1 / 2, -11 / 4 + 1 / 2]),
            ({"temperature": "temperature is fixed."}, [-3 / 4 + 1 / 2, -11 / 4 + 1 / 2]),
        ],
    )
    def test_what_a_server_does_not_take_is_left_out(
        self, serve: Serve, rejects: dict[str, str], scores: list[float]
    ) -> None:
        server = serve(rejects=rejects)
        [*actual] = answers(server.spec(mode="choose", concurrency=3), *[example("Er.", "Sie selbst.")] * 3)
        assert [answer.scores for answer in actual] == [scores] * 3

    def test_another_rejection_is_an_error(self, serve: Serve) -> None:
        with pytest.raises(AnaphoraError, match="400 Bad Request: no chats on Sundays"):
            answers(serve(rejects={"messages": "no chats on Sundays"}).spec(mode="choose"), PRONOUNS)

    def test_the_same_candidate_is_shown_once(self, serve: Serve) -> None:
        server = serve()
        one, two = answers(
            server.spec(mode="choose", concurrency=1), example("Er.", "Sie.", "Er."), example("Er.", "Er.")
        )
        assert one.scores[0] == one.scores[2] != one.scores[1]
        assert (one.undecidable, two.undecidable, two.scores) == ([(0, 2)], [(0, 1)], [0.0, 0.0])
        assert server.seen["requests"] == 2

    def test_letters_come_to_an_end(self, serve: Serve) -> None:
        with pytest.raises(AnaphoraError, match="27 candidates are too many"):
            answers(serve().spec(mode="choose"), example(*(f"Er {n}." for n in range(27))))

    def test_an_answer_without_a_letter_is_counted(self, serve: Serve) -> None:
        server = serve(letter="I cannot say.", without=["top_logprobs"])
        actual = answers(server.spec(mode="choose"), *[PRONOUNS] * 7)
        assert [answer.extra for answer in actual] == [{"unanswered": 3, "answer": "I cannot say."}] * 7
        assert actual[0].scores == [math.log(1 / 6)] * 3

    def test_a_model_that_never_answers_is_not_asked_for_ever(self, serve: Serve) -> None:
        server = serve(letter="Let me think about it", without=["top_logprobs"])
        with pytest.raises(AnaphoraError, match=r"but 'Let me think about it'\..*\?max_tokens=4000"):
            answers(server.spec(mode="choose", concurrency=2), *[PRONOUNS] * 50)
        assert server.seen["requests"] < 50

    def test_prompt_needs_candidates(self, tmp_path: Path) -> None:
        prompt = tmp_path / "prompt.txt"
        prompt.write_text("{source}", encoding="utf-8")
        with pytest.raises(AnaphoraError, match=r"no \{candidates\}"):
            system(f"openai:http://localhost:1?model=tiny&mode=choose&prompt={prompt}")


class TestGenerate:
    def test_the_nearest_candidate_wins(self, serve: Serve) -> None:
        server = serve(translations={"It is big.": "sie ist  GROẞ!", "It is old.": "Sie war damals alt."})
        old = example("Er war alt.", "Sie war alt.", "Es war alt.", source="It is old.")
        same, near = answers(server.spec(mode="generate"), PRONOUNS, old)
        assert same.scores[1] == 0.0 > max(same.scores[0], same.scores[2])
        assert 0.0 > near.scores[1] > max(near.scores[0], near.scores[2])
        assert (same.extra, same.tokens, same.truncated) == ({"translation": "sie ist  GROẞ!"}, None, 0)

    def test_equally_near_is_a_tie(self, serve: Serve) -> None:
        [actual] = answers(serve(translations={"It is big.": "Und?"}).spec(mode="generate"), example("Er.", "Es."))
        assert actual.scores == [-1.0, -1.0]

    def test_through_plain_completions(self, serve: Serve) -> None:
        server = serve(translations={"It is big.": " Sie ist groß.\nEnglish: And"})
        [actual] = answers(server.spec(mode="generate", chat="no"), PRONOUNS)
        assert actual.extra == {"translation": "Sie ist groß."}
        assert server.seen["bodies"][0]["stop"] == ["\n"]

    def test_the_translation_is_in_the_run(self, serve: Serve, tmp_path: Path) -> None:
        server = serve(translations={"It is big.": "Es ist groß."})
        run = score_suite(suite([PRONOUNS]), server.spec(mode="generate"), tmp_path / "run")
        assert [item.extra for item in open_run(run.path)] == [{"translation": "Es ist groß."}]
        settings = run.header.settings
        assert (settings["mode"], settings["chat"], settings["max_tokens"]) == ("generate", True, 512)


@pytest.mark.parametrize("settings", [{"mode": "choose"}, {"mode": "generate"}, {"chat": "yes"}])
def test_translates_in_order(serve: Serve, settings: dict[str, str]) -> None:
    translator = system(serve().spec(**settings))
    assert isinstance(translator, Translator)
    texts = [f"sentence {n}" for n in range(20)]
    assert translator.translate(texts) == [text.upper() for text in texts]


def test_beams_are_refused(serve: Serve) -> None:
    translator = system(serve().spec(chat="yes"))
    assert isinstance(translator, Translator)
    assert translator.translate(["a"], beams=1) == ["A"]
    with pytest.raises(AnaphoraError, match="no beam search"):
        translator.translate(["a"], beams=4)


def test_translates_with_a_base_model(serve: Serve) -> None:
    server = serve(translations={"It is big.": " Sie ist groß.\nEnglish: And"})
    translator = system(server.spec())
    assert isinstance(translator, Translator)
    assert translator.translate(["It is big."], max_tokens=7) == ["Sie ist groß."]
    assert server.seen["bodies"][0]["max_tokens"] == 7


class TestFailures:
    @pytest.mark.parametrize("step", ["429", "429:0", "500", "503:0.1", "cut", "cut early", "json", "empty", "slow:3"])
    def test_that_pass_are_tried_again(self, serve: Serve, step: str) -> None:
        server = serve(script=[step, step])
        [actual] = answers(server.spec(timeout=0.5), PRONOUNS)
        assert actual.scores == list(TestScore.SCORES)
        assert server.seen["requests"] == 5

    @pytest.mark.parametrize(
        ("step", "message"),
        [
            ("500", "500 Internal Server Error: out of order"),
            ("cut", "the connection was cut in the middle of an answer"),
            ("json", "the server's answer is not JSON"),
            ("empty", "the server's answer is not one that was expected: no model is loaded yet"),
            ("slow:3", "no answer in time"),
        ],
    )
    def test_that_do_not_pass_say_how_to_go_on(self, serve: Serve, step: str, message: str) -> None:
        server = serve(always=step)
        with pytest.raises(AnaphoraError) as error:
            answers(server.spec(retries=1, timeout=0.3), PRONOUNS)
        assert message in str(error.value)
        assert "even after 1 more attempts" in str(error.value)
        assert "use --resume to continue" in str(error.value)
        assert "\n" not in str(error.value)
        assert server.seen["requests"] == 2

    def test_nobody_there(self, serve: Serve) -> None:
        server = serve()
        server.stop()
        with pytest.raises(AnaphoraError, match="connection refused, even after 1 more attempts"):
            answers(server.spec(retries=1), PRONOUNS)

    def test_no_such_host(self) -> None:
        with pytest.raises(AnaphoraError, match=r"cannot be reached|name resolution"):
            answers("openai:http://nowhere.invalid?model=tiny&retries=0", PRONOUNS)

    def test_the_server_says_how_long_to_wait(self, serve: Serve) -> None:
        start = time.monotonic()
        answers(serve(script=["429:1.2"]).spec(), PRONOUNS)
        assert time.monotonic() - start >= 1.2

    @pytest.mark.parametrize(
        ("step", "message"),
        [
            ("401", "does not accept the key in the environment variable OPENAI_API_KEY (401 Unauthorized)"),
            ("403", "does not accept the key in the environment variable OPENAI_API_KEY (403 Forbidden)"),
            ("quota", "the quota is used up (429 Too Many Requests: You have no money. (insufficient_quota))"),
            ("301", "the server redirects to another address (301 Moved Permanently)"),
        ],
    )
    def test_that_will_not_pass_end_it_at_once(self, serve: Serve, step: str, message: str) -> None:
        server = serve(always=step)
        with pytest.raises(AnaphoraError) as error:
            answers(server.spec(concurrency=1), *[PRONOUNS] * 5)
        assert message in str(error.value)
        assert server.seen["requests"] == 1

    def test_without_a_key_where_one_is_needed(self, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY")
        with pytest.raises(AnaphoraError, match="needs a key: put it into the environment variable OPENAI_API_KEY"):
            answers(serve(always="401").spec(), PRONOUNS)

    def test_no_such_model(self, serve: Serve) -> None:
        server = serve()
        with pytest.raises(AnaphoraError, match="The model `huge` does not exist"):
            answers(server.spec(model="huge", mode="generate"), PRONOUNS)
        assert server.seen["requests"] == 1

    def test_what_was_found_before_a_failure_is_given(self, serve: Serve) -> None:
        server = serve(script=[None] * 12, always="500")
        stream, actual = system(server.spec(concurrency=3, retries=0)).score(many(20)), []
        with pytest.raises(AnaphoraError, match="--resume"):
            actual.extend(stream)
        # two requests for each example; of the twelve that were answered at most three were halves of other examples
        assert len(actual) >= 4
        assert all(answer.scores == [-(9 + n + 1) / 4, -(10 + n + 1) / 4] for n, answer in actual)


class TestConcurrency:
    @pytest.mark.parametrize("most", [1, 4])
    def test_is_used_and_bounded(self, serve: Serve, most: int) -> None:
        server = serve(delay=0.05)
        answers(server.spec(concurrency=most), *many(8))
        assert server.seen["most"] == most
        assert server.seen["connections"] <= most + 2  # they are kept; the others are those that look at `seen`

    def test_answers_come_as_they_arrive(self, serve: Serve) -> None:
        stream = system(serve(hold=[r"Er ist x\b", 8]).spec(concurrency=2)).score(many(5))
        # the first example waits for eight answers, those of the other four; the last of these may race with it
        assert [number for number, _ in stream].index(0) >= 3

    def test_requests_per_minute(self, serve: Serve) -> None:
        server = serve()
        start = time.monotonic()
        answers(server.spec(concurrency=2, requests_per_minute=600), *many(5))  # ten, two of them at once
        assert time.monotonic() - start >= 0.8

    def test_who_has_enough_does_not_wait(self, serve: Serve) -> None:
        stream = system(serve(script=[None] * 4, always="slow:20").spec(concurrency=2)).score(many(9))
        start = time.monotonic()
        next(stream)
        stream.close()  # type: ignore[attr-defined]
        assert time.monotonic() - start < 5
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("anaphora")]


class TestKey:
    def test_is_sent_and_not_written(self, serve: Serve, tmp_path: Path) -> None:
        server = serve()
        run = score_suite(suite(many(3)), server.spec(), tmp_path / "run")
        assert server.seen["authorization"] == f"Bearer {KEY}"
        assert KEY not in run.path.read_text("utf-8")
        assert KEY not in repr(vars(load_system(server.spec()))) + repr(vars(load_system(server.spec()).server))  # type: ignore[attr-defined]

    @pytest.mark.parametrize("step", ["400", "401", "403", "404", "418", "429", "500", "503"])
    def test_is_in_no_message_even_if_the_server_repeats_it(self, serve: Serve, step: str) -> None:
        with pytest.raises(AnaphoraError) as error:
            answers(serve(always=step).spec(retries=0, mode="generate"), PRONOUNS)
        assert KEY not in str(error.value)
        assert error.value.__cause__ is None
        assert error.value.__suppress_context__ or error.value.__context__ is None

    def test_may_be_in_another_variable(self, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MY_KEY", f" {KEY[::-1]}\n")
        server = serve()
        answers(server.spec(key_env="MY_KEY"), PRONOUNS)
        assert server.seen["authorization"] == f"Bearer {KEY[::-1]}"

    @pytest.mark.parametrize("bad", ["two\nlines-of-secret", "sécret", "tab\tsecret"])
    def test_that_cannot_be_one_is_refused_unseen(self, monkeypatch: pytest.MonkeyPatch, bad: str) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", bad)
        with pytest.raises(AnaphoraError, match="characters that no key can have") as error:
            system("openai:http://localhost:1?model=tiny")
        assert "cret" not in str(error.value)

    @pytest.mark.parametrize(
        "spec",
        [
            f"http://user:{KEY}@localhost:1/v1?model=tiny",
            f"http://{KEY}@localhost:1/v1?model=tiny",
            f"http://localhost:1/v1?model=tiny&key={KEY}",
            f"http://localhost:1/v1?model=tiny&api_key={KEY}",
            f"http://localhost:1/v1?model=tiny&token={KEY}",
            f"http://localhost:1/v1?model=tiny&key_env={KEY}",
            f"http://localhost:1/v1?model=tiny&key_env={KEY.replace('-', '_')}",
        ],
    )
    def test_in_a_spec_is_refused_and_not_repeated(self, spec: str) -> None:
        with pytest.raises(AnaphoraError) as error:
            system(f"openai:{spec}")
        assert "secret" not in str(error.value)


class TestRuns:
    def test_score_and_evaluate_report_invalid_answers(
        self, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """newcomer.md B10: it was silent, and evaluate called the examples ties."""
        server = serve(letter="Elles seront là.", without=["top_logprobs"])
        suite(many(6)).write(tmp_path / "suite.jsonl")
        for command in (
            [
                "score",
                str(tmp_path / "suite.jsonl"),
                "--system",
                server.spec(mode="choose"),
                "-o",
                str(tmp_path / "run"),
            ],
            ["evaluate", str(tmp_path / "run")],
        ):
            with pytest.raises(SystemExit) as ended:
                main(command)
            assert ended.value.code == 0
            printed = capsys.readouterr()
            if command[0] == "score":
                assert "6 of 6 examples have no answer and count as wrong. Not an answer: 'Elles seront" in printed.err
            else:
                assert "6 examples have no answer and count as wrong, e.g. 'Elles seront là.'" in printed.out
                assert "0 ties" in printed.out

    def test_an_empty_translation_is_no_answer(self, serve: Serve) -> None:
        server = serve(translations={"It is big.": ""})
        (actual,) = answers(server.spec(mode="generate"), PRONOUNS)
        assert actual.extra == {"translation": "", "unanswered": 1}
        assert len(set(actual.scores)) == 1

    @pytest.mark.parametrize("mode", ["score", "choose", "generate"])
    def test_a_server_that_stops_midway_loses_nothing(self, serve: Serve, tmp_path: Path, mode: str) -> None:
        examples = many(12)
        first = serve(die_after=8)
        spec = first.spec(concurrency=3, retries=1, mode=mode)
        with pytest.raises(AnaphoraError, match="use --resume to continue"):
            score_suite(suite(examples), spec, tmp_path / "run")
        part = (tmp_path / "run" / "run.jsonl.part").read_text("utf-8").splitlines()
        asks = 1 if mode == "generate" else 2  # requests for an example
        assert len(part) - 1 >= 8 // asks - 3
        second = serve(port=first.port)
        run = score_suite(suite(examples), spec, tmp_path / "run", resume=True)
        assert second.seen["requests"] == asks * (len(examples) - (len(part) - 1))
        whole = score_suite(suite(examples), spec, tmp_path / "whole")
        assert run.path.read_bytes() == whole.path.read_bytes()
        assert not list((tmp_path / "run").glob("*.part"))

    def test_the_header_says_how_it_was_made(self, serve: Serve, tmp_path: Path) -> None:
        server = serve()
        settings = score_suite(suite([PRONOUNS]), server.spec(), tmp_path / "run").header.settings
        assert settings["url"] == f"http://127.0.0.1:{server.port}/v1"
        assert (settings["model"], settings["mode"], settings["chat"]) == ("tiny", "score", False)
        assert settings["prompt"] == "{source_language}: {source}\n{target_language}:"


def suite(examples: list[Example]) -> Suite:
    return suite_of(demo_suite().header, lambda: iter(examples))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gpt-4o", "not an address: 'gpt-4o'"),
        ("localhost:8000?model=m", "not an address"),
        ("ftp://localhost?model=m", "not an address"),
        ("http://?model=m", "not an address"),
        ("http://[::1?model=m", "not an address"),
        ("http://localhost:port?model=m", "not an address"),
        ("http://localhost/v\udce9?model=m", "the address of the server is not UTF-8"),
        ("http://localhost:8000", "the model is missing.*http://localhost:8000/v1/models"),
        ("http://localhost?model=", "the model is missing"),
        ("http://localhost?model=m&mod=score", r"unknown setting 'mod' .*did you mean"),
        ("http://localhost?model=m&mode=chose", r"unknown mode 'chose' \(did you mean choose\?\)"),
        ("http://localhost?model=m&mode=choose&chat=no", "mode=choose needs a chat"),
        ("http://localhost?model=m&concurrency=0", "concurrency must be a number above 0, not '0'"),
        ("http://localhost?model=m&retries=-1", "retries must be a number, not '-1'"),
        ("http://localhost?model=m&timeout=soon", "timeout must be a number above 0, not 'soon'"),
        ("http://localhost?model=m&chat=perhaps", "yes or no is expected"),
        ("http://localhost?model=m&prompt=no-such-file", "no such file"),
    ],
)
def test_wrong_specs_say_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(AnaphoraError, match=message):
        system(f"openai:{spec}")


def test_the_address_may_lack_its_end(serve: Serve) -> None:
    spec = serve().spec()
    for same in (spec.replace("/v1?", "?"), spec.replace("/v1?", "/?"), spec.replace("/v1?", "/v1/?")):
        assert system(same).settings() == system(spec).settings()
        assert answers(same, PRONOUNS)[0].scores == list(TestScore.SCORES)


def test_through_a_proxy(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{serve().port}")
    monkeypatch.delenv("no_proxy", raising=False)
    assert answers("openai:http://far.invalid/v1?model=tiny", PRONOUNS)[0].scores == list(TestScore.SCORES)


def test_an_answer_can_be_sent_to_another_process(serve: Serve) -> None:
    actual = answers(serve().spec(mode="generate"), PRONOUNS) + answers(serve().spec(), PRONOUNS)
    assert pickle.loads(pickle.dumps(actual)) == actual


@pytest.mark.parametrize("package", ["httpx", "tenacity"])
def test_without_the_extra_the_error_names_it(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("anaphora.systems.openai.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(AnaphoraError, match=rf"needs {package}.* pip install \"anaphora\[openai\]\"$"):
        load_system("openai:http://localhost?model=m")


def test_loads_nothing_heavy() -> None:
    """Neither torch nor transformers is loaded to ask a server."""
    program = (
        "import sys; from anaphora.systems import load_system; load_system('openai:http://localhost?model=m');"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
