"""Scoring in workers gives the run that one process gives; losing a worker, or all of them, loses no scores."""

from __future__ import annotations

import json
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from anaphora import api
from anaphora.core.errors import AnaphoraError
from anaphora.demo.corpus import demo_suite
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of
from anaphora.systems import Traits, load_system, scoring, systems
from anaphora.systems.context import Context, Options
from anaphora.systems.scoring import TRAITS, ScoringHandler, Shard, default_worker_count, local_workers

EXAMPLES = [Example(str(n), ("Before.", f"It {n}."), (("Vor.", f"Er {n}"), ("Vor.", f"Sie {n}")), 0) for n in range(4)]


# Inside a worker


class Toy:
    def __init__(self, options: Options) -> None:
        self.options = options

    def settings(self) -> Mapping[str, Any]:
        return MappingProxyType({"threads": self.options.threads})

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        for number, example in enumerate(examples):
            if number not in done:
                yield (
                    number,
                    CandidateScores([-1.0, -2.0], extra=MappingProxyType({"translation": example.candidates[0][-1]})),
                )


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> ScoringHandler:
    """One whose system is a toy."""
    monkeypatch.setattr(scoring, "load_system", lambda spec, options: Toy(options))
    return ScoringHandler("toy:x", Options(threads=3))


def test_handler_scores_a_shard_with_the_numbers_of_the_suite(handler: ScoringHandler) -> None:
    assert pickle.loads(pickle.dumps(handler.load())) == {"threads": 3, TRAITS: Traits()}
    scores = pickle.loads(pickle.dumps(list(handler.handle(Shard(100, EXAMPLES, frozenset({1})), None))))
    assert scores == [(100 + n, CandidateScores([-1.0, -2.0], extra={"translation": f"Er {n}"})) for n in (0, 2, 3)]


def test_handler_describes_the_traits_of_its_system(handler: ScoringHandler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toy, "traits", Traits(scope=True), raising=False)
    assert handler.load()[TRAITS].scope


def test_handler_uses_its_options(handler: ScoringHandler) -> None:
    """A system that only scores cannot produce its context, which the options ask for."""
    handler.options = Options(Context(1, target="produced"))
    handler.load()
    with pytest.raises(AnaphoraError, match="--target-context produced needs a system that translates"):
        list(handler.handle(Shard(0, EXAMPLES), None))


def test_handler_closes_its_system(handler: ScoringHandler, monkeypatch: pytest.MonkeyPatch) -> None:
    handler.load()
    handler.close()  # a system without close
    closed: list[Toy] = []
    monkeypatch.setattr(Toy, "close", lambda system: closed.append(system), raising=False)
    handler.close()
    assert closed == [handler.system]


# Processes

EXAMPLES_WORKERS, SHARD = 330, 60  # six shards
LONG = 7 * EXAMPLES_WORKERS  # for the program, whose shards are longer


@pytest.fixture(autouse=True)
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`toy:…` is a system that an installed package brings; here, and in every process that is started."""
    install_toy(tmp_path / "packages", monkeypatch)
    monkeypatch.setattr(scoring, "SHARD", SHARD)
    yield
    systems.cache_clear()


def install_toy(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = packages / "toy_system-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-system\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[anaphora.systems]\ntoy = toy_system:Toy\n")
    code = (Path(__file__).parent / "toy_system.py").read_text(encoding="utf-8")
    (packages / "toy_system.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, [packages, *filter(None, sys.path)])))
    systems.cache_clear()


@pytest.fixture
def suite() -> Suite:
    """Examples in an order that is not that of their lengths."""
    examples = [
        Example(
            f"e{i}", ("Before.", f"It {'was ' * (i * 7 % 23)}so."), (("Vor.", f"Er {i}"), ("Vor.", f"Sie {i}")), i % 2
        )
        for i in range(EXAMPLES_WORKERS)
    ]
    return suite_of(Header("numbers", "en", "de"), lambda: examples)


Score = Callable[..., bytes]


@pytest.fixture
def score(suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Score:
    """The bytes of the run that a spec and options give. The toy pauses in workers only, so that each gets work."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)

    def run(spec: str, name: str, **options: Any) -> bytes:
        return api.score(suite, spec, tmp_path / name, threads=1, **options).path.read_bytes()

    return run


def processes(log: Path) -> list[int]:
    """Who has loaded the system, this process left out."""
    return [pid for pid in map(int, log.read_text().split()) if pid != os.getpid()]


def alive(pid: int) -> bool:
    """Whether a process runs (one that has ended and is not waited for does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(true: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it takes too long"
        select.select([], [], [], 0.02)


def test_two_workers_give_the_run_of_one_process(score: Score, tmp_path: Path) -> None:
    log = tmp_path / "log"
    progress: list[tuple[int, int]] = []
    spec = f"toy:x?log={log}&pause=0.1"
    alone = score(spec, "alone", context=1, separator=" | ")
    together = score(
        spec, "together", context=1, separator=" | ", workers=2, progress=lambda *step: progress.append(step)
    )
    assert together == alone
    assert b'"undecidable"' in alone
    assert progress == [(n, EXAMPLES_WORKERS) for n in range(EXAMPLES_WORKERS + 1)]
    assert len(set(processes(log))) == 2
    assert not any(map(alive, processes(log)))


def test_two_workers_with_a_model_give_the_same_run(
    tiny_marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "SHARD", 40)
    runs = [
        api.score(
            demo_suite(),
            f"hf:{tiny_marian}",
            tmp_path / str(n),
            workers=n,
            threads=1,
            context=1,
            batch_tokens=400,
            limit=150,
        )
        for n in (1, 2)
    ]
    assert runs[0].path.read_bytes() == runs[1].path.read_bytes()


def test_no_more_workers_than_shards_are_started(score: Score, tmp_path: Path) -> None:
    log = tmp_path / "log"
    score(f"toy:x?log={log}", "run", workers=5, limit=SHARD)
    assert len(processes(log)) == 1
    again = score(f"toy:x?log={log}", "run", workers=5, limit=SHARD, resume=True)
    assert again.count(b"\n") == 1 + SHARD
    assert len(processes(log)) == 2  # one that says what the header is


@pytest.mark.parametrize("how", ["kill", "raise"])
def test_lost_worker_is_made_up_for_by_another(score: Score, tmp_path: Path, how: str) -> None:
    flag, log = tmp_path / "flag", tmp_path / "log"
    spec = f"toy:x?at=e100&do={how}&flag={flag}&once=&log={log}&pause=0.1"
    alone = score(spec, "alone")
    flag.touch()
    assert score(spec, "together", workers=2) == alone
    assert not flag.exists()
    assert len(set(processes(log))) == 2


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("kill", "ended by SIGKILL. Perhaps memory does not suffice: try fewer workers"),
        ("raise", "ZeroDivisionError: the toy is broken"),
    ],
)
def test_failure_of_every_worker_is_reported(score: Score, tmp_path: Path, how: str, message: str) -> None:
    (flag := tmp_path / "flag").touch()
    log = tmp_path / "log"
    spec = f"toy:x?at=e100&do={how}&flag={flag}&log={log}"
    with pytest.raises(AnaphoraError, match=rf"^worker \d failed: {message}") as caught:
        score(spec, "run", workers=3)
    assert ("in _fail" in "".join(getattr(caught.value, "__notes__", []))) == (how == "raise")
    assert len(processes(log)) in (2, 3)  # two were lost with the same shard; the third may still have been loading
    assert not any(map(alive, processes(log)))
    flag.unlink()
    assert score(spec, "run", resume=True) == score(spec, "alone")  # what was found before is kept


@pytest.mark.parametrize("when", ["at=e100&do=refuse", "load=refuse", "close=refuse"])
def test_bad_input_is_not_retried(score: Score, tmp_path: Path, when: str) -> None:
    log = tmp_path / "log"
    with pytest.raises(AnaphoraError, match=r"^toy.txt: line 7: not to my taste. Give me another.$"):
        score(f"toy:x?{when}&log={log}", "run", workers=2)
    assert len(processes(log)) <= 2
    assert not any(map(alive, processes(log)))


def test_system_that_cannot_be_loaded(score: Score) -> None:
    with pytest.raises(AnaphoraError, match=r"^worker 2 failed: exit code 3$"):
        score("toy:x?load=exit", "run", workers=2)
    with pytest.raises(AnaphoraError, match="unknown system 'tyo'"):
        score("tyo:x", "run", workers=2)


def test_workers_with_different_systems_are_refused(score: Score) -> None:
    with pytest.raises(AnaphoraError, match=r"^worker 2 has loaded something different: process is \d+, not \d+$"):
        score("toy:x?differ=&pause=0.2", "run", workers=2)


def test_a_refused_header_ends_the_worker(score: Score, tmp_path: Path) -> None:
    log = tmp_path / "log"
    score(f"toy:x?log={log}", "run", workers=2)
    with pytest.raises(AnaphoraError, match="already exists"):
        score(f"toy:x?log={log}", "run", workers=2)
    wait_until(lambda: not any(map(alive, processes(log))))


def test_pooled_system_is_a_system(suite: Suite) -> None:
    examples = list(suite)[:40]
    options = Options(Context(1), ("en", "de"), threads=1)
    pooled, _ = local_workers(2, 1)("toy:x", options)
    alone = load_system("toy:x", options)
    assert pooled.settings() == alone.settings()
    expected = dict(alone.score(examples))
    assert dict(pooled.score(examples, done={3})) == expected
    assert pooled.traits == Traits()  # type: ignore[attr-defined]


def test_threads_are_an_equal_share_of_the_processors() -> None:
    pooled, compute = local_workers(2 * len(os.sched_getaffinity(0)))("toy:x", Options())
    assert pooled.settings()["threads"] == 1
    assert list(compute([])) == []


@pytest.fixture
def start(suite: Suite, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `anaphora score` on a suite of three shards."""
    examples = [
        Example(f"{k}.{e.id}", e.source, e.candidates, e.gold) for k in range(LONG // EXAMPLES_WORKERS) for e in suite
    ]
    suite_of(suite.header, lambda: examples).write(tmp_path / "suite.jsonl")
    started: list[subprocess.Popen[str]] = []

    def popen(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "anaphora", "score", "suite.jsonl", "--threads", "1", *arguments]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, cwd=tmp_path, text=True, stdout=pipe, stderr=pipe))
        return started[-1]

    yield popen
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=lambda how: how.name)
def test_ending_the_driver_loses_nothing(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    log, part = tmp_path / "log", tmp_path / "run" / "run.jsonl.part"
    command = ("--system", f"toy:x?log={log}&pause=0.03", "-o", "run", "--workers", "2")
    first = start(*command)
    wait_until(lambda: log.exists() and len(processes(log)) == 2)
    wait_until(lambda: part.exists() and part.read_bytes().count(b"\n") > 100)
    if how == signal.SIGINT:  # on a terminal it goes to all of them; only the driver says something
        for pid in processes(log):
            os.kill(pid, how)
    first.send_signal(how)
    out, err = first.communicate(timeout=20)
    assert (out, err.partition("\n")[0]) == ("", f"numbers en-de · {LONG:,} examples · {2 * LONG:,} candidates")
    if how == signal.SIGINT:
        assert first.returncode == 130
        _, hint, message = err.splitlines()
        assert hint.endswith("(see --context)")
        assert message.startswith("stopped; ")
        assert message.endswith(" --workers 2 --resume")
    wait_until(lambda: not any(map(alive, processes(log))), 5)
    assert 100 <= part.read_bytes().count(b"\n") - 1 < LONG
    second = start(*command, "--resume", "--json")
    out, err = second.communicate(timeout=60)
    assert (second.returncode, json.loads(out)["examples"]) == (0, LONG), err
    monkeypatch.setattr(scoring, "SHARD", 1024)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    alone = api.score(tmp_path / "suite.jsonl", command[1], tmp_path / "alone", threads=1)
    assert (tmp_path / "run" / "run.jsonl").read_bytes() == alone.path.read_bytes()
    assert not part.exists()


# The default number of workers

MANY = 10 * 1024


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model of a kilobyte on a machine of four processors, 24 GB and no graphics."""
    monkeypatch.setattr(scoring, "SHARD", 1024)
    monkeypatch.setattr(scoring, "processor_count", lambda: 4)
    monkeypatch.setattr(scoring, "_free_memory", lambda: 24 << 30)
    (tmp_path / "model").mkdir()
    (tmp_path / "dev").mkdir()
    (tmp_path / "model" / "model.safetensors").write_bytes(bytes(1024))
    return str(tmp_path / "model")


def worker_count(model: str, spec: str = "hf:{}", examples: int = MANY) -> int:
    return default_worker_count(spec.format(model), examples, devices=Path(model).parent / "dev")


def test_one_worker_per_processor(model: str) -> None:
    assert worker_count(model) == worker_count(model, "lm:{}?device=cpu") == 4


def test_no_more_workers_than_shards(model: str) -> None:
    assert [worker_count(model, examples=n) for n in (1, 1024, 1024 + 1, 3 * 1024)] == [1, 1, 2, 3]


def test_no_more_workers_than_memory_allows(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, expected in ((0, 1), (1 << 30, 1), (3 << 30, 2), (100 << 30, 4)):
        monkeypatch.setattr(scoring, "_free_memory", lambda free=free: free)
        assert worker_count(model) == expected


def test_large_weights_need_memory(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "_weights_size", lambda _: 7 << 30)
    assert worker_count(model) == 1


@pytest.mark.parametrize("device", ["nvidia0", "kfd"])
def test_one_worker_where_there_is_a_gpu(model: str, device: str) -> None:
    (Path(model).parent / "dev" / device).touch()
    assert worker_count(model) == 1


@pytest.mark.parametrize("spec", ["command:score {}", "ct2:{}", "scores:{}", "hf:{}?device=cuda", "hf:no/such-model"])
def test_one_worker_otherwise(model: str, spec: str) -> None:
    assert worker_count(model, spec) == 1


def test_free_memory_of_this_machine() -> None:
    assert scoring.processor_count() >= 1
    assert scoring._free_memory() >= 0
