"""One writer per output: a lock that the kernel frees when its process ends, however it ends.

A lock is a hidden file next to the output (`.NAME.lock`), or in the folder that is worked in (`.lock`). It holds who
has it, for the message that others get, and is removed at the end. After `kill -9` the file stays, but the lock is
free, and the next process takes it over.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import json
import os
import shlex
import socket
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput, CannotWrite
from anaphora.core.files import make_folder, remove_leftovers
from anaphora.core.special import beside

LONGEST = 300  # characters of a command in a message
PATIENCE = 1.0  # seconds within which the process that took a lock has written its description
INSIDE = ".lock"
REMEDY = "Wait until it ends, or choose another output."


class InUse(BadInput):
    """Another process is writing this output."""


def lock_output(output: Path, *, remedy: str = REMEDY) -> Lock:
    """Take the lock of a file that is to be written, or of a folder that appears as a whole.

    What a killed process has left half-written of it is removed; what it has kept to be resumed stays.
    """
    real = _real(output)
    lock = Lock(_next_to(real), output, remedy)
    lock.refuse_other(real / INSIDE)
    if lock.abandoned:
        for suffix in ("", ".part", ".nbest"):
            remove_leftovers(real.parent, glob.escape(f"{real.name}{suffix}"))
    return lock


def refuse_in_use(output: Path) -> None:
    """Raise InUse if another process holds a lock of this output: for commands that need none, as they end at once."""
    real = _real(output)
    for file in (_next_to(real), real / INSIDE):
        if (holder := _holder(file)) is not None:
            raise _in_use(output, holder, REMEDY)


def _real(output: Path) -> Path:
    """The path that is the same however a folder is named. A link to a file is not followed: it is what is replaced."""
    is_folder = os.path.isdir(output)  # noqa: PTH112 (a name may be too long)
    # os.path: `Path.resolve` raises an error of its own for a link that leads to itself
    return Path(os.path.realpath(output)) if is_folder else Path(os.path.realpath(output.parent), output.name)


def _next_to(output: Path) -> Path:
    return beside(output, ".{}.lock")


def is_lock(path: Path) -> bool:
    """Whether this is a lock file: no content of its folder."""
    return path.name.startswith(".") and path.name.endswith(".lock")


def lock_folder(folder: Path, *, remedy: str = REMEDY) -> Lock:
    """Take the lock of a folder whose files are written one after the other; it is made if it is missing."""
    real = Path(os.path.realpath(folder))
    lock = Lock(real / INSIDE, folder, remedy)
    lock.refuse_other(_next_to(real))
    return lock


class Lock:
    """Held from its making until `release`, the end of a `with` block, or the end of the process.

    abandoned: whether the process that held it before was killed
    Processes that this one starts do not hold it: it is free when this one ends, even if they live on.
    """

    def __init__(self, file: Path, output: Path, remedy: str) -> None:
        self.file, self.output, self._remedy = file, output, remedy
        self.abandoned = False
        self._made: list[Path] = []
        self._handle = self._acquire()

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def refuse_other(self, file: Path) -> None:
        """Release this lock and raise InUse if another process holds that one, which excludes it."""
        if (holder := _holder(file)) is not None:
            self.release()
            raise _in_use(self.output, holder, self._remedy)

    def release(self) -> None:
        """Let the lock go, and remove its file, and the folders made for it in which nothing was written."""
        if self._handle not in _held:  # released before, or in a child process, which never had it
            return
        with contextlib.suppress(OSError):
            self.file.unlink()  # while it is held: whoever has opened it meanwhile sees that it is gone
        _held.discard(self._handle)
        os.close(self._handle)
        self._handle = -1
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _acquire(self) -> int:
        give_up = time.monotonic() + PATIENCE
        while True:
            handle = self._open(give_up)
            try:
                if _try(handle, self.file):
                    if not _is_at(handle, self.file):
                        pass
                    elif _is_read_only(handle):  # of another user, whose process was killed
                        self.abandoned = True
                        self.file.unlink()
                    else:
                        self.abandoned |= os.fstat(handle).st_size > 0
                        os.ftruncate(handle, 0)
                        os.write(handle, json.dumps(_myself()).encode())
                        _held.add(handle)
                        return handle
                elif _is_at(handle, self.file):
                    holder = _read(handle)
                    if _lives(holder) or time.monotonic() > give_up:
                        raise _in_use(self.output, holder, self._remedy)
            except OSError as error:
                os.close(handle)
                raise CannotWrite(self.file, error) from None
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)  # its file was removed meanwhile, or its holder has not yet written who it is
            time.sleep(0.01)

    def _open(self, give_up: float) -> int:
        while True:
            try:
                self._made += make_folder(self.file.parent)
                try:
                    return os.open(self.file, os.O_RDWR | os.O_CREAT, 0o666)
                except PermissionError:
                    if not self.file.exists():
                        raise
                    return os.open(self.file, os.O_RDONLY)  # another user's, which can be locked as well
            except OSError as error:
                # another process may just have removed the folder that it had made for its lock
                if not isinstance(error, FileNotFoundError) or time.monotonic() > give_up:
                    raise CannotWrite(self.output, error) from None


_held: set[int] = set()


def _forget() -> None:
    """Close the locks in a forked process, since a lock belongs to every process that has its file open."""
    for handle in _held:
        with contextlib.suppress(OSError):
            os.close(handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _holder(file: Path) -> dict[str, Any] | None:
    """The process that holds a lock; None if it is free."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        handle = os.open(file, os.O_RDONLY)
        try:
            return None if _try(handle, file, shared=True) else _read(handle)
        finally:
            os.close(handle)
    return None


def _is_read_only(handle: int) -> bool:
    import fcntl

    return fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY


def _in_use(output: Path, holder: dict[str, Any], remedy: str) -> InUse:
    return InUse(output, f"is being written by {_describe(holder)}", remedy=remedy)


def _try(handle: int, file: Path, *, shared: bool = False) -> bool:
    """Whether this process holds the lock now. shared: together with others that read it"""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        raise AnaphoraError(
            "outputs are locked with flock, which Windows does not support. Run anaphora in WSL: wsl --install"
        ) from None
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):
            raise
        remedy = "Choose an output on a local disk, or have the file system mounted with locks."
        raise BadInput(file, "this file system has no locks (flock)", remedy=remedy) from None
    return True


def _is_at(handle: int, file: Path) -> bool:
    """Whether the file is still there under its name: its last holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except FileNotFoundError:
        return False


def _myself() -> dict[str, Any]:
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]) if sys.argv else ""
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": since, "command": command[:LONGEST]}


def _read(handle: int) -> dict[str, Any]:
    try:
        holder = json.loads(os.pread(handle, 1 << 16, 0))
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) else {}


def _lives(holder: dict[str, Any]) -> bool:
    """Whether this process may hold the lock, and was not killed before; on other machines that is not known."""
    pid = holder.get("pid")
    if type(pid) is not int or pid < 1:
        return False
    if holder.get("host") != socket.gethostname():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        pass
    return True


def _describe(holder: dict[str, Any]) -> str:
    """The process in words."""
    if not holder:
        return "another process"
    pid, host, since, command = (holder.get(name, "?") for name in ("pid", "host", "since", "command"))
    who = "this very process" if pid == os.getpid() and host == socket.gethostname() else "another process"
    return f"{who} (pid {pid} on {host} since {since}: {command})"
