"""A Ray cluster gives what one process gives, though nodes come and go, workers are lost and the driver is killed.

Scoring and mining are together here, since what takes most of the time is to start the nodes and their workers.
"""

from __future__ import annotations

import contextlib
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

from ray.cluster_utils import Cluster

from anaphora import api
from anaphora.build.mine import jobs, phenomenon
from anaphora.build.mine.corpus import Corpus, Sizes
from anaphora.build.mine.pipeline import RETRIES, InProcess, Output, Settings, mine, ray_cluster
from anaphora.build.mine.shards import unpack_pieces
from anaphora.core import ray_workers as module
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.demo.corpus import demo_suite
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of
from anaphora.systems import scoring, systems
from tests import warm
from tests.build.mine.conftest import forty_documents, write_corpus

EXAMPLES, SHARD = 330, 60  # six shards
HERE = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "include_dashboard": False, "include_log_monitor": False}
# A lost node, which refuses connections, is noticed after three seconds rather than after half a minute, while one that
# is only slow has half a minute to answer; no workers are started that nobody asked for.
ALERT = {"health_check_period_ms": 300, "health_check_failure_threshold": 10, "health_check_timeout_ms": 3000}
FEW = {"enable_worker_prestart": False, "prestart_worker_first_driver": False}

TESTS = Path(__file__).parents[1]
TOYS = ("systems/toy_system.py", "build/mine/toy_phenomenon.py", "build/mine/toy_work.py")
ENTRY_POINTS = "[anaphora.systems]\ntoy = toy_system:Toy\n[anaphora.phenomena]\ntoy = toy_phenomenon:Toy\n"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of a head and a node of one processor each, where a toy system and a toy phenomenon are installed."""
    packages = tmp_path_factory.mktemp("packages")
    about = packages / "toys-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    for toy in TOYS:
        shutil.copy(TESTS / toy, packages)
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # its sockets need a short name
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(packages)
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, [packages, *filter(None, sys.path)])))
        patch.setenv("RAY_TMPDIR", folder)
        forget_toys()
        cluster = Cluster(initialize_head=True, head_node_args={"_system_config": {**ALERT, **FEW}, **HERE})
        cluster.add_node(**HERE)
        yield cluster
        cluster.shutdown()
    forget_toys()
    shutil.rmtree(folder, ignore_errors=True)


def forget_toys() -> None:
    for cached in (systems, phenomenon.phenomena, jobs.phenomenon_of, jobs.annotator_of):
        cached.cache_clear()


def a_node(nodes: Any) -> Any:
    """A node that can be lost: not the head, which the driver is connected to."""
    return next(iter(nodes.worker_nodes), None) or nodes.add_node(**HERE)


@pytest.fixture
def give_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is not tried again, with another worker each time."""
    monkeypatch.setitem(module.RayPool.__init__.__kwdefaults__, "retries", 0)
    monkeypatch.setitem(RETRIES, "cluster", 0)


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


def wait_until(true: Callable[[], bool], seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


@contextlib.contextmanager
def started(folder: Path, *arguments: str) -> Iterator[Any]:
    """A command in a process of its own."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with warm.start("anaphora", *arguments, cwd=folder, **pipes) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)


# Scoring


def alone(suite: Suite, spec: str, output: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """What one process gives, which is in no need of pauses."""
    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", lambda seconds: None)
        return api.score(suite, spec, output, threads=1).path.read_bytes()


def test_nodes_come_and_go_while_it_scores(
    nodes: Any, suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    spec = f"toy:x?log={log}&pause=0.4&company=3"
    doomed = a_node(nodes)
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
        if done == 10:
            nodes.add_node(wait=False, **HERE)
        if done == 100:
            nodes.remove_node(doomed, allow_graceful=False)

    run = api.score(suite, spec, tmp_path / "run", cluster=nodes.address, progress=progress)
    assert not ray.is_initialized()
    kinds = {message.partition(":")[0] for message in lost}  # Ray may not know yet that the actor is dead
    assert lost
    assert kinds <= {"ActorDiedError", "ActorUnavailableError"}
    assert len(processes(log)) == 3  # on the head, on the node that went, and on the one that came
    assert steps == list(range(EXAMPLES + 1))
    assert run.path.read_bytes() == alone(suite, spec, tmp_path / "alone", monkeypatch)
    assert capfd.readouterr() == ("", "")


def test_a_model_on_the_cluster(nodes: Any, tiny_marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "SHARD", 40)
    options: dict[str, Any] = {"threads": 1, "workers": 1, "context": 1, "batch_tokens": 400, "limit": 100}
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
    command = ["score", "suite.jsonl", "--system", spec, "-o", "run"]
    command += ["--cluster", nodes.address, "--workers", "1", "--threads", "1"]
    with started(tmp_path, *command) as first:
        wait_until(lambda: part.exists() and part.read_bytes().count(b"\n") > 100)
        first.send_signal(signal.SIGKILL)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes(log)))
    done = part.read_bytes().count(b"\n") - 1
    assert 100 <= done < len(examples)
    flag.touch()
    with started(tmp_path, *command, "--resume", "--json") as again:
        out, err = again.communicate()
    assert (again.returncode, err) == (0, "numbers en-de · 1,320 examples · 2,640 candidates\n")
    assert json.loads(out)["examples"] == len(examples)
    assert not flag.exists()
    expected = api.load_suite(tmp_path / "suite.jsonl")
    assert (tmp_path / "run" / "run.jsonl").read_bytes() == alone(expected, spec, tmp_path / "alone", monkeypatch)


@pytest.mark.usefixtures("give_up_at_once")
def test_what_no_worker_can_score(nodes: Any, suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def score(spec: str, **options: Any) -> None:
        api.score(suite, spec, tmp_path / "run", cluster=nodes.address, workers=1, **options)

    with pytest.raises(AnaphoraError, match=r"^a worker on the cluster failed: ZeroDivisionError: the toy is broken"):
        score("toy:x?at=e100&do=raise")
    with pytest.raises(AnaphoraError, match=r"^toy.txt: line 7: not to my taste. Give me another.$"):
        score("toy:x?load=refuse")
    with pytest.raises(AnaphoraError, match=r"^no node of the Ray cluster has 64 CPU and 2 GPU for a worker"):
        score("toy:x", threads=64, gpus=2)
    monkeypatch.setattr(module, "__version__", "9.9")
    with pytest.raises(AnaphoraError, match=r"^anaphora is 9.9 here, but .* on the node .*==9.9\"$"):
        score("toy:x")
    assert not ray.is_initialized()


def test_at_most_n_workers_on_an_existing_connection(nodes: Any, suite: Suite, tmp_path: Path) -> None:
    ray.init(nodes.address, log_to_driver=False, logging_level="ERROR")
    try:
        log = tmp_path / "log"
        api.score(suite, f"toy:x?log={log}", tmp_path / "run", cluster="", workers=1)
        assert len(processes(log)) == 1
        assert ray.is_initialized()
    finally:
        ray.shutdown()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:9", r"^no Ray cluster at 127.0.0.1:9 \(connection refused\). Start one with: ray start --head$"),
        ("nonsense", "^not the address of a Ray cluster: 'nonsense'. Write HOST:PORT"),
        ("ray://127.0.0.1:10001", "^not the address of a Ray cluster: 'ray://"),
    ],
)
def test_an_address_where_no_cluster_is(suite: Suite, tmp_path: Path, address: str, message: str) -> None:
    with pytest.raises(AnaphoraError, match=message):
        api.score(suite, "hf:x", tmp_path / "run", cluster=address)


def test_ray_is_not_installed(suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(AnaphoraError, match=r"pip install \"anaphora\[cluster\]\"$"):
        api.score(suite, "hf:x", tmp_path / "run", cluster="")


# Mining


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, Path]:
    return write_corpus(tmp_path, forty_documents())


def settings(corpus: tuple[Path, Path], **options: str) -> Settings:
    return Settings(
        Corpus(*corpus),
        ("en", "de"),
        (f"conllu:{corpus[0]}.conllu", f"conllu:{corpus[1]}.conllu"),
        phenomenon="toy",
        options=tuple(options.items()),
        per_class="all",
        sizes=Sizes(piece=4, shard=11, overlap=2),
    )


def output(folder: Path, name: str) -> Output:
    return Output(folder / f"{name}.jsonl", None, folder / f"{name}.work", "mined")


def test_mining_goes_on_when_a_node_is_lost(
    nodes: Any, corpus: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The model of the aligner goes with the work: nodes need no folder in common."""
    doomed = a_node(nodes)
    mine(settings(corpus), output(tmp_path, "one"), InProcess())
    log = tmp_path / "log"
    steps: list[int] = []

    def count(done: int, total: int | None) -> None:
        steps.append(done)
        if len(steps) == 3:
            nodes.remove_node(doomed, allow_graceful=False)

    def watch(stage: str, unit: str) -> Any:
        return contextlib.nullcontext(count if stage == "extract" else None)

    with contextlib.closing(ray_cluster(nodes.address)) as team:
        result = mine(settings(corpus, log=str(log), pause="0.15", company="2"), output(tmp_path, "two"), team, watch)
    assert not ray.is_initialized()
    assert len(steps) == len(result.index.shards) > 8  # nothing is lost, nothing is there twice
    assert steps[-1] == result.index.pairs
    assert result.found.total() > 50
    pieces = sum(len(list(unpack_pieces(path.read_bytes()))) for path in (tmp_path / "two.work" / "read").glob("*.gz"))
    worked = log.read_text().split()
    assert len(worked) >= pieces  # what the lost node was at was done again
    assert len(set(worked[: pieces // 2])) == 2 > len(set(worked[-pieces // 4 :]))  # one of the processes has gone
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert capfd.readouterr().out == ""


@pytest.mark.usefixtures("give_up_at_once")
def test_what_no_worker_can_mine(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from toy_work import Wrong

    with contextlib.closing(ray_cluster(nodes.address, workers=1)) as team:
        with pytest.raises(AnaphoraError, match=r"^x: line 3: no\. Change it\.$"):
            list(team.run(Wrong(str(BadInput("x", "no", line=3, remedy="Change it."))), [(0, (b"",))]))
        with pytest.raises(RuntimeError, match=r"in __call__\n(?s:.*)ZeroDivisionError"):
            list(team.run(Wrong(""), [(0, (b"",))]))
        monkeypatch.setattr(module, "__version__", "9.9")
        with pytest.raises(AnaphoraError, match=r"^anaphora is 9.9 here, but .* on the node .*==9.9\"$"):
            list(team.run(Wrong(""), [(0, (b"",))]))
    assert not ray.is_initialized()


def test_mining_with_a_killed_driver(nodes: Any, anaphora: Callable[..., object], tmp_path: Path) -> None:
    write_corpus(tmp_path, forty_documents() * 60)
    command = ["build", "mine", "--source", "x.en", "--target", "x.de", "--alignments", "x.align", "--workers", "1"]
    command += ["--annotate-source", "conllu:x.en.conllu", "--annotate-target", "conllu:x.de.conllu"]
    command += ["--phenomenon", "toy", "-l", "en-de", "--name", "mined"]
    far = [*command, "--cluster", nodes.address, "-o", "far.jsonl"]
    with started(tmp_path, *far) as first:
        wait_until(lambda: bool(list((tmp_path / "far.jsonl.work" / "align").glob("*.gz"))))
        first.send_signal(signal.SIGKILL)
    assert not (tmp_path / "far.jsonl").exists()
    with started(tmp_path, *far) as again:
        message = again.communicate()
    assert again.returncode == 0, message
    anaphora(*command, "-o", "near.jsonl")
    assert (tmp_path / "far.jsonl").read_bytes() == (tmp_path / "near.jsonl").read_bytes()


def test_no_cluster_to_mine_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AnaphoraError, match=r"^no Ray cluster at 127.0.0.1:9"):
        ray_cluster("127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(AnaphoraError, match=r"pip install \"anaphora\[cluster\]\"$"):
        ray_cluster(None)
