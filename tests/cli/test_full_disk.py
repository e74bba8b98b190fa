"""A full disk, a quota, a folder that cannot be written, a name that is not UTF-8: one line, and nothing is lost."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests import warm

Anaphora = Callable[..., subprocess.CompletedProcess[str]]


def on_a_full_disk(folder: Path, size: int, *arguments: str | Path) -> str:
    """Run a command that can write no file larger than this, which fails as a full disk does; its one line."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    command = [sys.executable, "-m", "anaphora", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    [message] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    return message.removeprefix("error: ")


def goes_on(message: str) -> list[str]:
    program, *words = shlex.split(message.partition("Make room, then resume with: ")[2])
    assert program == "anaphora"
    return words


def test_score_keeps_the_answers_and_resumes(anaphora: Anaphora, suite: Path, tmp_path: Path) -> None:
    header, *rows = suite.read_text().splitlines()
    many = tmp_path / "many.jsonl"
    many.write_text("\n".join([header, *(row.replace('"id": "', f'"id": "{k}') for k in range(20) for row in rows)]))
    (tmp_path / "answer.py").write_text("import sys\nfor line in sys.stdin: print(-len(line), flush=True)")
    command = ["score", "many.jsonl", "--system", f"command:{sys.executable} answer.py"]
    anaphora(*command, "-o", "whole")
    message = on_a_full_disk(tmp_path, 4000, *command, "-o", "run")
    kept = (tmp_path / "run" / "run.jsonl.part").read_bytes().count(b"\n") - 1
    assert 20 < kept < 120
    part = "run/run.jsonl.part"
    assert message.startswith(
        f"{part}: cannot be written: file too large. {kept} answers are kept in {part}. Make room"
    )
    anaphora(*goes_on(message))
    assert (tmp_path / "run" / "run.jsonl").read_bytes() == (tmp_path / "whole" / "run.jsonl").read_bytes()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run.jsonl"]


def test_what_cannot_be_resumed_names_the_file(suite: Path, scores: Path, tmp_path: Path) -> None:
    message = on_a_full_disk(tmp_path, 500, "score", suite, "--system", f"scores:{scores}", "-o", "run")
    assert message == "run/run.jsonl: cannot be written: file too large"
    assert not (tmp_path / "run").exists()  # nothing is left of it


def test_a_folder_that_cannot_be_written_is_named(
    anaphora: Anaphora, suite: Path, scores: Path, tmp_path: Path
) -> None:
    if os.geteuid() == 0:
        (tmp_path / "file").touch()  # root may write everywhere, but not below a file
        output, reason = "file/run", "file exists"
    else:
        (tmp_path / "locked").mkdir(mode=0o500)
        output, reason = "locked/run", "permission denied"
    done = anaphora("score", suite, "--system", f"scores:{scores}", "-o", output, check=2)
    assert done.stderr == f"error: {output}/run.jsonl: cannot be written: {reason}\n"


def test_names_that_are_not_utf8(suite: Path, scores: Path, tmp_path: Path) -> None:
    odd = os.fsdecode(b"odd\xff")
    try:
        scores.rename(tmp_path / f"{odd}.scores")
    except OSError:
        pytest.skip("this file system has no such names")

    def run(*arguments: str | Path, program: Sequence[str] = (*warm.client(), "anaphora")) -> str:
        done = subprocess.run([*program, *arguments], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    command = ["score", suite, "--system", f"scores:{odd}.scores", "-o", odd]
    run(*command, program=[sys.executable, "-m", "anaphora"])
    first = (tmp_path / odd / "run.jsonl").read_bytes()
    header = json.loads(first.decode("utf-8").partition("\n")[0])
    assert header["system"] == r"scores:odd\xff.scores"
    run(*command)
    assert (tmp_path / odd / "run.jsonl").read_bytes() == first
    assert json.loads(run("evaluate", odd, "--json"))["system"] == r"scores:odd\xff.scores"
    for format, output in (("html", f"{odd}.html"), ("md", f"{odd}-md"), ("svg", f"{odd}-svg")):
        run("report", odd, "--suite", suite, "--format", format, "-o", output)
    assert rb"odd\xff" in (tmp_path / f"{odd}.html").read_bytes()
