"""Text files as the field has them: UTF-8, perhaps gzipped, sometimes broken. Errors name the file and the line."""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import io
import itertools
import json
import os
import re
import secrets
import shutil
import time
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from anaphora.core.errors import BadInput, CannotWrite, did_you_mean
from anaphora.core.special import check_pipe, is_special

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

BLOCK = 1 << 18  # bytes read at a time
MAX_LINE = 1 << 24  # bytes of a line of text; anything longer is not text, and would fill the memory
MAX_DOCUMENT = 1 << 28  # bytes of a file that is read as a whole
MAX_RATIO = 200  # how many times its size a gzip file may decompress to; text has 2 to 20
SYNC_SECONDS = 1.0  # between two syncs of a file that lines are appended to
RATIO_FROM = 1 << 24  # bytes of content above which that ratio is checked
MAX_NEIGHBORS = 1000  # names of a folder that are compared with one that does not exist
GZIP = b"\x1f\x8b"
TRUNCATED, COPY_AGAIN = "the gzip file is truncated", "Copy or download it again."


def open_binary(path: Path) -> BufferedReader:
    """Open a file for reading bytes, decompressed if it is gzip (by its first bytes, not by its name).

    Damaged gzip, and gzip that decompresses to far more than text does, is a BadInput where it is read.
    """
    try:
        check_pipe(path)
        raw = path.open("rb")
    except FileNotFoundError:
        raise missing(path) from None
    except IsADirectoryError:
        raise BadInput(path, "is a directory", remedy="A file is expected here.") from None
    except OSError as error:
        raise _unreadable(path, error) from None
    except ValueError:  # a NUL byte in the path
        raise _not_a_name(path) from None
    try:
        start = raw.peek(2)[:2]
    except OSError as error:
        raw.close()
        raise _unreadable(path, error) from None
    return BufferedReader(_Decompressed(raw, path), BLOCK) if start == GZIP else raw


def missing(path: Path, remedy: str = "") -> BadInput:
    """The error about a file that does not exist; it names a file of the folder that is called almost the same."""
    return BadInput(path, f"no such file{_neighbor(path)}", remedy=remedy)


def _neighbor(path: Path) -> str:
    """' (did you mean X?)' where the folder has a file or folder of a similar name."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in itertools.islice(entries, MAX_NEIGHBORS)]
    except OSError:  # the folder does not exist either, or cannot be listed
        return ""
    return did_you_mean(path.name, (name for name in names if not name.startswith(".")), cutoff=0.75)


def _not_a_name(path: Path) -> BadInput:
    return BadInput(ascii(str(path)), "not a file name")


def _unreadable(path: Path, error: OSError, line: int | None = None) -> BadInput:
    return BadInput(path, (error.strerror or "cannot be read").lower(), line=line)


class _Decompressed(io.RawIOBase):
    """The content of a gzip file; errors name the file."""

    def __init__(self, raw: BufferedReader, path: Path) -> None:
        self._raw, self._path, self._size = raw, path, 0
        self._content = gzip.GzipFile(fileobj=raw, mode="rb")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        try:
            data = self._content.read1(len(view))
        except EOFError:
            raise BadInput(self._path, TRUNCATED, remedy=COPY_AGAIN) from None
        except (gzip.BadGzipFile, zlib.error):
            raise BadInput(self._path, "the gzip file is damaged", remedy=COPY_AGAIN) from None
        except OSError as error:
            raise _unreadable(self._path, error) from None
        view[: len(data)] = data
        self._size += len(data)
        if self._size > RATIO_FROM and self._size > MAX_RATIO * self._raw.tell():
            problem = f"the gzip file decompresses to more than {MAX_RATIO} times its size"
            raise BadInput(self._path, problem, remedy="If you trust the file, decompress it yourself.")
        return len(data)

    def close(self) -> None:
        try:
            self._content.close()
            self._raw.close()
        finally:
            super().close()


def byte_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file as bytes, without their line ends; split a block at a time, which is fast."""
    number = size = 0
    begun: list[bytes] = []  # the parts of a line whose end is in a later block
    with open_binary(path) as stream:
        while block := _block(stream, path, number + 1):
            if b"\n" not in block:
                begun.append(block)
                size += len(block)
                if size > MAX_LINE:
                    problem = f"a line of more than {MAX_LINE >> 20} MB"
                    raise BadInput(path, problem, line=number + 1, remedy="Is it a text file with one item per line?")
                continue
            *lines, last = b"".join([*begun, block]).split(b"\n")
            begun, size = [last], len(last)
            if b"\r" in block or lines[0].endswith(b"\r"):
                lines = [line.removesuffix(b"\r") for line in lines]
            yield from lines
            number += len(lines)
    if last := b"".join(begun):
        yield last


def _block(stream: BufferedReader, path: Path, line: int) -> bytes:
    """The next bytes of a file; an error names the line that they belong to."""
    try:
        return stream.read1(BLOCK)
    except BadInput as error:
        raise BadInput(path, error.problem, line=line, remedy=error.remedy) from None
    except OSError as error:
        raise _unreadable(path, error, line) from None


def read_bytes(path: Path, limit: int = MAX_DOCUMENT) -> bytes:
    """The whole content of a file, decompressed if it is gzip; more than `limit` bytes are an error."""
    with open_binary(path) as stream:
        try:
            data = stream.read(limit + 1)
        except OSError as error:
            raise _unreadable(path, error) from None
    if len(data) > limit:
        raise BadInput(path, f"larger than {limit >> 20} MB, which is the limit for such a file")
    return data


def read_text(path: Path, limit: int = MAX_DOCUMENT) -> str:
    """The whole text of a UTF-8 file with newlines as line ends; a byte-order mark at the start is dropped."""
    data = read_bytes(path, limit)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        start = data.rfind(b"\n", 0, error.start) + 1
        decode(data[start : error.end], path, number)  # says where
        raise
    return text.replace("\r\n", "\n").removeprefix("\ufeff")


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, without their line ends; a byte-order mark at the start is dropped."""
    for number, line in enumerate(byte_lines(path), start=1):
        text = decode(line, path, number)
        yield text.removeprefix("\ufeff") if number == 1 else text


def decode(line: bytes, path: Path, number: int) -> str:
    """A line as text, or an error that says where the bytes stop being UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 at byte {error.start + 1} of the line (0x{line[error.start]:02x})"
        remedy = "Convert the file, for example: iconv -f latin1 -t utf-8."
        raise BadInput(path, problem, line=number, remedy=remedy) from None


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes as they are."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def existing(directory: Path, name: str) -> Path | None:
    """The file of this name in a directory, plain or gzipped, if it is there."""
    for candidate in (directory / name, directory / f"{name}.gz"):
        with contextlib.suppress(OSError):  # a name may be too long for a file
            if candidate.is_file():
                return candidate
    return None


def require(directory: Path, name: str, why: str = "") -> Path:
    """Like `existing`, but its absence is an error."""
    path = existing(directory, name)
    if path is None:
        if os.path.isdir(directory):  # noqa: PTH112 (a name may be too long)
            raise BadInput(directory, f"{name} (or {name}.gz) is missing here", remedy=why)
        name_it = f"Name the directory that has {name} (or {name}.gz)."
        if os.path.lexists(directory):
            raise BadInput(directory, "not a directory", remedy=name_it)
        raise BadInput(directory, "no such directory", remedy=why or name_it)
    return path


def json_line(document: Any, **layout: Any) -> bytes:
    """A line of JSON in UTF-8. Bytes of a path that are not UTF-8 are written as people write them: caf\\xe9."""
    text = json.dumps(document, ensure_ascii=False, **layout)
    return re.sub("[\ud800-\udfff]", _written_out, text).encode() + b"\n"


def _written_out(surrogate: re.Match[str]) -> str:
    code = ord(surrogate[0])
    return f"\\\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\\\u{code:04x}"


# Writing: what appears under its name is complete and on the disk. A file is synced before it is renamed, and its
# folder after that: not even a loss of power leaves an empty or a missing file where a command said that it was done.


@contextlib.contextmanager
def atomic_writer(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that appears under its name only when it is complete; gzipped if the name ends in .gz."""
    with atomic_path(path) as temporary, _Output.open(temporary, path) as raw:
        if path.suffix == ".gz":
            # no file name and no time inside: the same content gives the same bytes
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
                yield cast(IO[bytes], stream)
        else:
            yield raw


def write_atomic(path: Path, data: bytes) -> None:
    """Write these bytes, as they are, to a file that appears under its name only when it is complete."""
    with atomic_path(path) as temporary, _Output.open(temporary, path) as raw:  # not gzipped again: shards end in .gz
        raw.write(data)


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A new empty file for a library to write; it gets its name when it is complete, and is removed after an error."""
    with _writing(path):
        if path.is_dir() or is_special(path):
            raise BadInput(path, f"cannot be written: {'a folder' if path.is_dir() else 'not a regular file'}")
        temporary = _temporary(path)
        make_folder(path.parent)
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
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
    folder = new_folder(folder)
    if folder.is_dir() and os.path.ismount(folder):
        raise BadInput(folder, "cannot be written: the root of a disk")
    temporary = _temporary(folder)
    with _writing(folder):
        make_folder(folder.parent)
        temporary.mkdir(mode)
    try:
        yield temporary
        with _writing(folder):
            for path, _, files in os.walk(temporary, topdown=False):
                for name in files:
                    sync_file(Path(path, name))
                sync_folder(Path(path))
            old = folder.rename(_temporary(folder)) if replace and folder.is_dir() else None
            try:
                temporary.rename(folder)
            except BaseException:
                if old is not None:
                    old.rename(folder)
                raise
            sync_folder(folder.parent)
            if old is not None:
                shutil.rmtree(old, ignore_errors=True)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, OSError) and _of_disk(error, temporary):
            raise CannotWrite(folder, error) from None
        raise


def new_folder(folder: Path) -> Path:
    """Return where a folder that appears as a whole is made: a link is followed. The current folder is an error."""
    is_link = os.path.islink(folder)  # noqa: PTH114 (a name may be too long)
    real = Path(os.path.realpath(folder)) if is_link or folder.name in ("", "..") else folder
    if os.path.isdir(real) and real.samefile("."):  # noqa: PTH112
        raise BadInput(folder, "is the current folder, which cannot be replaced", remedy="Name a new folder.")
    return real


class Appender:
    """Appends lines to a file that outlives this process: `kill -9` loses nothing that `write` has returned from.

    A loss of power may lose what was written after the last `sync`, which is called when SYNC_SECONDS have passed
    since the one before, and by `close`. A write that fails may leave a part of a line; readers cut it off.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
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
        if time.monotonic() - self._synced >= SYNC_SECONDS:
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


def complete_lines(path: Path) -> list[bytes]:
    """Return the lines of a file that an `Appender` wrote; a line that was being written is cut off the file."""
    data = path.read_bytes()
    size = data.rfind(b"\n") + 1
    if size < len(data):
        with path.open("r+b") as stream:
            stream.truncate(size)
    return data[:size].split(b"\n")[:-1]


def rename_synced(source: Path, path: Path) -> None:
    """Give a file, or a folder whose files are synced, its name: it is on the disk under that name afterwards."""
    sync_file(source)
    source.replace(path)
    sync_folder(path.parent)


def remove_leftovers(folder: Path, name: str = "*") -> None:
    """Remove what a killed process was writing in a folder, under any name or one; call it only with its lock."""
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
    """Return when the names in a folder are on the disk; where a file system cannot sync folders, immediately."""
    try:
        sync_file(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES):
            raise


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
        with _writing(name):  # some file systems report only now that the disk is full
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
    except ValueError:
        if "\0" not in str(path):
            raise
        raise _not_a_name(path) from None


def _of_disk(error: OSError, folder: Path) -> bool:
    """Whether writing into a folder failed, by a file in it or by what only disks do; write(2) knows no names."""
    full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
    return folder in Path(str(error.filename)).parents if error.filename else error.errno in full


def _temporary(path: Path) -> Path:
    path = path if path.name else Path(os.path.realpath(path))  # the current folder
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
