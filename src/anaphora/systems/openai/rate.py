"""How fast a server is asked: a token bucket, and the pauses it asks for itself."""

from __future__ import annotations

import threading
import time


class RateLimit:
    """So many requests a minute, shared by all threads.

    burst: how many may go at once after a while without any
    """

    def __init__(self, per_minute: float | None = None, burst: int = 1) -> None:
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._ahead = (burst - 1) * self._interval
        self._full = self._held = 0.0  # when the bucket is full again, and until when the server wants no requests
        self._lock = threading.Lock()

    def hold(self, seconds: float) -> None:
        """No thread asks before so many seconds have passed."""
        with self._lock:
            self._held = max(self._held, time.monotonic() + seconds)

    def wait(self, stopped: threading.Event) -> bool:
        """Wait for one's turn; False if stopped before. It is taken when one goes: pauses save up no turns."""
        while not stopped.is_set():
            with self._lock:
                now = time.monotonic()
                full = max(self._full, now)
                seconds = max(full - self._ahead, self._held) - now
                if seconds <= 0:
                    self._full = full + self._interval
                    return True
            stopped.wait(seconds)
        return False
