"""Download one file over HTTP, verified and limited in size and time; and unpack archives that are not trusted."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import http.client
import itertools
import lzma
import socket
import ssl
import stat
import struct
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from threading import Event, Thread
from typing import IO, Any, NamedTuple, cast
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from anaphora.core.errors import AnaphoraError, BadInput, CannotWrite
from anaphora.core.files import atomic_path, sha256_of
from anaphora.core.parsing import is_count

CHUNK = 1 << 16  # bytes read at a time, and also of one header of a tar archive
MAX_SIZE = 1 << 28  # bytes of a file whose size is not known; the largest of the catalog has 4 MB
TIMEOUT = 30.0  # seconds without a byte
DEADLINE = 600.0  # seconds for the whole file
LONGEST_WAIT = 60.0  # seconds, whatever a server asks for
TICK = 0.1  # seconds after the deadline between attempts to end what is still open
REMEDY = "If you can get a copy in another way: anaphora suites get NAME --from-path PATH"
CUTS = (TimeoutError, ConnectionResetError, ConnectionAbortedError, BrokenPipeError, ssl.SSLEOFError)
Progress = Callable[[int, int | None], None]  # bytes so far, and in all (None: not known)


class _TemporaryError(Exception):
    """A failure that may pass: a cut, a time-out, a server that is busy."""

    def __init__(self, problem: str, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.wait = wait


def fetch(
    file_url: str,
    destination: Path,
    *,
    sha256: str | None = None,
    size: int | None = None,
    timeout: float = TIMEOUT,
    deadline: float = DEADLINE,
    retries: int = 4,
    progress: Progress | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Download a file unless it already exists; returns its SHA-256.

    sha256, size: what it must have; None: not known
    timeout: seconds without a byte; deadline: seconds for one attempt in all
    retries: how often a failure that may pass is tried again, from the start
    """
    if urlsplit(file_url).scheme not in ("http", "https"):
        raise AnaphoraError(f"{file_url}: only http and https addresses are fetched")
    if destination.is_file():
        digest = sha256_of(destination)
        if sha256 in (None, digest) and size in (None, destination.stat().st_size):
            return digest
    for failures in itertools.count(1):
        try:
            with atomic_path(destination) as temporary:
                try:
                    with temporary.open("wb") as out:
                        digest = _transfer(file_url, out, size, timeout, deadline, progress)
                except OSError as error:  # network errors are AnaphoraError or _TemporaryError here
                    raise CannotWrite(destination, error) from None
                if sha256 not in (None, digest):
                    why = "The file was changed at its source or on its way"
                    raise AnaphoraError(f"{file_url}: SHA-256 is {digest}, but {sha256} is expected. {why}. {REMEDY}")
            break
        except _TemporaryError as error:
            if failures > retries:
                raise AnaphoraError(f"{file_url}: {error}, even after {retries} more attempts. {REMEDY}") from None
            sleep(min(max(0.5 * 2 ** (failures - 1), error.wait), LONGEST_WAIT))
    return digest


def _transfer(
    url: str, out: IO[bytes], size: int | None, timeout: float, deadline: float, progress: Progress | None
) -> str:
    """Write the body of a response; returns its SHA-256. Network errors are AnaphoraError or _TemporaryError."""
    end, late = time.monotonic() + deadline, f"not complete after {deadline:g} seconds"
    opened: list[socket.socket] = []
    finished = Event()

    def hang_up() -> None:
        finished.wait(deadline)
        while not finished.wait(TICK):  # again and again: a redirect may open another connection
            for connection in [*opened]:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    watchdog = Thread(target=hang_up, daemon=True)  # http.client reads headers, chunk sizes and trailers without end
    watchdog.start()
    try:
        ask = request.Request(url, headers={"User-Agent": "anaphora", "Accept-Encoding": "identity"})
        with _opener(url, opened).open(ask, timeout=timeout) as response:
            return _receive(url, response, out, size, end, late, progress)
    except HTTPError as error:
        with contextlib.closing(error):
            raise _problem(url, error) from None
    except URLError as error:
        if time.monotonic() >= end:
            raise _TemporaryError(late) from None
        if isinstance(error.reason, CUTS):
            raise _TemporaryError(_describe(error.reason)) from None
        raise AnaphoraError(f"{url}: cannot be reached ({_describe(error.reason)}). {REMEDY}") from None
    except (http.client.HTTPException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, OSError) and not isinstance(error, (TimeoutError, ConnectionError, ssl.SSLError)):
            raise  # of the disk
        raise _TemporaryError(late if time.monotonic() >= end else _describe(error)) from None
    finally:
        finished.set()
        watchdog.join()
        for connection in opened:
            connection.close()


def _receive(
    url: str, response: Any, out: IO[bytes], size: int | None, end: float, late: str, progress: Progress | None
) -> str:
    """Copy a body up to the limit. One that ends early is a cut, even if http.client does not report it."""
    length = _length(url, response)
    if None not in (size, length) and size != length:
        raise AnaphoraError(f"{url}: the file has {length:,} bytes, but {size:,} are expected. {REMEDY}")
    limit = MAX_SIZE if size is None else size
    hasher, received = hashlib.sha256(), 0
    while True:
        try:
            # read1 returns what has arrived, so that the deadline can be checked
            chunk = response.read1(CHUNK if length is None else min(CHUNK, length - received))
        except (OSError, http.client.HTTPException, ValueError, OverflowError) as error:
            raise _TemporaryError(late if time.monotonic() >= end else _describe(error)) from None
        if not chunk:
            break
        received += len(chunk)
        if received > limit or (length or 0) > limit:
            raise AnaphoraError(f"{url}: it has more than {limit:,} bytes, which is the limit. {REMEDY}")
        if time.monotonic() > end:
            raise _TemporaryError(late)
        hasher.update(chunk)
        out.write(chunk)
        if progress is not None:
            progress(received, size if length is None else length)
    if time.monotonic() > end:  # http.client takes headers that were cut by the watchdog for complete ones
        raise _TemporaryError(late)
    if received == 0 and size is None and length is None:
        raise _TemporaryError("the connection ended without a file")
    if received < (total := max(size or 0, length or 0)):
        raise _TemporaryError(f"the connection ended after {received:,} of {total:,} bytes")
    return hasher.hexdigest()


def _length(url: str, response: Any) -> int | None:
    """Return the length of the body, None where the server does not state it. A part of a file is an error.

    There may be no hash that would show later that this was not the file.
    """
    if response.status not in (200, 203):
        name = f"{response.status} {http.client.responses.get(response.status, '')}".strip()
        raise AnaphoraError(f"{url}: the server does not send the file, but {name}. {REMEDY}")
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding != "identity":
        raise AnaphoraError(f"{url}: the file is compressed ({encoding[:20]!a}), which was not requested. {REMEDY}")
    if response.chunked:
        return None
    lengths = {length.strip() for length in response.headers.get_all("Content-Length", [])}
    if len(lengths) > 1 or not all(length.isascii() and length.isdigit() for length in lengths):
        raise _TemporaryError("the server states an invalid length")
    return next((int(length) for length in lengths if len(length) < 20), None)


def _problem(url: str, error: HTTPError) -> Exception:
    status = f"{error.code} {http.client.responses.get(error.code, '')}".strip()
    if error.code in (408, 429) or error.code >= 500:
        wait = error.headers.get("Retry-After", "")
        return _TemporaryError(f"the server says {status}", float(wait) if is_count(wait) else 0.0)
    if error.code in (404, 410):
        return AnaphoraError(f"{url}: there is no such file any more ({status}). {REMEDY}")
    if 300 <= error.code < 400:
        problem = "redirected in a circle or to an address that is not followed"
        return AnaphoraError(f"{url}: {problem} ({status}). {REMEDY}")
    return AnaphoraError(f"{url}: refused by the server ({status}). {REMEDY}")


def _describe(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return text.splitlines()[0].lower()[:300]


class _Redirects(request.HTTPRedirectHandler):
    """Follows to http and https alone, and never from a protected address to an unprotected one."""

    def __init__(self, start: str) -> None:
        self._allowed = ("https",) if urlsplit(start).scheme == "https" else ("http", "https")

    def redirect_request(
        self, req: request.Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage, newurl: str
    ) -> request.Request | None:
        if urlsplit(newurl).scheme not in self._allowed:
            raise HTTPError(newurl, code, "not followed", headers, fp)
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        fp.close()  # or urllib reads its body, which may have no end
        return new


class _Plain(http.client.HTTPConnection):
    """Adds a copy of its socket to a list: urllib closes its own as soon as it has the headers."""

    opened: list[socket.socket]

    def connect(self) -> None:
        super().connect()
        self.opened.append(self.sock.dup())


class _Secure(http.client.HTTPSConnection, _Plain):
    """The same. The copy is made before the handshake: connect() of the first class calls that of the second."""


def _opener(start: str, opened: list[socket.socket]) -> request.OpenerDirector:
    """Like urllib's own, but without its handlers for file:, ftp: and data: addresses. It fills `opened`."""

    def connection(kind: type[_Plain], *arguments: Any, **settings: Any) -> _Plain:
        made = kind(*arguments, **settings)
        made.opened = opened
        return made

    class Plain(request.HTTPHandler):
        def http_open(self, req: request.Request) -> Any:
            return self.do_open(partial(connection, _Plain), req)

    class Secure(request.HTTPSHandler):
        def https_open(self, req: request.Request) -> Any:
            return self.do_open(partial(connection, _Secure), req)

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        Plain(),
        Secure(),
        request.HTTPDefaultErrorHandler(),
        request.HTTPErrorProcessor(),
        _Redirects(start),
    ):
        opener.add_handler(handler)
    return opener


# Archives from the network are not trusted: all checks come first, then everything is unpacked, or nothing.

LIMIT = 1 << 30  # bytes; far above any published test set, far below what a decompression bomb unfolds to
MAX_MEMBERS = 100_000
MAX_NAME = 1000  # characters of a member's path; 255 bytes for each of its folders and the file
MAX_DIRECTORY = 1 << 24  # bytes of the list of members of a zip archive
COMPRESSED: dict[bytes, Callable[[IO[bytes]], Any]] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}
DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError),
    RuntimeError,  # what zipfile raises for an encrypted member, and, as NotImplementedError, an unknown compression
    *(ValueError, OverflowError, LookupError, struct.error),  # names that are not UTF-8, invalid numbers
)


class _Member(NamedTuple):
    """A member of a tar or zip archive. kind: "file", "folder", or a description of anything else."""

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
    it is malicious or its content is not what is expected.
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
    """Write one file; returns the rest of the limit. Bytes are counted, as sizes in the archive may be wrong."""
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
