"""Unpack an archive from the network without trusting it: all checks first, then everything appears, or nothing."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, cast

from anaphora.core.errors import BadInput

LIMIT = 1 << 30  # bytes; far above any published test set, far below what a decompression bomb unfolds to
MAX_MEMBERS = 100_000
MAX_NAME = 1000  # characters of a member's path; 255 bytes for each of its folders and the file
MAX_DIRECTORY = 1 << 24  # bytes of the list of members of a zip archive
CHUNK = 1 << 16  # bytes read at a time, and also of one header of a tar archive
COMPRESSED: dict[bytes, Callable[[IO[bytes]], Any]] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}
DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError),
    RuntimeError,  # what zipfile raises for an encrypted member, and, as NotImplementedError, an unknown compression
    *(ValueError, OverflowError, LookupError, struct.error),  # names that are not UTF-8, numbers that are none
)


class _Member(NamedTuple):
    """What tar and zip members have in common. kind: "file", "folder", or what else it is."""

    name: str
    kind: str
    open: Callable[[], IO[bytes] | None]


def extract(
    archive: Path, into: Path, *, strip: int = 0, members: Sequence[str] = (), limit: int = LIMIT
) -> list[PurePosixPath]:
    """Unpack the files of a tar (plain or compressed) or zip archive; returns their paths below `into`.

    strip: how many leading folders to drop; a member with no more than that is left out
    members: what to take, as prefixes of the stripped paths; nothing named means everything
    limit: how many bytes all files together may have, counted as they are unpacked

    A path that leads outside, a link, a device, a file that comes twice: the whole archive is refused, because
    whoever made it meant harm or its content is not what we think.
    """
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{into.name}.", dir=into.parent) as name:
            unpacked = Path(name) / into.name
            unpacked.mkdir()
            try:
                taken = _unpack(archive, unpacked, strip, tuple(members), limit)
            except DAMAGE as error:
                problem = f"not a whole tar or zip archive ({str(error).lower()[:200]})"
                raise BadInput(archive, problem, remedy="Download it again.") from None
            if not into.exists():
                unpacked.rename(into)
            else:
                for path in taken:
                    (into / path).parent.mkdir(parents=True, exist_ok=True)
                    (unpacked / path).replace(into / path)
    except OSError as error:
        raise BadInput(archive, f"cannot be unpacked into {into}: {(error.strerror or str(error)).lower()}") from None
    return taken


def _unpack(archive: Path, folder: Path, strip: int, prefixes: tuple[str, ...], limit: int) -> list[PurePosixPath]:
    taken: list[PurePosixPath] = []
    seen: set[str] = set()
    with contextlib.closing(_members(archive, limit)) as members:
        for number, member in enumerate(members):
            if number >= MAX_MEMBERS:
                raise BadInput(archive, f"has more than {MAX_MEMBERS:,} members, which is refused")
            path = PurePosixPath(*_parts(archive, member.name)[strip:])
            if path == PurePosixPath() or not path.as_posix().startswith(prefixes or ("",)) or member.kind == "folder":
                continue
            if member.kind != "file":
                raise BadInput(archive, f"{member.name} is {member.kind}, which is refused")
            if path.as_posix().casefold() in seen:  # folded: on some disks a name in capitals is the same file
                raise BadInput(archive, f"{member.name} comes twice")
            seen.add(path.as_posix().casefold())
            taken.append(path)
            limit = _copy(archive, member, folder / path, limit)
    return taken


def _parts(archive: Path, name: str) -> tuple[str, ...]:
    """The folders and the file of a member's name, which must stay below where it is unpacked."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\\" in name or name[1:2] == ":":
        raise BadInput(archive, f"{name[:100]!r} leads outside the folder it is unpacked into, which is refused")
    if not name.isprintable() or len(name) > MAX_NAME or any(len(part.encode()) > 255 for part in parts):
        raise BadInput(archive, f"{name[:100]!a} is not a name for a file, which is refused")
    return parts


def _copy(archive: Path, member: _Member, target: Path, limit: int) -> int:
    """Write one file; returns how many bytes are left of the limit. The sizes in the archive may lie: count."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source = member.open()
    if source is None:
        raise tarfile.ReadError(f"{member.name} has no content")
    with source, target.open("xb") as out:
        while chunk := source.read(CHUNK):
            limit -= len(chunk)
            if limit < 0:
                raise BadInput(archive, f"unpacks to more than allowed (at {member.name}), which is refused")
            out.write(chunk)
    return limit


def _members(archive: Path, limit: int) -> Generator[_Member]:
    """Yield the members of an archive of either kind."""
    if zipfile.is_zipfile(archive):
        _check_directory(archive)
        with zipfile.ZipFile(archive) as bundle:
            for info in bundle.infolist():
                mode = info.external_attr >> 16  # Unix modes are in the upper half; zero if another system made it
                special = stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR)
                kind = "a link or a device" if special else "folder" if info.is_dir() else "file"
                yield _Member(info.filename, kind, partial(bundle.open, info))
    else:
        with archive.open("rb") as raw:
            decompress = COMPRESSED.get(raw.read(2))
            raw.seek(0)
            tape = _Tape(decompress(raw) if decompress else raw, limit)
            with tarfile.open(fileobj=cast(IO[bytes], tape), mode="r:") as opened:
                for entry in opened:
                    opened.members.clear()  # type: ignore[attr-defined]  # or memory grows with their number
                    opened.pax_headers = {}
                    link = "a link" if entry.issym() or entry.islnk() else "a device or the like"
                    kind = "file" if entry.isreg() else "folder" if entry.isdir() else link
                    yield _Member(entry.name, kind, partial(_content, opened, entry))
            # the checksum of the compression comes after what tarfile reads: read on, so that it is looked at
            while tape.read(CHUNK):
                tape.seek(tape.tell())


def _content(opened: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes] | None:
    if hasattr(tarfile, "data_filter"):  # the standard library's own checks came with Python 3.11.4
        tarfile.data_filter(info, ".")
    return opened.extractfile(info)


class _Tape:
    """The decompressed bytes of a tar archive, with limits on what `tarfile` reads at once and passes over."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._stream, self.tell = stream, stream.tell
        self._end = 2 * limit + CHUNK  # what is not taken has a size, too

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= CHUNK:
            raise tarfile.ReadError("a header is too long")
        return self._stream.read(size)

    def seek(self, position: int, whence: int = 0) -> int:
        if position > self._end:
            raise tarfile.ReadError(f"it is longer than {self._end:,} bytes")
        return self._stream.seek(position, whence)


def _check_directory(archive: Path) -> None:
    """Refuse a zip archive with a list of members that would fill the memory, before it is read."""
    with archive.open("rb") as stream:
        stream.seek(-min(archive.stat().st_size, 22 + (1 << 16)), 2)
        end = stream.read()
    start = end.rfind(b"PK\x05\x06")
    count, size = struct.unpack_from("<HL", end, start + 10)
    if start < 0 or size > MAX_DIRECTORY or count == 0xFFFF:
        raise BadInput(archive, f"has more than {MAX_DIRECTORY >> 20} MB of names, which is refused")
