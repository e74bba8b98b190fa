"""Servers that mean harm or are broken: each ends in one line, in time, in bounded memory, and without the key.

All of them are sockets on 127.0.0.1 that end with the test, or after a number of bytes.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import random
import re
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.systems import load_system
from anaphora.systems.context import Options
from anaphora.systems.openai import http
from anaphora.systems.openai.answers import (
    MAX_CHOICES,
    MAX_TEXT,
    MAX_TOKENS,
    add_up,
    parse_completion,
    parse_echo,
    parse_reply,
)
from anaphora.systems.openai.http import MAX_BODY, MAX_VALUES
from tests.memory import PRINT_PEAK

KEY = "sk-very-secret-0123456789"
LIFE = 30.0  # seconds after which every server ends
Speak = Callable[[socket.socket], None]
PRONOUNS = Example("1", ("It is big.",), (("Er ist groß.",), ("Sie ist groß.",)), 0)
MODES = ["score", "choose", "generate"]


class Hostile:
    """A server that reads a request and then speaks as it is told to, on every connection."""

    def __init__(self, speak: Speak) -> None:
        self.speak, self.closed = speak, threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while not self.closed.is_set():
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), connection:
            connection.settimeout(LIFE)
            while True:
                data = b""
                while b"\r\n\r\n" not in data:
                    data += self._some(connection)
                head, _, body = data.partition(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", head.lower())
                while length and len(body) < int(length[1]):
                    body += self._some(connection)
                self.speak(connection)

    @staticmethod
    def _some(connection: socket.socket) -> bytes:
        data = connection.recv(1 << 16)
        if not data:
            raise OSError("the client has hung up")
        return data

    def close(self) -> None:
        self.closed.set()
        self._listener.close()


@pytest.fixture
def hostile() -> Iterator[Callable[[Speak], Hostile]]:
    running: list[Hostile] = []

    def start(speak: Speak) -> Hostile:
        running.append(Hostile(speak))
        return running[-1]

    yield start
    for server in running:
        server.close()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(http, "FIRST_WAIT", 0.01)


def repeated(start: bytes, piece: bytes, pause: float = 0.0) -> Speak:
    """Says something, and then the same again and again until the client leaves or the server's life ends."""

    def speak(connection: socket.socket) -> None:
        connection.sendall(start)
        end = time.monotonic() + LIFE
        while time.monotonic() < end:
            connection.sendall(piece)
            time.sleep(pause)

    return speak


def answer(document: Any, status: str = "200 OK", **headers: str) -> bytes:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def says(data: bytes) -> Speak:
    return lambda connection: connection.sendall(data)


def error_of(server: Hostile, mode: str = "generate", **settings: object) -> str:
    """The one line that scoring ends with, which never has the key."""
    chosen = {"model": "m", "mode": mode, "retries": 0, "timeout": 2, "deadline": 3, **settings}
    spec = f"openai:http://127.0.0.1:{server.port}/v1?" + "&".join(f"{k}={v}" for k, v in chosen.items())
    with pytest.raises(AnaphoraError) as caught:
        list(load_system(spec, Options(languages=("en", "de"))).score([PRONOUNS]))
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 1000
    assert KEY not in text
    assert caught.value.__cause__ is None
    return text


# Time

DRIPS = {
    "body": repeated(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" ", 0.05),
    "chunks": repeated(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 0.05),
    "headers": repeated(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", 0.05),
    "status line": repeated(b"HTTP/1.1 200 ", b"O", 0.05),
    "continue": repeated(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.05),
    "continue, fast": repeated(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "silence": lambda connection: time.sleep(5),
}


@pytest.mark.parametrize("drip", DRIPS)
def test_every_request_ends_by_its_deadline(hostile: Callable[[Speak], Hostile], drip: str) -> None:
    start = time.monotonic()
    text = error_of(hostile(DRIPS[drip]), timeout=1, deadline=1.5)
    assert time.monotonic() - start < 6
    assert "no answer in time" in text if drip == "silence" else "no complete answer within 1.5 seconds" in text


def test_the_deadline_is_five_times_the_timeout(hostile: Callable[[Speak], Hostile]) -> None:
    start = time.monotonic()
    server = hostile(DRIPS["body"])
    spec = f"openai:http://127.0.0.1:{server.port}/v1?model=m&mode=generate&retries=0&timeout=0.4"
    with pytest.raises(AnaphoraError, match="no complete answer within 2 seconds"):
        list(load_system(spec, Options(languages=("en", "de"))).score([PRONOUNS]))
    assert time.monotonic() - start < 6


# Size


@pytest.mark.parametrize("mode", MODES)
def test_a_body_without_end_is_refused(hostile: Callable[[Speak], Hostile], mode: str) -> None:
    endless = repeated(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{", b" " * 65536)
    assert f"the server's answer is longer than {MAX_BODY >> 20} MB" in error_of(hostile(endless), mode, deadline=20)


def test_a_length_beyond_the_limit_is_refused_at_once(hostile: Callable[[Speak], Hostile]) -> None:
    for length in (str(MAX_BODY + 1), "9" * 19):
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n".encode()
        assert "is longer than" in error_of(hostile(says(head)))


def test_what_is_sent_compressed_is_counted_decompressed(hostile: Callable[[Speak], Hostile]) -> None:
    bomb = gzip.compress(b" " * (MAX_BODY + 2))
    assert len(bomb) < 100_000
    text = error_of(hostile(says(answer(bomb, **{"Content-Encoding": "gzip"}))))
    assert "is longer than" in text


@pytest.mark.parametrize(("encoding", "problem"), [("gzip", "is damaged"), ("br", "no compression"), ("zstd", "no")])
def test_other_compressions_are_refused(hostile: Callable[[Speak], Hostile], encoding: str, problem: str) -> None:
    assert problem in error_of(hostile(says(answer(b"{}", **{"Content-Encoding": encoding}))))


def test_a_gzipped_answer_is_read(hostile: Callable[[Speak], Hostile]) -> None:
    body = gzip.compress(json.dumps({"choices": [{"message": {"content": "Sie ist groß."}}]}).encode())
    server = hostile(says(answer(body, **{"Content-Encoding": "gzip"})))
    spec = f"openai:http://127.0.0.1:{server.port}/v1?model=m&mode=generate"
    [(_, scores)] = load_system(spec, Options(languages=("en", "de"))).score([PRONOUNS])
    assert scores.extra == {"translation": "Sie ist groß."}


@pytest.mark.parametrize(
    "size", ["FFFFFFFFFFFFFFFF", "fffffffffffffffffffff", "-1", "0x10", "é", "", "1;" + "x" * 200_000]
)
def test_odd_chunk_sizes_end_in_one_line(hostile: Callable[[Speak], Hostile], size: str) -> None:
    head = "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"

    def speak(connection: socket.socket) -> None:
        connection.sendall(f"{head}{size}\r\n{{}}\r\n0\r\n\r\n".encode())
        connection.close()

    error_of(hostile(speak))


def test_headers_without_end_are_refused(hostile: Callable[[Speak], Hostile]) -> None:
    for piece in (b"X-A: " + b"y" * 1000 + b"\r\n", b"y" * 65536):
        error_of(hostile(repeated(b"HTTP/1.1 200 OK\r\n", piece)), deadline=20)


# Peak memory of a client in a process of its own

CLIENT = """
import resource, sys, threading
from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.systems import load_system
from anaphora.systems.context import Options
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
examples = [Example(str(n), ("It.",), (("Er.",), ("Sie.",)), 0) for n in range(8)]
try:
    list(load_system(sys.argv[1], Options(languages=("en", "de"))).score(examples))
except AnaphoraError as error:
    print(error, file=sys.stderr)
"""
CLIENT += PRINT_PEAK
AT_MOST = 950_000  # values, just below the limit
FLOODS: dict[str, Callable[[], Speak]] = {  # made when they are asked for: they are long
    "endless body": lambda: repeated(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{", b" " * 65536),
    "gzip bomb": lambda: says(answer(gzip.compress(b" " * (300 << 20)), **{"Content-Encoding": "gzip"})),
    "empty lists": lambda: says(answer(b"[" + b"[]," * (MAX_BODY // 3 - 2) + b"1]")),
    "lists": lambda: says(answer(b'{"choices": [' + b"[]," * (AT_MOST // 2) + b"1]}")),
    "objects": lambda: says(answer(b'{"choices": [' + b'{"a":0},' * (AT_MOST // 2) + b"1]}")),
    "names": lambda: says(
        answer(b'{"choices": [{' + b"".join(b'"%07x":1,' % n for n in range(MAX_BODY // 13)) + b'"message": 1}]}')
    ),
    "echo": lambda: says(
        answer(
            b'{"choices": [{"logprobs": {"tokens": [%b"a"], "token_logprobs": [%b1]}}]}'
            % (b'"a",' * (AT_MOST // 2), b"1," * (AT_MOST // 2))
        )
    ),
    "wide text": lambda: says(
        answer('{{"choices": [{{"message": {{"content": "😀{}"}}}}]}}'.format("a" * (MAX_BODY - 100)).encode())
    ),
}


@pytest.mark.parametrize("flood", FLOODS)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_stays_below_500_mb(hostile: Callable[[Speak], Hostile], flood: str) -> None:
    """Eight requests at once, each answered with the worst that the limits admit."""
    mode = "score" if flood in ("echo", "names") else "choose"
    spec = f"openai:http://127.0.0.1:{hostile(FLOODS[flood]()).port}/v1?model=m&mode={mode}&retries=0&timeout=20"
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, spec], capture_output=True, text=True, check=False, timeout=120
    )
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert int(done.stdout) < 500, done.stderr


# Types


def valid() -> dict[str, Any]:
    """An answer with every field that is read."""
    top = [{"token": "A", "logprob": -0.5}, {"token": "B", "logprob": -1}]
    return {
        "usage": {"prompt_tokens": 3},
        "prompt_logprobs": [None, {"7": {"logprob": -1.0}}],
        "choices": [
            {
                "text": "A",
                "finish_reason": "stop",
                "message": {"content": "A"},
                "prompt_logprobs": [None, {"7": {"logprob": -1.0}}],
                "logprobs": {
                    "tokens": ["a", "b"],
                    "token_logprobs": [None, -1],
                    "content": [{"token": "A", "logprob": -0.5, "top_logprobs": top}],
                },
            }
        ],
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


WRONG = [None, True, 0, -1, 10**400, 1e308, -1e999, 1e999, "x", "", "\ud800", [], [[]], {}, {"x": 1}, [1], {"": None}]
WRONG_ANSWERS = [(path, value) for path in places(valid()) for value in WRONG]


def with_wrong(path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    document = valid()
    inner: Any = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return document


def test_the_answer_that_is_made_wrong_is_a_good_one() -> None:
    completion = parse_completion(valid())
    assert (completion.text, completion.cut, completion.prompt_tokens) == ("A", False, 3)
    assert None not in (completion.written, completion.echoed, completion.prompt)


@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_type_anywhere_is_an_answer_or_one_line(hostile: Callable[[Speak], Hostile], mode: str) -> None:
    """All places of an answer × all types, in each mode, over one connection."""
    bodies = [answer(with_wrong(path, value)) for path, value in WRONG_ANSWERS]
    random.Random(5).shuffle(bodies)
    assert len(bodies) > 500
    todo = bodies[MODES.index(mode) :: len(MODES)][:80]  # many more are in `test_no_type_is_a_traceback`
    current = [b""]
    server = hostile(lambda connection: connection.sendall(current[0]))
    spec = f"openai:http://127.0.0.1:{server.port}/v1?model=m&mode={mode}&retries=0&timeout=5"
    outcomes = {"answer": 0, "error": 0}
    for body in todo:
        current[0] = body
        system = load_system(spec, Options(languages=("en", "de")))
        try:
            list(system.score([PRONOUNS]))
            outcomes["answer"] += 1
        except AnaphoraError as error:
            outcomes["error"] += "\n" not in str(error)
    assert all(outcomes.values()), outcomes
    assert sum(outcomes.values()) == len(todo)


def test_no_type_is_a_traceback() -> None:
    """All places of an answer × all types, through everything that reads an answer."""
    outcomes = {"answer": 0, "refused": 0}
    for path, value in WRONG_ANSWERS:
        try:
            completion = parse_completion(with_wrong(path, value))
        except http.UnexpectedAnswer:
            outcomes["refused"] += 1
            continue
        outcomes["answer"] += 1
        parse_reply(completion, 2)
        parse_echo(completion, "ab", 0)
        for reading in (completion.echoed, completion.prompt):
            if reading is not None and None not in reading.logprobs[1:]:
                assert math.isfinite(add_up([reading], 1).scores[0])
    assert min(outcomes.values()) > 100


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ([], "the answer must be an object, not a list"),
        (None, "the answer must be an object, not null"),
        ({}, "choices must be a list, not null"),
        ({"choices": {"0": {}}}, "choices must be a list, not an object"),
        ({"choices": []}, f"choices must have from 1 to {MAX_CHOICES} entries, not 0"),
        ({"choices": [{}] * 17}, f"choices must have from 1 to {MAX_CHOICES} entries, not 17"),
        ({"choices": ["x"]}, "choices[0] must be an object, not a string"),
        ({"choices": [{"message": "x"}]}, "message must be an object, not a string"),
        ({"choices": [{"message": {"content": 5}}]}, "message.content must be a string, not a number"),
        ({"choices": [{"text": True}]}, "text must be a string, not true or false"),
        ({"choices": [{}], "usage": []}, "usage must be an object, not a list"),
        ({"choices": [{}], "usage": {"prompt_tokens": -1}}, "usage.prompt_tokens must be a count, not a number"),
        ({"choices": [{"logprobs": {"content": [1]}}]}, "logprobs.content[…] must be an object, not a number"),
        ({"choices": [{"logprobs": {"tokens": [1, 2], "token_logprobs": [1, 2]}}]}, "logprobs.tokens must be strings"),
        ({"choices": [{"text": "x" * 1_048_577}]}, f"text has 1,048,577 characters, but {MAX_TEXT:,} is the limit"),
        (
            {"choices": [{"prompt_logprobs": [1] * 70_000}]},
            f"prompt_logprobs has 70,000 entries, but {MAX_TOKENS:,} is the limit",
        ),
        ({"choices": [{"prompt_logprobs": [1, 2]}]}, "prompt_logprobs[…] must be an object, not a number"),
    ],
)
def test_what_is_wrong_is_named(document: Any, problem: str) -> None:
    with pytest.raises(http.UnexpectedAnswer) as caught:
        parse_completion(document)
    assert str(caught.value).startswith(problem)


def test_the_message_of_a_wrong_answer_says_which_field(hostile: Callable[[Speak], Hostile]) -> None:
    server = hostile(says(answer({"choices": [{"message": "x"}]})))
    for mode in ("choose", "generate"):
        text = error_of(server, mode)
        assert "the server's answer is not one that was expected: message must be an object, not a string" in text


@pytest.mark.parametrize("body", [b"[" * 100_000, b"1" * 5000, b"\xff\xfe", b'{"choices": [{}', b"NaN", b""])
def test_what_is_not_json_is_one_line(hostile: Callable[[Speak], Hostile], body: bytes) -> None:
    assert "the server's answer is not" in error_of(hostile(says(answer(body))))


def test_the_number_of_values_is_limited(hostile: Callable[[Speak], Hostile]) -> None:
    body = b'{"choices": [' + b"1," * (MAX_VALUES + 1) + b"1]}"
    assert f"has more than {MAX_VALUES:,} values" in error_of(hostile(says(answer(body))))


# The key, wherever a server can put it

ECHOES: dict[str, bytes] = {
    "message": answer({"error": {"message": f"bad key {KEY}"}}, "400 Bad Request"),
    "code": answer({"error": {"message": "x", "code": KEY}}, "400 Bad Request"),
    "type": answer({"error": {"type": KEY}}, "400 Bad Request"),
    "code only": answer({"error": {"code": KEY}}, "500 Oops"),
    "error": answer({"error": KEY}, "400 Bad Request"),
    "a list": answer({"detail": [{"loc": [KEY]}]}, "422 No"),
    "a name": answer({"error": {KEY: 1}}, "400 Bad Request"),
    "message is an object": answer({"error": {"message": {KEY: [KEY]}}}, "400 Bad Request"),
    "text": answer(f"<html>{KEY}</html>".encode(), "400 Bad Request"),
    "reason": answer({}, f"400 {KEY}"),
    "a header": answer({}, "400 Bad Request", **{"X-Key": KEY, "Retry-After": KEY, "Location": KEY}),
    "location": answer({}, "302 Found", Location=f"http://127.0.0.1:1/{KEY}"),
    "status line": f"HTTP/9.9 {KEY}\r\n\r\n".encode(),
    "header line": f"HTTP/1.1 200 OK\r\n{KEY}\r\n\r\n".encode(),
    "encoding": answer({}, **{"Content-Encoding": KEY}),
    "quota": answer({"error": {"message": KEY, "code": "insufficient_quota"}}, "429 No"),
    "not JSON": answer(KEY.encode()),
    "not an answer": answer({"error": {"message": KEY, "code": KEY}}),
    "escaped": answer(("%" + "%".join(f"{ord(sign):02X}" for sign in "sk-") + KEY).encode(), "400 Bad Request"),
    "json escapes": answer(('{"error": "' + "".join(f"\\u{ord(s):04x}" for s in KEY) + '"}').encode(), "400 No"),
    "most of it": answer({"error": f"got {KEY[:-1]} and {KEY[1:]}"}, "400 Bad Request"),
    "late": answer({"error": "x" * 295 + KEY}, "400 Bad Request"),
    "behind spaces": answer({"error": " " * 5000 + KEY}, "400 Bad Request"),
}


@pytest.mark.parametrize("part", ECHOES)
def test_the_key_is_in_no_message(hostile: Callable[[Speak], Hostile], part: str) -> None:
    server = hostile(says(ECHOES[part]))
    for mode in MODES:
        text = error_of(server, mode)
        assert not any(KEY[i : i + 8] in text for i in range(len(KEY) - 7)), text


def test_the_key_in_an_answer_is_neither_shown_nor_stored(hostile: Callable[[Speak], Hostile]) -> None:
    server = hostile(says(answer({"choices": [{"message": {"content": f"My key: {KEY}"}}]})))
    spec = f"openai:http://127.0.0.1:{server.port}/v1?model=m"
    for mode in ("choose", "generate"):
        system = load_system(f"{spec}&mode={mode}", Options(languages=("en", "de")))
        [(_, scores)] = system.score([PRONOUNS])
        assert KEY not in repr(scores)
        assert "My key: …" in repr(scores)
    with pytest.raises(AnaphoraError, match="does not answer with a letter") as caught:
        list(load_system(f"{spec}&mode=choose", Options()).score([PRONOUNS] * 9))
    assert KEY[:8] not in str(caught.value)


def test_redirects_are_not_followed_and_the_key_stays_here(hostile: Callable[[Speak], Hostile]) -> None:
    asked: list[int] = []
    other = hostile(lambda connection: asked.append(1))
    for status in ("301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"):
        server = hostile(says(answer({}, status, Location=f"http://127.0.0.1:{other.port}/v1")))
        assert "the server redirects to another address" in error_of(server)
    assert not asked


def test_nothing_is_left_open(hostile: Callable[[Speak], Hostile]) -> None:
    """File descriptors and threads after many failures are those before."""

    def opened() -> int:
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        actual = 0
        for number in range(min(soft, 4096)):
            with contextlib.suppress(OSError):
                socket.fromfd(number, socket.AF_INET, socket.SOCK_STREAM).close()
                actual += 1
        return actual

    server = hostile(says(answer({"error": "no"}, "500 No")))
    error_of(server)
    server.close()
    time.sleep(0.2)
    before = opened()
    for _ in range(10):
        error_of(server)
    assert opened() <= before + 1
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("anaphora")]
