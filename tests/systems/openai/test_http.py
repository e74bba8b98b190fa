"""The client: what each answer means, how long it waits, whom it asks, and that the key is in no message."""

from __future__ import annotations

import contextlib
import email.utils
import gzip
import json
import math
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.systems.openai.concurrency import RateLimit
from anaphora.systems.openai.http import (
    Client,
    Rejected,
    UnexpectedAnswer,
    _describe,
    _is_final,
    _seconds,
    _TemporaryError,
    proxy_for,
)

KEY = "sk-very-secret-0123456789"
GOOD = {"answer": 42}


def parse(document: Any) -> Any:
    if document != GOOD:
        raise UnexpectedAnswer("answer must be 42")
    return document


def client(url: str = "http://127.0.0.1:1/v1", **settings: Any) -> Client[Any]:
    chosen: dict[str, Any] = {"key": KEY, "key_name": "MY_KEY", "timeout": 5, "retries": 0, "concurrency": 2}
    chosen |= {"limit": RateLimit(), "parse": parse, **settings}
    return Client(url, **chosen)


strict = partial(quote, safe="")


@pytest.mark.parametrize("write", [str, quote, strict, lambda key: strict(key).lower(), json.dumps, repr, escape])
def test_the_key_is_masked_however_it_is_written(write: Callable[[str], str]) -> None:
    """Its parts between special characters are too short to be noticed by themselves."""
    key = 'se/cr+et"ke\\y=42'
    masked = client(key=key).secret.message(f"bad {write(key)} here")
    assert "…" in masked
    assert not any(part in masked for part in ("cr", "et", "ke", "42"))


def ask(asked: Client[Any], times: int = 1) -> list[Any]:
    return [answer for _, answer in asked.each(lambda number: asked.post("ask", {"number": number}), range(times))]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


class Handler(BaseHTTPRequestHandler):
    """Answers as the next line of a script says, and well after its end."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, dict(self.headers), body))
        status, headers = self.server.script.pop(0) if self.server.script else (200, {})
        data = json.dumps(GOOD if status == 200 else {"error": "not now"}).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = self.server.unkind

    def do_CONNECT(self) -> None:
        self.server.seen.append((self.path, dict(self.headers), None))
        self.send_error(407)

    def log_message(self, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """unkind: it hangs up after every answer, without a word; seen: path, headers and body of what it was asked."""

    daemon_threads = True
    unkind = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[tuple[int, dict[str, str]]] = []
        self.seen: list[tuple[str, dict[str, str], Any]] = []

    def handle_error(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


# What is sent


def test_a_request_is_json_with_the_key(server: Server) -> None:
    assert ask(client(f"http://127.0.0.1:{server.server_port}/v1")) == [GOOD]
    [(path, headers, body)] = server.seen
    assert (path, body) == ("/v1/ask", {"number": 0})
    assert (headers["Authorization"], headers["Content-Type"]) == (f"Bearer {KEY}", "application/json")


def test_without_a_key_none_is_sent(server: Server) -> None:
    ask(client(f"http://127.0.0.1:{server.server_port}/v1", key=None))
    assert "Authorization" not in server.seen[0][1]


def test_a_connection_that_the_server_closed_is_no_failure(server: Server) -> None:
    """It is opened again at once, though failures are not tried again here."""
    server.unkind = True
    asked = client(f"http://127.0.0.1:{server.server_port}/v1", concurrency=1)
    for answer in asked.each(lambda number: asked.post("ask", {}), range(4)):
        assert answer[1] == GOOD
    assert len(server.seen) == 4


def test_it_may_be_used_again_after_a_failure(server: Server) -> None:
    asked = client(f"http://127.0.0.1:{server.server_port}/v1")
    server.script = [(400, {})]
    with pytest.raises(Rejected):
        ask(asked)
    assert ask(asked, 3) == [GOOD] * 3


# Answers that are not what they seem


@contextlib.contextmanager
def speaking(answer: Callable[[int], bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers the n-th request with these bytes, on connections that it keeps; and what it was asked."""
    asked: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while data := connection.recv(1 << 16):
                while b"}" not in data:
                    data += connection.recv(1 << 16)
                asked.append(data)
                connection.sendall(answer(json.loads(data[data.index(b"{") :])["number"]))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", asked
        listener.shutdown(socket.SHUT_RDWR)


def numbered(number: int, *headers: str, body: bytes | None = None) -> bytes:
    body = body if body is not None else json.dumps({"number": number}).encode()
    return "\r\n".join(["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", ""]).encode() + body


def test_a_repeated_answer_is_not_the_next_one() -> None:
    with speaking(lambda number: 2 * numbered(number)) as (url, _):
        assert ask(client(url, concurrency=1, parse=lambda document: document["number"]), 5) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("cut", [1, 8, 9, 20])
def test_a_compressed_answer_without_its_end_was_cut(cut: int) -> None:
    def answer(number: int) -> bytes:
        return numbered(number, "Content-Encoding: gzip", body=gzip.compress(json.dumps(GOOD).encode())[:-cut])

    with speaking(answer) as (url, asked), pytest.raises(AnaphoraError, match="cut in the middle of an answer"):
        ask(client(url, retries=1))
    assert len(asked) == 2


def test_something_after_a_compressed_answer_is_damage() -> None:
    def answer(number: int) -> bytes:
        return numbered(number, "Content-Encoding: gzip", body=2 * gzip.compress(json.dumps(GOOD).encode()))

    with speaking(answer) as (url, asked), pytest.raises(AnaphoraError, match="is damaged: something follows its end"):
        ask(client(url, retries=1))
    assert len(asked) == 1


def test_cookies_are_not_kept() -> None:
    """They would fill the memory, and the requests."""
    with speaking(lambda number: numbered(number, f"Set-Cookie: c{number}={'x' * 1000}; Path=/")) as (url, asked):
        ask(client(url, parse=lambda document: document["number"]), 5)
    assert len(asked) == 5
    assert not any(b"cookie" in request.lower() for request in asked)


def test_a_short_key_hides_no_rejected_setting() -> None:
    """Many local servers take any key, and their users write what comes to mind."""
    body = b'{"error": {"message": "Unsupported parameter: max_tokens", "code": "unsupported"}}'
    for key in ("max_", "okens", "xyz"):
        with pytest.raises(Rejected) as caught:
            client(key=key)._check_response(400, "", body)
        assert caught.value.names("max_tokens")
        assert not caught.value.names("temperature")
        assert ("max_tokens" in str(caught.value)) == (key == "xyz")


def test_a_broken_status_line_does_not_show_the_key() -> None:
    line = f"HTP {KEY.upper()}\r\n\r\n".encode()
    with speaking(lambda number: line) as (url, _), pytest.raises(AnaphoraError, match="does not speak HTTP") as caught:
        ask(client(url, key=KEY.upper()))
    assert not any(KEY[i : i + 8] in str(caught.value).lower() for i in range(len(KEY) - 7))


# How long it waits


class Waits(list[float]):
    """In the place of the event that stops everybody: it remembers how long was waited for it."""

    stopped = False

    def is_set(self) -> bool:
        return self.stopped

    def wait(self, timeout: float) -> bool:
        self.append(timeout)
        return self.stopped


def fail(asked: Client[Any], error: Exception, monkeypatch: pytest.MonkeyPatch) -> Waits:
    """Ask while every attempt fails; how long was waited after each."""

    def attempt(url: str, data: bytes) -> Any:
        raise error

    waits = Waits()
    monkeypatch.setattr(asked, "_attempt", attempt)
    monkeypatch.setattr(asked, "_stopped", waits)
    monkeypatch.setattr(random, "uniform", lambda low, high: high)
    with pytest.raises((AnaphoraError, ZeroDivisionError)):
        asked.post("ask", {})
    return waits


def test_waits_double_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = fail(client(retries=10), _TemporaryError("busy"), monkeypatch)
    assert waits == [0.5, 1, 2, 4, 8, 16, 32, 64, 120, 120]


@pytest.mark.parametrize(("wanted", "held"), [(7.5, 7.5), (86400.0, 120.0), (math.inf, 120.0)])
def test_what_the_server_asks_for_holds_everybody(wanted: float, held: float, monkeypatch: pytest.MonkeyPatch) -> None:
    holds: list[float] = []
    limit = SimpleNamespace(hold=holds.append)
    fail(client(retries=1, limit=limit), _TemporaryError("busy", wanted), monkeypatch)
    assert holds == [held]


def test_what_will_not_pass_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fail(client(retries=9), Rejected("no", 400, "no"), monkeypatch) == []
    assert fail(client(retries=9), ZeroDivisionError(), monkeypatch) == []


def test_once_another_has_failed_it_does_not_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Waits, "stopped", True)
    assert fail(client(retries=9), _TemporaryError("busy"), monkeypatch) == []


def test_one_who_is_stopped_asks_nothing() -> None:
    asked = client()  # where nobody is
    asked._stopped.set()
    with pytest.raises(AnaphoraError, match=r"^stopped$"):
        asked.post("ask", {})


@pytest.mark.parametrize(
    ("wanted", "seconds"),
    [
        ("", 0),
        ("3", 3),
        (" 1.5 ", 1.5),
        ("-3", 0),
        ("nan", 0),
        ("soon", 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 2015 07:28:00 +99999999999999999", 0),
        ("Wed, 21 Oct 99999999999999999999 07:28:00 GMT", 0),
    ],
)
def test_how_long_a_server_wants_us_to_wait(wanted: str, seconds: float) -> None:
    assert _seconds(wanted) == seconds


def test_until_when_a_server_wants_us_to_wait() -> None:
    assert _seconds(email.utils.formatdate(time.time() + 100, usegmt=True)) == pytest.approx(100, abs=5)


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d+ \d+:\d+:\d+ ([+-]\d+|GMT)", fullmatch=True))
def test_whatever_a_server_writes_there_is_a_time(wanted: str) -> None:
    assert _seconds(wanted) >= 0


# What an answer means


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 599])
def test_what_may_be_better_in_a_while(status: int) -> None:
    with pytest.raises(_TemporaryError, match=rf"^the server says {status}.*: one two$") as caught:
        client()._check_response(status, "7", b'{"error": {"message": "one\\n two"}}')
    assert caught.value.wait == 7


@pytest.mark.parametrize(
    ("status", "data", "message"),
    [
        (
            400,
            '{"error": {"message": "too long", "code": "context"}}',
            "does not accept the request (400 Bad Request: ",
        ),
        (501, "", "does not accept the request (501 Not Implemented)"),
        (404, '{"detail": "Not Found"}', "knows no such address or model (404 Not Found: Not Found)"),
        (418, "<html>", "does not accept the request (418 I'm a Teapot: <html>)"),
        (422, '{"detail": [{"loc": ["body"]}]}', '(422 Unprocessable Entity: [{"loc": ["body"]}])'),
        (499, '{"message": "gone"}', "does not accept the request (499: gone)"),
    ],
)
def test_a_rejection_is_reported_in_the_server_s_words(status: int, data: str, message: str) -> None:
    with pytest.raises(Rejected) as caught:
        client()._check_response(status, "", data.encode())
    assert str(caught.value).startswith("http://127.0.0.1:1/v1: the server ")
    assert message in str(caught.value)
    assert (caught.value.status, caught.value.reason in str(caught.value)) == (status, True)


def test_the_error_code_is_added_where_the_message_lacks_it() -> None:
    def reason_for(message: str) -> str:
        with pytest.raises(Rejected) as caught:
            client()._check_response(400, "", json.dumps({"error": {"message": message, "code": "too_long"}}).encode())
        return caught.value.reason

    assert reason_for("Shorten it.") == "Shorten it. (too_long)"
    assert reason_for("It is too_long.") == "It is too_long."
    assert reason_for("x" * 999) == "x" * 300 + " (too_long)"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is not JSON"),
        (b'{"answer": 4', "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[]", "is not one that was expected: answer must be 42"),
        (b'{"error": "loading"}', "is not one that was expected: loading"),
    ],
)
def test_a_good_answer_that_is_none_may_come_right(data: bytes, problem: str) -> None:
    with pytest.raises(_TemporaryError) as caught:
        client()._check_response(200, "", data)
    assert str(caught.value) == f"the server's answer {problem}"


def test_an_exhausted_quota_is_not_retried() -> None:
    with pytest.raises(AnaphoraError, match="the quota is used up"):
        client()._check_response(429, "1", b'{"error": {"code": "insufficient_quota"}}')


# The key

keys = st.text("abcXYZ019-_", min_size=6, max_size=40)


@given(keys, st.integers(0, 310), st.sampled_from([200, 301, 400, 401, 403, 404, 429, 500]), st.booleans())
def test_no_message_contains_a_part_of_the_key(key: str, before: int, status: int, in_json: bool) -> None:
    """Wherever the server repeats it, also where its words are cut."""
    words = "x" * before + f"\nyour key is {key}: {key}"
    data = json.dumps({"error": {"message": words}}) if in_json else words
    with pytest.raises((AnaphoraError, _TemporaryError)) as caught:
        client(key=key)._check_response(status, "", data.encode())
    assert key[:6] not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_key_is_not_shown() -> None:
    assert KEY not in repr(client())


@pytest.mark.parametrize(("key", "message"), [(KEY, "does not accept the key in"), (None, "needs a key: put it into")])
def test_a_key_that_is_refused_is_named_by_its_variable(key: str | None, message: str) -> None:
    with pytest.raises(AnaphoraError, match=rf"{message} the environment variable MY_KEY \(401 Unauthorized\)$"):
        client(key=key)._check_response(401, "", b'{"error": "Incorrect key: sk-ve***789"}')


# What goes wrong on the way


@pytest.mark.parametrize(
    ("error", "final"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), True),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"), False),
        (ssl.SSLCertVerificationError(1, "certificate has expired"), True),
        (httpx.InvalidURL("nonnumeric port"), True),
        (UnicodeError("label empty or too long"), True),
        (ConnectionRefusedError(111, "Connection refused"), False),
        (httpx.ReadTimeout(""), False),
        (httpx.RemoteProtocolError("peer closed connection (incomplete chunked read)"), False),
        (ssl.SSLError(1, "wrong version number"), False),
    ],
)
def test_waiting_helps_or_not(error: Exception, final: bool) -> None:
    assert _is_final(error) == final


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx.ReadTimeout("timed out"), "no answer in time"),
        (ConnectionRefusedError(111, "Connection refused"), "connection refused"),
        (httpx.RemoteProtocolError("incomplete chunked read"), "the connection was cut in the middle of an answer"),
        (httpx.RemoteProtocolError("illegal line"), "the server does not speak HTTP as it should: illegal line"),
        (httpx.ProxyError("407 No"), "the proxy refuses the connection: 407 no"),
        (OSError("first line\nmore"), "first line"),
        (httpx.ReadError(""), "ReadError"),
        (UnicodeError("label empty or too long"), "no host can have such a name"),
    ],
)
def test_in_describe(error: Exception, words: str) -> None:
    assert _describe(error) == words


@pytest.mark.parametrize("host", ["a..b", "x" * 64 + ".org"])
def test_a_name_that_no_host_can_have(host: str) -> None:
    with pytest.raises(AnaphoraError, match=rf"^http://{host}/v1: cannot be reached \((no host|name)[a-z ]*\)$"):
        ask(client(f"http://{host}/v1", retries=3))


# Proxies


def test_a_proxy_gets_the_whole_address_and_the_credentials(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"me:p%40ss@127.0.0.1:{server.server_port}")  # without http://, as some write it
    assert ask(client("http://far.invalid:8000/v1")) == [GOOD]
    [(path, headers, _)] = server.seen
    assert path == "http://far.invalid:8000/v1/ask"
    assert (headers["Host"], headers["Authorization"]) == ("far.invalid:8000", f"Bearer {KEY}")
    assert headers["Proxy-Authorization"] == "Basic bWU6cEBzcw=="  # me:p@ss


def test_a_proxy_does_not_see_a_secure_server_s_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", f"http://me:pass@127.0.0.1:{server.server_port}")
    with pytest.raises(AnaphoraError, match="the proxy refuses the connection: 407 proxy authentication required"):
        ask(client("https://far.invalid/v1"))
    [(path, headers, _)] = server.seen
    assert path == "far.invalid:443"
    assert headers["Proxy-Authorization"] == "Basic bWU6cGFzcw=="
    assert "Authorization" not in headers


@pytest.mark.parametrize(
    ("url", "through"),
    [
        ("http://far.invalid/v1", True),
        ("http://near.invalid/v1", False),
        ("https://far.invalid/v1", False),  # has a proxy of its own, or none
        ("http://localhost:8000/v1", False),
        ("http://127.0.0.1:8000/v1", False),
        ("http://[::1]:8000/v1", False),
    ],
)
def test_which_servers_are_asked_through_a_proxy(url: str, through: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "near.invalid")
    assert (proxy_for(url) is not None) == through
