"""Unpack an archive from the network without trusting it: all checks first, then everything appears, or nothing."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from anaphora.core.errors import BadInput
from anaphora.core.files import atomic_folder, make_folder, rename_synced

LIMIT = 4 << 30  # bytes; far above any published test set, far below what a decompression bomb unfolds to
CHUNK = 1 << 20
DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError),
    RuntimeError,  # what zipfile raises for an encrypted or unknown compression
)


@dataclass(frozen=True, slots=True)
class _Member:
    """What tar and zip members have in common."""

    name: str
    kind: str  # "file", "folder", or what else it is
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
        if not into.exists():
            with atomic_folder(into) as unpacked:
                return _unpack(archive, unpacked, strip, tuple(members), limit)
        with tempfile.TemporaryDirectory(prefix=f".{into.name}.", dir=into.parent) as name:
            taken = _unpack(archive, Path(name), strip, tuple(members), limit)
            for path in taken:
                make_folder((into / path).parent)
                rename_synced(Path(name) / path, into / path)
    except OSError as error:
        raise BadInput(archive, f"cannot be unpacked into {into}: {(error.strerror or str(error)).lower()}") from None
    return taken


def _unpack(archive: Path, folder: Path, strip: int, prefixes: tuple[str, ...], limit: int) -> list[PurePosixPath]:
    taken: list[PurePosixPath] = []
    seen: set[str] = set()
    with _members(archive) as members:
        for member in members:
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
        raise BadInput(archive, f"{name!r} leads outside the folder it is unpacked into, which is refused")
    return parts


def _copy(archive: Path, member: _Member, target: Path, limit: int) -> int:
    """Write one file; returns how many bytes are left of the limit. The sizes in the archive may lie: count."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source = member.open()
    assert source is not None, member.name  # only links and folders have no content
    with source, target.open("xb") as out:
        while chunk := source.read(CHUNK):
            limit -= len(chunk)
            if limit < 0:
                raise BadInput(archive, f"unpacks to more than allowed (at {member.name}), which is refused")
            out.write(chunk)
    return limit


@contextlib.contextmanager
def _members(archive: Path) -> Iterator[Iterator[_Member]]:
    """The members of an archive of either kind; damage found at any point is an error that says so."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as bundle:
                yield _zip_members(bundle)
        else:
            with tarfile.open(archive) as tape:
                yield _tar_members(tape)
    except DAMAGE as error:
        problem = f"not a whole tar or zip archive ({str(error).lower()})"
        raise BadInput(archive, problem, remedy="Download it again.") from None


def _tar_members(tape: tarfile.TarFile) -> Iterator[_Member]:
    for info in tape:
        link = "a link" if info.issym() or info.islnk() else "a device or the like"
        kind = "file" if info.isreg() else "folder" if info.isdir() else link
        yield _Member(info.name, kind, partial(tape.extractfile, info))
    # the checksum of the compression comes after what tarfile reads: read on, so that it is looked at
    while tape.fileobj is not None and tape.fileobj.read(CHUNK):
        pass


def _zip_members(bundle: zipfile.ZipFile) -> Iterator[_Member]:
    for info in bundle.infolist():
        mode = info.external_attr >> 16  # Unix modes are in the upper half; zero where another system made the file
        special = stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR)
        kind = "a link or a device" if special else "folder" if info.is_dir() else "file"
        yield _Member(info.filename, kind, partial(bundle.open, info))
