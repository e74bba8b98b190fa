"""Limits on the requests and connections of the server."""

from __future__ import annotations

import contextlib
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.study.middleware import RateLimit
from anaphora.study.model import Study, read_study, write_study
from anaphora.study.store import read_answers

# The limit to the rate of requests, with a clock of the test's own.


def test_a_bucket_fills_again() -> None:
    now = [0.0]
    limit = RateLimit(rate=2, burst=3, clock=lambda: now[0])
    assert [limit.allows("anna") for _ in range(5)] == [True, True, True, False, False]
    assert limit.allows("ben")  # everybody has their own
    now[0] = 1.0
    assert [limit.allows("anna") for _ in range(3)] == [True, True, False]
    now[0] = 100.0
    assert [limit.allows("anna") for _ in range(4)] == [True, True, True, False]


# Clients that open connections and then do nothing: they are disconnected, and the study stays usable meanwhile.

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
middleware = pytest.importorskip("anaphora.study.middleware", reason="uvicorn is not installed")

Make, Serve = Callable[..., Study], Callable[..., Any]
HALF_HEADER = b"GET /health HTTP/1.1\r\nHost: study\r\nX-More: "
HEALTH = b"GET /health HTTP/1.1\r\nHost: study\r\n\r\n"
HALF_BODY = b"POST LINK/answers HTTP/1.1\r\nHost: study\r\nContent-Length: 1000\r\n\r\n{"


@pytest.fixture
def study(make: Make, tmp_path: Path) -> Path:
    write_study(make(60), tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def opened() -> Iterator[Callable[[Any, bytes], socket.socket]]:
    """Open connections to a server and send something over them."""
    with contextlib.ExitStack() as stack:

        def connect(server: Any, data: bytes) -> socket.socket:
            address = urlsplit(server.url)
            one = stack.enter_context(socket.create_connection((address.hostname, address.port), timeout=20))
            one.sendall(data.replace(b"LINK", urlsplit(server.links["anna"]).path.encode()))
            return one

        yield connect


def answer_ten(server: Any, seconds: float = 5.0) -> None:
    """Answer ten items as an annotator's page does, each over a connection of its own, each in good time."""
    with httpx.Client(headers={"Connection": "close"}, timeout=20) as client:
        state = client.get(f"{server.links['ben']}/state").json()
        for item in [one["id"] for one in state["items"] if one["id"] not in state["answers"]][:10]:
            began = time.monotonic()
            body = {"request": f"request-{item}", "item": item, "choice": ["a"]}
            assert client.post(f"{server.links['ben']}/answers", json=body).status_code == 200
            assert time.monotonic() - began < seconds


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed a connection, whatever it sent before."""
    connection.settimeout(0.01)
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


def until_closed(some: list[socket.socket], seconds: float) -> float:
    """How long it takes until the last one is closed; fails if it takes longer than allowed."""
    began = time.monotonic()
    left = some
    while left := [one for one in left if not is_closed(one)]:
        assert time.monotonic() - began < seconds, f"{len(left)} of {len(some)} are still open"
        time.sleep(0.1)
    return time.monotonic() - began


@pytest.mark.parametrize("half", [b"", HALF_HEADER, HALF_BODY], ids=["nothing", "header", "body"])
def test_six_hundred_half_open_requests(study: Path, serve: Serve, opened: Any, half: bytes) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 1000:
        pytest.skip("this machine allows fewer than 1,000 open files")
    server = serve(study, set_limits="middleware.REQUEST_SECONDS = 4.0")
    some = [opened(server, half) for _ in range(600)]
    answer_ten(server)
    until_closed(some, 15)
    answer_ten(server)
    assert server.stop_quietly() == ""
    assert len(read_answers(read_study(study), study)) == 20


@pytest.mark.parametrize("half", [b"", HALF_HEADER, HALF_BODY], ids=["nothing", "header", "body"])
def test_a_limit_of_128_files(study: Path, serve: Serve, opened: Any, half: bytes) -> None:
    """More connections than there may be files: those that wait longest make room for somebody who answers."""
    server = serve(study, files=128)
    some = [opened(server, half) for _ in range(600)]
    answer_ten(server)
    closed = sum(map(is_closed, some))
    assert closed >= 600 - 128  # long before their time is over
    assert server.stop_quietly() == ""
    assert len(read_answers(read_study(study), study)) == 10


def test_a_drip_does_not_extend_the_time(study: Path, serve: Serve, opened: Any) -> None:
    """A byte now and then is not progress: the time is for the whole request, the second of a connection too."""
    server = serve(study, set_limits="middleware.REQUEST_SECONDS = 2.0")
    first, second = opened(server, HALF_HEADER), opened(server, b"GET /health HTTP/1.1\r\nHost: study\r\n\r\n")
    assert b"200 OK" in second.recv(4096)
    second.sendall(HALF_HEADER)
    began = time.monotonic()
    while not (is_closed(first) and is_closed(second)):
        assert time.monotonic() - began < 8
        for one in (first, second):
            with contextlib.suppress(ConnectionError):
                one.sendall(b"x")
        time.sleep(0.2)
    assert time.monotonic() - began > 1


def test_a_slow_but_complete_request_is_answered(study: Path, serve: Serve, opened: Any) -> None:
    server = serve(study, set_limits="middleware.REQUEST_SECONDS = 4.0")
    slow = opened(server, b"")
    for part in (b"GET /health HTTP/1.1\r\n", b"Host: study\r\n", b"\r\n"):
        time.sleep(0.5)
        slow.sendall(part)
    assert b"200 OK" in slow.recv(4096)
    time.sleep(4.2)  # idle for longer than a request may take: closed by the time for idle connections, not cut off
    assert is_closed(slow) or httpx.get(f"{server.url}/health").status_code == 200


def test_a_client_that_does_not_read(study: Path, serve: Serve, opened: Any) -> None:
    """Requests without end whose answers nobody takes: the connection ends, its memory is free."""
    server = serve(study, set_limits="middleware.REQUEST_SECONDS = middleware.RESPONSE_SECONDS = 2.0")
    greedy = opened(server, b"")
    greedy.settimeout(0.5)
    ask = b"GET /static/study.js HTTP/1.1\r\nHost: study\r\n\r\n" * 50
    began = time.monotonic()
    with contextlib.suppress(ConnectionError):
        while time.monotonic() - began < 20:
            with contextlib.suppress(TimeoutError):
                greedy.sendall(ask)
    assert time.monotonic() - began < 20
    answer_ten(server)


def test_half_open_requests_do_not_hold_up_the_end(study: Path, serve: Serve, opened: Any) -> None:
    server = serve(study)
    some = [opened(server, half) for half in (b"", HALF_HEADER, HALF_BODY)]
    assert httpx.get(f"{server.url}/health").status_code == 200
    began = time.monotonic()
    assert server.stop(signal.SIGTERM) == -signal.SIGTERM
    assert time.monotonic() - began < 5
    assert all(map(is_closed, some))


def test_nonsense_is_not_logged(study: Path, serve: Serve, opened: Any) -> None:
    server = serve(study)
    upgrade = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    for data in (b"\x16\x03\x01\x02\x00", b"NONSENSE\r\n\r\n", b"x" * 100_000, upgrade):
        opened(server, data).recv(4096)
    answer_ten(server)
    assert server.stop_quietly() == ""


def test_no_request_hides_in_another(study: Path, serve: Serve, opened: Any) -> None:
    """A proxy that goes by the length passes on one request where there would be two."""
    server = serve(study)
    lengths = b"Content-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    one = opened(server, b"POST LINK/answers HTTP/1.1\r\nHost: study\r\n" + lengths + HEALTH)
    replies = b"".join(iter(lambda: one.recv(4096), b""))
    assert replies.startswith(b"HTTP/1.1 400")
    assert replies.count(b"HTTP/1.1") == 1
    answer_ten(server)


@pytest.mark.parametrize("path", ["/a/unknown/answers", "/health"])
def test_nonsense_after_a_reply_is_not_logged(study: Path, serve: Serve, opened: Any, path: str) -> None:
    """The reply does not wait for the body, so nothing can be replied to a body that is no HTTP."""
    server = serve(study)
    one = opened(server, f"POST {path} HTTP/1.1\r\nHost: study\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    assert one.recv(4096).startswith(b"HTTP/1.1 40")
    one.sendall(b"this is no chunk\r\n")
    until_closed([one], 5)
    answer_ten(server)
    assert server.stop_quietly() == ""


def test_nonsense_before_a_reply_is_not_logged(study: Path, serve: Serve, opened: Any) -> None:
    """The reply to the first line is made while the body is refused."""
    server = serve(study)
    for path in ("/nothing", "/health", "LINK/answers"):
        lines = f"POST {path} HTTP/1.1\r\nHost: study\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n"
        assert opened(server, lines.encode()).recv(4096).startswith(b"HTTP/1.1 400")
    answer_ten(server)
    assert server.stop_quietly() == ""


@pytest.fixture
def large_study(make: Make, tmp_path: Path) -> Path:
    """A study whose state does not fit into the buffers of a connection."""
    made = make(60)
    long = " ".join(["word"] * 30_000)
    items = tuple(replace(item, source=(f"{item.source[-1]} {long}",)) for item in made.items)
    write_study(replace(made, items=items), tmp_path / "study")
    return tmp_path / "study"


STATE = b"GET LINK/state HTTP/1.1\r\nHost: study\r\n\r\n"


def test_responses_that_nobody_takes_do_not_fill_the_memory(large_study: Path, serve: Serve, opened: Any) -> None:
    server = serve(large_study, set_limits="middleware.MAX_UNSENT = 20_000_000")
    some = [opened(server, STATE) for _ in range(12)]  # 9 MB each
    assert httpx.get(f"{server.links['ben']}/state", timeout=20).status_code == 200  # in turn: theirs are made now
    complete = [is_complete(one) for one in some]
    assert complete.count(False) >= 8
    assert complete[-1]  # the last one is still sent
    assert server.stop_quietly() == ""


def is_complete(connection: socket.socket) -> bool:
    """Read a response; whether it came to its end."""
    with connection.makefile("rb") as stream:
        head = list(iter(stream.readline, b"\r\n"))
        length = next(int(line.split()[1]) for line in head if line.lower().startswith(b"content-length:"))
        try:
            return len(stream.read(length)) == length
        except ConnectionError:
            return False


def test_a_closed_connection_makes_room(large_study: Path, serve: Serve, opened: Any) -> None:
    """Closed by the server, but its client does not take the end of the response: it still holds a file."""
    server = serve(large_study, set_limits="middleware.MAX_CONNECTIONS = 16; middleware.MAX_UNSENT = 1 << 40")
    for _ in range(20):
        opened(server, STATE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        time.sleep(0.1)
    answer_ten(server)
    assert server.stop_quietly() == ""


def test_a_response_that_nobody_takes_does_not_delay_the_end(large_study: Path, serve: Serve, opened: Any) -> None:
    server = serve(large_study)
    opened(server, STATE)
    time.sleep(2)  # the whole response is in the buffers
    began = time.monotonic()
    assert server.stop(signal.SIGTERM) == -signal.SIGTERM
    assert time.monotonic() - began < 5


def test_too_few_files_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (50, 50))
    with pytest.raises(AnaphoraError, match="only 50 files may be open, the study server needs 64"):
        middleware.connection_limit()
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (128, 128))
    assert middleware.connection_limit() == 80
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert middleware.connection_limit() == middleware.MAX_CONNECTIONS
