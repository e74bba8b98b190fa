"""Work on a Ray cluster: a task for each shard. Ray does a task again whose node was lost; here each is written once.

The bytes of a shard go to where there is room, and what it gives comes back: nodes need no folder in common.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from anaphora import __version__
from anaphora.core.errors import AnaphoraError
from anaphora.systems.distributed.cluster import connect, in_short

if TYPE_CHECKING:
    from anaphora.build.mine.jobs import Work
    from anaphora.build.mine.running import Done, Shard

RETRIES = 5  # how often Ray does a task again whose worker or node was lost
PATIENCE = 1.0  # seconds between two looks at how many processors there are


class RayTasks:
    """Shards as tasks, two for each processor of the cluster at a time, so that none waits.

    workers: so many at a time at most
    """

    def __init__(self, address: str | None, workers: int | None = None) -> None:
        self.ray, self._disconnect = connect(address)
        self.workers = workers
        self._task = self.ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(_remote())

    def run(self, work: Work, shards: Iterable[Shard]) -> Iterator[Done]:
        stream = iter(shards)
        load, key = self.ray.put(pickle.dumps(work.packed())), uuid4().hex
        waiting: dict[Any, int] = {}
        while True:
            room = self._room()
            while len(waiting) < room and (shard := next(stream, None)) is not None:
                number, inputs = shard
                waiting[self._task.remote(__version__, key, [load], tuple(inputs))] = number
            if not waiting:
                return
            ready, _ = self.ray.wait(list(waiting), timeout=PATIENCE)
            for reference in ready:
                yield waiting.pop(reference), self._result(reference)

    def _room(self) -> int:
        """Tasks at a time: nodes may come and go."""
        processors = sum(int(node["Resources"].get("CPU", 0)) for node in self.ray.nodes() if node["Alive"])
        return self.workers or max(2, 2 * processors)

    def _result(self, reference: Any) -> bytes:
        try:
            kind, value = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            kept = "What is finished is kept: run the command again"
            raise AnaphoraError(f"the cluster could not finish a shard: {in_short(error)}. {kept}") from None
        if kind == "wrong":
            raise AnaphoraError(value)
        found: bytes = value
        return found

    def close(self) -> None:
        self._disconnect()


def _remote() -> Any:
    """What a task does. It is sent as it is, and so can tell that a node has another version, or none."""

    def task(version: str, key: str, load: list[Any], inputs: tuple[bytes, ...]) -> tuple[str, Any]:
        import platform

        import ray

        try:
            from anaphora import __version__ as found
        except ImportError:
            found = "not installed"
        if found != version:
            return "wrong", (
                f"anaphora is {version} here, but {found} on the node {platform.node()} of the cluster. "
                f'Install it there: pip install "anaphora[all]=={version}"'
            )
        from anaphora.build.mine.jobs import loaded
        from anaphora.core.errors import AnaphoraError

        try:
            return "done", loaded(key, lambda: ray.get(load[0]))(inputs)
        except AnaphoraError as error:
            return "wrong", str(error)

    return task
