"""What appears under its name is complete and on the disk; what is appended outlives its process."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from anaphora.core import files
from anaphora.core.errors import BadInput, CannotWrite
from anaphora.core.files import Appender, atomic_folder, atomic_path, atomic_writer, complete_lines, make_folder


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is synced and renamed, in order."""
    seen: list[tuple[str, str]] = []
    fsync, rename = os.fsync, os.rename

    def log_fsync(handle: int) -> None:
        seen.append(("fsync", Path(f"/proc/self/fd/{handle}").readlink().name))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", log_fsync)
    for name, call in (("rename", rename), ("replace", os.replace)):

        def log_rename(old: Path, new: Path, call=call) -> None:
            seen.append(("rename", new.name))
            call(old, new)

        monkeypatch.setattr(os, name, log_rename)
    return seen


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No file may become larger than 64 KB, which fails as a full disk does."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_files_are_synced_before_and_folders_after_the_rename(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    with atomic_writer(tmp_path / "out") as out:
        out.write(b"text")
    kinds = [(kind, name if name in ("out", tmp_path.name) else "temporary") for kind, name in calls]
    assert kinds[-3:] == [("fsync", "temporary"), ("rename", "out"), ("fsync", tmp_path.name)]


def test_a_new_folder_is_synced_into_the_one_above(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    assert make_folder(tmp_path / "a" / "b") == [tmp_path / "a", tmp_path / "a" / "b"]
    assert calls == [("fsync", tmp_path.name), ("fsync", "a")]
    assert make_folder(tmp_path / "a" / "b") == []


def test_a_library_writes_a_file_that_appears_when_complete(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "out") as temporary:
        temporary.write_bytes(b"by a library")
        assert not (tmp_path / "out").exists()
    assert (tmp_path / "out").read_bytes() == b"by a library"
    with pytest.raises(FileNotFoundError), atomic_path(tmp_path / "out") as temporary:
        temporary.with_name("missing").read_bytes()
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"by a library"]


def test_a_folder_appears_when_all_in_it_is_synced(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    with atomic_folder(tmp_path / "new") as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "file").write_bytes(b"1")
        assert not (tmp_path / "new").exists()
    assert (tmp_path / "new" / "sub" / "file").read_bytes() == b"1"
    assert [name for _, name in calls[:2]] == ["file", "sub"]
    assert calls[-2:] == [("rename", "new"), ("fsync", tmp_path.name)]
    assert list(tmp_path.iterdir()) == [tmp_path / "new"]


def test_a_folder_is_replaced_only_if_asked(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").touch()
    with (
        pytest.raises(CannotWrite, match="out: cannot be written: directory not empty"),
        atomic_folder(tmp_path / "out"),
    ):
        pass
    assert (tmp_path / "out" / "old").exists()
    with atomic_folder(tmp_path / "out", replace=True) as folder:
        (folder / "new").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "new"]


def test_a_folder_that_cannot_be_replaced_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").touch()
    rename = Path.rename

    def fail(source: Path, target: Path) -> Path:
        if (source / "new").exists():
            raise OSError(5, "Input/output error")
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", fail)
    with (
        pytest.raises(CannotWrite, match="input/output error"),
        atomic_folder(tmp_path / "out", replace=True) as folder,
    ):
        (folder / "new").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "old"]


def test_a_folder_is_made_where_a_link_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    for name in ("real", "missing"):
        (tmp_path / f"link to {name}").symlink_to(name)
        with atomic_folder(tmp_path / f"link to {name}") as folder:
            (folder / "file").touch()
        assert [path.name for path in (tmp_path / name).iterdir()] == ["file"]
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    for current in (Path(), Path("../empty"), tmp_path / "empty"):
        with pytest.raises(BadInput, match="is the current folder, which cannot be replaced"), atomic_folder(current):
            pass


def test_a_failure_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="out: cannot be written: no such"), atomic_folder(tmp_path / "out") as folder:
        (folder / "missing" / "half").touch()
    assert list(tmp_path.iterdir()) == []


def test_permissions_are_those_asked_for_less_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        with atomic_folder(tmp_path / "open"), atomic_folder(tmp_path / "private", mode=0o700):
            pass
        with atomic_writer(tmp_path / "file"):
            pass
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"open": 0o750, "private": 0o700, "file": 0o640}


@pytest.mark.parametrize("name", ["out", "out.gz"])
def test_a_full_disk_names_the_file_and_leaves_nothing(tmp_path: Path, small_disk: None, name: str) -> None:
    with (
        pytest.raises(CannotWrite, match=f"{name}: cannot be written: file too large"),
        atomic_writer(tmp_path / name) as out,
    ):
        out.write(os.urandom(1 << 17))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_what_was_appended_before(tmp_path: Path, small_disk: None) -> None:
    line = b"x" * 999 + b"\n"
    log = Appender(tmp_path / "log")
    with pytest.raises(CannotWrite, match="log: cannot be written: file too large"):
        log.write(line * 100)
    log.close()  # does not fail again
    assert (tmp_path / "log").read_bytes().startswith(line * 65)


def test_appended_lines_outlive_their_process(tmp_path: Path) -> None:
    code = "import os, sys; from pathlib import Path; from anaphora.core.files import Appender\n"
    code += "log = Appender(Path('log'))\nfor n in range(5): log.write(b'%d\\n' % n)\nos.kill(os.getpid(), 9)"
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == -signal.SIGKILL
    assert (tmp_path / "log").read_bytes() == b"0\n1\n2\n3\n4\n" * 2


def test_a_torn_line_is_cut_off_before_others_follow(tmp_path: Path) -> None:
    """A killed process or a full disk leaves it; the next line would be its end otherwise."""
    log = tmp_path / "log"
    log.write_bytes(b"0\n1\nhalf")
    assert complete_lines(log) == [b"0", b"1"]
    with Appender(log) as out:
        out.write(b"2\n")
    assert complete_lines(log) == [b"0", b"1", b"2"]
    assert log.read_bytes() == b"0\n1\n2\n"
    log.write_bytes(b"half")
    assert complete_lines(log) == []
    assert log.read_bytes() == b""


def test_appended_lines_are_synced_every_second_and_at_the_end(
    tmp_path: Path, calls: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(files.time, "monotonic", lambda: now[0])
    with Appender(tmp_path / "log") as log:
        assert calls == [("fsync", tmp_path.name)]  # the new name
        for seconds in (0.4, 0.8, 1.2, 1.6):
            now[0] = seconds
            log.write(b"line\n")
        assert calls[1:] == [("fsync", "log")]
    assert calls[1:] == [("fsync", "log")] * 2
