"""Standard streams that are closed, full or no longer read: no command fails for them, and no file is damaged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from anaphora.cli.app import pipe_may_close
from anaphora.cli.streams import open_closed_streams

Run = Callable[..., subprocess.CompletedProcess[str]]

HAS_FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")


def shell(folder: Path, redirections: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell that redirects its streams."""
    script = f'exec "$@" {redirections}'
    command = ["bash", "-c", script, "bash", sys.executable, "-m", "anaphora", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_whose_streams_are_closed_does_its_work(tmp_path: Path, suite: Path, closed: str) -> None:
    done = shell(tmp_path, closed, "suites", "convert", suite, "--to", "text", "-o", "out")
    assert done.returncode == 0
    assert "bug" not in done.stderr
    assert (tmp_path / "out" / "small.groups").read_text().startswith("a\t1\n")


def test_closed_streams_are_opened_before_a_file_gets_their_number() -> None:
    """In a child, as the streams of pytest itself stay open."""
    child = os.fork()
    if child == 0:  # pragma: no cover (in the child)
        for number in (0, 1, 2):
            os.close(number)
        sys.stdin = sys.stdout = sys.stderr = None
        open_closed_streams()
        null = Path(os.devnull).stat()
        same = all(os.path.samestat(os.fstat(number), null) for number in (0, 1, 2))
        os._exit(0 if same and sys.stdout is not None and sys.stderr is not None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@HAS_FULL
def test_notes_that_cannot_be_printed_end_no_command(tmp_path: Path, suite: Path) -> None:
    done = shell(tmp_path, "2>/dev/full", "suites", "convert", suite, "-o", "copy.jsonl")
    assert (done.returncode, (tmp_path / "copy.jsonl").exists()) == (0, True)


@HAS_FULL
def test_an_error_that_cannot_be_printed_has_its_exit_code(tmp_path: Path) -> None:
    assert shell(tmp_path, "2>/dev/full", "evaluate", "nowhere").returncode == 2


def test_notes_that_nobody_reads_end_no_command(tmp_path: Path, suite: Path) -> None:
    """As in `anaphora suites convert … 2>&1 | head -1`: exit code 0 without the output would be a lie."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "anaphora", "suites", "convert", str(suite), "-o", "copy.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, stderr=writing, check=False)
    os.close(writing)
    assert (done.returncode, (tmp_path / "copy.jsonl").exists()) == (0, True)


def test_only_the_reader_of_stdout_may_go_away() -> None:
    """The pipe of a worker or of a server that breaks is an error."""
    reading, writing = os.pipe()
    with pytest.MonkeyPatch.context() as patch, os.fdopen(writing, "w") as stream:
        patch.setattr(sys, "stdout", stream)
        with pytest.raises(BrokenPipeError), pipe_may_close():
            raise BrokenPipeError
        os.close(reading)
        with pytest.raises(click.exceptions.Exit), pipe_may_close():
            raise BrokenPipeError


def test_names_from_files_do_not_steer_the_terminal(anaphora: Run, suite: Path, scores: Path) -> None:
    text = suite.read_text().replace('"small"', r'"a\u001b[2Jb\u009b"').replace('"er"', r'"\u0007er"')
    suite.write_text(text, encoding="utf-8")
    table = anaphora("evaluate", suite, "--scores", scores).stdout
    assert r"a\u001b[2Jb\u009b" in table
    assert r"\u0007er" in table
    for options in (["--format", "markdown"], ["--json"]):
        printed = anaphora("evaluate", suite, "--scores", scores, *options).stdout
        assert not {"\x1b", "\x9b", "\x07"} & {*printed}
    assert json.loads(printed)["suite"] == "a\x1b[2Jb\x9b"
    assert anaphora("evaluate", "\x1b[2J", check=2).stderr.startswith("error: \\u001b[2J: no such file")
