"""Connections of the study's server: how many there may be, and how long a client may take over a request.

uvicorn waits forever for the rest of a request, and asyncio accepts connections until no file descriptor is left. Here
a request has a deadline and the number of connections a limit. Where the limit is reached, the connections that have
kept the server waiting longest make room for new ones.
"""

from __future__ import annotations

import asyncio
import heapq
import socket
from collections.abc import Collection, Iterable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from anaphora.core.errors import AnaphoraError

REQUEST_SECONDS = 20.0  # from its first byte (of the first request: from the connection) to its last
RESPONSE_SECONDS = 120.0  # until a client must have taken a response that does not fit into the buffers
MAX_CONNECTIONS = 1000
RESERVED_FILES = 48  # descriptors for the database, the pages and Python itself
CLOSED_AT_ONCE = 16  # connections that make room together


def connection_limit() -> int:
    """How many connections there may be: what the limit of open files leaves, at most MAX_CONNECTIONS."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return MAX_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = MAX_CONNECTIONS if files == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, files - RESERVED_FILES)
    if allowed < 16:
        needed = RESERVED_FILES + 16
        raise AnaphoraError(f"only {files} files may be open, the study's server needs {needed}. Run: ulimit -n 1024")
    return allowed


class TimedProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, where a client that takes too long is disconnected."""

    since = 0.0  # when the request began that is being read or answered
    _watch: asyncio.TimerHandle | None = None
    _last: RequestResponseCycle | None = None  # the last exchange that was complete when something new came

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        self._watch = self.loop.call_later(REQUEST_SECONDS, self._check)

    def data_received(self, data: bytes) -> None:
        done = self.cycle if self.cycle is not None and self.cycle.response_complete else None
        if done is not None and done is not self._last:
            self._last, self.since = done, self.loop.time()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server is being stopped: answer what has arrived, do not wait for the rest of a request."""
        if self.waiting and self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()
        else:
            super().shutdown()

    @property
    def waiting(self) -> bool:
        """Whether it is the client that something is expected of: a request, the rest of one, or to read."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body or self.flow.write_paused

    def _check(self) -> None:
        """Disconnect a client that is late; look again later at any other."""
        allowed = RESPONSE_SECONDS if self.flow.write_paused else REQUEST_SECONDS
        late = self.loop.time() - self.since - allowed
        if self.waiting and late >= 0:
            self.transport.abort()
        else:
            self._watch = self.loop.call_later(-late if late < 0 else 1.0, self._check)


class LimitedListener(socket.socket):
    """A listening socket with a limit to the connections that were accepted and are still open.

    connections: those that the server knows, filled by it
    """

    limit = MAX_CONNECTIONS
    connections: Collection[Any] = ()

    def __init__(self, family: int) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._accepted: list[socket.socket] = []

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection. Over the limit it stays in the queue while others are closed.

        BlockingIOError tells asyncio that there is nothing to accept now; it asks again in its next round.
        """
        if len(self._accepted) >= self.limit:
            self._accepted = [one for one in self._accepted if one.fileno() != -1]
        if len(self._accepted) >= self.limit:
            known = [one for one in self.connections if not one.transport.is_closing()]
            waiting = [one for one in known if one.waiting]
            _close_oldest(waiting)
            if not waiting and len(known) >= len(self._accepted):  # all are being answered: this one cannot be
                super().accept()[0].close()
            raise BlockingIOError
        connection, address = super().accept()
        self._accepted.append(connection)
        return connection, address


def _close_oldest(waiting: Iterable[Any]) -> None:
    for one in heapq.nsmallest(CLOSED_AT_ONCE, waiting, key=lambda connection: connection.since):
        one.transport.abort()
