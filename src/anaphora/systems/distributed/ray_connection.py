"""The connection to a Ray cluster: made when it is needed, quiet, and shared by those who use it."""

from __future__ import annotations

import inspect
import logging
import os
import socket
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any

from anaphora.core.errors import AnaphoraError

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
