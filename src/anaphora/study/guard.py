"""What keeps the study's server polite and safe: headers, a limit to the size of a request, and one to their rate."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 16 * 1024
RATE, BURST = 20.0, 100.0  # requests per second of one link, and how many at once
ADMIN_RATE, ADMIN_BURST = 2.0, 20.0  # of the admin's link, whose pages are expensive; one open page asks every 5 s
UNKNOWN_RATE, UNKNOWN_BURST = 5.0, 50.0  # of all links together that lead nowhere

HEADERS = {
    # nothing is loaded from anywhere else, nothing is run that is not ours, nobody frames the page
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
    """Adds the headers to every answer, errors too."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                added = {**HEADERS, "Cache-Control": "no-store"}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.lower().encode(), value.encode())
                        for name, value in added.items()
                        if name.lower().encode() not in present
                    ),
                ]
            await send(message)

        await self.app(scope, receive, send_with_headers)


class RateLimit:
    """A bucket for each link: it fills at RATE, holds BURST, and every request takes one out."""

    def __init__(self, rate: float = RATE, burst: float = BURST, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def allows(self, link: str) -> bool:
        now = self._clock()
        left, before = self._buckets.get(link, (self._burst, now))
        left = min(self._burst, left + (now - before) * self._rate)
        self._buckets[link] = (left - 1 if left >= 1 else left), now
        return left >= 1
