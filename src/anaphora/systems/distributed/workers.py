"""Workers on this machine: processes that each hold a system, and the pipes to them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any

from anaphora.core import processes
from anaphora.systems import System
from anaphora.systems.distributed.team import Member, Team
from anaphora.systems.distributed.worker import Event, Failed, Worker
from anaphora.systems.options import Options
from anaphora.systems.scoring import Scorer, StartScorer


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
