"""Work in threads that mostly wait: results as they come, and nothing of them lost when something fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def as_finished(
    work: Callable[[int], T],
    numbers: Iterable[int],
    threads: int,
    *,
    failed: Callable[[], None],
    leave: Callable[[], None],
) -> Iterator[tuple[int, T]]:
    """Each number with what the work on it gives, in the order in which the threads finish.

    After a failure nothing new is begun; what the others find is given; then the failure is raised.

    failed: called at once after the first failure, so that the others do not try for long
    leave: called at the end, also when whoever asks has enough or the user interrupts: nobody waits any more then
    """
    failures: list[BaseException] = []

    def guarded(number: int) -> T:
        try:
            return work(number)
        except BaseException as error:
            failures.append(error)  # in this order: those of others, who are told now, are not what went wrong
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
