"""One writer per output: real processes at once on one output, killed with −9, and resumed in all orders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from anaphora.core.lock import lock_folder, lock_output
from tests import warm

Run = Callable[..., subprocess.CompletedProcess[str]]
PRETRAINED = Path(sys.modules["anaphora"].__path__[0]) / "demo" / "pretrained"
# Answers N lines, and the others when the file `go` is there. Two systems, so that a mix would be seen.
PROGRAM = """
import pathlib, sys, time
for number, line in enumerate(sys.stdin):
    while number >= 20 and not pathlib.Path("go").exists():
        time.sleep(0.01)
    print({sign}sum(map(ord, line)), flush=True)
"""
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a command; what still runs at the end is killed."""
    begun: list[subprocess.Popen[str]] = []

    def begin(*arguments: str | Path) -> subprocess.Popen[str]:
        options = {"cwd": tmp_path, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        begun.append(warm.start("anaphora", *map(str, arguments), new_session=True, **options))
        return begun[-1]

    yield begin
    for process in begun:
        if process.poll() is None:
            kill(process)
        for stream in filter(None, (process.stdout, process.stderr)):
            stream.close()


@pytest.fixture
def anaphora_process(start: Start) -> Run:
    """Run a command to its end."""

    def run(*arguments: str | Path, check: int = 0) -> subprocess.CompletedProcess[str]:
        process = start(*arguments)
        out, err = process.communicate()
        assert process.returncode == check, err
        return subprocess.CompletedProcess(list(map(str, arguments)), check, out, err)

    return run


def kill(process: subprocess.Popen[str]) -> None:
    """Kill −9 the command alone: what it has started lives on, or ends by itself."""
    process.send_signal(signal.SIGKILL)
    process.wait()


def until(happened: Callable[[], object], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 120
    while not happened():
        assert process.poll() is None, f"it ended by itself: {process.communicate()}"
        assert time.monotonic() < end
        time.sleep(0.02)


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def refusal(process: subprocess.Popen[str]) -> str:
    """The one line of a process that must end with 2."""
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err.count("\n")) == (2, "", 1), err
    return err


def names(error: str, holder: subprocess.Popen[str], output: str) -> bool:
    """Whether a message names the process that holds the output, its machine and command, and since when."""
    pid: int = holder.pid_of_command  # type: ignore[attr-defined]
    where = f"error: {output}: is being written by another process (pid {pid} on {os.uname().nodename} since 20"
    return error.startswith(where) and f" -o {output.removesuffix('/run.jsonl')}" in error.partition(" UTC: ")[2]


@pytest.fixture
def systems(suite: Path, tmp_path: Path) -> dict[str, list[str]]:
    """The commands that score one suite with two systems, without the output."""
    header, *rows = suite.read_text().splitlines()
    many = [header, *(row.replace('"id": "', f'"id": "{k}') for k in range(10) for row in rows)]
    (tmp_path / "many.jsonl").write_text("\n".join(many) + "\n")
    for name, sign in {"A": "-", "B": "+"}.items():
        (tmp_path / f"{name}.py").write_text(PROGRAM.format(sign=sign))
    return {name: ["score", "many.jsonl", "--system", f"command:{sys.executable} {name}.py"] for name in "AB"}


@pytest.fixture
def whole(systems: dict[str, list[str]], anaphora_process: Callable[..., object], tmp_path: Path) -> dict[str, bytes]:
    """The runs of both, uninterrupted."""
    (tmp_path / "go").touch()
    for name, command in systems.items():
        anaphora_process(*command, "-o", f"whole-{name}")
    (tmp_path / "go").unlink()
    actual = {name: (tmp_path / f"whole-{name}" / "run.jsonl").read_bytes() for name in systems}
    assert actual["A"] != actual["B"]
    return actual


@pytest.mark.parametrize("first", ["A", "B"])
@pytest.mark.parametrize("resumed", ["AB", "BA"])
def test_two_systems_never_mix_in_one_run(
    start: Start, systems: dict[str, list[str]], whole: dict[str, bytes], tmp_path: Path, first: str, resumed: str
) -> None:
    """One scores, the other is refused; the one is killed; both resume, in both orders."""
    second = "AB".replace(first, "")
    part = tmp_path / "run" / "run.jsonl.part"
    process = start(*systems[first], "-o", "run")
    until(lambda: lines(part) > 5, process)
    for more in ([], ["--resume"], ["--overwrite"]):  # of another system, or of the same one
        assert names(refusal(start(*systems[second], "-o", "run", *more)), process, "run/run.jsonl")
    assert names(refusal(start(*systems[first], "-o", "run", "--resume")), process, "run/run.jsonl")
    kept = part.read_bytes()
    kill(process)
    assert part.read_bytes().startswith(kept)
    (tmp_path / "go").touch()
    for name in resumed:
        process = start(*systems[name], "-o", "run", "--resume")
        if name == first:
            assert process.communicate(timeout=120)[0] == ""
            assert process.returncode == 0
            assert (tmp_path / "run" / "run.jsonl").read_bytes() == whole[first]
        else:
            assert "was created with different settings (system: " in refusal(process)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run.jsonl"]
    assert (tmp_path / "run" / "run.jsonl").read_bytes() == whole[first]


def test_of_two_that_start_at_once_one_is_refused(
    start: Start, systems: dict[str, list[str]], whole: dict[str, bytes], tmp_path: Path
) -> None:
    (tmp_path / "go").touch()
    for round_ in range(3):
        running = {name: start(*command, "-o", f"run{round_}") for name, command in systems.items()}
        ended = {name: (process.communicate(timeout=120)[1], process.returncode) for name, process in running.items()}
        winners = [name for name, (_, code) in ended.items() if code == 0]
        assert len(winners) == 1, ended  # the other was refused, while it was written or afterwards
        [(error, code)] = [result for name, result in ended.items() if name not in winners]
        assert code == 2
        assert "is being written by" in error or "already exists" in error
        assert (tmp_path / f"run{round_}" / "run.jsonl").read_bytes() == whole[winners[0]]


def test_a_killed_run_may_be_overwritten_by_another_system(
    start: Start, systems: dict[str, list[str]], whole: dict[str, bytes], tmp_path: Path
) -> None:
    process = start(*systems["A"], "-o", "run")
    until(lambda: lines(tmp_path / "run" / "run.jsonl.part") > 5, process)
    kill(process)
    (tmp_path / "go").touch()
    assert start(*systems["B"], "-o", "run", "--overwrite").wait(120) == 0
    assert (tmp_path / "run" / "run.jsonl").read_bytes() == whole["B"]
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run.jsonl"]


def test_two_translations(start: Start, anaphora_process: Callable[..., object], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    (tmp_path / "in.en").write_text("The cat ate the egg .\nIt was hungry .\n\n" * 200)
    commands = {
        name: ["translate", "--system", f"nmt:{PRETRAINED / name}", "-i", "in.en", "--beams", "1", "--threads", "1"]
        for name in ("sentence-level", "context-aware")
    }
    first, second = commands.values()
    anaphora_process(*first, "-o", "whole.de")
    process = start(*first, "-o", "out.de")
    until(lambda: lines(tmp_path / "out.de.part") > 1, process)
    process.send_signal(signal.SIGSTOP)
    assert names(refusal(start(*second, "-o", "out.de", "--overwrite")), process, "out.de")
    kill(process)
    assert "was created with different settings (system: " in refusal(start(*second, "-o", "out.de", "--resume"))
    anaphora_process(*first, "-o", "out.de", "--resume")
    assert (tmp_path / "out.de").read_bytes() == (tmp_path / "whole.de").read_bytes()
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "out.de."))]


def test_two_trainings(start: Start, anaphora_process: Callable[..., object], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("sentencepiece")
    for side in ("en", "de"):
        text = [f"{word} {position} ." for word in ("one", "two", "three", "four") for position in range(30)]
        (tmp_path / f"a.{side}").write_text("\n".join(text) + "\n")
    values = {"data.source": "a.en", "data.target": "a.de", "vocabulary.size": 60, "training.save_every": 2}
    values |= {"training.report_every": 2, "training.updates": 8}
    words = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    command = ["train", "transformer-baseline-laptop", *words, "--threads", "1"]
    anaphora_process(*command, "-o", "whole")
    process = start(*command, "-o", "m")
    until(lambda: list((tmp_path / "m" / "checkpoints").glob("update-*")), process)
    process.send_signal(signal.SIGSTOP)
    other = [*command, "--set", "training.seed=2"]
    for more in ([], ["--resume"]):
        assert names(refusal(start(*other, "-o", "m", *more)), process, "m")
    kill(process)
    assert "created with different settings (training.seed" in refusal(start(*other, "-o", "m", "--resume"))
    anaphora_process(*command, "-o", "m", "--resume")
    files = [path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole").rglob("*") if path.is_file()]
    actual = [path.relative_to(tmp_path / "m") for path in (tmp_path / "m").rglob("*") if path.is_file()]
    assert sorted(actual) == sorted(files)  # no lock, nothing half-written
    for file in files:
        assert (tmp_path / "m" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file


OUTPUTS = {
    "scores": ("score small.jsonl --system scores:first.scores -o out", "out/run.jsonl"),
    "attribute": ("attribute tagged.jsonl --system nmt:none --method occlusion -o out", "out/run.jsonl"),
    "usage": (
        f"context-usage small.jsonl --system nmt:{PRETRAINED / 'sentence-level'} --context 1 -o out",
        "out/none-current/run.jsonl",
    ),
    "pairs": ("measure pairs -r made-up/reference.en -t made-up/first.en -l de-en -o out", "out"),
    "measure": ("measure train a -o out", "out"),
    "adapt": ("measure adapt lm:none text.en -o out", "out"),
    "augment": ("augment --source a.en --target a.de -o out/", "out"),
    "mine": (
        "build mine --source a.en --target a.de -l en-de --annotate-source conllu:a --annotate-target conllu:a -o out",
        "out",
    ),
    "work": (
        "build mine --source a.en --target a.de -l en-de --annotate-source conllu:a --annotate-target conllu:a "
        "--work out/ -o mined --no-resume",
        "out",
    ),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_command_that_takes_long_respects_the_lock(
    anaphora_process: Run, suite: Path, scores: Path, tmp_path: Path, name: str
) -> None:
    if name in ("measure", "adapt"):
        pytest.importorskip("torch")
        pytest.importorskip("peft")
    if name == "usage":
        pytest.importorskip("transformers")
    (tmp_path / "a").touch()
    header, *rows = map(json.loads, suite.read_text().splitlines())
    tagged = [header, *(row | {"tags": {"source_antecedent": "something"}} for row in rows)]
    (tmp_path / "tagged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tagged))
    command, output = OUTPUTS[name]
    is_folder = "out/ " in f"{command} " or name == "work"
    with (lock_folder if is_folder else lock_output)(tmp_path / output):
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        done = anaphora_process(*command.split(), check=2)
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert f"error: {output}: is being written by another process (pid {os.getpid()} on " in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["suites convert small.jsonl", "translate --system x:y -i a"])
def test_no_command_writes_what_another_is_writing(
    anaphora_process: Run, start: Start, systems: dict[str, list[str]], suite: Path, tmp_path: Path, command: str
) -> None:
    (tmp_path / "a").touch()
    process = start(*systems["A"], "-o", "out.jsonl")
    until(lambda: lines(tmp_path / "out.jsonl.part") > 5, process)
    assert names(refusal(start(*command.split(), "-o", "out.jsonl")), process, "out.jsonl")
    (tmp_path / "go").touch()
    assert process.wait(120) == 0
    assert lines(tmp_path / "out.jsonl") == lines(tmp_path / "many.jsonl")


def test_an_import_does_not_replace_the_run_of_another_system(
    anaphora_process: Run,
    suite: Path,
    scores: Path,
    other_scores: Path,
    tmp_path: Path,
) -> None:
    anaphora_process("score", suite, "--system", f"scores:{scores}", "-o", "run")
    kept = (tmp_path / "run" / "run.jsonl").read_bytes()
    anaphora_process("score", suite, "--system", f"scores:{scores}", "-o", "run")  # the same again is no loss
    done = anaphora_process("score", suite, "--system", f"scores:{other_scores}", "-o", "run", check=2)
    assert "Choose another output, or pass --overwrite" in done.stderr
    assert (tmp_path / "run" / "run.jsonl").read_bytes() == kept
    anaphora_process("score", suite, "--system", f"scores:{other_scores}", "-o", "run", "--overwrite")
    header = json.loads((tmp_path / "run" / "run.jsonl").read_bytes().partition(b"\n")[0])
    assert header["system"] == f"scores:{other_scores}"
