"""Pipes are read once, and names of open files are not replaced."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.core.files import atomic_writer, text_lines
from anaphora.suites.suite import read_native

HEADER = '{"anaphora": 1, "name": "x", "source_language": "en", "target_language": "de"}\n'


def fed(pipe: Path, text: str) -> threading.Thread:
    """A pipe, and a thread that writes into it, as `<(command)` does."""
    os.mkfifo(pipe)
    thread = threading.Thread(target=pipe.write_text, args=(text,))
    thread.start()
    return thread


def test_a_pipe_can_be_read(tmp_path: Path) -> None:
    thread = fed(tmp_path / "pipe", "one\ntwo\n")
    assert list(text_lines(tmp_path / "pipe")) == ["one", "two"]
    thread.join()


def test_a_pipe_that_is_read_twice_is_an_error(tmp_path: Path) -> None:
    """A suite's header was read first; what the pipe still had was then taken for the whole suite."""
    thread = fed(tmp_path / "pipe", HEADER)
    suite = read_native(tmp_path / "pipe")
    thread.join()
    with pytest.raises(BadInput, match=r"pipe: a pipe, which can be read only once\. .* write it to the disk"):
        list(suite)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc here")
def test_the_name_of_an_open_file_is_not_replaced(tmp_path: Path) -> None:
    """`-o /dev/stdout > file` as root must not replace /dev/stdout, a link to /proc/self/fd/1."""
    with (tmp_path / "out").open("wb") as out:
        (tmp_path / "fd").symlink_to(f"/proc/self/fd/{out.fileno()}")
        (tmp_path / "stdout").symlink_to("fd")
        for name in (tmp_path / "stdout", Path(f"/proc/self/fd/{out.fileno()}")):
            with pytest.raises(BadInput, match="cannot be written: not a regular file"), atomic_writer(name):
                pass
    assert (tmp_path / "stdout").is_symlink()


def test_a_link_is_replaced_and_its_target_kept(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    with atomic_writer(tmp_path / "link") as out:
        out.write(b"new")
    assert [(tmp_path / name).read_text() for name in ("link", "target")] == ["new", "old"]
