"""Threads: every result once, the first failure in the end, none left behind, and never faster than allowed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.systems.openai import concurrency
from anaphora.systems.openai.concurrency import RateLimit, as_finished


class Broken(Exception):  # noqa: N818
    pass


def nothing() -> None:
    pass


def results(
    work: Callable[[int], int],
    numbers: Iterable[int],
    threads: int,
    failed: Callable[[], None] = nothing,
    leave: Callable[[], None] = nothing,
) -> Iterator[tuple[int, int]]:
    return as_finished(work, numbers, threads, failed=failed, leave=leave)


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    yield
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("anaphora")]


@settings(max_examples=50)
@given(st.lists(st.integers()), st.integers(1, 5))
def test_every_result_is_given_once(numbers: list[int], threads: int) -> None:
    actual = list(results(lambda number: 2 * number, numbers, threads))
    assert sorted(actual) == sorted((number, 2 * number) for number in numbers)


@settings(max_examples=50)
@given(st.integers(1, 30), st.sets(st.integers(0, 29), min_size=1), st.integers(1, 5))
def test_results_are_yielded_before_the_first_failure(size: int, bad: set[int], threads: int) -> None:
    raised, finished, reported = list[Broken](), list[int](), list[int]()

    def work(number: int) -> int:
        if number in bad:
            error = Broken(number)
            raised.append(error)
            raise error
        finished.append(number)
        return number

    actual: list[tuple[int, int]] = []
    stream = results(work, range(size), threads, failed=lambda: reported.append(1))
    if bad & set(range(size)):
        with pytest.raises(Broken) as caught:
            actual.extend(stream)
        assert caught.value in raised
    else:
        actual.extend(stream)
    assert sorted(actual) == [(number, number) for number in sorted(finished)]
    assert len(reported) == len(raised)


def test_the_first_failure_is_raised() -> None:
    """The others fail because they are told to stop, which is not what went wrong."""
    stop, under_way = threading.Event(), threading.Barrier(3)

    def work(number: int) -> int:
        under_way.wait(20)
        if number != 2:
            assert stop.wait(20)
            raise Broken("stopped")
        raise Broken("what went wrong")

    with pytest.raises(Broken, match="what went wrong"):
        list(results(work, range(3), 3, failed=stop.set))


def test_nothing_is_begun_after_a_failure() -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        raise Broken

    with pytest.raises(Broken):
        list(results(work, range(1000), 1))
    assert len(begun) < 3  # one that waited behind it may have been taken up before it was called off


def test_no_more_threads_than_allowed_and_as_many() -> None:
    together = threading.Barrier(4)  # passed only by four at a time

    def work(number: int) -> int:
        together.wait(20)
        return threading.get_ident()

    assert len({thread for _, thread in results(work, range(8), 4)}) == 4


def test_numbers_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    stream = results(lambda number: number, numbers(), 2)
    next(stream)
    assert len(taken) <= 8
    stream.close()  # type: ignore[attr-defined]


def test_results_come_as_they_are_found() -> None:
    """The first number is still being worked on when the others are given."""
    others = threading.Event()

    def work(number: int) -> int:
        assert number or others.wait(20)
        return number

    stream = results(work, range(4), 2)
    assert sorted(next(stream)[0] for _ in range(3)) == [1, 2, 3]
    others.set()
    assert list(stream) == [(0, 0)]


def test_who_has_enough_leaves_without_waiting() -> None:
    """`leave` ends what is under way, again and again until all is ended."""
    left, hung_up = list[int](), threading.Event()

    def leave() -> None:
        left.append(1)
        if len(left) > 1:  # the first time a thread was just about to begin
            hung_up.set()

    def work(number: int) -> int:
        if number:
            assert hung_up.wait(20)
            raise Broken
        return number

    stream = results(work, range(100), 3, leave=leave)
    assert next(stream) == (0, 0)
    stream.close()  # type: ignore[attr-defined]
    assert len(left) == 2


@pytest.mark.parametrize("error", [Broken, KeyboardInterrupt, SystemExit])
def test_an_error_of_any_kind_arrives_and_all_is_left(error: type[BaseException]) -> None:
    left: list[int] = []

    def work(number: int) -> int:
        raise error

    with pytest.raises(error):
        list(results(work, [1], 1, leave=lambda: left.append(1)))
    assert left


def test_numbers_that_fail_are_a_failure_too() -> None:
    def numbers() -> Iterator[int]:
        yield 1
        raise Broken

    left: list[int] = []
    with pytest.raises(Broken):
        list(results(lambda number: number, numbers(), 1, leave=lambda: left.append(1)))
    assert left


# The rate. Time is a clock of our own here: it stands still while a thread works, and jumps when all of them wait.

SLACK = 1e-6  # sums of floats


class Clock:
    """In the place of the module `time`, and of the event that stops everybody, which does not come.

    threads: how many there are, all of them awake
    """

    def __init__(self, threads: int = 1) -> None:
        self.now = 1000.0
        self._awake, self._wakes = threads, list[float]()
        self._jumped = threading.Condition()

    def monotonic(self) -> float:
        return self.now

    def is_set(self) -> bool:
        return False

    def wait(self, seconds: float) -> None:
        with self._jumped:
            wake = self.now + max(seconds, 1e-9)
            self._wakes.append(wake)
            self.leave()
            self._jumped.wait_for(lambda: self.now >= wake)
            self._wakes.remove(wake)
            self._awake += 1

    def leave(self) -> None:
        """A thread waits or ends."""
        with self._jumped:
            self._awake -= 1
            if not self._awake and self._wakes:
                self.now = max(self.now, min(self._wakes))
                self._jumped.notify_all()


class Step(NamedTuple):
    """What a thread does: work for a while, go when it may, and perhaps be told that nobody shall for a while."""

    work: float
    hold: float


def simulate(limit: RateLimit, plan: list[list[Step]]) -> tuple[list[float], list[tuple[float, float]]]:
    """When threads went, in order, and the pauses from when to when."""
    clock, went, pauses = Clock(len(plan)), list[float](), list[tuple[float, float]]()

    def follow(steps: list[Step]) -> None:
        for step in steps:
            if step.work:
                clock.wait(step.work)
            assert limit.wait(clock)  # type: ignore[arg-type]
            went.append(clock.now)
            if step.hold:
                limit.hold(step.hold)
                pauses.append((clock.now, clock.now + step.hold))
        clock.leave()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(concurrency, "time", clock)
        threads = [threading.Thread(target=follow, args=(steps,), daemon=True) for steps in plan]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()
    return sorted(went), pauses


steps = st.builds(Step, st.sampled_from([0, 0, 0.25, 1, 3]), st.sampled_from([0, 0, 0, 0, 2, 10]))
plans = st.lists(st.lists(steps, min_size=1, max_size=5), min_size=1, max_size=5)


@given(plans, st.sampled_from([30, 60, 240]), st.integers(1, 4))
def test_it_is_never_exceeded_and_a_pause_is_kept(plan: list[list[Step]], per_minute: int, burst: int) -> None:
    went, pauses = simulate(RateLimit(per_minute, burst), plan)
    assert len(went) == sum(map(len, plan))
    for i, start in enumerate(went):
        for j, end in enumerate(went[i:], start=1):
            assert j <= burst + (end - start) * per_minute / 60 + SLACK
    assert not [(time, pause) for time in went for pause in pauses if pause[0] < time < pause[1] - SLACK]


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 6))
def test_nobody_waits_longer_than_needed(threads: int, burst: int, times: int) -> None:
    """All that may go at once go at once, then one every two seconds."""
    went, _ = simulate(RateLimit(30, burst), [[Step(0, 0)] * times] * threads)
    assert went == pytest.approx([1000 + 2 * max(0, n - burst + 1) for n in range(threads * times)], abs=SLACK)


def test_what_was_not_used_is_not_saved_up_for_ever() -> None:
    """After a long rest there is one burst, not the requests of an hour."""
    went, _ = simulate(RateLimit(60, 3), [[Step(0, 0), Step(3600, 0), *[Step(0, 0)] * 4]])
    assert [time - 4600 for time in went[1:]] == pytest.approx([0, 0, 0, 1, 2], abs=SLACK)


def test_without_a_limit_only_pauses_count() -> None:
    went, _ = simulate(RateLimit(), [[Step(0, 0), Step(0, 7), Step(0, 0), Step(0, 0)]])
    assert went == pytest.approx([1000, 1000, 1007, 1007], abs=SLACK)


def test_a_shorter_pause_does_not_end_a_longer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "time", clock := Clock())
    limit = RateLimit()
    limit.hold(9)
    limit.hold(2)
    assert limit.wait(clock)  # type: ignore[arg-type]
    assert clock.now == pytest.approx(1009, abs=SLACK)


def test_who_is_stopped_does_not_go() -> None:
    stopped = threading.Event()
    stopped.set()
    assert not RateLimit().wait(stopped)


def test_who_is_stopped_while_waiting_leaves_at_once() -> None:
    limit, stopped, answers = RateLimit(1), threading.Event(), list[Any]()
    assert limit.wait(stopped)
    thread = threading.Thread(target=lambda: answers.append(limit.wait(stopped)), daemon=True)
    thread.start()
    stopped.set()
    thread.join(20)
    assert answers == [False]
