"""Answers that arrive while the disk is busy are written together, and nobody is told before they are there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.study.store import Answer, Conflict

pytest.importorskip("fastapi", reason="FastAPI is not installed: pip install 'anaphora[study]'")

from anaphora.study.server import AT_ONCE, MOST_ANSWERS, BatchWriter


def answer(number: int) -> Answer:
    return Answer("anna", f"p{number}", ("a",), (0, 1), f"request-{number}")


class SlowLog:
    """Takes its time, and fails when it is told to."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.fails = False

    def append_all(self, answers: Sequence[Answer]) -> list[Answer | Conflict]:
        time.sleep(0.05)
        if self.fails:
            raise AnaphoraError("the disk is full")
        self.batches.append([one.request for one in answers])
        return list(answers)


def test_what_arrives_together_is_written_together() -> None:
    log = SlowLog()

    async def everybody() -> None:
        writer = BatchWriter(log)  # type: ignore[arg-type]

        async def one(number: int) -> None:
            assert await writer.keep([answer(number)]) == [answer(number)]
            assert any(f"request-{number}" in batch for batch in log.batches)  # not told before it was there

        await asyncio.gather(*(one(number) for number in range(2 * AT_ONCE + 1)))

    asyncio.run(everybody())
    assert [len(batch) for batch in log.batches] == [AT_ONCE, AT_ONCE, 1]
    assert [name for batch in log.batches for name in batch] == [f"request-{k}" for k in range(2 * AT_ONCE + 1)]


def test_no_transaction_has_more_answers_than_a_database_binds() -> None:
    """Pages that are closed send many answers in one request, and many pages may be closed at once."""
    log = SlowLog()

    async def everybody() -> None:
        writer = BatchWriter(log)  # type: ignore[arg-type]
        some = [[answer(1000 * page + k) for k in range(300)] for page in range(30)]
        huge = [answer(k) for k in range(MOST_ANSWERS + 1)]
        assert await asyncio.gather(*(writer.keep(one) for one in (*some, huge))) == [*some, huge]

    asyncio.run(everybody())
    *others, last = [len(batch) for batch in log.batches]
    assert last == MOST_ANSWERS + 1  # one request is never divided
    assert sum(others) == 9000
    assert max(others) <= MOST_ANSWERS
    assert len(others) == 5


def test_a_failure_reaches_all_who_wait_and_does_not_persist() -> None:
    log = SlowLog()

    async def some() -> None:
        writer = BatchWriter(log)  # type: ignore[arg-type]
        log.fails = True
        outcomes = await asyncio.gather(*(writer.keep([answer(k)]) for k in range(3)), return_exceptions=True)
        assert [str(one) for one in outcomes] == ["the disk is full"] * 3
        log.fails = False
        assert await writer.keep([answer(4), answer(5)]) == [answer(4), answer(5)]

    asyncio.run(some())
    assert log.batches == [["request-4", "request-5"]]


def test_a_client_that_went_away_is_in_nobodys_way() -> None:
    log = SlowLog()

    async def some() -> None:
        writer = BatchWriter(log)  # type: ignore[arg-type]
        gone = asyncio.create_task(writer.keep([answer(0)]))
        stays = asyncio.create_task(writer.keep([answer(1)]))
        await asyncio.sleep(0)
        gone.cancel()
        assert await stays == [answer(1)]

    asyncio.run(some())
    assert log.batches == [["request-0", "request-1"]]
