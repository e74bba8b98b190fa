"""Ctrl-C: one line that says what is kept and how it goes on, exit code 130, nothing half-written, nobody left behind.

A real SIGINT goes to the whole process group, as a terminal sends it; the command that is named then goes on.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest

from anaphora.cli import main
from anaphora.cli.app import app
from anaphora.cli.interrupts import RESUME_HINTS, parse_argv, resume_message
from tests import warm

PRETRAINED = Path(sys.modules["anaphora"].__path__[0]) / "demo" / "pretrained"
SLOW = """
import sys, time
for line in sys.stdin:
    time.sleep(0.01)
    print(-len(line), flush=True)
time.sleep(99)
"""


class Job:
    """A command in a process group of its own; with packages to search for imports first, in a new interpreter."""

    def __init__(self, folder: Path, *arguments: str | Path, search: Sequence[Path] = ()) -> None:
        self.arguments = [str(argument) for argument in arguments]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "ANAPHORA_HOME": str(folder / "home")}
        environment["PYTHONPATH"] = os.pathsep.join([*map(str, search), os.environ.get("PYTHONPATH", "")])
        options: dict[str, Any] = {"cwd": folder, "env": environment, "text": True}
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process: subprocess.Popen[str]
        if search:
            command = [sys.executable, "-m", "anaphora", *self.arguments]
            self.process = subprocess.Popen(command, start_new_session=True, **options)
            self.pid = self.process.pid
        else:
            self.process = warm.start("anaphora", *self.arguments, new_session=True, **options)
            self.pid = self.process.pid_of_command  # type: ignore[attr-defined]

    def until(self, happened: Callable[[], object], seconds: float = 90) -> Job:
        end = time.monotonic() + seconds
        while not happened():
            assert self.process.poll() is None, f"it ended by itself: {self.process.communicate()}"
            assert time.monotonic() < end, f"it took more than {seconds} s"
            time.sleep(0.02)
        return self

    def interrupt(self) -> str:
        """The last line that it says; what was promised of the rest is checked."""
        members = group(self.pid)
        os.killpg(self.pid, signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 130, err
        assert "Traceback" not in err
        assert out == ""
        *_, last = err.splitlines()
        assert sum("stopped" in line for line in err.splitlines()) == 1, err
        end = time.monotonic() + 10
        while left := [pid for pid in members if Path(f"/proc/{pid}").exists() and not zombie(pid)]:
            assert time.monotonic() < end, f"processes are left: {left}"
            time.sleep(0.02)
        return last


def group(leader: int) -> list[int]:
    """The processes of a group."""
    actual = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) == leader:
                actual.append(int(folder.name))
        except ProcessLookupError:
            pass
    return actual


def zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Job]]:
    if not Path("/proc/self/stat").exists():
        pytest.skip("there is no /proc here")
    jobs: list[Job] = []

    def begin(*arguments: str | Path, **more: Any) -> Job:
        jobs.append(Job(tmp_path, *arguments, **more))
        return jobs[-1]

    yield begin
    for job in jobs:
        if job.process.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            job.process.communicate()


def goes_on(line: str) -> list[str]:
    """The arguments of the command that the line names."""
    program, *words = shlex.split(line.partition(". Resume with: ")[2])
    assert program == "anaphora"
    return words


def test_score(start: Callable[..., Job], anaphora: Any, suite: Path, tmp_path: Path) -> None:
    """The program that scores would go on for a minute after its input has ended: it ends with us."""
    (tmp_path / "slow.py").write_text(SLOW)
    many = tmp_path / "many.jsonl"
    header, *rows = suite.read_text().splitlines()
    many.write_text("\n".join([header, *(row.replace('"id": "', f'"id": "{k}') for k in range(60) for row in rows)]))
    system = f"command:{sys.executable} slow.py"
    part = tmp_path / "my run" / "run.jsonl.part"
    job = start("score", many, "--system", system, "--overwrite", "-o", "my run")
    message = job.until(lambda: part.exists() and part.read_bytes().count(b"\n") > 3).interrupt()
    kept = part.read_bytes().count(b"\n") - 1
    assert message.startswith(
        f"stopped; {kept} answers are kept in my run/run.jsonl.part. Resume with: anaphora score "
    )
    assert not (tmp_path / "my run" / "run.jsonl").exists()
    words = goes_on(message)
    assert words == ["score", str(many), "--system", system, "-o", "my run", "--resume"]
    (tmp_path / "slow.py").write_text(SLOW.replace("time.sleep(0.01)", "pass").replace("time.sleep(99)", ""))
    anaphora(*words)
    assert not part.exists()


def test_translate(start: Callable[..., Job], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    (tmp_path / "in.en").write_text("The cat ate the egg .\nIt was hungry .\n\n" * 250)
    part = tmp_path / "out.de.part"
    command = ["translate", "--system", f"nmt:{PRETRAINED / 'sentence-level'}", "-i", "in.en", "-o", "out.de"]
    job = start(*command, "--threads", "1", "--beams", "4")
    message = job.until(lambda: part.exists() and part.read_bytes().count(b"\n") > 1).interrupt()
    kept = part.read_bytes().count(b"\n") - 1
    assert message.startswith(f"stopped; {kept} translations are kept in out.de.part. Resume with: anaphora translate ")
    assert not (tmp_path / "out.de").exists()
    assert goes_on(message)[-1] == "--resume"


def test_train(start: Callable[..., Job], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("sentencepiece")
    for side in ("en", "de"):
        lines = [f"{word} {position} ." for word in ("one", "two", "three", "four") for position in range(30)]
        (tmp_path / f"a.{side}").write_text("\n".join(lines) + "\n")
    values = {"data.source": "a.en", "data.target": "a.de", "vocabulary.size": 60, "training.save_every": 2}
    words = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    command = ["train", "transformer-baseline-laptop", "-o", "m", *words, "--threads", "1"]
    saved = tmp_path / "m" / "checkpoints"
    job = start(*command, "--set", "training.updates=100000")
    message = job.until(lambda: list(saved.glob("update-*"))).interrupt()
    last = max(saved.glob("update-*"))
    assert not list(saved.glob(".*")), "an unfinished checkpoint is left"
    update = f"{int(last.name.removeprefix('update-')):,}"
    assert message.startswith(f"stopped; update {update} is kept in m/checkpoints/{last.name}. Resume with: anaphora ")
    assert goes_on(message)[-1] == "--resume"


def test_mine_with_two_workers(start: Callable[..., Job], pipeline: Callable[[str], str], tmp_path: Path) -> None:
    for side, text in (("en", "Where is the cup?\nIt is old.\n\n"), ("de", "Wo ist die Tasse?\nSie ist alt.\n\n")):
        (tmp_path / f"x.{side}").write_text(text * 6000)
    (tmp_path / "x.align").write_text("0-0 1-1 2-2 3-3\n0-0 1-1 2-2\n\n" * 6000)
    command = ["build", "mine", "--source", "x.en", "--target", "x.de", "-l", "en-de", "-o", "mined.jsonl"]
    specs = ["--annotate-source", pipeline("en"), "--annotate-target", pipeline("de"), "--alignments", "x.align"]
    work = tmp_path / "mined.jsonl.work"
    job = start(*command, *specs, "--workers", "2", "--no-resume")
    job.until(lambda: len(group(job.pid)) >= 3 and list(work.glob("annotate-source/*.gz")), 300)
    message = job.interrupt()
    assert "finished shards are kept in mined.jsonl.work. Resume with: anaphora build mine " in message
    assert "--no-resume" not in goes_on(message)
    assert not (tmp_path / "mined.jsonl").exists()
    assert not list(work.rglob("*.part"))


def test_measure_train(start: Callable[..., Job], anaphora: Any, tmp_path: Path) -> None:
    """Learned in one go: nothing is written before the end, and the same command starts again."""
    pytest.importorskip("torch")
    anaphora("measure", "example", "made-up")
    files = sorted(path.name for path in (tmp_path / "made-up").iterdir())
    texts = [name for name in files if name.endswith(".en")]
    reference = next(name for name in texts if "ref" in name)
    pairs = ["-r", f"made-up/{reference}"]
    for name in texts:
        pairs += ["-t", f"made-up/{name}"] if name != reference else []
    anaphora("measure", "pairs", *pairs, "-l", "de-en", "-o", "p.jsonl")
    more = ["--set", "data.train=p.jsonl", "--set", "data.dev=p.jsonl", "--set", "training.epochs=100000"]
    command = [
        "measure",
        "train",
        "made-up/measure.toml",
        *more,
        "--set",
        "training.patience=100000",
        "-o",
        "m",
        "--threads",
        "1",
    ]
    job = start(*command)
    assert job.process.stderr is not None
    first = job.process.stderr.readline()
    assert first.startswith("epoch 1 "), first
    assert job.interrupt() == f"stopped; nothing was written. Start again with: {shlex.join(['anaphora', *command])}"
    assert not (tmp_path / "m").exists()


def test_demo(start: Callable[..., Job], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("sentencepiece")
    job = start("demo", "-o", "d")
    message = job.until(lambda: list((tmp_path / "d" / "models").glob("*/config.toml"))).interrupt()
    assert message == "stopped; what is trained so far is kept in d/models. Resume with: anaphora demo -o d"
    assert not (tmp_path / "d" / "report.html").exists()


def test_study_serve(start: Callable[..., Job], anaphora: Any, suite: Path, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    pytest.importorskip("fastapi")
    anaphora("study", "create", suite, "-o", "study", "--annotators", "anna,ben")
    job = start("study", "serve", "study", "--port", "0")
    assert job.process.stderr is not None
    assert job.process.stderr.readline().startswith("overview: ")
    message = job.interrupt()
    assert message == "stopped; every answer is kept in study. Resume with: anaphora study serve study --port 0"


def test_an_import_that_makes_another_error_of_it(start: Callable[..., Job], suite: Path, tmp_path: Path) -> None:
    """As NumPy and others do: what is said is that it was stopped, not that something is missing."""
    (tmp_path / "packages").mkdir()
    code = "import time\ntry:\n    open('ready', 'w').close()\n    time.sleep(60)\n"
    code += "except KeyboardInterrupt:\n    raise ImportError('cannot be imported')\n"
    (tmp_path / "packages" / "torch.py").write_text(code)  # what the system imports first
    job = start("score", suite, "--system", "hf:x", "-o", "run", search=[tmp_path / "packages"])
    assert job.until((tmp_path / "ready").exists).interrupt().startswith("stopped; nothing was written. ")


# --- the one place, without processes


def test_every_hint_names_an_existing_command() -> None:
    for path in RESUME_HINTS:
        command: click.Command | None = app
        for word in path.split():
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), word)
        assert not isinstance(command, click.Group)


def interrupted(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C as soon as the command is called."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(parse_argv(app, arguments).command, "callback", stop)
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 130


CALLS = [
    ["align", "a.en", "a.de", "-o", "x.align"],
    ["apt", "-s", "a", "-r", "b", "-t", "c", "-l", "en-fr"],
    ["attribute", "suite", "--system", "hf:x", "-o", "x.jsonl", "--overwrite"],
    ["augment", "--source", "a", "--target", "b", "--annotate-source", "x:y", "--annotate-target", "x:y", "-o", "out"],
    ["build", "attack", "phrase", "contrapro", "--preset", "true_colon", "-o", "x.jsonl"],
    ["build", "mine", "--source", "a", "--target", "b", "-l", "en-de", "-o", "x.jsonl"],
    ["build", "mine-evaluate", "gold.jsonl"],
    ["build", "templates", "-o", "x.jsonl"],
    ["context-usage", "suite", "--system", "hf:x", "-o", "usage"],
    ["correlate", "scores.tsv"],
    ["demo", "--pretrained"],
    ["generative", "contrapro", "-t", "my.de"],
    ["measure", "evaluate", "p.jsonl", "--model", "m"],
    ["measure", "pairs", "-r", "a", "-t", "b", "-l", "de-en", "-o", "x.jsonl"],
    ["measure", "score", "m", "It's me."],
    ["measure", "train", "a.toml", "--cache", "states", "-o", "m"],
    ["score", "contrapro", "--system", "hf:x", "-o", "runs/x", "--overwrite"],
    ["suites", "get", "contrapro"],
    ["train", "x.toml", "-o", "m"],
    ["train", "--list"],
    ["translate", "--system", "hf:x", "-i", "a", "-o", "b"],
]


def call(*words: str) -> list[str]:
    """The one of CALLS that begins with these words."""
    (one,) = (arguments for arguments in CALLS if arguments[: len(words)] == list(words))
    return one


@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
def test_stopped_before_anything_was_done(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    interrupted(arguments, monkeypatch)
    again = shlex.join(["anaphora", *arguments])
    assert capsys.readouterr() == ("", f"stopped; nothing was written. Start again with: {again}\n")


@pytest.mark.parametrize(
    ("file", "arguments", "message"),
    [
        ("x.align", call("align"), "nothing in x.align is half-written. Start again with: anaphora align a.en"),
        (
            "usage/context-1/run.jsonl.part",
            call("context-usage"),
            "every answer so far is kept in usage. Resume with: anaphora con",
        ),
        (
            "states/x.sqlite",
            call("measure", "train"),
            "the encoder's states so far are kept in states. Resume with: anaphora meas",
        ),
        ("home/downloads/contrapro/x.json", call("suites"), "files that are complete are kept in "),
        (
            "m/config.toml",
            call("train", "x.toml"),
            "there is no checkpoint yet, only the vocabulary and config in m. Resume with: ",
        ),
        (
            "m/rate-1/checkpoints/update-00001200/state.json",
            call("train", "x.toml"),
            "update 1,200 is kept in m/rate-1/checkpoints",
        ),
        (
            "x.jsonl.work/align/000001.jsonl.gz",
            call("build", "mine"),
            "1 finished shards are kept in x.jsonl.work. Resume with: ",
        ),
    ],
)
def test_stopped_with_something_to_go_on_with(
    file: str, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("x")
    assert resume_message(app, arguments).startswith(f"stopped; {message}")


def test_the_database_address_of_the_environment_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAPHORA_STUDY_DATABASE", "postgresql://anna:secret@localhost/x")
    message = resume_message(app, ["study", "serve", "study"])
    assert message == "stopped; every answer is kept in its database. Resume with: anaphora study serve study"


def test_an_option_that_is_there_is_not_added(tmp_path: Path) -> None:
    part = tmp_path / "run" / "run.jsonl.part"
    part.parent.mkdir()
    part.write_text("header\nanswer\n")
    message = resume_message(app, ["score", "s", "--resume", "--system", "hf:x", "-o", str(tmp_path / "run")])
    assert message == (
        f"stopped; 1 answers are kept in {part}. Resume with: "
        f"anaphora score s --resume --system hf:x -o {shlex.quote(str(tmp_path / 'run'))}"
    )


def test_wrong_usage_that_was_stopped() -> None:
    assert resume_message(app, ["score", "--nope"]) == "stopped; nothing was written"
