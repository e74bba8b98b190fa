"""Work in threads that mostly wait for a server, and how fast they may ask it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


class RateLimit:
    """A token bucket shared by all threads, and the pauses that a server asks for.

    per_minute: requests per minute; burst: how many may go at once after a while without any
    """

    def __init__(self, per_minute: float | None = None, burst: int = 1) -> None:
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._ahead = (burst - 1) * self._interval
        self._full = self._held = 0.0  # when the bucket is full again, and until when no requests may be sent
        self._lock = threading.Lock()

    def hold(self, seconds: float) -> None:
        """Let no thread send a request for this many seconds."""
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


def as_finished(
    work: Callable[[int], T],
    numbers: Iterable[int],
    threads: int,
    *,
    failed: Callable[[], None],
    leave: Callable[[], None],
) -> Iterator[tuple[int, T]]:
    """Yield each number with what the work on it gives, in the order in which the threads finish.

    After a failure no new work is begun; what the other threads find is yielded; then the failure is raised.

    failed: called at once after the first failure, so that the others do not try for long
    leave: called at the end, also when the caller stops early or the user interrupts
    """
    failures: list[BaseException] = []

    def guarded(number: int) -> T:
        try:
            return work(number)
        except BaseException as error:
            failures.append(error)  # the first one is raised: the others are stopped because of it
            failed()
            raise

    todo, running = iter(numbers), dict[Future[T], int]()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="anaphora")
    try:
        while True:
            if not failures:
                for number in islice(todo, 2 * threads - len(running)):
                    running[pool.submit(guarded, number)] = number
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number = running.pop(future)
                if not future.cancelled() and future.exception() is None:
                    yield number, future.result()
            if failures:
                for other in running:
                    other.cancel()
        if failures:
            raise failures[0]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        leave()
        while wait([future for future in running if not future.cancelled()], timeout=0.2).not_done:
            leave()  # once more: a thread may have been about to begin something
        pool.shutdown()
