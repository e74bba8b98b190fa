"""Runners, which do the work of a stage on its shards: in this process, in several processes, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from anaphora.build.mine.jobs import Inputs, Work
from anaphora.build.mine.stage import Count, Stage
from anaphora.core.workers import ProcessPool, WorkerFailed, WorkerPool, processor_count

Shard = tuple[int, Inputs]  # its number, and the files that the work on it needs
Done = tuple[int, bytes]  # its number, and the file that it gives

# read when the libraries are imported; a process for each processor must not start as many threads again
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
RETRIES = {"processes": 2, "cluster": 5}  # how often a shard may be lost with its worker
ADVICE = "Finished shards are kept: run the command again"


class Runner(Protocol):
    """Does work on shards, in any order. Shards are taken from the stream as they are needed, not before."""

    def run(self, work: Work, shards: Iterable[Shard]) -> Iterator[Done]: ...

    def close(self) -> None:
        """Nothing more is to be done."""
        ...


class InProcess:
    """One shard after the other, in this process."""

    def run(self, work: Work, shards: Iterable[Shard]) -> Iterator[Done]:
        for number, inputs in shards:
            yield number, work(inputs)

    def close(self) -> None:
        pass


class InWorkers:
    """Shards in parallel. What a worker has loaded stays loaded from stage to stage.

    remote: workers may be on other machines, so that the work is sent with the files that it needs
    """

    def __init__(self, pool: WorkerPool, *, remote: bool = False) -> None:
        self.pool, self.remote = pool, remote

    def run(self, work: Work, shards: Iterable[Shard]) -> Iterator[Done]:
        tasks = (ShardTask(*shard) for shard in shards)
        try:
            for task, data in self.pool.run(tasks, work.packed() if self.remote else work):
                yield task.key, data
        except WorkerFailed as error:
            if not error.trace:
                raise
            raise RuntimeError(error.trace) from None

    def close(self) -> None:
        self.pool.terminate()


class ShardTask(NamedTuple):
    """The work on one shard."""

    key: int
    inputs: Inputs

    def remaining(self, results: list[bytes]) -> ShardTask | None:
        return None if results else self


class StageHandler:
    """Does the work of a stage, the shared object of its tasks, inside a worker."""

    def load(self) -> None:
        pass

    def handle(self, task: ShardTask, work: Work) -> Iterator[bytes]:
        yield work(task.inputs)

    def close(self) -> None:
        pass


def processes(workers: int) -> InWorkers:
    """N processes on this machine, each with one thread."""
    pool = ProcessPool(StageHandler(), workers, retries=RETRIES["processes"], advice=ADVICE, environment=ONE_THREAD)
    return InWorkers(pool)


def ray_cluster(address: str | None, workers: int | None = None) -> InWorkers:
    """Actors of a Ray cluster, one per processor, but at most `workers`. Nodes need no folder in common."""
    from anaphora.core.ray_workers import RayPool

    pool = RayPool(StageHandler(), address, workers=workers, retries=RETRIES["cluster"], advice=ADVICE)
    return InWorkers(pool, remote=True)


def runner_for(workers: int | None, cluster: str | None) -> Runner:
    """The runner that the options of the command line name.

    workers: None is one for each processor; cluster: the address of a Ray cluster, "" for the default one
    """
    if cluster is not None:
        return ray_cluster(cluster or None, workers)
    count = workers or processor_count()
    return processes(count) if count > 1 else InProcess()


def run_stage(
    stage: Stage,
    work: Work,
    runner: Runner,
    sizes: list[int],
    inputs: tuple[Stage, ...],
    count: Count | None = None,
) -> None:
    """Do what a stage lacks, and write each shard when it is done.

    sizes: the sentences of each shard; count: is told how many are done, and how many there are
    """
    finished = stage.finished(len(sizes))
    todo = [number for number in range(len(sizes)) if number not in finished]
    shards = ((number, tuple(before.read(number) for before in inputs)) for number in todo)
    done, total = 0, sum(sizes[number] for number in todo)
    for number, data in runner.run(work, shards):
        stage.write(number, data)
        done += sizes[number]
        if count is not None:
            count(done, total)
