"""Protection of the study's server: security headers, and limits on requests and connections.

uvicorn waits forever for the rest of a request, and asyncio accepts connections until no file descriptor is left. Here
a request has a deadline and the number of connections a limit. Where the limit is reached, the connections that have
kept the server waiting longest make room for new ones.
"""

from __future__ import annotations

import asyncio
import heapq
import socket
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import h11
from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 16 * 1024
RATE, BURST = 20.0, 100.0  # requests per second of one link, and at once
ADMIN_RATE, ADMIN_BURST = 2.0, 20.0  # of the admin's link, whose pages are expensive; one open page asks every 5 s
UNKNOWN_RATE, UNKNOWN_BURST = 5.0, 50.0  # of all unknown links together

HEADERS = {
    # no external resources, no inline scripts, no frames
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # a personal link must not leave in a Referer
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Robots-Tag": "noindex, nofollow",
}


class SecureHeaders:
    """Add the headers to every response, including errors; refuse requests that a proxy may understand differently."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {**HEADERS, "Cache-Control": "no-store"}.items():
                    headers.setdefault(name, value)
            await send(message)

        named = {name for name, _ in scope["headers"]}
        ambiguous = {b"content-length", b"transfer-encoding"} <= named  # where it ends: another request may be hidden
        app = PlainTextResponse("Two lengths.", 400, headers={"Connection": "close"}) if ambiguous else self.app
        await app(scope, receive, send_with_headers)


class RateLimit:
    """A token bucket for each link."""

    def __init__(self, rate: float = RATE, burst: float = BURST, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def allows(self, link: str) -> bool:
        now = self._clock()
        left, before = self._buckets.get(link, (self._burst, now))
        left = min(self._burst, left + (now - before) * self._rate)
        self._buckets[link] = (left - 1 if left >= 1 else left), now
        return left >= 1


# Connections.

REQUEST_SECONDS = 20.0  # from its first byte (of the first request: from the connection) to its last
RESPONSE_SECONDS = 120.0  # until a client must have taken a response that does not fit into the buffers
MAX_UNSENT = 64 * 1024 * 1024  # bytes of responses that clients have not taken yet, all together
MAX_CONNECTIONS = 1000
RESERVED_FILES = 48  # descriptors for the database, the pages and Python itself
CLOSED_AT_ONCE = 16  # connections that are closed together to make room


def connection_limit() -> int:
    """Return the number of connections that the limit of open files allows, at most MAX_CONNECTIONS."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return MAX_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = MAX_CONNECTIONS if files == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, files - RESERVED_FILES)
    if allowed < 16:
        needed = RESERVED_FILES + 16
        raise AnaphoraError(f"only {files} files may be open, the study server needs {needed}. Run: ulimit -n 1024")
    return allowed


class TimedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol, which disconnects a client that takes too long."""

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

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP. After a reply to the same request, uvicorn would raise an error, which is logged."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # its reply, which may be under way, has no place any more

    def pause_writing(self) -> None:
        """A client does not take its response. Where this fills the memory, the oldest of them are disconnected."""
        super().pause_writing()
        paused = [one for one in self.connections if isinstance(one, TimedProtocol) and one.flow.write_paused]
        unsent = sum(one.transport.get_write_buffer_size() for one in paused)
        for one in sorted(paused, key=lambda connection: connection.since):
            if unsent > MAX_UNSENT and one is not self:
                unsent -= one.transport.get_write_buffer_size()
                one.transport.abort()

    def shutdown(self) -> None:
        """Answer what has arrived when the server is stopped; do not wait for clients that send or take too slowly."""
        unfinished = self.cycle is not None and not self.cycle.response_complete
        if (self.waiting and unfinished) or self.flow.write_paused:
            self.transport.abort()
        else:
            super().shutdown()

    @property
    def waiting(self) -> bool:
        """Whether the server waits for the client: for a request, the rest of one, or for it to read."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body or self.flow.write_paused

    def _check(self) -> None:
        """Disconnect a client that is late; check any other again later."""
        allowed = RESPONSE_SECONDS if self.flow.write_paused else REQUEST_SECONDS
        late = self.loop.time() - self.since - allowed
        if self.waiting and late >= 0:
            self.transport.abort()
        else:
            self._watch = self.loop.call_later(-late if late < 0 else 1.0, self._check)


def is_closed(transport: asyncio.Transport) -> bool:
    """Whether a connection is about to go. One that is closed while it has something to send waits for its client."""
    return transport.is_closing() and not transport.get_write_buffer_size()


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
            known = [one for one in self.connections if not is_closed(one.transport)]
            waiting = [one for one in known if one.waiting]
            for one in heapq.nsmallest(CLOSED_AT_ONCE, waiting, key=lambda connection: connection.since):
                one.transport.abort()
            if not waiting and len(known) >= len(self._accepted):  # all are being answered: this one cannot be
                super().accept()[0].close()
            raise BlockingIOError
        connection, address = super().accept()
        self._accepted.append(connection)
        return connection, address
