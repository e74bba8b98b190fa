"""A pool of workers loses no result, whoever is lost, or says why; and in the end all of its workers are terminated."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput, OutputMisaligned
from anaphora.core.workers import (
    Event,
    Failed,
    ProcessPool,
    Ready,
    Result,
    Worker,
    WorkerFailed,
    WorkerHandle,
    WorkerPool,
)


class Numbers(NamedTuple):
    """A task whose results are numbers, from a start on; done: those that need not be given again."""

    start: int
    size: int
    done: frozenset[int] = frozenset()

    @property
    def key(self) -> int:
        return self.start

    def remaining(self, results: list[int]) -> Numbers:
        return self._replace(done=self.done | {number - self.start for number in results})

    def results(self) -> list[int]:
        return [self.start + n for n in range(self.size) if n not in self.done]


@dataclass
class Counting:
    """A handler that gives the numbers of its task, and raises an error at one of them if it has one."""

    error: BaseException | None = None
    at: int = 2
    closing: BaseException | None = None
    loading: BaseException | None = None

    def load(self) -> dict[str, int]:
        if self.loading:
            raise self.loading
        return {"at": self.at}

    def handle(self, task: Numbers, shared: int | None) -> Iterator[int]:
        for number in task.results():
            if self.error and number == task.start + self.at:
                raise self.error
            yield number + (shared or 0)

    def close(self) -> None:
        if self.closing:
            raise self.closing


# Inside a worker


def loaded(**handler: Any) -> Worker:
    worker = Worker(pickle.dumps(Counting(**handler)))
    assert list(worker.answer("load")) == [Ready({"at": handler.get("at", 2)})]
    worker.share(1, pickle.dumps(None))
    return worker


def answers(worker: Worker, *request: Any) -> list[Event]:
    """The events that arrive at the other end."""
    return [pickle.loads(pickle.dumps(event)) for event in worker.answer(*request)]


def test_worker_handles_one_task_after_the_other() -> None:
    worker = loaded()
    assert answers(worker, "handle", Numbers(100, 3, frozenset({1})), 1) == [Result(100), Result(102)]
    assert answers(worker, "handle", Numbers(7, 1), 1) == [Result(7)]


def test_worker_uses_the_shared_object_of_this_run() -> None:
    worker = loaded()
    worker.share(2, pickle.dumps(1000))
    assert answers(worker, "handle", Numbers(7, 1), 2) == [Result(1007)]
    [failed] = answers(worker, "handle", Numbers(7, 1), 3)
    assert isinstance(failed, Failed)
    assert not failed.final
    assert "has not arrived" in failed.message


@pytest.mark.parametrize(
    ("error", "event"),
    [
        (BadInput("toy.txt", "not to my taste", line=7), Failed("toy.txt: line 7: not to my taste", final=True)),
        (AnaphoraError("no"), Failed("no", final=True)),
        (OutputMisaligned("in doubt"), Failed("in doubt", final=True, misaligned=True)),
    ],
)
def test_bad_input_is_final_after_earlier_results(error: Exception, event: Failed) -> None:
    worker = loaded()
    worker.handler.error = error  # type: ignore[attr-defined]
    assert answers(worker, "handle", Numbers(0, 4), 1) == [Result(0), Result(1), event]


def test_other_errors_are_sent_with_their_traceback() -> None:
    worker = loaded(error=ZeroDivisionError("by nought"))
    *_, last = answers(worker, "handle", Numbers(0, 4), 1)
    assert isinstance(last, Failed)
    assert (last.message, last.final, last.misaligned) == ("ZeroDivisionError: by nought", False, False)
    assert "in handle\n" in last.trace
    assert len(answers(worker, "handle", Numbers(0, 2), 1)) == 2  # it can continue


def test_interrupt_inside_a_worker_is_raised() -> None:
    with pytest.raises(KeyboardInterrupt):
        answers(loaded(error=KeyboardInterrupt()), "handle", Numbers(0, 4), 1)


def test_error_while_loading_is_sent() -> None:
    [refused] = answers(Worker(pickle.dumps(Counting(loading=AnaphoraError("no model")))), "load")
    assert refused == Failed("no model", final=True)


def test_error_while_closing_is_sent() -> None:
    assert answers(loaded(), "close") == []
    worker = loaded(closing=OutputMisaligned("a line too many"))
    assert answers(worker, "close") == [Failed("a line too many", final=True, misaligned=True)]


# The pool, with workers that are played

LOST = Failed("ended by SIGKILL")
SILENCE = "silence"  # no event this time

Line = Event | str
Play = Callable[["Actor", str, Any], Iterator[Line]]


def faithful(actor: Actor, request: str, task: Any) -> Iterator[Line]:
    """Does what is requested."""
    if request == "load":
        yield Ready({"name": "x"})
    if request == "handle":
        yield from map(Result, task.results())


class Actor(WorkerHandle):
    def __init__(self, name: str, play: Play) -> None:
        super().__init__(name)
        self.play, self.terminated, self.requests = play, False, list[str]()
        self.request("load")

    def request(self, request: str, *arguments: Any) -> None:
        self.requests.append(request)
        self.events = self.play(self, request, arguments[0] if arguments else None)

    def share(self, number: int, shared: Any) -> None:
        pass

    def terminate(self) -> None:
        self.terminated = True


class Company(WorkerPool):
    """A pool of actors.

    plays: of one actor after the other; choose: which of the busy ones has the next event
    replaced: whether there is room for another when one is lost
    """

    def __init__(
        self, *plays: Play, room: int = 2, choose: Callable[[int], int] = lambda size: 0, replaced: bool = True
    ) -> None:
        self.plays, self.size, self.choose, self.replaced = iter(plays), room, choose, replaced
        self.spawned: list[Actor] = []
        super().__init__(Counting(), retries=3, advice="Run it again")

    def capacity(self) -> int:
        return self.size if self.replaced else self.size - self.losses

    def spawn(self) -> WorkerHandle:
        self.spawned.append(Actor(f"worker {len(self.spawned) + 1}", next(self.plays, faithful)))
        return self.spawned[-1]

    def poll(self) -> Iterator[tuple[WorkerHandle, Event]]:
        busy = [worker for worker in self.workers if worker.busy]
        worker = busy[self.choose(len(busy))]
        assert isinstance(worker, Actor)
        event = next(worker.events, None)
        if not isinstance(event, str):
            yield worker, event

    def results(self, tasks: list[Numbers]) -> Iterator[int]:
        """The results of tasks; afterwards the pool is closed."""
        try:
            yield from (number for _, number in self.run(tasks))
            self.close()
        finally:
            self.terminate()


def in_turn() -> Callable[[int], int]:
    turns = count()
    return lambda size: next(turns) % size


def tasks(*sizes: int) -> list[Numbers]:
    """Tasks with N results."""
    return [Numbers(100 * n, size) for n, size in enumerate(sizes)]


works = st.lists(st.integers(1, 5), max_size=5).flatmap(
    lambda sizes: st.tuples(
        *[
            st.frozensets(st.integers(0, size - 1), max_size=size - 1).map(
                lambda done, n=n, size=size: Numbers(100 * n, size, done)
            )
            for n, size in enumerate(sizes)
        ]
    ).map(list)
)


@given(works, st.integers(1, 3), st.data())
def test_every_result_arrives_once_whichever_worker_is_lost(
    work: list[Numbers], room: int, data: st.DataObject
) -> None:
    """The pool gives up after more than three losses in a row without a new result."""
    in_vain: Counter[int | None] = Counter()
    worst = 0

    def mortal(actor: Actor, request: str, task: Any) -> Iterator[Line]:
        nonlocal worst
        key = task.key if task else None
        for event in [*faithful(actor, request, task), None]:
            if data.draw(st.sampled_from([False] * 3 + [True]), label=f"{actor.name} is lost") and request != "close":
                in_vain[key] += 1
                worst = max(worst, in_vain[key])
                yield LOST
                raise AssertionError("a lost worker is not polled any more")
            if event is not None:
                in_vain[key] = 0
                yield event

    def choose(size: int) -> int:
        return data.draw(st.integers(0, size - 1), label="whose event is next")

    pool = Company(*[mortal] * 1000, room=room, choose=choose)
    results, message = list[int](), ""
    try:
        pool.start()
        results.extend(pool.results(work))
    except AnaphoraError as error:
        message = str(error)
    assert (" failed: ended by SIGKILL" in message) == (worst > 3)
    assert sorted(results) == sorted(number for task in work for number in task.results()) or worst > 3
    assert len(results) == len(set(results))
    assert all(actor.terminated for actor in pool.spawned)


def dying(*numbers: int) -> Play:
    """Loads, gives these results when it is to handle a task, and then is lost."""

    def play(actor: Actor, request: str, task: Any) -> Iterator[Line]:
        yield from faithful(actor, request, None) if request == "load" else (*map(Result, numbers), LOST)

    return play


def test_next_worker_gets_the_rest_of_the_task() -> None:
    given_tasks: list[Numbers] = []

    def heir(actor: Actor, request: str, task: Any) -> Iterator[Line]:
        given_tasks.extend([task] if task else [])
        return faithful(actor, request, task)

    pool = Company(dying(101, 103), heir, room=1)
    assert list(pool.results([Numbers(100, 5, frozenset({0}))])) == [101, 103, 102, 104]
    assert given_tasks == [Numbers(100, 5, frozenset({0, 1, 3}))]
    assert pool.losses == 1


def test_task_without_anything_left_is_not_sent_again() -> None:
    class Single(Numbers):
        def remaining(self, results: list[int]) -> Any:
            return None if results else self

    pool = Company(dying(0), room=1)
    assert list(pool.results([Single(0, 1)])) == [0]
    assert [actor.requests for actor in pool.spawned] == [["load", "handle"]]


def test_losses_with_new_results_do_not_count() -> None:
    pool = Company(*[dying(n) for n in range(9)], room=1)
    assert list(pool.results(tasks(10))) == list(range(10))
    assert pool.losses == 9


def test_losses_with_repeated_results_count() -> None:
    with pytest.raises(WorkerFailed, match=r"^worker 4 failed: ended by SIGKILL\. Run it again$"):
        list(Company(*[dying(0)] * 9, room=1).results(tasks(10)))


def test_lost_worker_that_cannot_be_replaced() -> None:
    with pytest.raises(WorkerFailed, match=r"^worker 1 failed: ended by SIGKILL\. Run it again$"):
        list(Company(dying(0), room=1, replaced=False).results(tasks(2)))
    pool = Company(dying(), room=2, replaced=False)
    assert sorted(pool.results(tasks(2, 2))) == [0, 1, 100, 101]


def test_no_capacity_is_an_error() -> None:
    pool = Company()
    pool.start()
    pool.size = 0
    with pytest.raises(AnaphoraError, match=r"^no worker can be started any more$"):
        list(pool.results(tasks(1)))
    assert list(Company(room=0).results([])) == []


# Failures


def failing(failure: Failed, at: str = "handle") -> Play:
    def play(actor: Actor, request: str, task: Any) -> Iterator[Line]:
        yield from [failure] if request == at else faithful(actor, request, task)

    return play


@pytest.mark.parametrize("at", ["load", "handle", "close"])
def test_final_failure_is_not_retried(at: str) -> None:
    with pytest.raises(AnaphoraError, match=r"^not to my taste$") as caught:
        list(Company(failing(Failed("not to my taste", final=True), at)).results(tasks(1)))
    assert type(caught.value) is AnaphoraError


@pytest.mark.parametrize("at", ["handle", "close"])
def test_misaligned_output_keeps_its_class(at: str) -> None:
    with pytest.raises(OutputMisaligned, match=r"^a line too many$"):
        list(Company(failing(Failed("a line too many", final=True, misaligned=True), at)).results(tasks(1)))


def test_traceback_of_a_worker_is_a_note() -> None:
    play = failing(Failed("ZeroDivisionError: x", trace="Traceback …"))
    with pytest.raises(WorkerFailed, match=r"^worker 4 failed: ZeroDivisionError: x") as caught:
        list(Company(*[play] * 4, room=1).results(tasks(1)))
    assert caught.value.trace == "Traceback …"
    assert caught.value.__notes__ == ["Traceback …"]


def test_loading_is_retried() -> None:
    assert Company(*[failing(LOST, "load")] * 3).start() == {"name": "x"}
    with pytest.raises(WorkerFailed, match=r"^worker 4 failed: ended by SIGKILL$"):
        Company(*[failing(LOST, "load")] * 4).start()


def test_workers_that_differ_are_refused() -> None:
    def odd(actor: Actor, request: str, task: Any) -> Iterator[Line]:
        yield Ready({"name": "y", "threads": 2})

    def slow(actor: Actor, request: str, task: Any) -> Iterator[Line]:
        yield from [SILENCE] * 9 * (request == "handle")
        yield from faithful(actor, request, task)

    pool = Company(slow, odd, choose=lambda size: size - 1)
    pool.start()
    with pytest.raises(AnaphoraError) as caught:
        list(pool.results(tasks(1, 1)))
    assert str(caught.value) == "worker 2 has loaded something different: name is 'y', not 'x'; threads is 2, not None"
    assert all(actor.terminated for actor in pool.spawned)


# Beginning and end


@pytest.mark.parametrize(("sizes", "room", "spawned"), [((), 9, 1), ((1, 1), 3, 2), ((1,) * 9, 3, 3)])
def test_no_more_workers_than_tasks_or_capacity(sizes: tuple[int, ...], room: int, spawned: int) -> None:
    pool = Company(room=room)
    assert pool.start() == {"name": "x"}
    assert len(pool.spawned) == 1
    assert len(list(pool.results(tasks(*sizes)))) == len(sizes)
    assert len(pool.spawned) == spawned


def test_tasks_are_taken_when_there_is_a_worker() -> None:
    taken: list[int] = []

    def stream() -> Iterator[Numbers]:
        for task in tasks(*[1] * 9):
            taken.append(task.key)
            yield task

    for number, _ in enumerate(Company(room=2).run(stream())):
        assert len(taken) <= number + 3


def test_pool_runs_again_with_the_same_workers() -> None:
    pool = Company(room=2)
    for _ in range(3):
        assert sorted(number for _, number in pool.run(tasks(2, 2))) == [0, 1, 100, 101]
    assert len(pool.spawned) == 2


def test_workers_are_closed_and_then_terminated() -> None:
    pool = Company(room=3, choose=in_turn())
    list(pool.results(tasks(*[2] * 9)))
    assert [actor.requests[-1] for actor in pool.spawned] == ["close"] * 3
    assert all(actor.terminated for actor in pool.spawned)


def test_worker_lost_while_closing_does_not_matter() -> None:
    assert len(list(Company(failing(LOST, "close")).results(tasks(1)))) == 1


@pytest.mark.parametrize("failure", [Failed("ZeroDivisionError: x", trace="Traceback …"), Failed("no", final=True)])
def test_worker_still_loading_at_the_end_does_not_matter(failure: Failed) -> None:
    def late(actor: Actor, request: str, task: Any) -> Iterator[Line]:
        yield from [SILENCE] * 6
        yield failure

    def thorough(actor: Actor, request: str, task: Any) -> Iterator[Line]:
        yield from [SILENCE] * 9 * (request == "close")
        yield from faithful(actor, request, task)

    pool = Company(thorough, late, choose=in_turn())
    pool.start()
    assert list(pool.results(tasks(1, 1))) == [0, 100]
    assert next(pool.spawned[1].events, None) is None  # it has failed meanwhile
    assert pool.spawned[1].terminated


def test_run_that_is_abandoned_terminates_its_workers() -> None:
    pool = Company(room=2)
    results = pool.run(tasks(3, 3))
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert [actor.terminated for actor in pool.spawned if "handle" in actor.requests] == [True]
    assert sorted(pool.results(tasks(2))) == [0, 1]
    assert all(actor.terminated for actor in pool.spawned)


def test_pool_that_is_garbage_terminates_its_workers() -> None:
    pool = Company()
    pool.start()
    [actor] = pool.spawned
    assert not actor.terminated
    del pool
    gc.collect()
    assert actor.terminated


# Processes


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    made = ProcessPool(Counting(), 2, environment={"OMP_NUM_THREADS": "1"})
    yield made
    made.terminate()


def test_processes_share_an_object_and_stay_from_run_to_run(pool: ProcessPool) -> None:
    assert pool.start() == {"at": 2}
    for shared in (0, 1000):
        expected = [shared + number for task in tasks(3, 3, 3) for number in task.results()]
        assert sorted(number for _, number in pool.run(tasks(3, 3, 3), shared)) == expected
    assert len(pool.workers) == 2
    pool.close()
    assert pool.workers == []


PARENT = """
import multiprocessing, os, sys, time
from anaphora.core.workers import end_process, enter_worker, start_process

def work(pipe):
    enter_worker()
    print("said by a library", flush=True)
    pipe.send(os.getpid())
    pipe.recv()

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs,), daemon=True)
    start_process(process)
    number = None
    try:
        if sys.argv[1] == "starting":
            print("started", flush=True)
        number = mine.recv()
        print(number, flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        if number is None:
            print(mine.recv(), flush=True)  # it continues as if nothing had happened
        end_process(process)
        print(process.exitcode, flush=True)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "parent.py"
    path.write_text(PARENT, encoding="utf-8")
    return path


def parent(script: Path, when: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(script), when]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def read(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("when", ["starting", "working"])
def test_ctrl_c_is_for_the_parent_alone(script: Path, when: str) -> None:
    process = parent(script, when)
    first = read(process)
    assert first == "started" if when == "starting" else first.isdigit()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.split()[-1] == str(-signal.SIGTERM)  # ended by its parent, not by Ctrl-C
    assert err == "said by a library\n"


def test_a_worker_does_not_outlive_its_parent(script: Path) -> None:
    process = parent(script, "working")
    worker = int(read(process))
    process.kill()
    process.communicate(timeout=60)
    for _ in range(600):
        if not alive(worker):
            break
        time.sleep(0.1)
    assert not alive(worker)


def alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{number}/stat")
    return not state.is_file() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_events_are_a_generator_that_values_can_be_sent_to() -> None:
    """Ray does so with what its actors stream."""
    events: Any = loaded().answer("handle", Numbers(0, 3), 1)
    assert [next(events), events.send(None), events.send("x")] == [Result(0), Result(1), Result(2)]
