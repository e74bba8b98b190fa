"""Workers on a Ray cluster: actors that each hold their state, and the connection to the cluster."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import socket
import time
import weakref
from collections.abc import Callable, Iterator
from functools import wraps
from importlib import import_module
from typing import Any

from anaphora import __version__
from anaphora.core.errors import AnaphoraError
from anaphora.core.parsing import is_count
from anaphora.core.workers import Event, Failed, Handler, WorkerHandle, WorkerPool

POLL_SECONDS = 1.0  # between two looks at the nodes that have come or gone
MAX_PORT = 65_535
ANSWER_SECONDS = 10.0  # seconds within which a head has answered
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))  # how every gRPC connection begins


class RayPool(WorkerPool):
    """Actors, each with its own share of the cluster. A lost one is replaced where there is room.

    address: HOST:PORT of the head; None is RAY_ADDRESS, a cluster that runs here, or else a new one here
    workers: at most this many; cpus, gpus: of each
    """

    def __init__(
        self,
        handler: Handler,
        address: str | None = None,
        *,
        workers: int | None = None,
        cpus: int = 1,
        gpus: float = 0,
        retries: int = 3,
        advice: str = "",
    ) -> None:
        self.ray, disconnect = connect(address)
        self._disconnect = weakref.finalize(self, disconnect)  # runs after the finalizer that terminates the workers
        super().__init__(handler, retries=retries, advice=advice)
        self.needs, self.size = {"CPU": float(cpus), "GPU": float(gpus)}, workers
        self._actor = self.ray.remote(remote_worker())
        self._capacity, self._counted = 0, 0.0
        if not self.capacity():
            self._disconnect()
            needs = " and ".join(f"{amount:g} {kind}" for kind, amount in self.needs.items() if amount)
            raise AnaphoraError(f"no node of the Ray cluster has {needs} for a worker. See: ray status")

    def capacity(self) -> int:
        if not self._counted or time.monotonic() > self._counted + POLL_SECONDS:
            alive = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
            fits = sum(
                min(int(node.get(kind, 0) / amount + 1e-9) for kind, amount in self.needs.items() if amount)
                for node in alive
            )
            self._capacity, self._counted = min(fits, self.size or fits), time.monotonic()
        return self._capacity

    def terminate(self) -> None:
        super().terminate()
        self._disconnect()

    def publish(self, shared: Any) -> Any:
        return self.ray.put(super().publish(shared))

    def spawn(self) -> WorkerHandle:
        actor = self._actor.options(
            num_cpus=self.needs["CPU"],
            num_gpus=self.needs["GPU"],
            max_restarts=0,  # the pool starts another one, and knows which results have arrived
            scheduling_strategy="SPREAD",
        ).remote()
        return RayHandle(self.ray, actor, self.handler)

    def poll(self) -> Iterator[tuple[WorkerHandle, Event]]:
        busy = {worker.events: worker for worker in self.workers if isinstance(worker, RayHandle) and worker.busy}
        streams = list(busy)
        if streams and self.ray.wait(streams, timeout=POLL_SECONDS)[0]:
            for events in self.ray.wait(streams, num_returns=len(streams), timeout=0)[0]:
                yield busy[events], busy[events].receive()


class RayHandle(WorkerHandle):
    """An actor, and the stream of events of its last request."""

    def __init__(self, ray: Any, actor: Any, handler: bytes) -> None:
        super().__init__("a worker on the cluster")
        self.ray, self.actor = ray, actor
        self.events = actor.start.options(num_returns="streaming").remote(__version__, handler)

    def request(self, request: str, *arguments: Any) -> None:
        self.events = self.actor.answer.options(num_returns="streaming").remote(request, *arguments)

    def share(self, number: int, shared: Any) -> None:
        self.actor.share.remote(number, shared)

    def receive(self) -> Event:
        try:
            event = self.ray.get(next(self.events))
        except StopIteration:
            return None
        except self.ray.exceptions.RayError as error:
            return Failed(one_line(error))
        if isinstance(event, str):  # from a node that has another version of Anaphora
            return Failed(event, final=True)
        received: Event = event
        return received

    def terminate(self) -> None:
        with contextlib.suppress(Exception):  # it may be gone already, and the cluster with it
            self.ray.kill(self.actor)


def remote_worker() -> type:
    """The class of the actors. It is sent by value, so that a node without this version of Anaphora can report it."""

    class RemoteWorker:
        def start(self, version: str, handler: bytes) -> Iterator[Any]:
            import platform

            try:
                from anaphora import __version__ as installed
            except ImportError:
                installed = "not installed"
            if installed != version:
                yield (
                    f"anaphora is {version} here, but {installed} on the node {platform.node()} of the cluster. "
                    f'Install it there: pip install "anaphora[all]=={version}"'
                )
                return
            from anaphora.core.workers import Worker

            self.worker = Worker(handler)
            yield from self.worker.answer("load")

        def answer(self, request: str, *arguments: Any) -> Iterator[Any]:
            yield from self.worker.answer(request, *arguments)

        def share(self, number: int, shared: bytes) -> None:
            self.worker.share(number, shared)

    return RemoteWorker


# The connection to a cluster: made when it is needed, quiet, and shared by its users

_users: set[object] = set()  # of a connection that was made here


def connect(address: str | None) -> tuple[Any, Callable[[], None]]:
    """Ray, connected, and a function that disconnects. A connection that the program has made itself is kept."""
    try:
        ray: Any = import_module("ray")
    except ModuleNotFoundError:
        raise AnaphoraError('a cluster needs ray, which is not installed: pip install "anaphora[cluster]"') from None
    fresh = not ray.is_initialized()
    if fresh:
        _users.clear()
        _init(ray, address)
    user = object()
    if fresh or _users:
        _users.add(user)

    def disconnect() -> None:
        if user in _users:
            _users.remove(user)
            if not _users:
                ray.shutdown()

    return ray, disconnect


def _init(ray: Any, address: str | None) -> None:
    if address not in (None, "auto", "local"):
        _check_reachable(ray, str(address))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    _silence(ray._private.worker)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        where = address or "this machine"
        raise AnaphoraError(f"no connection to a Ray cluster at {where}: {one_line(error)}") from None


def _check_reachable(ray: Any, address: str) -> None:
    """Raise an error if no head, which speaks gRPC, answers at the address. Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not is_count(port) or int(port) > MAX_PORT or "/" in host:
        raise AnaphoraError(
            f"not the address of a Ray cluster: {address!r}. Write HOST:PORT of the head, as `ray start` prints it"
        )
    if host in ("localhost", "127.0.0.1"):
        host = ray.util.get_node_ip_address()  # as Ray resolves it
    try:
        with socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS) as connection:
            is_head = os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true") or _speaks_grpc(connection)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL byte or an empty part
        why = error.strerror or str(error) if isinstance(error, OSError) else "invalid host name"
        raise AnaphoraError(
            f"no Ray cluster at {host}:{port} ({why.lower()}). Start one with: ray start --head"
        ) from None
    if not is_head:
        raise AnaphoraError(
            f"{host}:{port} is not the head of a Ray cluster. Write the address that `ray start` prints"
        )


def _speaks_grpc(connection: socket.socket) -> bool:
    """Return whether a server answers as HTTP/2 demands: the first frame that it sends has its settings."""
    give_up, frame = time.monotonic() + ANSWER_SECONDS, b""
    with contextlib.suppress(OSError):
        connection.sendall(HTTP2)
        while len(frame) < 9 and time.monotonic() < give_up:
            connection.settimeout(max(give_up - time.monotonic(), 0.01))
            if not (received := connection.recv(9 - len(frame))):
                break
            frame += received
    return len(frame) == 9 and frame[3] == 4


def _silence(worker: Any) -> None:
    """Stop Ray from printing its nodes' events to stdout, which is where results are printed."""
    if hasattr(worker, "print_to_stdstream"):
        loud = inspect.unwrap(worker.print_to_stdstream)
        quiet = wraps(loud)(lambda *arguments, **named: None if _users else loud(*arguments, **named))
        worker.print_to_stdstream = quiet


def one_line(error: BaseException) -> str:
    """An error of Ray in one line, without its lists of particulars."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
    return " ".join([type(error).__name__ + ":", *lines])[:400]
