"""The connection to a cluster: made once, let go by the last who uses it, and never that of somebody else.

Ray is played here: it says what it was asked, and prints where it should not.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from ray.cluster_utils import Cluster

ray_cluster = pytest.importorskip("ray")

from anaphora import api
from anaphora.core.errors import AnaphoraError
from anaphora.demo.stand_ins import demo_suite
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of
from anaphora.systems import scoring, systems
from anaphora.systems.distributed import cluster as module
from anaphora.systems.distributed import cluster as ray_connection
from anaphora.systems.distributed.cluster import connect, in_short


class Ray(ModuleType):
    """connected: whether somebody has made a connection; calls: how it was made, and when it was given up"""

    def __init__(self) -> None:
        super().__init__("ray")
        self.connected, self.calls = False, list[Any]()
        self.error: Exception | None = None
        self.printed: list[str] = []
        self._private = SimpleNamespace(worker=SimpleNamespace(print_to_stdstream=self.printed.append))
        self.util = SimpleNamespace(get_node_ip_address=lambda: "127.0.0.1")

    def is_initialized(self) -> bool:
        return self.connected

    def init(self, **arguments: Any) -> None:
        self.calls.append(arguments)
        if self.error:
            raise self.error
        self.connected = True

    def shutdown(self) -> None:
        self.calls.append("shutdown")
        self.connected = False


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ray]:
    monkeypatch.setitem(sys.modules, "ray", played := Ray())
    monkeypatch.setattr(ray_connection, "_holders", set())
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")  # so that it is as before afterwards
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED")
    return played


# Who makes it and who lets it go


def test_it_is_made_quietly_and_let_go(ray: Ray) -> None:
    found, disconnect = connect(None)
    assert found is ray
    assert ray.connected
    disconnect()
    [made, end] = ray.calls
    assert (made["address"], made["log_to_driver"], made["include_dashboard"], end) == (None, False, False, "shutdown")
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_the_last_of_its_users_lets_it_go(ray: Ray) -> None:
    (_, one), (_, two), (_, three) = (connect(None) for _ in range(3))
    two()
    one()
    one()  # again, as finalizers may
    assert ray.connected
    three()
    assert not ray.connected
    assert len(ray.calls) == 2


def test_a_connection_of_the_program_s_own_is_used_and_kept(ray: Ray) -> None:
    ray.connected = True
    (_, one), (_, two) = connect("10.0.0.1:6379"), connect(None)
    one()
    two()
    assert ray.connected
    assert ray.calls == []


def test_after_it_was_let_go_another_is_made(ray: Ray) -> None:
    for _ in range(2):
        connect("local")[1]()
    assert [call if call == "shutdown" else call["address"] for call in ray.calls] == ["local", "shutdown"] * 2


def test_one_that_somebody_else_has_ended_is_made_anew(ray: Ray) -> None:
    """Who held the old one does not let the new one go."""
    _, old = connect(None)
    ray.shutdown()
    _, new = connect(None)
    old()
    assert ray.connected
    new()
    assert not ray.connected


# What does not work


@pytest.mark.parametrize("error", [ConnectionError("no\n\n  cluster\n\tnode 1\n"), RuntimeError("x"), ValueError("x")])
def test_what_ray_says_against_it_is_one_line(ray: Ray, error: Exception) -> None:
    ray.error = error
    with pytest.raises(
        AnaphoraError, match=rf"^no connection to a Ray cluster at auto: {type(error).__name__}: "
    ) as told:
        connect("auto")
    assert "\n" not in str(told.value)
    assert "node 1" not in str(told.value)
    ray.error = None
    connect(None)[1]()  # nobody holds what was not made
    assert not ray.connected


def test_without_an_address_it_is_this_machine(ray: Ray) -> None:
    ray.error = RuntimeError("x")
    with pytest.raises(AnaphoraError, match="no connection to a Ray cluster at this machine: RuntimeError: x"):
        connect(None)


@pytest.mark.parametrize(
    "address", ["6379", "host", "host:", ":6379", "host:port", "host:-1", "ray://host:10001", "http://host:8265", ""]
)
def test_what_is_no_address(ray: Ray, address: str) -> None:
    with pytest.raises(AnaphoraError) as caught:
        connect(address)
    assert str(caught.value) == (
        f"not the address of a Ray cluster: {address!r}. Write HOST:PORT, the head's, as in: ray start"
    )
    assert ray.calls == []


@pytest.mark.parametrize("address", ["a..b:6379", "x" * 64 + ".org:6379", "127.0.0.1:0"])
def test_an_address_that_nobody_can_have(ray: Ray, address: str) -> None:
    with pytest.raises(
        AnaphoraError, match=rf"^no Ray cluster at {address} \(.+\)\. Start one with: ray start --head$"
    ):
        connect(address)
    assert ray.calls == []


def test_where_nobody_listens_ray_does_not_even_try(ray: Ray) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        connect(f"localhost:{port}")[1]()
        assert ray.calls[0]["address"] == f"localhost:{port}"
    with pytest.raises(AnaphoraError, match=rf"^no Ray cluster at 127\.0\.0\.1:{port} \(connection refused\)"):
        connect(f"localhost:{port}")
    assert len(ray.calls) == 2


# What it prints


def test_it_prints_nothing_while_the_connection_is_ours(ray: Ray) -> None:
    worker = ray._private.worker
    loud = worker.print_to_stdstream
    for _ in range(3):
        _, disconnect = connect(None)
        worker.print_to_stdstream("a node has died")
        disconnect()
    assert ray.printed == []
    worker.print_to_stdstream("to somebody else")
    assert ray.printed == ["to somebody else"]
    assert worker.print_to_stdstream.__wrapped__ == loud  # silenced three times, and yet wrapped only once


def test_a_ray_that_has_no_such_function_is_left_as_it_is(ray: Ray) -> None:
    del ray._private.worker.print_to_stdstream
    connect(None)[1]()
    assert vars(ray._private.worker) == {}


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("", "ValueError:"),
        ("one", "ValueError: one"),
        (
            "The actor died.\n\tclass_name: X\n\n  It was killed. \n\tpid: 7",
            "ValueError: The actor died. It was killed.",
        ),
        ("x" * 999, "ValueError: " + "x" * 388),
    ],
)
def test_in_short(text: str, short: str) -> None:
    assert in_short(ValueError(text)) == short


# A Ray cluster gives the run that one process gives, though nodes come and go and the driver is killed.

# Everything on this machine alone: Ray would make of 127.0.0.1 an address that others can reach.
os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}


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
    shutil.copy(Path(__file__).parents[1] / "toy_system.py", packages)
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
    retry = module.RayTeam._retry
    monkeypatch.setattr(
        module.RayTeam,
        "_retry",
        lambda team, member, failure: [lost.append(failure.message), retry(team, member, failure)],
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

    monkeypatch.setattr(module.RayTeam, "retries", 1)
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
