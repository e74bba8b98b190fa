"""Pools of workers that work on tasks in parallel: processes on this machine, or actors of a Ray cluster.

A worker loads its state (a model) once and keeps it from task to task. Results arrive as they are computed. A task
whose worker is lost goes to another worker, without the results that have arrived already.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
import weakref
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from anaphora.core.errors import AnaphoraError, OutputMisaligned


class Task(Protocol):
    """A piece of work with several results. It is sent to a worker by pickle."""

    @property
    def key(self) -> Hashable:
        """Identifies the task among those of one run."""
        ...

    def remaining(self, results: list[Any]) -> Task | None:
        """The same task without the results that have arrived; None if nothing is left to do."""
        ...


class Handler(Protocol):
    """Does the work inside a worker. It is sent there by pickle before it is loaded."""

    def load(self) -> Any:
        """Load what all tasks need; returns a description, which must be the same in all workers of a pool."""
        ...

    def handle(self, task: Any, shared: Any) -> Iterator[Any]:
        """The results of a task. `shared` is the object that `WorkerPool.run` was called with."""
        ...

    def close(self) -> None:
        """Release resources; raise if something failed after the last result."""
        ...


class WorkerFailed(AnaphoraError):  # noqa: N818
    """A worker was lost too often, or a task raises an unexpected exception, whose traceback is `trace`."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace
        if trace:
            self.add_note(trace)


def processor_count() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Inside a worker


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has loaded its state, which it describes."""

    description: Any


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a task."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """A worker could not fulfill a request.

    final: the input is bad, so that another worker would fail, too; misaligned: earlier results are in doubt as well
    """

    message: str
    final: bool = False
    misaligned: bool = False
    trace: str = ""


Event = Ready | Result | Failed | None  # None: the request is fulfilled


class Worker:
    """Answers requests with events, one request after the other."""

    def __init__(self, handler: bytes) -> None:
        self._handler = handler
        self._shared: tuple[int, Any] = (0, None)
        self.handler: Handler

    def answer(self, request: str, *arguments: Any) -> Iterator[Event]:
        """The events of a request (load, handle, close). Errors are events, too: they go to another process."""
        try:
            yield from getattr(self, request)(*arguments)
        except AnaphoraError as error:
            yield Failed(str(error), final=True, misaligned=isinstance(error, OutputMisaligned))
        except Exception as error:
            yield Failed(f"{type(error).__name__}: {error}", trace=traceback.format_exc())

    def share(self, number: int, shared: bytes) -> None:
        """Keep an object for the tasks to come."""
        self._shared = number, pickle.loads(shared)

    def load(self) -> Iterator[Event]:
        self.handler = pickle.loads(self._handler)
        yield Ready(self.handler.load())

    def handle(self, task: Any, run: int) -> Iterator[Event]:
        number, shared = self._shared
        if number != run:
            raise RuntimeError("the shared object of this run has not arrived")
        for result in self.handler.handle(task, shared):  # Ray sends values into generators, which a map does not take
            yield Result(result)

    def close(self) -> Iterator[Event]:
        self.handler.close()
        return iter(())


# The pool


class WorkerHandle(ABC):
    """A worker seen from the process that gives it tasks.

    task, results: the task it works on, and the results of it that have arrived
    busy: it has been sent a request and has not fulfilled it yet; a new worker is loading
    run: the number of the run whose shared object it has
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.task: Task | None = None
        self.results: list[Any] = []
        self.busy = True
        self.run = 0

    @abstractmethod
    def request(self, request: str, *arguments: Any) -> None:
        """Send a request; its events are received one by one."""

    @abstractmethod
    def share(self, number: int, shared: Any) -> None:
        """Send the object that the tasks of a run share."""

    @abstractmethod
    def terminate(self) -> None:
        """End the worker at once, whatever it is doing."""


class WorkerPool(ABC):
    """Workers that are started when there are tasks for them.

    retries: how often a task may be lost without a new result, or a worker while it loads, before the pool gives up
    advice: what to do after a failure, in the error message
    """

    def __init__(self, handler: Handler, *, retries: int = 1, advice: str = "") -> None:
        self.handler, self.retries, self.advice = pickle.dumps(handler), retries, advice
        self.workers: list[WorkerHandle] = []
        self.losses = 0
        self._ready: Ready | None = None
        self._run, self._shared = 0, None
        self._results = 0
        self._pending: deque[Task] = deque()
        self._lost: Counter[Hashable] = Counter()  # by the task's key; "": while loading
        weakref.finalize(self, _terminate, self.workers)

    @abstractmethod
    def capacity(self) -> int:
        """The number of workers that there can be."""

    @abstractmethod
    def spawn(self) -> WorkerHandle:
        """A new worker that has been asked to load."""

    @abstractmethod
    def poll(self) -> Iterator[tuple[WorkerHandle, Event]]:
        """Wait for events of busy workers, but not forever if the capacity can change."""

    def publish(self, shared: Any) -> Any:
        """The object that tasks share, in the form in which handles send it."""
        return pickle.dumps(shared)

    def start(self) -> Any:
        """Load the first worker; returns its description."""
        try:
            while self._ready is None:
                if not self.workers:
                    self.workers.append(self.spawn())
                for worker, event in self.poll():
                    self._receive(worker, event)
        except BaseException:
            self.terminate()
            raise
        return self._ready.description

    def run(self, tasks: Iterable[Task], shared: Any = None) -> Iterator[tuple[Any, Any]]:
        """Each result with its task, in any order, as they arrive.

        tasks: taken from the stream only when there is a worker for them
        shared: an object that all of these tasks need; it is sent to each worker once
        """
        stream = iter(tasks)
        self._run += 1
        self._shared = self.publish(shared)
        self._pending.clear()
        self._lost.clear()
        try:
            while self._assign(stream):
                for worker, event in self.poll():
                    if isinstance(event, Result) and worker.task is not None:
                        worker.results.append(event.value)
                        self._results += 1
                        yield worker.task, event.value
                    else:
                        self._receive(worker, event)
        finally:
            for worker in [worker for worker in self.workers if worker.task is not None]:
                self.workers.remove(worker)  # the rest of its results is not needed
                worker.terminate()

    def close(self) -> None:
        """Close the workers' handlers, raising what fails in it, and terminate the workers."""
        closing = [worker for worker in self.workers if not worker.busy]
        try:
            for worker in closing:
                worker.busy = True
                worker.request("close")
            while any(worker.busy for worker in closing):
                for worker, event in self.poll():
                    if worker in closing and isinstance(event, Failed) and (event.final or event.trace):
                        raise self._error(worker, event)
                    worker.busy = False  # closed, or lost, or still loading, which does not matter now
        finally:
            self.terminate()

    def terminate(self) -> None:
        """Terminate all workers (also runs when the pool is garbage-collected)."""
        _terminate(self.workers)

    def _assign(self, stream: Iterator[Task]) -> bool:
        """Give each idle worker a task, and start workers for the other tasks; False if nothing is left to do."""
        capacity, working = self.capacity(), sum(worker.task is not None for worker in self.workers)
        while len(self._pending) + working < capacity and (task := next(stream, None)) is not None:
            self._pending.append(task)
        if not self._pending and not working and (capacity or next(stream, None) is None):
            return False
        if not capacity and not working:
            raise WorkerFailed(self._advised("no worker can be started any more"))
        while len(self.workers) < min(len(self._pending) + working, capacity):
            self.workers.append(self.spawn())
        for worker in self.workers:
            if self._pending and not worker.busy:
                if worker.run != self._run:
                    worker.run = self._run
                    worker.share(self._run, self._shared)
                worker.task, worker.results, worker.busy = self._pending.popleft(), [], True
                worker.request("handle", worker.task, self._run)
        return True

    def _receive(self, worker: WorkerHandle, event: Event) -> None:
        if event is None:
            worker.busy, worker.task = False, None
        elif isinstance(event, Ready):
            self._lost[""] = 0
            if self._ready is not None and self._ready != event:
                different = _difference(self._ready.description, event.description)
                raise AnaphoraError(f"{worker.name} has loaded something different: {different}")
            self._ready = event
        elif isinstance(event, Failed):
            self.workers.remove(worker)
            worker.terminate()
            self._retry(worker, event)

    def _retry(self, worker: WorkerHandle, failure: Failed) -> None:
        """Put back the task of a lost worker, unless another one would fail, too."""
        self.losses += 1
        key: Hashable = ""
        if worker.task is not None:
            key, rest = worker.task.key, worker.task.remaining(worker.results)
            if rest is not None:
                self._pending.appendleft(rest)
            if rest != worker.task:  # some of the results were new
                self._lost[key] = 0
            worker.task = None
        self._lost[key] += 1
        if failure.final or self._lost[key] > self.retries or (not self.workers and not self.capacity()):
            raise self._error(worker, failure)

    def _error(self, worker: WorkerHandle, failure: Failed) -> AnaphoraError:
        if failure.final:
            return OutputMisaligned(failure.message) if failure.misaligned else AnaphoraError(failure.message)
        return WorkerFailed(self._advised(f"{worker.name} failed: {failure.message}"), failure.trace)

    def _advised(self, message: str) -> str:
        return f"{message}. {self.advice}" if self.advice and self._results else message


def _terminate(workers: list[WorkerHandle]) -> None:
    while workers:
        workers.pop().terminate()


def _difference(one: Any, other: Any) -> str:
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return f"{other!r}, not {one!r}"
    keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    return "; ".join(f"{key} is {other.get(key)!r}, not {one.get(key)!r}" for key in keys)


# Processes on this machine


class ProcessPool(WorkerPool):
    """Processes on this machine. A lost one is not replaced unless it was the last: perhaps it lacked memory.

    environment: variables that are set in each process before it imports anything
    """

    def __init__(
        self,
        handler: Handler,
        workers: int,
        *,
        retries: int = 1,
        advice: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(handler, retries=retries, advice=advice)
        self.size, self.environment = workers, dict(environment or {})

    def capacity(self) -> int:
        return max(1, self.size - self.losses)

    def spawn(self) -> WorkerHandle:
        name = f"worker {len(self.workers) + self.losses + 1}"
        return ProcessHandle(name, self.handler, self.environment)

    def poll(self) -> Iterator[tuple[WorkerHandle, Event]]:
        workers = {worker.pipe: worker for worker in self.workers if isinstance(worker, ProcessHandle)}
        for pipe in wait(list(workers)):
            worker = workers[pipe]  # type: ignore[index]
            yield worker, worker.receive()


class ProcessHandle(WorkerHandle):
    """A process, and the pipe to it."""

    def __init__(self, name: str, handler: bytes, environment: Mapping[str, str]) -> None:
        super().__init__(name)
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, handler, environment), daemon=True)
        start_process(self.process)
        theirs.close()

    def request(self, request: str, *arguments: Any) -> None:
        with contextlib.suppress(OSError):  # it is gone, which the next poll tells
            self.pipe.send((request, *arguments))

    def share(self, number: int, shared: Any) -> None:
        self.request("share", number, shared)

    def receive(self) -> Event:
        try:
            event: Event = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode or 0
            memory = ". Perhaps memory does not suffice: try fewer workers" if code == -signal.SIGKILL else ""
            return Failed(f"ended by {signal.Signals(-code).name}{memory}" if code < 0 else f"exit code {code}")
        return event

    def terminate(self) -> None:
        self.pipe.close()
        end_process(self.process)


def _serve(pipe: Connection, handler: bytes, environment: Mapping[str, str]) -> None:
    """The main loop of a worker process."""
    os.environ.update(environment)
    enter_worker()
    worker = Worker(handler)
    request: tuple[Any, ...] = ("load",)
    with contextlib.suppress(EOFError, OSError):  # the other end is closed
        while True:
            for event in worker.answer(*request):
                pipe.send(event)
            pipe.send(None)
            while (request := pipe.recv())[0] == "share":
                worker.share(*request[1:])


def start_process(process: BaseProcess) -> None:
    """Start a worker process. Ctrl-C is for its parent alone, even while it starts."""
    resource_tracker.ensure_running()  # starting it would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def enter_worker() -> None:
    """Redirect this process's stdout to stderr, and end it when its parent ends. Called first in a worker process."""
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def end_process(process: BaseProcess) -> None:
    """Terminate a worker process, and kill it if it does not end."""
    process.terminate()
    process.join(5)
    if process.exitcode is None:
        process.kill()
        process.join()


def _end_with_parent() -> None:
    """Exit when the parent has ended, even if it was killed, and even in the middle of a computation."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
