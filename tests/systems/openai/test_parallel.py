"""Work in threads: every result once, the first failure in the end, and no thread left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.systems.openai.parallel import as_finished


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


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers()), st.integers(1, 5))
def test_every_result_is_given_once(numbers: list[int], threads: int) -> None:
    found = list(results(lambda number: 2 * number, numbers, threads))
    assert sorted(found) == sorted((number, 2 * number) for number in numbers)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 30), st.sets(st.integers(0, 29), min_size=1), st.integers(1, 5))
def test_what_others_find_is_given_before_the_first_failure_is_raised(size: int, bad: set[int], threads: int) -> None:
    raised, finished, told = list[Broken](), list[int](), list[int]()

    def work(number: int) -> int:
        if number in bad:
            error = Broken(number)
            raised.append(error)
            raise error
        finished.append(number)
        return number

    found: list[tuple[int, int]] = []
    stream = results(work, range(size), threads, failed=lambda: told.append(1))
    if bad & set(range(size)):
        with pytest.raises(Broken) as caught:
            found.extend(stream)
        assert caught.value in raised
    else:
        found.extend(stream)
    assert sorted(found) == [(number, number) for number in sorted(finished)]
    assert len(told) == len(raised)


def test_the_failure_that_is_raised_is_the_one_that_came_first() -> None:
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
