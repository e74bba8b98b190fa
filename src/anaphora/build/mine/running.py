"""Who does the work of a stage, shard by shard: this process, several processes, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from anaphora.build.mine.jobs import Inputs, Work
from anaphora.build.mine.stage import Count, Stage

Shard = tuple[int, Inputs]  # its number, and the files that the work on it needs
Done = tuple[int, bytes]  # its number, and the file that it gives


class Runner(Protocol):
    """Does work on shards, in any order. Shards are taken from the stream as they are needed, not before."""

    def run(self, work: Work, shards: Iterable[Shard]) -> Iterator[Done]: ...

    def close(self) -> None:
        """Nothing more is to be done."""
        ...


class InProcess:
    """One shard after the other, here."""

    def run(self, work: Work, shards: Iterable[Shard]) -> Iterator[Done]:
        for number, inputs in shards:
            yield number, work(inputs)

    def close(self) -> None:
        pass


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
