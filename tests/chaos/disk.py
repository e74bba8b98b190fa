"""Counts what a process makes persistent, ends it or lets it fail at a chosen operation, and records it all.

Everything that Python writes below one folder goes through here: creating, writing, truncating, syncing, renaming and
deleting. Libraries that write files in C++ or Rust are seen when their files are synced or renamed, or at the end.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import io
import math
import os
import pickle
import signal
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anaphora.core import files
from tests.chaos.shadow import Operation, Shadow

WRITING = ("create", "write", "mkdir")  # what a full disk refuses


@dataclass(frozen=True)
class Plan:
    """What happens to a process.

    kill: the operation, counted from 1, before which it is killed; a write is cut at this share (`torn`)
    full: the writing operation, counted from 1, from which on the disk is full
    record: a file for all operations and what they wrote
    """

    kill: int = 0
    torn: float = 0.0
    full: int = 0
    record: Path | None = None


@dataclass
class Disk:
    """The operations below a folder in this process."""

    root: str
    plan: Plan
    count: int = 0
    writing: int = 0
    kinds: list[str] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    shadow: Shadow | None = None

    def step(self, kind: str, path: str, do: Callable[[], Any], other: str = "", data: bytes = b"", at: int = 0) -> Any:
        """One operation: counted, perhaps the last one, perhaps refused, and recorded if it succeeds."""
        self.count += 1
        self.kinds.append(kind)
        if self.count == self.plan.kill:
            self._end(kind, path, data, at)
        self.writing += kind in WRITING
        if self.plan.full and self.writing >= self.plan.full and kind in WRITING:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.shadow is not None and kind in ("fsync", "rename", "link"):
            self._adopt(path)
        result = do()
        if kind == "write":
            data = data[:result]
        self._note(Operation(kind, path, other, data, at))
        return result

    def covers(self, path: str) -> bool:
        return path == self.root or path.startswith(self.root + os.sep)

    def finish(self) -> None:
        """What was written past Python is noted as written last, and everything is kept."""
        if self.shadow is None:
            return
        for folder, _, names in os.walk(self.root):
            for name in names:
                self._adopt(os.path.join(folder, name))
        assert self.plan.record is not None
        with _open(self.plan.record, "wb") as out:
            pickle.dump(self.operations, out)

    def _note(self, operation: Operation) -> None:
        if self.shadow is not None:
            self.operations.append(operation)
            self.shadow.apply(operation)

    def _adopt(self, path: str) -> None:
        """Note what a file holds that no operation has put there: a library has written it itself."""
        if self.shadow is None or not os.path.isfile(path):
            return
        with _open(path, "rb") as stream:
            data = stream.read()
        if self.shadow.read(path) != data:
            self._note(Operation("native", path, "", data))

    def _end(self, kind: str, path: str, data: bytes, at: int) -> None:
        if kind == "write" and self.plan.torn:
            with _open(path, "r+b", buffering=0) as out:
                out.seek(at)
                out.write(data[: int(len(data) * self.plan.torn)])
        os.kill(os.getpid(), signal.SIGKILL)


_open = io.open
_disk: Disk | None = None


def install(root: Path, plan: Plan) -> Disk:
    """Put this process under a plan: from now on its operations below the folder are counted."""
    global _disk
    _disk = Disk(os.path.abspath(root), plan)
    if plan.record is not None:
        _disk.shadow = Shadow(_disk.root)
    io.open = builtins.open = _opened  # type: ignore[assignment]
    _patch_os()
    _patch_libraries()
    # no sync by the clock: their number would differ from run to run, and so the disk forgets more
    files.SYNC_SECONDS = math.inf
    return _disk


class _Raw(io.FileIO):
    """A file whose writes are counted."""

    def write(self, data: Any) -> int:
        return _write(self.fileno(), bytes(data), super().write)

    def truncate(self, size: int | None = None) -> int:
        end = self.tell() if size is None else size
        parent, path = super().truncate, _path(self.fileno())
        if _disk is None or not _disk.covers(path):
            return parent(end)
        return int(_disk.step("truncate", path, lambda: parent(end), at=end))


def _opened(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Any = None,
) -> Any:
    """`open`, whose writes below the folder are counted."""
    path = _path(file)
    if _disk is None or not set(mode) & set("wax+") or not _disk.covers(path):
        return _open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    raw_mode = mode.replace("b", "").replace("t", "")

    def make() -> _Raw:
        return _Raw(file, raw_mode, closefd, opener)

    there = isinstance(file, int) or os.path.exists(path)
    opens = there and ("w" not in mode or isinstance(file, int))
    raw = make() if opens else _disk.step("create", path, make)
    if "b" in mode and buffering == 0:
        return raw
    size = os.fstat(raw.fileno()).st_blksize if buffering < 2 else buffering
    buffered = io.BufferedRandom(raw, size) if "+" in mode else io.BufferedWriter(raw, size)
    if "b" in mode:
        return buffered
    text = io.TextIOWrapper(buffered, encoding, errors, newline, buffering == 1)
    text.mode = mode  # type: ignore[misc]
    return text


def _write(handle: int, data: bytes, do: Callable[[bytes], int]) -> int:
    path = _path(handle)
    if _disk is None or not _disk.covers(path):
        return do(data)
    appended = fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_APPEND
    at = os.fstat(handle).st_size if appended else os.lseek(handle, 0, os.SEEK_CUR)
    return int(_disk.step("write", path, lambda: do(data), data=data, at=at))


def _patch_os() -> None:
    plain = {
        name: getattr(os, name)
        for name in (
            *("open", "write", "fsync", "fdatasync", "rename", "replace", "link", "unlink", "remove", "rmdir"),
            *("mkdir", "truncate", "ftruncate"),
        )
    }

    def opened(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        full = _path(path, dir_fd)

        def do() -> int:
            return int(plain["open"](path, flags, mode, dir_fd=dir_fd))

        creates = flags & os.O_TRUNC or (flags & os.O_CREAT and not os.path.exists(full))
        return int(_disk.step("create", full, do)) if _disk and creates and _disk.covers(full) else do()

    def one(kind: str, name: str) -> Callable[..., Any]:
        def call(path: Any, *more: Any, dir_fd: int | None = None, **options: Any) -> Any:
            full = _path(path, dir_fd)
            if dir_fd is not None:
                options["dir_fd"] = dir_fd
            at = more[0] if kind == "truncate" else 0
            if _disk is None or not _disk.covers(full):
                return plain[name](path, *more, **options)
            return _disk.step(kind, full, lambda: plain[name](path, *more, **options), at=at)

        return call

    def two(kind: str, name: str) -> Callable[..., Any]:
        def call(old: Any, new: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> Any:
            a, b = _path(old, src_dir_fd), _path(new, dst_dir_fd)

            def do() -> None:
                plain[name](old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

            return _disk.step(kind, a, do, b) if _disk and _disk.covers(b) else do()

        return call

    os.open = opened
    os.write = lambda handle, data: _write(handle, bytes(data), lambda part: plain["write"](handle, part))
    for name, kind in (
        *(("fsync", "fsync"), ("fdatasync", "fsync"), ("unlink", "unlink"), ("remove", "unlink")),
        *(("rmdir", "rmdir"), ("mkdir", "mkdir"), ("truncate", "truncate"), ("ftruncate", "truncate")),
    ):
        setattr(os, name, one(kind, name))
    for name, kind in (("rename", "rename"), ("replace", "rename"), ("link", "link")):
        setattr(os, name, two(kind, name))


def _patch_libraries() -> None:
    """Let libraries that would write past Python write through it, so that they can be stopped in the middle."""
    for kind in io.FileIO.__subclasses__():
        if kind is not _Raw and kind.__module__.startswith("anaphora"):
            kind.__bases__ = (_Raw,)  # files that are not made by `open`
    library = sys.modules.get("safetensors.torch")
    if library is not None:
        serialize = sys.modules["safetensors"].serialize

        def serialize_file(tensors: Any, filename: Any, metadata: Any = None) -> None:
            data = serialize(tensors, metadata)
            third = len(data) // 3 + 1
            with builtins.open(filename, "wb", buffering=0) as out:
                for start in range(0, len(data), third):
                    out.write(data[start : start + third])

        library.serialize_file = serialize_file  # type: ignore[attr-defined]
    _patch_sqlite()
    for name in ("numpy.lib.format", "numpy.lib._format_impl"):
        module = sys.modules.get(name)
        if hasattr(module, "isfileobj"):
            module.isfileobj = lambda file: False  # type: ignore[union-attr]


def _patch_sqlite() -> None:
    """Count each transaction of SQLite as one operation, whose effect is on disk when it has ended."""

    class Connection(sqlite3.Connection):
        def commit(self) -> None:
            self._step(super().commit)

        def __exit__(self, *error: Any) -> Any:
            return self._step(lambda: super(Connection, self).__exit__(*error))

        def _step(self, do: Callable[[], Any]) -> Any:
            path = self.execute("PRAGMA database_list").fetchone()[2]
            if _disk is None or not path or not _disk.covers(path):
                return do()
            result = _disk.step("fsync", path, do)
            for synced in (path, os.path.dirname(path)):
                _disk.step("fsync", synced, lambda: None)
            return result

    connect = sqlite3.connect
    sqlite3.connect = lambda *a, **o: connect(*a, **{"factory": Connection, **o})  # type: ignore[assignment]


def _path(file: Any, folder: int | None = None) -> str:
    """Where a file is, given by its path or by its handle."""
    if isinstance(file, int):
        try:
            return os.readlink(f"/proc/self/fd/{file}")
        except OSError:
            return ""
    name = os.fsdecode(file)
    if folder is not None and not os.path.isabs(name):
        return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)
    return os.path.abspath(name)
