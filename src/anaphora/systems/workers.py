"""Scoring in parallel: workers on this machine or on a Ray cluster that each hold the system."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from anaphora.core.workers import ProcessPool, WorkerPool, processor_count
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example
from anaphora.systems import SupportsClose, System, Traits, kind_traits, load_system, traits_of
from anaphora.systems.context import Options, split_spec
from anaphora.systems.scoring import SHARD, Scorer, Shard, StartScorer, score_shard

ADVICE = "Scored examples are kept: continue with --resume"


@dataclass
class ScoringHandler:
    """Loads a system in a worker and scores shards with it."""

    spec: str
    options: Options
    system: System = field(init=False)

    def load(self) -> Mapping[str, Any]:
        self.system = load_system(self.spec, self.options)
        return {**self.system.settings(), TRAITS: traits_of(self.system)}

    def handle(self, task: Shard, shared: object) -> Iterator[tuple[int, CandidateScores]]:
        for number, answer in score_shard(self.system, self.options, task):
            yield number, answer._replace(extra=dict(answer.extra))  # a mapping proxy cannot be pickled

    def close(self) -> None:
        if isinstance(self.system, SupportsClose):
            self.system.close()


TRAITS = "system's traits"  # in a worker's description, besides the settings


class PooledSystem:
    """A system that scores in a pool of workers. Its `compute` is the Scorer for `score_suite`."""

    def __init__(self, pool: WorkerPool) -> None:
        self.pool = pool
        self._description = dict(pool.start())
        self.traits: Traits = self._description.pop(TRAITS)

    def settings(self) -> Mapping[str, Any]:
        """The system's settings, which are the same in every worker."""
        return self._description

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Score examples as one shard."""
        return self.compute([Shard(0, examples, frozenset(n for n in range(len(examples)) if n in done))])

    def compute(self, shards: Iterable[Shard]) -> Iterator[tuple[int, CandidateScores]]:
        """The answers of all shards as they arrive. Afterwards the workers have ended."""
        try:
            for _, answer in self.pool.run(shards):
                yield answer
            self.pool.close()
        finally:
            self.pool.terminate()


def local_workers(workers: int, threads: int | None = None) -> StartScorer:
    """Processes on this machine for `score_suite`.

    threads: per process; by default an equal share of the processors
    """
    share = threads or max(1, processor_count() // workers)

    def start(spec: str, options: Options) -> tuple[System, Scorer]:
        system = PooledSystem(
            ProcessPool(ScoringHandler(spec, replace(options, threads=share)), workers, advice=ADVICE)
        )
        return system, system.compute

    return start


def ray_cluster(
    address: str | None = None,
    *,
    workers: int | None = None,
    cpus_per_worker: int = 1,
    gpus_per_worker: float = 0,
) -> StartScorer:
    """Actors of a Ray cluster for `score_suite`; each has its own processors, and as many threads.

    address: HOST:PORT of the head; without, RAY_ADDRESS, a cluster that runs here, or else a new one here
    workers: at most this many
    """

    def start(spec: str, options: Options) -> tuple[System, Scorer]:
        from anaphora.core.ray_workers import RayPool

        handler = ScoringHandler(spec, replace(options, threads=cpus_per_worker))
        pool = RayPool(
            handler, address or None, workers=workers, cpus=cpus_per_worker, gpus=gpus_per_worker, advice=ADVICE
        )
        system = PooledSystem(pool)
        return system, system.compute

    return start


# The default number of workers: two processes of one thread are faster than one of two (benchmarks/workers.py)

GPU_DEVICES = ("nvidia[0-9]*", "kfd", "dxg")
WEIGHTS = ("*.safetensors", "*.bin", "*.gguf")
OVERHEAD = 1 << 30  # bytes of a process besides its weights


def default_worker_count(spec: str, examples: int, devices: Path = Path("/dev")) -> int:
    """One worker per processor where a model computes on CPUs, with a shard and enough memory for each; else one."""
    _, what = split_spec(spec)
    shards = -(-examples // SHARD)
    has_gpu = any(any(devices.glob(pattern)) for pattern in GPU_DEVICES)
    if shards < 2 or has_gpu or not kind_traits(spec).default_workers:
        return 1
    name, _, query = what.partition("?")  # wrong settings are reported when the system is loaded
    size = _weights_size(name)
    if size is None or dict(parse_qsl(query)).get("device", "cpu") != "cpu":
        return 1
    return max(1, min(processor_count(), shards, _free_memory() // (2 * size + OVERHEAD)))


def _weights_size(name: str) -> int | None:
    """The size of a model's weights in bytes, if it is on this machine."""
    path = Path(name)
    if path.is_file():
        return path.stat().st_size
    if not path.is_dir():
        try:
            from huggingface_hub import snapshot_download

            path = Path(snapshot_download(name, local_files_only=True))
        except Exception:  # it has to be downloaded first, by one process
            return None
    sizes = [sum(file.stat().st_size for file in path.glob(pattern)) for pattern in WEIGHTS]
    return max(sizes) or None  # the same weights may be there in several formats


def _free_memory() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):  # not on this platform
        return 0
