"""Answers of a server, as they reach the `openai:` systems in each mode, and `judge:`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.targets import Run, Seed, add, suite_rows, write

TOP = [{"token": "A", "logprob": -0.1}, {"token": " B", "logprob": -2.5}, {"token": "x", "logprob": -9.0}]
CHAT = {
    "choices": [
        {
            "message": {"role": "assistant", "content": "<think>x</think> A"},
            "logprobs": {"content": [{"token": "A", "logprob": -0.1, "top_logprobs": TOP}]},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 7, "completion_tokens": 1},
}
TRANSLATION = {"choices": [{"message": {"content": "Sie ist alt."}, "finish_reason": "length"}]}
RATING = {"choices": [{"message": {"content": "<think>x</think> Score: 87.5/100"}, "finish_reason": "stop"}]}
ERROR = {"error": {"message": "the model is not there", "code": "not_found", "type": "invalid"}}


@cache
def system(mode: str) -> Any:
    """A system whose requests do not leave this process."""
    from anaphora.core.errors import AnaphoraError
    from anaphora.systems.context import Options
    from anaphora.systems.openai.http import _UnusableError
    from anaphora.systems.openai.system import JudgeSystem, OpenAISystem

    spec, options = "http://localhost:1/v1?model=m&retries=0", Options(languages=("en", "de"))
    made: Any = JudgeSystem(spec, options) if mode == "judge" else OpenAISystem(f"{spec}&mode={mode}", options)
    client = made.server

    def attempt(url: str, data: bytes) -> Any:
        try:
            return client._check_response(made.status, "1", made.body(json.loads(data)))
        except _UnusableError as error:
            raise AnaphoraError(str(error)) from None

    client._attempt = attempt  # type: ignore[method-assign]
    return made


def answered(mode: str, status: int = 200) -> Run:
    """A run that asks one question, which the file answers."""

    def run(folder: Path) -> None:
        from anaphora.suites.example import Example
        from anaphora.systems.openai.answers import NoAnswerGuard

        made = system(mode)
        made.status = status
        made._guard, made._request, made._request_known_good = NoAnswerGuard(), 0, False
        made.server._refused = frozenset()
        data = (folder / "answer.json").read_bytes()
        made.body = lambda request: data.replace(b"@@", json.dumps(request.get("prompt", ""))[1:-1].encode())
        row = suite_rows()[1]
        example = Example(row["id"], tuple(row["source"]), tuple(map(tuple, row["candidates"][:2])), 0)
        question = made.options.context.scoring_input(example)
        getattr(made, {"judge": "_rate"}.get(mode, f"_{mode}"))(question)

    return run


def answer(document: Any) -> Seed:
    return lambda folder: write(folder / "answer.json", json.dumps(document))


def echo(folder: Path) -> None:
    """A server that repeats the prompt in two tokens: the answer has @@ where the prompt goes."""
    logprobs = {"tokens": ["<s>", "@@"], "token_logprobs": [None, -1.5], "text_offset": [0, 0]}
    document = {"choices": [{"text": "@@", "logprobs": logprobs}], "usage": {"prompt_tokens": 2}}
    write(folder / "answer.json", json.dumps(document))


def listed(folder: Path) -> None:
    """vLLM: the tokens of the prompt by their numbers."""
    tokens = [
        None,
        {"17": {"logprob": -1.5, "rank": 1, "decoded_token": "@@"}},
        {"4": {"logprob": -0.5, "decoded_token": "x"}},
    ]
    write(folder / "answer.json", json.dumps({"choices": [{"text": "", "prompt_logprobs": tokens}]}))


add("server.score-echo", echo, answered("score"))
add("server.score-listed", listed, answered("score"))
add("server.choose", answer(CHAT), answered("choose"))
add("server.generate", answer(TRANSLATION), answered("generate"))
add("server.judge", answer(RATING), answered("judge"))


def refused(folder: Path) -> None:
    from anaphora.core.errors import AnaphoraError

    try:
        answered("choose", 404)(folder)
    except AnaphoraError:
        return  # the valid answer is an error of the server, which is said
    raise SystemExit(70)


add("server.error", answer(ERROR), refused)
