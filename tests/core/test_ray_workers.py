"""The connection to a cluster: made once, let go by the last who uses it, and never that of somebody else.

Ray is played here: it says what it was asked, and prints where it should not.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Iterator
from threading import Thread
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from anaphora.core import ray_workers as module
from anaphora.core.errors import AnaphoraError
from anaphora.core.ray_workers import connect, one_line


class Ray(ModuleType):
    """connected: whether somebody has made a connection; calls: how it was made, and when it was given up"""

    def __init__(self) -> None:
        super().__init__("ray")
        self.connected, self.calls = False, list[Any]()
        self.error: Exception | None = None
        self.printed: list[str] = []
        self._private = SimpleNamespace(worker=SimpleNamespace(print_to_stdstream=self.printed.append))
        self.util = SimpleNamespace(get_node_ip_address=lambda: "127.0.0.1")

    def is_initialized(self) -> bool:
        return self.connected

    def init(self, **arguments: Any) -> None:
        self.calls.append(arguments)
        if self.error:
            raise self.error
        self.connected = True

    def shutdown(self) -> None:
        self.calls.append("shutdown")
        self.connected = False


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ray]:
    monkeypatch.setitem(sys.modules, "ray", played := Ray())
    monkeypatch.setattr(module, "_users", set())
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")  # so that it is as before afterwards
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED")
    return played


# Who makes it and who lets it go


def test_it_is_made_quietly_and_let_go(ray: Ray) -> None:
    actual, disconnect = connect(None)
    assert actual is ray
    assert ray.connected
    disconnect()
    [made, end] = ray.calls
    assert (made["address"], made["log_to_driver"], made["include_dashboard"], end) == (None, False, False, "shutdown")
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_the_last_of_its_users_lets_it_go(ray: Ray) -> None:
    (_, one), (_, two), (_, three) = (connect(None) for _ in range(3))
    two()
    one()
    one()  # again, as finalizers may
    assert ray.connected
    three()
    assert not ray.connected
    assert len(ray.calls) == 2


def test_an_existing_connection_of_the_program_is_used_and_kept(ray: Ray) -> None:
    ray.connected = True
    (_, one), (_, two) = connect("10.0.0.1:6379"), connect(None)
    one()
    two()
    assert ray.connected
    assert ray.calls == []


def test_after_it_was_let_go_another_is_made(ray: Ray) -> None:
    for _ in range(2):
        connect("local")[1]()
    assert [call if call == "shutdown" else call["address"] for call in ray.calls] == ["local", "shutdown"] * 2


def test_one_that_another_program_has_ended_is_made_again(ray: Ray) -> None:
    """Who held the old one does not let the new one go."""
    _, old = connect(None)
    ray.shutdown()
    _, new = connect(None)
    old()
    assert ray.connected
    new()
    assert not ray.connected


# What does not work


@pytest.mark.parametrize("error", [ConnectionError("no\n\n  cluster\n\tnode 1\n"), RuntimeError("x"), ValueError("x")])
def test_what_ray_says_against_it_is_one_line(ray: Ray, error: Exception) -> None:
    ray.error = error
    with pytest.raises(
        AnaphoraError, match=rf"^no connection to a Ray cluster at auto: {type(error).__name__}: "
    ) as message:
        connect("auto")
    assert "\n" not in str(message.value)
    assert "node 1" not in str(message.value)
    ray.error = None
    connect(None)[1]()  # nobody holds what was not made
    assert not ray.connected


def test_without_an_address_it_is_this_machine(ray: Ray) -> None:
    ray.error = RuntimeError("x")
    with pytest.raises(AnaphoraError, match="no connection to a Ray cluster at this machine: RuntimeError: x"):
        connect(None)


@pytest.mark.parametrize(
    "address",
    [
        "6379",
        "host",
        "host:",
        ":6379",
        "host:port",
        "host:-1",
        "host:65536",
        "ray://host:10001",
        "http://host:8265",
        "",
    ],
)
def test_what_is_not_an_address(ray: Ray, address: str) -> None:
    with pytest.raises(AnaphoraError) as caught:
        connect(address)
    assert str(caught.value) == (
        f"not the address of a Ray cluster: {address!r}. Write HOST:PORT of the head, as `ray start` prints it"
    )
    assert ray.calls == []


@pytest.mark.parametrize("address", ["a..b:6379", "x" * 64 + ".org:6379", "127.0.0.1:0"])
def test_an_impossible_address(ray: Ray, address: str) -> None:
    with pytest.raises(
        AnaphoraError, match=rf"^no Ray cluster at {address} \(.+\)\. Start one with: ray start --head$"
    ):
        connect(address)
    assert ray.calls == []


SETTINGS = b"\0\0\0\4\0\0\0\0\0"


@contextlib.contextmanager
def server(first: bytes) -> Iterator[int]:
    """The port of a server that sends this to whoever connects, and nothing more."""
    with contextlib.ExitStack() as connections, socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connections.enter_context(connection := listening.accept()[0])
                    connection.sendall(first)

        thread = Thread(target=accept, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_without_a_server_ray_does_not_even_try(ray: Ray) -> None:
    with server(SETTINGS) as port:
        connect(f"localhost:{port}")[1]()
        assert ray.calls[0]["address"] == f"localhost:{port}"
    with pytest.raises(AnaphoraError, match=rf"^no Ray cluster at 127\.0\.0\.1:{port} \(connection refused\)"):
        connect(f"localhost:{port}")
    assert len(ray.calls) == 2


@pytest.mark.parametrize(
    "first", [b"", SETTINGS[:8], b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", b"-ERR unknown\r\n"]
)
def test_another_server_is_no_head(ray: Ray, monkeypatch: pytest.MonkeyPatch, first: bytes) -> None:
    """Ray would try for minutes."""
    monkeypatch.setattr("anaphora.core.ray_workers.ANSWER_SECONDS", 0.3)
    with server(first) as port, pytest.raises(AnaphoraError) as caught:
        connect(f"127.0.0.1:{port}")
    assert str(caught.value) == (
        f"127.0.0.1:{port} is not the head of a Ray cluster. Write the address that `ray start` prints"
    )
    assert ray.calls == []


def test_with_tls_ray_itself_finds_out(ray: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USE_TLS", "1")
    with server(b"") as port:
        connect(f"127.0.0.1:{port}")[1]()
    assert ray.calls[0]["address"] == f"127.0.0.1:{port}"


# What it prints


def test_it_prints_nothing_while_the_connection_is_ours(ray: Ray) -> None:
    worker = ray._private.worker
    loud = worker.print_to_stdstream
    for _ in range(3):
        _, disconnect = connect(None)
        worker.print_to_stdstream("a node has died")
        disconnect()
    assert ray.printed == []
    worker.print_to_stdstream("to somebody else")
    assert ray.printed == ["to somebody else"]
    assert worker.print_to_stdstream.__wrapped__ == loud  # silenced three times, and yet wrapped only once


def test_a_ray_without_this_function_is_left_unchanged(ray: Ray) -> None:
    del ray._private.worker.print_to_stdstream
    connect(None)[1]()
    assert vars(ray._private.worker) == {}


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("", "ValueError:"),
        ("one", "ValueError: one"),
        (
            "The actor died.\n\tclass_name: X\n\n  It was killed. \n\tpid: 7",
            "ValueError: The actor died. It was killed.",
        ),
        ("x" * 999, "ValueError: " + "x" * 388),
    ],
)
def test_one_line(text: str, short: str) -> None:
    assert one_line(ValueError(text)) == short
