"""The connection to a Ray cluster: made when it is needed, quiet, and shared by those who use it."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import pickle
import socket
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from importlib import import_module
from typing import Any

from anaphora import __version__
from anaphora.core.errors import AnaphoraError
from anaphora.systems import System
from anaphora.systems.context import Options
from anaphora.systems.distributed.team import Event, Failed, Member, Team
from anaphora.systems.scoring import Scorer, StartScorer

_holders: set[object] = set()  # users of a connection that was made here


def connect(address: str | None) -> tuple[Any, Callable[[], None]]:
    """Ray, connected, and what lets it go again. A connection that the program has made itself is used and kept."""
    try:
        ray: Any = import_module("ray")
    except ModuleNotFoundError:
        raise AnaphoraError('a cluster needs ray, which is not installed: pip install "anaphora[cluster]"') from None
    fresh = not ray.is_initialized()
    if fresh:
        _holders.clear()
        _init(ray, address)
    me = object()
    if fresh or _holders:
        _holders.add(me)

    def disconnect() -> None:
        if me in _holders:
            _holders.remove(me)
            if not _holders:
                ray.shutdown()

    return ray, disconnect


def _init(ray: Any, address: str | None) -> None:
    if address not in (None, "auto", "local"):
        _try_to_reach(ray, str(address))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    _silence(ray._private.worker)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        where = address or "this machine"
        raise AnaphoraError(f"no connection to a Ray cluster at {where}: {in_short(error)}") from None


def _try_to_reach(ray: Any, address: str) -> None:
    """Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise AnaphoraError(
            f"not the address of a Ray cluster: {address!r}. Write HOST:PORT, the head's, as in: ray start"
        )
    if host in ("localhost", "127.0.0.1"):
        host = ray.util.get_node_ip_address()  # which is what Ray makes of it
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, UnicodeError) as error:
        why = "no host can have such a name" if isinstance(error, UnicodeError) else error.strerror or str(error)
        place = f"{host}:{port} ({why.lower()})"
        raise AnaphoraError(f"no Ray cluster at {place}. Start one with: ray start --head") from None


def _silence(worker: Any) -> None:
    """Ray prints what happens to its nodes on stdout, whatever it is told; but that is where our results go."""
    if hasattr(worker, "print_to_stdstream"):
        loud = inspect.unwrap(worker.print_to_stdstream)
        quiet = wraps(loud)(lambda *arguments, **named: None if _holders else loud(*arguments, **named))
        worker.print_to_stdstream = quiet


def in_short(error: BaseException) -> str:
    """An error of Ray in one line, without the lists of particulars that it has."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
    return " ".join([type(error).__name__ + ":", *lines])[:400]


# Workers on a Ray cluster: actors that each hold a system, as many as the cluster has room for.

PATIENCE = 1.0  # seconds between two looks at which nodes have come or gone


def ray_cluster(
    address: str | None = None,
    *,
    workers: int | None = None,
    cpus_per_worker: int = 1,
    gpus_per_worker: float = 0,
) -> StartScorer:
    """Actors of a Ray cluster for `score_suite`; each is given its processors for itself, and as many threads.

    address: HOST:PORT of the head; without, what RAY_ADDRESS says, a cluster that runs here, or else a new one here
    workers: at most so many
    """

    def start(spec: str, options: Options) -> tuple[System, Scorer]:
        needs = {"CPU": float(cpus_per_worker), "GPU": float(gpus_per_worker)}
        team = RayTeam(spec, replace(options, threads=cpus_per_worker), address or None, needs, workers)
        return team, team.compute

    return start


class RayTeam(Team):
    """Actors, each with its own share of the cluster. One that is lost is replaced where there is room."""

    retries = 3

    def __init__(
        self, spec: str, options: Options, address: str | None, needs: dict[str, float], workers: int | None
    ) -> None:
        self.ray, disconnect = connect(address)
        self._disconnect = weakref.finalize(self, disconnect)
        self.needs, self.workers = needs, workers
        self._actor = self.ray.remote(remote_worker())
        self._room, self._looked = 0, 0.0
        self._load = pickle.dumps((spec, options))
        if not self.room():
            self._disconnect()
            wanted = " and ".join(f"{amount:g} {kind}" for kind, amount in needs.items() if amount)
            raise AnaphoraError(f"no node of the Ray cluster has {wanted} for a worker. See: ray status")
        super().__init__(spec, options)

    def room(self) -> int:
        if not self._looked or time.monotonic() > self._looked + PATIENCE:
            alive = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
            fits = sum(
                min(int(node.get(kind, 0) / amount + 1e-9) for kind, amount in self.needs.items() if amount)
                for node in alive
            )
            self._room, self._looked = min(fits, self.workers or fits), time.monotonic()
        return self._room

    def end(self) -> None:
        super().end()
        self._disconnect()

    def hire(self) -> Member:
        handle = self._actor.options(
            num_cpus=self.needs["CPU"],
            num_gpus=self.needs["GPU"],
            max_restarts=0,  # the team hires another one, and knows what is done already
            scheduling_strategy="SPREAD",
        ).remote()
        return RayMember(self.ray, handle, self._load)

    def listen(self) -> Iterator[tuple[Member, Event]]:
        busy = {member.events: member for member in self.members if isinstance(member, RayMember) and member.busy}
        waiting = list(busy)
        if waiting and self.ray.wait(waiting, timeout=PATIENCE)[0]:
            for events in self.ray.wait(waiting, num_returns=len(waiting), timeout=0)[0]:
                yield busy[events], busy[events].hear()


class RayMember(Member):
    """An actor, and the stream of what it gives for the last request."""

    def __init__(self, ray: Any, handle: Any, load: bytes) -> None:
        super().__init__("a worker on the cluster")
        self.ray, self.handle = ray, handle
        self.events = handle.start.options(num_returns="streaming").remote(__version__, load)

    def ask(self, request: str, *arguments: Any) -> None:
        self.events = self.handle.answer.options(num_returns="streaming").remote(request, *arguments)

    def hear(self) -> Event:
        try:
            event = self.ray.get(next(self.events))
        except StopIteration:
            return None
        except self.ray.exceptions.RayError as error:
            return Failed(in_short(error))
        if isinstance(event, str):  # of a worker that could not even say it in our own words
            return Failed(event, final=True)
        said: Event = event
        return said

    def dismiss(self) -> None:
        with contextlib.suppress(Exception):  # it may be gone already, and the cluster with it
            self.ray.kill(self.handle)


def remote_worker() -> type:
    """The class of the actors. It is sent as it is, and so can tell that a node has another version, or none."""

    class RemoteWorker:
        def start(self, version: str, load: bytes) -> Iterator[Any]:
            import pickle
            import platform

            try:
                from anaphora import __version__ as found
            except ImportError:
                found = "not installed"
            if found != version:
                yield (
                    f"anaphora is {version} here, but {found} on the node {platform.node()} of the cluster. "
                    f'Install it there: pip install "anaphora[all]=={version}"'
                )
                return
            from anaphora.systems.distributed.team import Worker

            self.worker = Worker()
            yield from self.worker.answer("load", *pickle.loads(load))

        def answer(self, request: str, *arguments: Any) -> Iterator[Any]:
            yield from self.worker.answer(request, *arguments)

    return RemoteWorker
