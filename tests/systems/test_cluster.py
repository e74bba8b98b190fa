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
ray_cluster = pytest.importorskip("ray")

from ray.cluster_utils import Cluster

from anaphora import api
from anaphora.core import ray_workers as module
from anaphora.core.errors import AnaphoraError
from anaphora.demo.corpus import demo_suite
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of
from anaphora.systems import scoring, systems

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
    shutil.copy(Path(__file__).parent / "toy_system.py", packages)
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
    (doomed,) = nodes.worker_nodes
    steps: list[int] = []
    lost: list[str] = []
    retry = module.RayPool._retry
    monkeypatch.setattr(
        module.RayPool,
        "_retry",
        lambda pool, worker, failure: [lost.append(failure.message), retry(pool, worker, failure)],
    )

    def progress(done: int, total: int) -> None:
        steps.append(done)
        if done == 40:
            nodes.add_node(wait=False, num_cpus=1, **HERE)
        if done == 100:
            wait_until(lambda: len(processes(log)) >= 2)
            nodes.remove_node(doomed, allow_graceful=False)

    run = api.score(suite, spec, tmp_path / "run", cluster=nodes.address, progress=progress)
    assert not ray_cluster.is_initialized()
    assert [message.partition(":")[0] for message in lost] == ["ActorDiedError"]
    assert len(processes(log)) == 3  # on the head, on the node that went, and on the one that came
    assert steps == list(range(EXAMPLES + 1))
    assert run.path.read_bytes() == alone(suite, spec, tmp_path / "alone", monkeypatch)
    assert capfd.readouterr() == ("", "")


def test_a_model_on_the_cluster(nodes: Any, tiny_marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "SHARD", 40)
    options: dict[str, Any] = {"threads": 1, "context": 1, "batch_tokens": 400, "limit": 120}
    runs = [
        api.score(demo_suite(), f"hf:{tiny_marian}", tmp_path / str(k), cluster=address, **options)
        for k, address in enumerate([None, nodes.address])
    ]
    assert runs[0].path.read_bytes() == runs[1].path.read_bytes()


def test_a_killed_driver_and_a_worker_lost(
    nodes: Any, suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "SHARD", 1024)
    examples = [Example(f"{k}.{e.id}", e.source, e.candidates, e.gold) for k in range(4) for e in suite]
    suite_of(suite.header, lambda: examples).write(tmp_path / "suite.jsonl")
    log, flag, part = tmp_path / "log", tmp_path / "flag", tmp_path / "run" / "run.jsonl.part"
    spec = f"toy:x?log={log}&pause=0.05&at=3.e100&do=kill&flag={flag}&once="
    command = [sys.executable, "-m", "anaphora", "score", "suite.jsonl", "--system", spec, "-o", "run"]
    command += ["--cluster", nodes.address, "--threads", "1"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as first:
        wait_until(lambda: part.exists() and part.read_bytes().count(b"\n") > 100)
        first.send_signal(signal.SIGKILL)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes(log)))
    done = part.read_bytes().count(b"\n") - 1
    assert 100 <= done < len(examples)
    flag.touch()
    again = subprocess.run([*command, "--resume", "--json"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert again.stderr == "numbers en-de · 1,320 examples · 2,640 candidates\n"
    assert json.loads(again.stdout)["examples"] == len(examples)
    assert not flag.exists()
    expected = api.load_suite(tmp_path / "suite.jsonl")
    assert (tmp_path / "run" / "run.jsonl").read_bytes() == alone(expected, spec, tmp_path / "alone", monkeypatch)


def test_what_no_worker_can_do(nodes: Any, suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def score(spec: str, **options: Any) -> None:
        api.score(suite, spec, tmp_path / "run", cluster=nodes.address, **options)

    with pytest.raises(AnaphoraError, match=r"^a worker on the cluster failed: ZeroDivisionError: the toy is broken"):
        score("toy:x?at=e100&do=raise")
    with pytest.raises(AnaphoraError, match=r"^toy.txt: line 7: not to my taste. Give me another.$"):
        score("toy:x?load=refuse")
    with pytest.raises(AnaphoraError, match=r"^no node of the Ray cluster has 64 CPU and 2 GPU for a worker"):
        score("toy:x", threads=64, gpus=2)
    monkeypatch.setattr(module, "__version__", "9.9")
    with pytest.raises(AnaphoraError, match=r"^anaphora is 9.9 here, but .* on the node .*==9.9\"$"):
        score("toy:x")
    assert not ray_cluster.is_initialized()


def test_at_most_so_many_workers_in_a_connection_that_is_there(nodes: Any, suite: Suite, tmp_path: Path) -> None:
    ray_cluster.init(nodes.address, log_to_driver=False, logging_level="ERROR")
    try:
        log = tmp_path / "log"
        api.score(suite, f"toy:x?log={log}", tmp_path / "run", cluster="", workers=1)
        assert len(processes(log)) == 1
        assert ray_cluster.is_initialized()
    finally:
        ray_cluster.shutdown()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:9", r"^no Ray cluster at 127.0.0.1:9 \(connection refused\). Start one with: ray start --head$"),
        ("nonsense", "^not the address of a Ray cluster: 'nonsense'. Write HOST:PORT"),
        ("ray://127.0.0.1:10001", "^not the address of a Ray cluster: 'ray://"),
    ],
)
def test_an_address_where_no_cluster_is(suite: Suite, tmp_path: Path, address: str, said: str) -> None:
    with pytest.raises(AnaphoraError, match=said):
        api.score(suite, "toy:x", tmp_path / "run", cluster=address)


def test_ray_is_not_installed(suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(AnaphoraError, match=r"pip install \"anaphora\[cluster\]\"$"):
        api.score(suite, "toy:x", tmp_path / "run", cluster="")
