"""`anaphora score` with a system that computes: what its options do, what it says, how it is stopped and goes on."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from anaphora.cli import main
from anaphora.systems import systems

Refused = Callable[..., str]
HINT = "small has 1 sentence of context, but the system is scored without it (see --context)"


class Said(NamedTuple):
    code: object
    out: str
    err: str


Call = Callable[..., Said]


@pytest.fixture(autouse=True)
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`toy:…` is a system that an installed package brings."""
    packages = tmp_path / "packages"
    about = packages / "toy_system-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-system\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[anaphora.systems]\ntoy = toy_system:Toy\n")
    shutil.copy(Path(__file__).parents[1] / "systems" / "toy_system.py", packages)
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, [packages, *filter(None, sys.path)])))
    monkeypatch.delitem(sys.modules, "toy_system", raising=False)
    systems.cache_clear()
    yield
    systems.cache_clear()


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """The program in this process, with its exit code and what it prints."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> Said:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        return Said(stop.value.code, *capsys.readouterr())

    return run


def read(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "run.jsonl").read_bytes().splitlines()]


def test_what_it_says(call: Call, suite: Path, tmp_path: Path) -> None:
    said = call("score", suite, "--system", "toy:x", "-o", "run")
    assert (said.code, said.out) == (0, "")
    first, hint, done, *counts = said.err.splitlines()
    assert first == "small en-de · 6 examples · 13 candidates"
    assert hint == HINT
    assert done.endswith("scored by toy:x: run/run.jsonl")
    # the toy cannot tell two candidates of its fourth example apart, and cuts a text of its sixth
    assert counts[0].startswith("2 ")
    assert "undecidable" in counts[0]
    assert counts[1].endswith("were truncated: 1")


def test_json(call: Call, suite: Path, tmp_path: Path) -> None:
    said = call("score", suite, "--system", "toy:x", "-o", "run", "--json")
    header = read(tmp_path / "run")[0]
    assert json.loads(said.out) == {
        "run": "run/run.jsonl",
        "suite": "small",
        "sha256": header["sha256"],
        "system": "toy:x",
        "examples": 6,
        "undecidable": 2,
        "truncated": 1,
        "unanswered": 0,
        "partly_answered": 0,
        "answers": [],
    }
    assert said.err == f"small en-de · 6 examples · 13 candidates\n{HINT}\n"


def test_options_are_heard_and_are_in_the_header(call: Call, suite: Path, tmp_path: Path) -> None:
    options = ["--context", "1", "--separator", " <SEP> ", "--limit", "4", "--threads", "3"]
    flags = ["--margins-only", "--truncate", "--plain", "--batch-tokens", "77"]
    said = call("score", suite, "--system", "toy:x", "-o", "run", *options, *flags)
    assert said.err.startswith("small en-de · 4 examples · 9 candidates\n")
    header, first, *_ = read(tmp_path / "run")
    assert header["context"] == "1+1"
    settings = header["settings"]
    assert (settings["separator"], settings["limit"], settings["threads"]) == (" <SEP> ", 4, 3)
    assert all(settings[flag] is True for flag in ("margins_only", "truncate", "plain"))
    assert first["tokens"] == [7, 7]  # Da lag etwas. <SEP> Er war alt.
    call("score", suite, "--system", "toy:x", "-o", "none", "--context", "1", "--target-context", "none")
    header, first, *_ = read(tmp_path / "none")
    assert (header["context"], first["tokens"]) == ("1+0", [3, 3])


def test_a_system_that_does_not_translate_cannot_produce_context(call: Call, suite: Path) -> None:
    said = call("score", suite, "--system", "toy:x", "-o", "run", "--context", "1", "--target-context", "produced")
    assert (said.code, said.out) == (2, "")
    assert "needs a system that translates" in said.err


def test_stopped_and_resumed(call: Call, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "flag").touch()
    command = ("score", suite, "--system", "toy:x?at=e&do=interrupt&flag=flag&once=", "-o", "run")
    said = call(*command)
    assert (said.code, said.out) == (130, "")
    told = "stopped; 4 answers are kept in run/run.jsonl.part. Resume with: "
    assert said.err.splitlines()[2:] == [told + shlex.join(["anaphora", *map(str, command), "--resume"])]
    assert (tmp_path / "run" / "run.jsonl.part").read_bytes().count(b"\n") == 1 + 4
    assert not (tmp_path / "run" / "run.jsonl").exists()
    refusal = call(*command)
    assert refusal.code == 2
    assert refusal.err.startswith("error: an unfinished run is at run/run.jsonl.part. Go on with --resume")
    assert call(*command, "--resume").code == 0
    resumed = (tmp_path / "run" / "run.jsonl").read_bytes()
    assert call(*command).err.startswith("error: run/run.jsonl already exists.")
    (tmp_path / "flag").touch()
    again = call(*command, "--overwrite")
    assert again.err.splitlines()[-1] == said.err.splitlines()[-1], "without --overwrite"
    assert call(*command, "--resume").code == 0
    assert (tmp_path / "run" / "run.jsonl").read_bytes() == resumed


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--resume", "--overwrite"], "cannot be combined"),
        (["--workers", "0"], "--workers"),
        (["--threads", "0"], "--threads"),
        (["--context", "-1"], "--context"),
        (["--target-context", "silver"], "produced"),
        (["--limit", "0"], "--limit"),
        (["--gpus", "-1"], "--gpus"),
        (["--batch-tokens", "many"], "--batch-tokens"),
    ],
    ids=" ".join,
)
def test_wrong_usage(refused: Refused, suite: Path, options: list[str], said: str) -> None:
    assert said in refused("score", suite, "--system", "toy:x", "-o", "run", *options)


def test_a_cluster_needs_ray(refused: Refused, suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for cluster in (["--cluster"], ["--cluster", "10.0.0.1:6379"], ["--cluster", "--resume"]):
        message = refused("score", suite, "--system", "toy:x", "-o", "run", *cluster)
        assert message.endswith('pip install "anaphora[cluster]"')


def test_score_files_are_imported_whole(refused: Refused, suite: Path, scores: Path) -> None:
    assert "imported whole" in refused("score", suite, "--system", f"scores:{scores}", "-o", "run", "--limit", "3")


def test_a_bar_on_a_terminal(suite: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "anaphora", "score", str(suite), "--system", "toy:x?pause=0.3", "-o", "run"]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 4096):
                seen += piece
        except OSError:  # the other end is closed
            pass
        assert process.stdout is not None
        assert process.stdout.read() == b""
    os.close(ours)
    assert process.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen.decode())
    assert "small en-de · 6 examples · 13 candidates" in text
    assert re.search(r"━ +6/6", text)
