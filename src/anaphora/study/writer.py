"""Answers that arrive together share a transaction, so that many annotators do not queue for the disk one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from anyio import CapacityLimiter, to_thread

from anaphora.study.store import Answer, AnswerLog, Conflict

AT_ONCE = 200  # requests in one transaction


class Writer:
    """Writes what has arrived while the transaction before was on its way to the disk. Belongs to one event loop."""

    def __init__(self, log: AnswerLog) -> None:
        self._log = log
        self._thread = CapacityLimiter(1)  # its own: those of other requests may all be taken
        self._waiting: list[tuple[Sequence[Answer], asyncio.Future[list[Answer | Conflict]]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def keep(self, answers: Sequence[Answer]) -> list[Answer | Conflict]:
        """The answers as they are in the log, or why one is not; they are on the disk before this returns."""
        outcome: asyncio.Future[list[Answer | Conflict]] = asyncio.get_running_loop().create_future()
        self._waiting.append((answers, outcome))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return await outcome

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
                everything = [answer for answers, _ in batch for answer in answers]
                try:
                    kept = iter(await to_thread.run_sync(self._log.append_all, everything, limiter=self._thread))
                except Exception as error:  # whoever waits is told; what comes next may succeed
                    for _, outcome in batch:
                        _settle(outcome, error)
                else:
                    for answers, outcome in batch:
                        _settle(outcome, [next(kept) for _ in answers])
        finally:
            self._writing = None


def _settle(outcome: asyncio.Future[list[Answer | Conflict]], result: list[Answer | Conflict] | Exception) -> None:
    if outcome.done():  # nobody waits any more
        return
    if isinstance(result, Exception):
        outcome.set_exception(result)
    else:
        outcome.set_result(result)
