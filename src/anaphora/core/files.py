"""Text files as the field has them: UTF-8, perhaps gzipped, sometimes broken. Errors name the file and the line."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import json
import os
import secrets
import shutil
import time
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, cast

from anaphora.core.errors import BadInput, CannotWrite
from anaphora.core.finite import refuse_constant

BLOCK = 1 << 18  # bytes read at a time
DOCUMENT_TAG = "<d>"


def open_binary(path: Path) -> BufferedReader:
    """The file's bytes, decompressed if it is gzip (by its first bytes, not by its name)."""
    try:
        raw = path.open("rb")
    except FileNotFoundError:
        raise BadInput(path, "no such file") from None
    except OSError as error:
        raise BadInput(path, (error.strerror or "cannot be read").lower()) from None
    if raw.peek(2)[:2] == b"\x1f\x8b":
        stream = gzip.GzipFile(fileobj=raw, mode="rb")
        stream.myfileobj = raw  # type: ignore[assignment]  # closing the one closes the other, too
        return cast(BufferedReader, stream)
    return raw


def byte_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file as bytes, without their line ends; split a block at a time, which is fast."""
    number = 0
    begun: list[bytes] = []  # the parts of a line whose end is in a later block
    with open_binary(path) as stream:
        try:
            while block := stream.read1(BLOCK):
                if b"\n" not in block:
                    begun.append(block)
                    continue
                *lines, last = b"".join([*begun, block]).split(b"\n")
                begun = [last]
                if b"\r" in block or lines[0].endswith(b"\r"):
                    lines = [line.removesuffix(b"\r") for line in lines]
                yield from lines
                number += len(lines)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            what = "the gzip file is truncated" if isinstance(error, EOFError) else "the gzip file is damaged"
            raise BadInput(path, what, line=number + 1, remedy="Copy or download it again.") from None
    if last := b"".join(begun):
        yield last


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, without their line ends; a byte-order mark at the start is dropped."""
    for number, line in enumerate(byte_lines(path), start=1):
        text = decode(line, path, number)
        yield text.removeprefix("\ufeff") if number == 1 else text


def read_parallel(*paths: Path) -> list[list[str]]:
    """The lines of files that belong together line by line; empty lines too many at the end of one are dropped."""
    texts = [list(text_lines(path)) for path in paths]
    fewest = min(map(len, texts))
    for text, path in zip(texts, paths, strict=True):
        while len(text) > fewest and not text[-1].strip():
            text.pop()
        if len(text) != len(texts[0]):
            problem = f"{len(text):,} lines, but {paths[0]} has {len(texts[0]):,}"
            raise BadInput(path, problem, remedy="They belong together line by line: give files of the same length.")
    return texts


def decode(line: bytes, path: Path, number: int) -> str:
    """A line as text, or an error that says where the bytes stop being UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 at byte {error.start + 1} of the line (0x{line[error.start]:02x})"
        remedy = "Convert the file, for example: iconv -f latin1 -t utf-8."
        raise BadInput(path, problem, line=number, remedy=remedy) from None


def read_json(path: Path) -> Any:
    """A whole JSON document."""
    text = "\n".join(text_lines(path))
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        raise BadInput(path, f"not JSON: {error.msg.lower()}", line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise BadInput(path, f"not JSON that can be read: {error}") from None


def existing(directory: Path, name: str) -> Path | None:
    """The file of this name in a directory, plain or gzipped, if it is there."""
    for candidate in (directory / name, directory / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    return None


def require(directory: Path, name: str, why: str = "") -> Path:
    """Like `existing`, but its absence is an error."""
    found = existing(directory, name)
    if found is None:
        what = "no such directory" if not directory.is_dir() else f"{name} (or {name}.gz) is missing here"
        raise BadInput(directory, what, remedy=why)
    return found


def refuse_tag(line: str, path: Path, number: int, remedy: str) -> None:
    """A line `<d>`, which begins a document in some corpora, must not be read as a sentence."""
    if line.strip() == DOCUMENT_TAG:
        raise BadInput(path, f"a line {DOCUMENT_TAG}, which begins a document", line=number, remedy=remedy)


# Writing: what appears under its name is complete and on the disk. A file is synced before it is renamed, and its
# folder after that: not even a loss of power leaves an empty or a missing file where a command said that it was done.


@contextlib.contextmanager
def atomic_writer(path: Path, *, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Write a file that appears under its name only when it is complete; gzipped if the name ends in .gz.

    mode: its permissions, less the umask
    """
    with atomic_path(path, mode=mode) as temporary, _Output.open(temporary, path) as raw:
        if path.suffix == ".gz":
            # no file name and no time inside: the same content gives the same bytes
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
                yield cast(IO[bytes], stream)
        else:
            yield raw


def write_atomic(path: Path, data: bytes) -> None:
    """Write these bytes as a file that appears under its name only when it is complete."""
    with atomic_path(path) as temporary, _Output.open(temporary, path) as raw:
        raw.write(data)


@contextlib.contextmanager
def atomic_path(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """A new empty file for a library to write; it gets its name when it is complete, and is removed after an error."""
    temporary = _temporary(path)
    with _writing(path):
        if path.exists() and not path.is_file():  # a folder; or a device, which a rename would remove
            raise BadInput(path, f"cannot be written: {'a folder' if path.is_dir() else 'not a regular file'}")
        make_folder(path.parent)
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    try:
        yield temporary
        with _writing(path):
            rename_synced(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def atomic_folder(folder: Path, *, mode: int = 0o777, replace: bool = False) -> Iterator[Path]:
    """A new folder to write into; it gets its name when all of it is on the disk, and is removed after an error.

    mode: its permissions, less the umask
    replace: whether a folder of that name is replaced; without it, only an empty one is
    """
    temporary = _temporary(folder)
    with _writing(folder):
        make_folder(folder.parent)
        temporary.mkdir(mode)
    try:
        yield temporary
        with _writing(folder):
            sync_tree(temporary)
            if replace and folder.is_dir():
                old = _temporary(folder)
                folder.rename(old)
                temporary.rename(folder)
                sync_folder(folder.parent)
                shutil.rmtree(old, ignore_errors=True)
            else:
                temporary.rename(folder)
                sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


class Appender:
    """Appends lines to a file that outlives this process: `kill -9` loses nothing that `write` has returned from.

    A loss of power may lose what was written after the last `sync`, which is called when `every` seconds have passed
    since the one before, and by `close`. A write that fails may leave a part of a line; readers cut it off.
    """

    def __init__(self, path: Path, *, every: float = 1.0) -> None:
        self.path, self._every = path, every
        with _writing(path):
            make_folder(path.parent)
            new = not path.exists()
            self._out = _Output(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666), path)
            if new:
                sync_folder(path.parent)
        self._synced = time.monotonic()
        self._failed = False

    def write(self, data: bytes) -> None:
        """Hand data to the operating system, and to the disk if the last time is long enough ago."""
        with self._writing():
            rest = memoryview(data)
            while rest:
                rest = rest[self._out.write(rest) :]
        if time.monotonic() - self._synced >= self._every:
            self.sync()

    def sync(self) -> None:
        """Return when everything written so far is on the disk."""
        with self._writing():
            os.fsync(self._out.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close. After a failure the file is only closed: what it holds was synced before, or is in doubt."""
        if not self._out.closed:
            try:
                if not self._failed:
                    self.sync()
            finally:
                self._out.close()

    def __enter__(self) -> Appender:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with _writing(self.path):
                yield
        except BaseException:
            self._failed = True
            raise


def rename_synced(source: Path, path: Path) -> None:
    """Give a file, or a folder whose files are synced, its name: it is on the disk under that name afterwards."""
    sync_file(source)
    source.replace(path)
    sync_folder(path.parent)


def remove_leftovers(folder: Path, name: str = "*") -> None:
    """Remove what a killed process was writing in a folder, under any name or one; only for who holds its lock."""
    for path in folder.glob(f".{name}.{'[0-9a-f]' * 8}.part"):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def make_folder(folder: Path) -> list[Path]:
    """Make a folder and those above it, as far as they are missing; returns those that were made, the topmost first."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    made = []
    for one in reversed(missing):
        try:
            one.mkdir()
        except FileExistsError:
            if not one.is_dir():
                raise
        else:
            made.append(one)
            sync_folder(one.parent)
    return made


def sync_file(path: Path) -> None:
    """Return when the content of a file (or the names in a folder) is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk; where a file system cannot sync folders, at once."""
    try:
        sync_file(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES):
            raise


def sync_tree(folder: Path) -> None:
    """Return when everything below a folder is on the disk, names and contents."""
    for place, _, files in os.walk(folder, topdown=False):
        for name in files:
            sync_file(Path(place, name))
        sync_folder(Path(place))


class _Output(io.FileIO):
    """A file to write whose errors name it as the user does: write(2) and fsync(2) know no names."""

    def __init__(self, handle: int, name: Path) -> None:
        super().__init__(handle, "wb")
        self._shown = name

    @classmethod
    @contextlib.contextmanager
    def open(cls, temporary: Path, name: Path) -> Iterator[IO[bytes]]:
        stream = io.BufferedWriter(cls(os.open(temporary, os.O_WRONLY), name))
        try:
            yield cast(IO[bytes], stream)
        except BaseException:
            with contextlib.suppress(OSError, CannotWrite):  # what is left in the buffer after an error fails again
                stream.close()
            raise
        with _writing(name):  # some file systems tell only now that the disk is full
            stream.flush()
            os.fsync(stream.fileno())
            stream.close()

    def write(self, data: Any) -> int:
        with _writing(self._shown):
            return super().write(data) or 0


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Errors of the machine within this block are errors of writing that file."""
    try:
        yield
    except OSError as error:
        raise CannotWrite(path, error) from None


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
