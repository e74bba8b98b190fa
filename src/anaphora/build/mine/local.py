"""Processes on this machine that work on shards side by side, each with one thread."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from anaphora.core import processes
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.build.mine.jobs import Work
    from anaphora.build.mine.running import Done, Shard

# read when the libraries are imported; a process for each processor must not start as many threads again
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
RETRIES = 2  # how often a shard may be lost with its worker


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Processes:
    """So many processes, started when there is work; what they have loaded stays loaded from stage to stage."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._members: list[_Member] = []

    def run(self, work: Work, shards: Iterable[Shard]) -> Iterator[Done]:
        for member in self._members:
            member.knows = False
        try:
            yield from self._run(work, iter(shards))
        finally:
            for member in [member for member in self._members if member.shard is not None]:
                self._members.remove(member)  # it works on what nobody wants any more
                member.dismiss()

    def _run(self, work: Work, stream: Iterator[Shard]) -> Iterator[Done]:
        again: list[Shard] = []  # of workers that were lost
        lost: Counter[int] = Counter()
        while True:
            self._deal(work, stream, again)
            busy = {member.pipe: member for member in self._members if member.shard is not None}
            if not busy:
                return
            for pipe in wait(list(busy)):
                member = busy[pipe]  # type: ignore[index]
                shard, member.shard = member.shard, None
                assert shard is not None
                try:
                    result = member.pipe.recv()
                except (EOFError, OSError):
                    self._members.remove(member)
                    lost[shard[0]] += 1
                    if lost[shard[0]] > RETRIES:
                        raise AnaphoraError(member.epitaph()) from None
                    again.append(shard)
                    continue
                if isinstance(result, _Failure):
                    raise result.error()
                yield shard[0], result

    def _deal(self, work: Work, stream: Iterator[Shard], again: list[Shard]) -> None:
        """Give each idle worker a shard; hire while there are fewer than there may be."""
        idle = [member for member in self._members if member.shard is None]
        while idle or len(self._members) < self.workers:
            shard = again.pop() if again else next(stream, None)
            if shard is None:
                return
            member = idle.pop() if idle else _Member()
            if member not in self._members:
                self._members.append(member)
            member.ask(work, shard)

    def close(self) -> None:
        for member in self._members:
            member.dismiss()
        self._members.clear()


class _Failure:
    """What went wrong in a worker; bad input is said as it is, anything else with its trace."""

    def __init__(self, error: Exception) -> None:
        self.message = str(error)
        self.trace = "" if isinstance(error, AnaphoraError) else traceback.format_exc()

    def error(self) -> Exception:
        return RuntimeError(self.trace) if self.trace else AnaphoraError(self.message)


class _Member:
    """A process, the pipe to it, and the shard it has."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.shard: Shard | None = None
        self.knows = False  # what is to be done
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        processes.start(self.process)
        theirs.close()

    def ask(self, work: Work, shard: Shard) -> None:
        self.shard = shard
        with contextlib.suppress(OSError):  # it is gone, which shows when it is listened to
            if not self.knows:
                self.pipe.send(work)
                self.knows = True
            self.pipe.send(shard[1])

    def epitaph(self) -> str:
        self.process.join()
        code = self.process.exitcode or 0
        how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        memory = ". Perhaps memory does not suffice: try fewer --workers" if code == -signal.SIGKILL else ""
        return f"a worker process was lost: {how}{memory}. What is finished is kept: run the command again"

    def dismiss(self) -> None:
        self.pipe.close()
        processes.dismiss(self.process)


def _serve(pipe: Connection) -> None:
    """The life of a worker process: what is to be done, and then one shard after the other."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    processes.begin_work()
    work: Any = None
    with contextlib.suppress(EOFError, OSError):  # the other end is closed: nobody wants to know more
        while True:
            message = pipe.recv()
            if not isinstance(message, tuple):
                work = message
                continue
            try:
                result: Any = work(message)
            except Exception as error:
                result = _Failure(error)
            pipe.send(result)
