"""Servers: which addresses and settings are taken, what is sent, and what is left out once a server refuses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.systems.openai.answers import Completion
from anaphora.systems.openai.http import Rejected
from anaphora.systems.openai.system import OPTIONAL, Server, number, read_spec

KEY = "sk-very-secret-0123456789"
MESSAGES = [{"role": "user", "content": "A or B?"}]
ASKED = {"max_tokens": 16, "logprobs": True, "top_logprobs": 20}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


# Specs


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("http://localhost:8000/v1", "http://localhost:8000/v1"),
        ("http://localhost:8000/v1/", "http://localhost:8000/v1"),
        ("http://localhost:8000", "http://localhost:8000/v1"),
        ("https://host.example/openai/deployments/x", "https://host.example/openai/deployments/x"),
        ("https://host.example/accounts/@me/v1", "https://host.example/accounts/@me/v1"),
        ("https://host.example/a b/ü/%20", "https://host.example/a%20b/%C3%BC/%20"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_the_address_of_a_spec(address: str, url: str) -> None:
    assert read_spec(f"{address}?model=a/b:c%26d") == (url, {"model": "a/b:c&d"})


@pytest.mark.parametrize(
    "spec",
    [
        f"http://me:{KEY}@host/v1",
        f"http://{KEY}@host",
        f"me:{KEY}@host:8000/v1",  # and something was forgotten as well
        f"{KEY}@host",
        f"http:/me:{KEY}@host/v1",
        f"http:///me:{KEY}@host/v1",
        f"http:\\\\me:{KEY}@host",
        f"http://me:{KEY}@host:port/v1",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(spec: str) -> None:
    with pytest.raises(AnaphoraError, match=r"put the key into OPENAI_API_KEY$") as caught:
        read_spec(f"{spec}?model=m")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["key", "api_key", "KEY", "apikey", "Key_Env", "openai_api_key"])
def test_a_key_in_the_settings_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(AnaphoraError, match="a spec must not contain a key") as caught:
        read_spec(f"http://localhost?model=m&{name}={KEY}")
    assert "secret" not in str(caught.value)


# Numbers


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "1e9", "", "ten", "0x10"])
def test_what_is_no_number_for_a_setting(text: str) -> None:
    with pytest.raises(AnaphoraError) as caught:
        number({"retries": text}, "retries", 5)
    assert str(caught.value) == f"retries must be a number, not {text!r}"


@given(st.floats(0, 999_999_999))
def test_what_is_one(value: float) -> None:
    assert number({"timeout": repr(value)}, "timeout", 120) == value


def test_the_default_and_the_least() -> None:
    assert number({}, "timeout", 120, least=0.001) == 120
    assert number({"concurrency": "1"}, "concurrency", 8, least=1) == 1
    with pytest.raises(AnaphoraError, match="concurrency must be a number above 0, not '0'"):
        number({"concurrency": "0"}, "concurrency", 8, least=1)


# The key


def test_a_key_that_was_named_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("", "  "):
        monkeypatch.setenv("MY_KEY", value)
        with pytest.raises(AnaphoraError, match="the environment variable that key_env names is not set, or is empty"):
            Server("http://localhost/v1", {"model": "m", "key_env": "MY_KEY"})
        monkeypatch.setenv("OPENAI_API_KEY", value)
        assert not Server("http://localhost/v1", {"model": "m"}).secret  # a server at home needs none


@pytest.mark.parametrize("name", [KEY, "a b", "1A", "A=B", "", "ß-"])
def test_an_invalid_variable_name_may_be_the_key(name: str) -> None:
    with pytest.raises(AnaphoraError, match="key_env is the NAME of an environment variable") as caught:
        Server("http://localhost/v1", {"model": "m", "key_env": name})
    assert "secret" not in str(caught.value)


# What is sent

Asked = list[tuple[str, Mapping[str, Any]]]
Start = Callable[..., tuple[Server, Asked]]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    """A server that is not really asked, and what it would have been; it rejects as it is told to."""

    def started(rejects: Callable[[Mapping[str, Any]], str | None] = lambda body: None, status: int = 400) -> Any:
        asked: Asked = []

        def post(path: str, body: Mapping[str, Any]) -> Any:
            asked.append((path, body))
            assert len(asked) < 20, "it asks for ever"
            message = rejects(body)
            if message:
                raise Rejected(message, status, message)
            return Completion("")

        actual = Server("http://localhost/v1", {"model": "m"})
        monkeypatch.setattr(actual, "post", post)
        return actual, asked

    return started


def test_a_completion_is_asked_for_without_chance(start: Start) -> None:
    server, asked = start()
    server.complete("It is", {"max_tokens": 1})
    assert asked == [("completions", {"model": "m", "prompt": "It is", "temperature": 0, "max_tokens": 1})]


def test_a_chat_is_asked_for_with_everything_first(start: Start) -> None:
    server, asked = start()
    server.chat(MESSAGES, ASKED)
    assert asked == [("chat/completions", {"model": "m", "messages": MESSAGES, "temperature": 0, **ASKED})]


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in {"temperature": 0, **ASKED}.items() if name not in names}


@pytest.mark.parametrize(
    ("refused", "taken"),
    [
        (["temperature"], without("temperature")),
        (["max_tokens"], {**without("max_tokens"), "max_completion_tokens": 16}),
        (["logprobs"], without("logprobs", "top_logprobs")),
        (["top_logprobs"], without("logprobs", "top_logprobs")),  # fewer of them neither
        (["temperature", "max_tokens", "top_logprobs"], {"max_completion_tokens": 16}),
    ],
)
def test_what_is_refused_is_left_out_from_then_on(start: Start, refused: list[str], taken: dict[str, Any]) -> None:
    server, asked = start(lambda body: next((f"Unsupported: {name}" for name in refused if name in body), None))
    server.chat(MESSAGES, ASKED)
    first = len(asked)
    server.chat(MESSAGES, ASKED)
    assert asked[-1] == ("chat/completions", {"model": "m", "messages": MESSAGES, **taken})
    assert len(asked) == first + 1  # it is known now


def test_fewer_log_probabilities_are_tried_first(start: Start) -> None:
    server, asked = start(lambda body: "top_logprobs: at most 5" if body.get("top_logprobs", 0) > 5 else None)
    server.chat(MESSAGES, ASKED)
    assert [body["top_logprobs"] for _, body in asked] == [20, 5]


@pytest.mark.parametrize("name", ["max_tokens", "temperature", "logprobs", "top_logprobs"])
def test_a_request_without_the_refused_setting_stays_unchanged(start: Start, name: str) -> None:
    server, asked = start(lambda body: name if name in body else None)
    server.chat(MESSAGES, ASKED)
    server.chat(MESSAGES, {"stop": ["x"]})
    assert {"model", "messages", "stop"} <= set(asked[-1][1]) <= {"model", "messages", "stop", "temperature"}


@pytest.mark.parametrize(
    "message", ["no chats on Sundays", "seed is not supported", "max_completion_tokens is too large"]
)
def test_what_cannot_be_left_out_is_an_error(start: Start, message: str) -> None:
    server, asked = start(lambda body: message)
    with pytest.raises(Rejected, match=message):
        server.chat(MESSAGES, ASKED)
    assert len(asked) == 1


def test_a_server_that_takes_nothing_is_not_asked_for_ever(start: Start) -> None:
    server, asked = start(lambda body: "top_logprobs, logprobs, max_tokens and temperature are all bad")
    with pytest.raises(Rejected):
        server.chat(MESSAGES, ASKED)
    assert len(asked) == len(OPTIONAL) + 1


def test_a_missing_model_is_not_retried_with_other_settings(start: Start) -> None:
    server, asked = start(lambda body: "no model named temperature", 404)
    with pytest.raises(Rejected):
        server.chat(MESSAGES, ASKED)
    assert len(asked) == 1
