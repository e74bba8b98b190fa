"""One writer per output: with real processes, which are killed."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.lock import InUse, lock_folder, lock_output

HOLD = """
import sys, time
from pathlib import Path
from anaphora.core.lock import lock_folder, lock_output
with {take}(Path(sys.argv[1])):
    print("held", flush=True)
    {then}
"""


def hold(path: Path, take: str = "lock_output", then: str = "time.sleep(60)") -> subprocess.Popen[str]:
    """Another process that has taken the lock."""
    code = HOLD.format(take=take, then=then)
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@pytest.mark.parametrize(("take", "lock"), [("lock_output", lock_output), ("lock_folder", lock_folder)])
def test_a_second_process_learns_who_holds_the_lock(tmp_path: Path, take: str, lock) -> None:
    output = tmp_path / "new" / "out"
    process = hold(output, take)
    try:
        with pytest.raises(InUse) as error:
            lock(output)
    finally:
        end(process)
    message = str(error.value)
    assert message.startswith(
        f"{output}: is being written by another process (pid {process.pid} on {os.uname().nodename}"
    )
    assert f" since {time.strftime('%Y-', time.gmtime())}" in message
    assert str(output) in message.partition("UTC: ")[2]  # its command
    assert message.endswith("Wait until it ends, or choose another output.")
    assert "\n" not in message


def test_kill_9_releases_the_lock_despite_a_leftover_file(tmp_path: Path) -> None:
    for _ in range(3):
        process = hold(tmp_path / "out")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert (tmp_path / ".out.lock").is_file()
    with lock_output(tmp_path / "out"):
        assert json.loads((tmp_path / ".out.lock").read_bytes())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_was_writing_is_removed(tmp_path: Path) -> None:
    """And nothing else: not what another output's process is writing, and not what is kept to be resumed."""
    writing = [".out.0123abcd.part", ".out.part.0123abcd.part", ".out.nbest.0123abcd.part"]
    others = [".other.0123abcd.part", ".out.other.0123abcd.part", "out.part", ".out.part", ".out.123.part"]
    with lock_output(tmp_path / "out"):
        for name in (*writing, *others):
            (tmp_path / name).touch()
        lock_output(tmp_path / "another").release()
    lock_output(tmp_path / "out").release()  # nobody was killed
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((*writing, *others))
    end(hold(tmp_path / "out"))
    lock_output(tmp_path / "out").release()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)


def test_a_new_holder_is_named_instead_of_the_killed_one(tmp_path: Path) -> None:
    """A process that has just taken the lock of a killed one still has to write who it is."""
    killed = hold(tmp_path / "out")
    end(killed)
    with (tmp_path / ".out.lock").open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        def describe() -> None:
            time.sleep(0.3)
            document = {"pid": 1, "host": os.uname().nodename, "since": "now", "command": "anaphora score"}
            file.truncate()
            file.write(json.dumps(document).encode())
            file.flush()

        thread = threading.Thread(target=describe)
        thread.start()
        with pytest.raises(InUse, match=r"another process \(pid 1 on "):
            lock_output(tmp_path / "out")
        thread.join()


def test_a_forked_process_does_not_keep_it(tmp_path: Path) -> None:
    """Workers of a process that was killed may live a little longer than it."""
    then = "import os; child = os.fork(); print(child, flush=True) if child else None; time.sleep(60)"
    process = hold(tmp_path / "out", then=then)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    try:
        process.kill()
        process.wait()
        os.kill(child, 0)  # it lives
        lock_output(tmp_path / "out").release()
    finally:
        os.kill(child, signal.SIGKILL)
        process.communicate()


def test_the_end_of_a_forked_process_does_not_free_it(tmp_path: Path) -> None:
    with lock_output(tmp_path / "out") as lock:
        child = os.fork()
        if not child:
            lock.release()
            os._exit(0)
        os.waitpid(child, 0)
        code = "from pathlib import Path; from anaphora.core.lock import lock_output; lock_output(Path('out'))"
        other = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert f"InUse: out: is being written by another process (pid {os.getpid()}" in other.stderr


def test_nothing_is_left_of_a_lock(tmp_path: Path) -> None:
    with lock_folder(tmp_path / "some" / "folder"):
        assert (tmp_path / "some" / "folder" / ".lock").is_file()
    assert list(tmp_path.iterdir()) == []  # nothing was written, so the folders are gone, too
    with lock_folder(tmp_path / "some" / "folder"):
        (tmp_path / "some" / "folder" / "file").touch()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["file"]


def test_one_process_cannot_write_an_output_twice_at_once(tmp_path: Path) -> None:
    with lock_output(tmp_path / "out"), pytest.raises(InUse, match="is being written by this very process"):
        lock_output(tmp_path / "out")


def test_one_folder_by_two_names_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    monkeypatch.chdir(tmp_path / "folder")
    with lock_folder(tmp_path / "link"), pytest.raises(InUse):
        lock_folder(Path())
    with lock_output(tmp_path / "link" / "out"), pytest.raises(InUse):
        lock_output(Path("out"))


def test_a_whole_folder_and_files_in_it_exclude_each_other(tmp_path: Path) -> None:
    """`measure adapt` and `train` with one output."""
    folder = tmp_path / "model"
    with lock_output(folder), pytest.raises(InUse, match=f"^{folder}: is being written by this very process"):
        lock_folder(folder)
    assert list(tmp_path.iterdir()) == []
    with lock_folder(folder), pytest.raises(InUse, match=f"^{folder}: is being written by this very process"):
        lock_output(folder)
    assert list(tmp_path.iterdir()) == []
    for take, other in (("lock_output", lock_folder), ("lock_folder", lock_output)):
        process = hold(folder, take)
        with pytest.raises(InUse, match=f"another process .pid {process.pid} "):
            other(folder)
        end(process)
        other(folder).release()


def test_a_link_to_a_folder_is_that_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder" / "in").mkdir(parents=True)
    (tmp_path / "link").symlink_to("folder")
    monkeypatch.chdir(tmp_path / "folder")
    for name in (tmp_path / "link", Path(), Path("in/.."), tmp_path / "link" / "."):
        with lock_output(tmp_path / "folder"), pytest.raises(InUse):
            lock_output(name)


def as_another_user(output: Path) -> str:
    """What a process of another user is told when it takes the lock; empty if it gets it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            lock_output(output).release()
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read().decode()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_lock_that_another_user_left_does_not_block() -> None:
    """In a folder that a group shares, others cannot write the file that a killed process leaves, but remove it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        process = hold(folder / "out")
        assert f"is being written by another process (pid {process.pid} " in as_another_user(folder / "out")
        end(process)
        assert [path.name for path in folder.iterdir()] == [".out.lock"]
        assert as_another_user(folder / "out") == ""
        assert list(folder.iterdir()) == []
        folder.chmod(0o755)
        assert as_another_user(folder / "out").startswith("CannotWrite: ")
        hold_again = hold(folder / "out")
        assert f"(pid {hold_again.pid} " in as_another_user(folder / "out")
        end(hold_again)
        error = as_another_user(folder / "out")
        assert error == f"CannotWrite: {folder}/.out.lock: cannot be written: permission denied"


def test_exactly_one_of_many_holds_the_lock(tmp_path: Path) -> None:
    """The file is removed and made again all the time: nobody may hold one that is no longer there."""
    code = """
import os, sys
from pathlib import Path
from anaphora.core.lock import InUse, lock_output
won = 0
while won < 60:
    try:
        with lock_output(Path("folder/out")):
            os.close(os.open("alone", os.O_CREAT | os.O_EXCL))  # fails if another is in here
            won += 1
            os.unlink("alone")
    except InUse:
        pass
"""
    command = [sys.executable, "-c", code]
    processes = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate(timeout=300)[1] for process in processes] == [""] * 4


def test_a_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=r"file/out: cannot be written: "):
        lock_output(tmp_path / "file" / "out")


def test_windows_is_refused_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python refuses to import a module whose place in sys.modules is None, as if it were not there."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(AnaphoraError, match=r"Windows does not support\. Run anaphora in WSL"):
        lock_output(tmp_path / "out")
