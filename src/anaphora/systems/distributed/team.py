"""Worker processes that score shards: started, restarted when lost, and ended with their parent."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import traceback
import weakref
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any

from anaphora.core import processes
from anaphora.core.errors import AnaphoraError, OutOfStep
from anaphora.runs import Answer
from anaphora.suites.example import Example
from anaphora.systems import Closing, System, load_system
from anaphora.systems.context import Options
from anaphora.systems.scoring import Scorer, Shard, StartScorer, score_shard


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has loaded its system, of which this is known; settings are those of the run's header."""

    settings: Mapping[str, Any]
    has_focus: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """A worker could not do what it was asked.

    final: it is bad input, and no other worker could; out_of_step: and answers before it are in doubt
    """

    message: str
    final: bool = False
    out_of_step: bool = False
    trace: str = ""


Event = Ready | Failed | tuple[int, Answer] | None  # None: what was asked is done


class Worker:
    """Answers requests by events, one after the other."""

    system: System
    options: Options

    def answer(self, request: str, *arguments: Any) -> Iterator[Event]:
        """What a request (load, score, close) gives. Errors are told, not raised: they go to another process."""
        try:
            yield from getattr(self, request)(*arguments)
        except AnaphoraError as error:
            yield Failed(str(error), final=True, out_of_step=isinstance(error, OutOfStep))
        except Exception as error:
            yield Failed(f"{type(error).__name__}: {error}", trace=traceback.format_exc())

    def load(self, spec: str, options: Options) -> Iterator[Event]:
        self.system, self.options = load_system(spec, options), options
        yield Ready(dict(self.system.settings()), bool(getattr(self.system, "has_focus", False)))

    def score(self, shard: Shard) -> Iterator[Event]:
        for number, answer in score_shard(self.system, self.options, shard):
            yield number, answer._replace(extra=dict(answer.extra))  # a mapping proxy cannot be sent

    def close(self) -> Iterator[Event]:
        if isinstance(self.system, Closing):
            self.system.close()
        return iter(())


# Workers that score the shards of one suite side by side, each a process with a system of its own.


class Member(ABC):
    """A worker seen from the process that gives it work.

    shard: what it works on; found: the numbers of the examples in it that it has answered
    busy: it has been asked something and has not done it yet; a new member is loading its system
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.shard: Shard | None = None
        self.found: set[int] = set()
        self.busy = True

    @abstractmethod
    def ask(self, request: str, *arguments: Any) -> None: ...

    @abstractmethod
    def dismiss(self) -> None:
        """End the worker at once, whatever it is doing."""


class Team(ABC):
    """Members that score side by side: a System, whose `compute` is the Scorer for `score_suite`.

    The first member is there from the beginning, as the run's header needs its settings; the others come when there is
    work for them. The shard of a member that is lost goes to another one.

    retries: how often a shard may be lost without a single new answer, or a worker while it loads, before we give up
    """

    retries = 1

    def __init__(self, spec: str, options: Options) -> None:
        self.spec, self.options = spec, options
        self.members: list[Member] = []
        self.losses = 0
        self._lost: Counter[int | None] = Counter()  # by the shard's first number; None: while loading
        self._todo: deque[Shard] = deque()
        self._ready: Ready | None = None
        weakref.finalize(self, _dismiss, self.members)
        try:
            while self._ready is None:
                if not self.members:
                    self.members.append(self.hire())
                for member, event in self.listen():
                    self._hear(member, event)
        except BaseException:
            self.end()
            raise

    @abstractmethod
    def room(self) -> int:
        """How many members there can be."""

    @abstractmethod
    def hire(self) -> Member:
        """A new member that has been asked to load the system."""

    @abstractmethod
    def listen(self) -> Iterator[tuple[Member, Event]]:
        """Wait for events of busy members, but not for ever: there may be room for more of them."""

    def settings(self) -> Mapping[str, Any]:
        """Those of the system, the same for every member."""
        return self._ready.settings if self._ready else {}

    @property
    def has_focus(self) -> bool:
        return self._ready is not None and self._ready.has_focus

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, Answer]]:
        """Score examples as one shard."""
        return self.compute([(0, examples, frozenset(n for n in range(len(examples)) if n in done))])

    def compute(self, work: Iterable[Shard]) -> Iterator[tuple[int, Answer]]:
        """The answers of all shards as they come. Afterwards the team is no more."""
        todo = self._todo = deque(work)
        try:
            while working := len(todo) + sum(member.shard is not None for member in self.members):
                while len(self.members) < min(working, self.room()):
                    self.members.append(self.hire())
                if not self.room() and working == len(todo):
                    raise AnaphoraError("there is no room for a worker any more. Go on later with --resume")
                for member in self.members:
                    if todo and not member.busy:
                        member.shard, member.found = todo.popleft(), set()
                        self._ask(member, "score", member.shard)
                for member, event in self.listen():
                    if isinstance(event, tuple):
                        member.found.add(event[0])
                        yield event
                    else:
                        self._hear(member, event)
            self._close()
        finally:
            self.end()

    def end(self) -> None:
        """Dismiss everybody. It happens by itself at the latest when nobody holds the team any more."""
        _dismiss(self.members)

    def _ask(self, member: Member, request: str, *arguments: Any) -> None:
        member.busy = True
        member.ask(request, *arguments)

    def _hear(self, member: Member, event: Event) -> None:
        if event is None:
            member.busy, member.shard = False, None
        elif isinstance(event, Ready):
            self._lost[None] = 0
            if self._ready not in (None, event):
                raise AnaphoraError(f"{member.name} has another system: {_difference(self.settings(), event.settings)}")
            self._ready = event
        elif isinstance(event, Failed):
            self.members.remove(member)
            member.dismiss()
            self._retry(member, event)

    def _retry(self, member: Member, failure: Failed) -> None:
        """Put the shard of a lost member back, if there is hope that another one can do it."""
        self.losses += 1
        key = None
        if member.shard is not None:
            key, examples, done = member.shard
            new = {number - key for number in member.found} - done
            self._todo.appendleft((key, examples, done | new))
            if new:
                self._lost[key] = 0
        self._lost[key] += 1
        if failure.final or self._lost[key] > self.retries or (not self.members and not self.room()):
            raise _error(member, failure)

    def _close(self) -> None:
        """Let the systems go: what was wrong and shows only now is an error."""
        closing = [member for member in self.members if not member.busy]
        for member in closing:
            self._ask(member, "close")
        while any(member.busy for member in closing):
            for member, event in self.listen():
                if member in closing and isinstance(event, Failed) and (event.final or event.trace):
                    raise _error(member, event)
                member.busy = False  # done, or lost, or not even loaded, which does not matter now


def _dismiss(members: list[Member]) -> None:
    while members:
        members.pop().dismiss()


def _error(member: Member, failure: Failed) -> AnaphoraError:
    kind = OutOfStep if failure.out_of_step else AnaphoraError
    error = kind(failure.message if failure.final else f"{member.name} failed: {failure.message}")
    if failure.trace:
        error.add_note(failure.trace)
    return error


def _difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    return "; ".join(f"{key} is {other.get(key)!r}, not {one.get(key)!r}" for key in keys)


# Workers on this machine: processes that each hold a system, and the pipes to them.


def local_workers(workers: int, threads: int | None = None) -> StartScorer:
    """Processes on this machine for `score_suite`.

    threads: of each; a fair share of the processors unless told otherwise
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = threads or max(1, processors // workers)

    def start(spec: str, options: Options) -> tuple[System, Scorer]:
        team = LocalTeam(spec, replace(options, threads=share), workers)
        return team, team.compute

    return start


class LocalTeam(Team):
    """Processes on this machine. One that is lost is not replaced: what it lacked may have been memory."""

    def __init__(self, spec: str, options: Options, workers: int) -> None:
        self.workers = workers
        super().__init__(spec, options)

    def room(self) -> int:
        return self.workers - self.losses

    def hire(self) -> Member:
        return LocalMember(f"worker {len(self.members) + self.losses + 1}", self.spec, self.options)

    def listen(self) -> Iterator[tuple[Member, Event]]:
        members = {member.pipe: member for member in self.members if isinstance(member, LocalMember)}
        for pipe in wait(list(members)):
            member = members[pipe]  # type: ignore[index]
            yield member, member.hear()


class LocalMember(Member):
    """A process, and the pipe to it."""

    def __init__(self, name: str, spec: str, options: Options) -> None:
        super().__init__(name)
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, spec, options), daemon=True)
        processes.start(self.process)
        theirs.close()

    def ask(self, request: str, *arguments: Any) -> None:
        with contextlib.suppress(OSError):  # it is gone, which shows when it is listened to
            self.pipe.send((request, *arguments))

    def hear(self) -> Event:
        try:
            event: Event = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode or 0
            memory = ". Perhaps memory does not suffice for so many workers" if code == -signal.SIGKILL else ""
            return Failed(f"ended by {signal.Signals(-code).name}{memory}" if code < 0 else f"exit code {code}")
        return event

    def dismiss(self) -> None:
        self.pipe.close()
        processes.dismiss(self.process)


def _serve(pipe: Connection, spec: str, options: Options) -> None:
    """The life of a worker process."""
    processes.begin_work()
    worker = Worker()
    request: tuple[Any, ...] = ("load", spec, options)
    with contextlib.suppress(EOFError, OSError):  # the other end is closed: nobody wants to know more
        while True:
            for event in worker.answer(*request):
                pipe.send(event)
            pipe.send(None)
            request = pipe.recv()
