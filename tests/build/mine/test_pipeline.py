"""From files to a suite: stages that are made once, processes that change nothing, runs that are killed and go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anaphora.build.mine.corpus import Corpus, Sizes
from anaphora.build.mine.jobs import StageJob
from anaphora.build.mine.pipeline import Done, InProcess, Output, Settings, Shard, mine, processes
from anaphora.build.mine.result import MiningResult
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.suites.suite import read_native
from tests import warm

Files = tuple[Path, Path]
pytestmark = pytest.mark.usefixtures("toy")


@pytest.fixture
def settings(corpus: Files, tmp_path: Path) -> Settings:
    specs = f"conllu:{corpus[0]}.conllu", f"conllu:{corpus[1]}.conllu"
    return Settings(
        Corpus(*corpus, alignments=tmp_path / "x.align"),
        ("en", "de"),
        specs,
        phenomenon="toy",
        per_class="all",
        context=2,
        sizes=Sizes(piece=4, shard=11, overlap=2),
    )


def output(folder: Path, name: str = "out") -> Output:
    return Output(folder / f"{name}.jsonl", None, folder / f"{name}.work", "mined")


def reused(result: MiningResult) -> dict[str, int]:
    return {stage.name: stage.reused for stage in result.stages}


def test_everything_is_found_once(settings: Settings, tmp_path: Path, documents: list[list[str]]) -> None:
    result = mine(settings, output(tmp_path), InProcess())
    expected = [
        (str(d), k, label)
        for d, document in enumerate(documents, start=1)
        for k, line in enumerate(document, start=1)
        for word, label in (("It broke .", "sie"), ("We bought it today .", "es"), ("The dog and it slept .", "er"))
        if line == word
    ]
    actual = list(read_native(tmp_path / "out.jsonl"))
    assert [e.id for e in actual] == [f"{d}:{k}:{label}" for d, k, label in expected]
    for example, (d, k, _) in zip(actual, expected, strict=True):
        assert example.source == tuple(documents[int(d) - 1][max(0, k - 3) : k])
        assert (example.tags["document"], example.tags["sentence"]) == (d, k)
    assert result.found == Counter(label for _, _, label in expected)
    assert result.counts == {"found": len(expected)}  # nothing is counted twice where pieces overlap
    assert result.index.documents == len(documents)
    assert result.table["it"]["links"] == len(expected)
    assert len(result.index.shards) > 5


def test_pieces_and_shards_change_nothing(settings: Settings, tmp_path: Path) -> None:
    for name, sizes in {"one": Sizes(), "two": Sizes(3, 5, 2), "three": Sizes(1, 1, 4)}.items():
        mine(replace(settings, sizes=sizes, per_class="9"), output(tmp_path, name), InProcess())
    texts = [(tmp_path / f"{name}.jsonl").read_text().partition("\n")[2] for name in ("one", "two", "three")]
    # the toy's distance counts within a piece
    assert len({json.dumps([_without_distance(line) for line in text.splitlines()]) for text in texts}) == 1


def _without_distance(line: str) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(line)
    for name in ("distance", "location"):
        del row["tags"][name]
    return row


def test_only_what_depends_on_a_setting_is_made_again(settings: Settings, tmp_path: Path) -> None:
    where = output(tmp_path)
    shards = len(mine(settings, where, InProcess()).index.shards)
    every = dict.fromkeys(("read", "annotate-source", "annotate-target", "align", "extract"), shards)
    assert reused(mine(settings, where, InProcess())) == every
    changed = replace(settings, per_class="2", seed=4, context=1)
    assert reused(mine(changed, where, InProcess())) == every
    changed = replace(settings, options=(("shortest", "4"),))
    assert reused(mine(changed, where, InProcess())) == every | {"extract": 0}
    path = Path(f"{settings.corpus.target}.conllu")
    path.write_text(path.read_text(encoding="utf-8").replace("fiel\tNOUN", "fiel\tVERB"), encoding="utf-8")
    expected = every | {"annotate-target": 0, "align": 0, "extract": 0}
    assert reused(mine(changed, where, InProcess())) == expected
    assert reused(mine(replace(changed, sizes=Sizes()), where, InProcess())) == dict.fromkeys(every, 0)


def test_other_content_under_the_same_name_is_mined_again(settings: Settings, tmp_path: Path) -> None:
    where = output(tmp_path)
    mine(settings, where, InProcess())
    path = tmp_path / "x.align"
    path.write_text("".join(f"{' '.join(reversed(line.split()))}\n" for line in path.read_text().splitlines()))
    assert set(reused(mine(settings, where, InProcess())).values()) == {0}


def test_clean_up_is_a_stage(settings: Settings, tmp_path: Path) -> None:
    where = output(tmp_path)
    given = replace(settings, corpus=replace(settings.corpus, alignments=None))
    mine(given, where, InProcess())
    result = mine(replace(given, clean="subtitles"), where, InProcess())
    assert reused(result)["read"] == len(result.index.shards)
    assert reused(result)["clean"] == reused(result)["annotate-source"] == 0
    assert set(result.to_dict()["cleaned"]) == {"source", "target"}


class Dying:
    """Does N shards of the stage that is named, and then the machine goes down."""

    def __init__(self, shards: int) -> None:
        self.left = shards

    def run(self, job: StageJob, shards: Iterable[Shard]) -> Iterator[Done]:
        for number, inputs in shards:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            yield number, job(inputs)

    def close(self) -> None:
        pass


def test_a_run_that_was_stopped_goes_on(settings: Settings, tmp_path: Path) -> None:
    mine(settings, output(tmp_path, "whole"), InProcess())
    shards = 0
    for left in (3, 4, 5):
        with pytest.raises(KeyboardInterrupt):
            mine(settings, output(tmp_path), Dying(left))
        shards += left
    assert not (tmp_path / "out.jsonl").exists()
    result = mine(settings, output(tmp_path), InProcess())
    assert reused(result)["align"] + reused(result)["extract"] == shards
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_processes_give_the_same(settings: Settings, tmp_path: Path) -> None:
    mine(settings, output(tmp_path, "one"), InProcess())
    runner = processes(2)
    try:
        mine(settings, output(tmp_path, "two"), runner)
    finally:
        runner.close()
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_errors_of_a_worker_process_are_raised_here() -> None:
    runner = processes(2)
    try:
        with pytest.raises(AnaphoraError, match=r"^x: line 3: no\. Change it\.$"):
            list(runner.run(Wrong(BadInput("x", "no", line=3, remedy="Change it.")), [(0, (b"",))]))
        with pytest.raises(RuntimeError, match=r"ZeroDivisionError: no"):
            list(runner.run(Wrong(ZeroDivisionError("no")), [(0, (b"",))]))
        stopped = runner.run(Fatal("", -1), [(k, (bytes([k]),)) for k in range(9)])
        next(stopped)
        stopped.close()  # type: ignore[attr-defined]  # a generator
        assert sorted(runner.run(Fatal("", -1), [(9, (b"9",))])) == [(9, b"9")]  # nothing of what was before
    finally:
        runner.close()


class Wrong(StageJob):
    """A job that always fails."""

    def __init__(self, error: Exception) -> None:
        self.text, self.kind = str(error), AnaphoraError if isinstance(error, AnaphoraError) else ZeroDivisionError

    def __call__(self, inputs: Any) -> bytes:
        raise self.kind(self.text)


def test_a_lost_process_is_replaced_a_limited_number_of_times(tmp_path: Path) -> None:
    runner = processes(2)
    try:
        assert dict(runner.run(Fatal(str(tmp_path / "flag"), 2), [(k, (bytes([k]),)) for k in range(6)])) == {
            k: bytes([k]) for k in range(6)
        }
        with pytest.raises(AnaphoraError, match=r"^worker \d failed: ended by SIGKILL.*fewer workers.*kept"):
            list(runner.run(Fatal("", 2), [(k, (bytes([k]),)) for k in range(6)]))
    finally:
        runner.close()


class Fatal(StageJob):
    """Kills its process at a shard: once, where there is a file to remember it."""

    def __init__(self, flag: str, at: int) -> None:
        self.flag, self.at = flag, at

    def __call__(self, inputs: Any) -> bytes:
        if inputs[0][0] == self.at and not (self.flag and Path(self.flag).exists()):
            if self.flag:
                Path(self.flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return bytes(inputs[0])


def command(name: str, *more: str) -> list[str]:
    files = ["--source", "x.en", "--target", "x.de", "--alignments", "x.align"]
    specs = ["--annotate-source", "conllu:x.en.conllu", "--annotate-target", "conllu:x.de.conllu"]
    made = ["-l", "en-de", "--phenomenon", "toy", "--name", "mined", "-o", f"{name}.jsonl"]
    return ["build", "mine", *files, *specs, *made, *more]


def test_killed_at_any_moment(
    anaphora: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    write: Callable[[Path, list[list[str]]], Files],
    documents: list[list[str]],
) -> None:
    write(tmp_path, documents * 27)  # two shards
    anaphora(*command("whole", "--workers", "1"))
    stages = ["read", "annotate-source", "annotate-target", "align", "extract"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    for stage in stages:
        with warm.start("anaphora", *command("out", "--workers", "2"), cwd=tmp_path, **pipes) as run:
            folder = tmp_path / "out.jsonl.work" / stage
            while run.poll() is None and not list(folder.glob("*.gz")):
                time.sleep(0.01)
            run.send_signal(signal.SIGKILL)
        assert run.returncode == -signal.SIGKILL
        assert list(folder.glob("*.gz"))
    assert not (tmp_path / "out.jsonl").exists()
    last = anaphora(*command("out", "--workers", "2", "--json"))
    assert [s["name"] for s in json.loads(last.stdout)["stages"] if s["reused"] == s["shards"]][:3] == stages[:3]
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
