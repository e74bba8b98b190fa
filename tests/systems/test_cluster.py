"""A Ray cluster gives the run that one process gives, though nodes come and go and the driver is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# Everything on this machine alone: Ray would make of 127.0.0.1 an address that others can reach.
os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

from anaphora import api  # noqa: E402
from anaphora.demo import demo_suite  # noqa: E402
from anaphora.errors import AnaphoraError  # noqa: E402
from anaphora.suites.example import Example  # noqa: E402
from anaphora.suites.suite import Header, Suite, suite_of  # noqa: E402
from anaphora.systems import cluster as module  # noqa: E402
from anaphora.systems import scoring, systems  # noqa: E402

EXAMPLES, SHARD = 330, 60  # six shards
HERE = {"node_ip_address": "127.0.0.1", "include_dashboard": False}
# A lost node is noticed after a second rather than after half a minute.
ALERT = {"health_check_period_ms": 300, "health_check_failure_threshold": 3, "health_check_timeout_ms": 1000}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of a head and a node, each with one processor, where `toy:…` is installed."""
    packages = tmp_path_factory.mktemp("packages")
    about = packages / "toy_system-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-system\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[anaphora.systems]\ntoy = toy_system:Toy\n")
    shutil.copy(Path(__file__).with_name("toy_system.py"), packages)
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # its sockets need a short name
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(packages)
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, [packages, *filter(None, sys.path)])))
        patch.setenv("RAY_TMPDIR", folder)
        systems.cache_clear()
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "_system_config": ALERT, **HERE})
        cluster.add_node(num_cpus=1, **HERE)
        yield cluster
        cluster.shutdown()
    systems.cache_clear()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> Suite:
    monkeypatch.setattr(scoring, "SHARD", SHARD)
    examples = [
        Example(f"e{i}", (f"It {'was ' * (i * 7 % 23)}so.",), ((f"Er {i}",), (f"Sie {i}",)), i % 2)
        for i in range(EXAMPLES)
    ]
    return suite_of(Header("numbers", "en", "de"), lambda: examples)


def processes(log: Path) -> set[int]:
    return {pid for pid in map(int, log.read_text().split()) if pid != os.getpid()} if log.exists() else set()


def wait_until(true: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def alone(suite: Suite, spec: str, output: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """What one process gives, which is in no need of pauses."""
    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", lambda seconds: None)
        return api.score(suite, spec, output, threads=1).path.read_bytes()


def test_nodes_come_and_go(
    nodes: Any, suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    spec = f"toy:x?log={log}&pause=0.4"
    before = len(ray.nodes()) if ray.is_initialized() else 2
    steps: list[int] = []

    def progress(done: int, total: int) -> None:
        steps.append(done)
        if done == 40:
            nodes.add_node(wait=False, num_cpus=1, **HERE)
        if done == 80:
            wait_until(lambda: len(processes(log)) >= before)
            nodes.remove_node(min(nodes.worker_nodes, key=lambda node: node.node_id), allow_graceful=False)

    run = api.score(suite, spec, tmp_path / "run", cluster=nodes.address, progress=progress)
    assert not ray.is_initialized()
    assert run.path.read_bytes() == alone(suite, spec, tmp_path / "alone", monkeypatch)
    assert steps == list(range(EXAMPLES + 1))
    assert len(processes(log)) == 3
    assert capfd.readouterr() == ("", "")
