"""The rate: never more than so many at once or in a while, nobody waits longer than needed, and none goes while held.

Time is a clock of our own here: it stands still while a thread works, and jumps when all of them wait.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.systems.openai import rate
from anaphora.systems.openai.rate import RateLimit

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
        patch.setattr(rate, "time", clock)
        threads = [threading.Thread(target=follow, args=(steps,), daemon=True) for steps in plan]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()
    return sorted(went), pauses


steps = st.builds(Step, st.sampled_from([0, 0, 0.25, 1, 3]), st.sampled_from([0, 0, 0, 0, 2, 10]))
plans = st.lists(st.lists(steps, min_size=1, max_size=5), min_size=1, max_size=5)


@settings(deadline=None)
@given(plans, st.sampled_from([30, 60, 240]), st.integers(1, 4))
def test_it_is_never_exceeded_and_a_pause_is_kept(plan: list[list[Step]], per_minute: int, burst: int) -> None:
    went, pauses = simulate(RateLimit(per_minute, burst), plan)
    assert len(went) == sum(map(len, plan))
    for i, start in enumerate(went):
        for j, end in enumerate(went[i:], start=1):
            assert j <= burst + (end - start) * per_minute / 60 + SLACK
    assert not [(time, pause) for time in went for pause in pauses if pause[0] < time < pause[1] - SLACK]


@settings(deadline=None)
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
    monkeypatch.setattr(rate, "time", clock := Clock())
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
