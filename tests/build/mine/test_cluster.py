"""A Ray cluster gives what one process gives, though a node is lost in the middle and the driver is killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

# Everything on this machine alone: Ray would make of 127.0.0.1 an address that others can reach.
os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster

from anaphora.build.mine.corpus import Corpus, Sizes
from anaphora.build.mine.pipeline import InProcess, InWorkers, Output, Settings, mine, ray_cluster
from anaphora.build.mine.shards import unpack_pieces
from anaphora.core import ray_workers as module
from anaphora.core.errors import AnaphoraError, BadInput

HERE = {"node_ip_address": "127.0.0.1", "include_dashboard": False}
# A lost node is noticed after a second rather than after half a minute.
ALERT = {"health_check_period_ms": 300, "health_check_failure_threshold": 3, "health_check_timeout_ms": 1000}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of a head and two nodes, each with one processor, where the tests' own modules are found."""
    packages = tmp_path_factory.mktemp("packages")
    about = packages / "toy_phenomenon-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-phenomenon\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[anaphora.phenomena]\ntoy = toy_phenomenon:Toy\n")
    shutil.copy(Path(__file__).parent / "toy_phenomenon.py", packages)
    shutil.copy(Path(__file__).parent / "toy_work.py", packages)
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # its sockets need a short name
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(packages)
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, [packages, *filter(None, sys.path)])))
        patch.setenv("RAY_TMPDIR", folder)
        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "_system_config": ALERT, **HERE})
        for _ in range(2):
            found.add_node(num_cpus=1, **HERE)
        yield found
        found.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def team(nodes: Any) -> Iterator[InWorkers]:
    found = ray_cluster(nodes.address)
    yield found
    found.close()
    assert not ray.is_initialized()


def wait_until(true: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def settings(corpus: tuple[Path, Path]) -> Settings:
    return Settings(
        Corpus(*corpus),
        ("en", "de"),
        (f"conllu:{corpus[0]}.conllu", f"conllu:{corpus[1]}.conllu"),
        phenomenon="toy",
        per_class="all",
        sizes=Sizes(piece=4, shard=11, overlap=2),
    )


def output(folder: Path, name: str) -> Output:
    return Output(folder / f"{name}.jsonl", None, folder / f"{name}.work", "mined")


@pytest.mark.usefixtures("toy")
def test_the_same_as_one_process(
    team: InWorkers, corpus: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The model of the aligner goes with the work: nodes need no folder in common."""
    mine(settings(corpus), output(tmp_path, "one"), InProcess())
    steps: list[tuple[str, int, int | None]] = []

    def watch(stage: str, unit: str) -> Any:
        return contextlib.nullcontext(lambda done, total: steps.append((stage, done, total)))

    result = mine(settings(corpus), output(tmp_path, "two"), team, watch)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert result.found.total() > 50
    assert ("extract", result.index.pairs, result.index.pairs) in steps
    assert capfd.readouterr().out == ""


@pytest.mark.usefixtures("toy")
def test_a_node_is_lost_in_the_middle(nodes: Any, team: InWorkers, corpus: tuple[Path, Path], tmp_path: Path) -> None:
    given = replace(settings(corpus), corpus=Corpus(*corpus, alignments=tmp_path / "x.align"))
    mine(given, output(tmp_path, "one"), InProcess())
    log = tmp_path / "log"
    doomed = next(iter(nodes.worker_nodes))
    steps: list[int] = []

    def count(done: int, total: int | None) -> None:
        steps.append(done)
        if len(steps) == 3:
            wait_until(lambda: len(set(log.read_text().split())) == 3)  # a process on each node
            nodes.remove_node(doomed, allow_graceful=False)

    def watch(stage: str, unit: str) -> Any:
        return contextlib.nullcontext(count if stage == "extract" else None)

    slow = replace(given, options=(("log", str(log)), ("pause", "0.15")))
    result = mine(slow, output(tmp_path, "two"), team, watch)
    nodes.add_node(num_cpus=1, **HERE)
    assert len(steps) == len(result.index.shards) > 8  # nothing is lost, nothing is there twice
    assert steps[-1] == result.index.pairs
    pieces = sum(len(list(unpack_pieces(path.read_bytes()))) for path in (tmp_path / "two.work" / "read").glob("*.gz"))
    worked = log.read_text().split()
    assert len(worked) >= pieces  # what the lost node was at was done again
    assert len(set(worked[: pieces // 2])) == 3 > len(set(worked[-pieces // 4 :]))  # one of the processes has gone
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_what_a_node_cannot_do(team: InWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    sys.path.append(str(Path(__file__).parent))
    from toy_work import Wrong

    with pytest.raises(AnaphoraError, match=r"^x: line 3: no\. Change it\.$"):
        list(team.run(Wrong(str(BadInput("x", "no", line=3, remedy="Change it."))), [(0, (b"",))]))
    with pytest.raises(RuntimeError, match=r"in __call__\n(?s:.*)ZeroDivisionError"):
        list(team.run(Wrong(""), [(0, (b"",))]))
    monkeypatch.setattr(module, "__version__", "9.9")
    with pytest.raises(AnaphoraError, match=r"^anaphora is 9.9 here, but .* on the node .*==9.9\"$"):
        list(team.run(Wrong(""), [(0, (b"",))]))


@pytest.mark.usefixtures("toy")
def test_a_killed_driver(
    nodes: Any, tmp_path: Path, documents: list[list[str]], write: Callable[..., tuple[Path, Path]]
) -> None:
    write(tmp_path, documents * 60)
    command = [sys.executable, "-m", "anaphora", "build", "mine", "--source", "x.en", "--target", "x.de"]
    command += ["--alignments", "x.align", "--phenomenon", "toy", "-l", "en-de", "--name", "mined"]
    command += ["--annotate-source", "conllu:x.en.conllu", "--annotate-target", "conllu:x.de.conllu"]
    far = [*command, "--cluster", nodes.address, "-o", "far.jsonl"]
    with subprocess.Popen(far, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as first:
        wait_until(lambda: bool(list((tmp_path / "far.jsonl.work" / "align").glob("*.gz"))))
        first.send_signal(signal.SIGKILL)
    subprocess.run(far, cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([*command, "--workers", "1", "-o", "near.jsonl"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "far.jsonl").read_bytes() == (tmp_path / "near.jsonl").read_bytes()


def test_no_cluster_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AnaphoraError, match=r"^no Ray cluster at 127.0.0.1:9"):
        ray_cluster("127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(AnaphoraError, match=r"pip install \"anaphora\[cluster\]\"$"):
        ray_cluster(None)
