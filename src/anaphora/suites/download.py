"""Fetch one file over HTTP: resumed where it was cut, verified, and under its name only when it is right."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import re
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import rename_synced

CHUNK = 1 << 16
LONGEST_WAIT = 60.0  # seconds, whatever a server asks for
REMEDY = "If you can get a copy in another way: anaphora suites get NAME --from-path PATH"
CUTS = (TimeoutError, ConnectionResetError, ConnectionAbortedError, BrokenPipeError, ssl.SSLEOFError)


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
    timeout: float = 30.0,
    retries: int = 4,
    progress: Callable[[int, int | None], None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Download a file unless it is there already; returns its SHA-256.

    sha256, size: what it must have; None: not known
    retries: how many failures in a row, none of them bringing a new byte, are put up with
    progress: told the bytes so far and in all (None: not known)

    What has arrived is kept in `destination.part`, so that another call goes on from there.
    """
    if urlsplit(file_url).scheme not in ("http", "https"):
        raise AnaphoraError(f"{file_url}: only http and https addresses are fetched")
    if destination.is_file():
        found = sha256_of(destination)
        if sha256 in (None, found) and size in (None, destination.stat().st_size):
            return found
    part = _Part(destination)
    whole = part.is_whole(sha256)
    failures, most, doubted = 0, part.size(), False
    while True:
        try:
            if not whole:
                _transfer(file_url, part, sha256 is not None, size, timeout, progress)
        except _TemporaryError as error:
            failures = 1 if part.size() > most else failures + 1
            most = max(most, part.size())
            if failures > retries:
                raise AnaphoraError(f"{file_url}: {error}, also after {retries} more tries. {REMEDY}") from None
            sleep(min(max(0.5 * 2 ** (failures - 1), error.wait), LONGEST_WAIT))
            continue
        found = sha256_of(part.path)
        if sha256 in (None, found) and size in (None, part.size()):
            part.finish()
            return found
        wrong = f"SHA-256 is {found}, but {sha256} is expected" if sha256 else f"it has more than {size:,} bytes"
        mixed = part.resumed
        part.discard()
        if doubted or not mixed:
            raise AnaphoraError(f"{file_url}: {wrong}. The file was changed at its source or on its way. {REMEDY}")
        failures, most, doubted = 0, 0, True  # an old beginning may not fit the new end: once more, from the start


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes as they are."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass
class _Part:
    """The unfinished file beside its final name, and the server's mark (ETag) of the version that it is part of."""

    destination: Path
    resumed: bool = False  # whether what is in it came by more than one answer

    @property
    def path(self) -> Path:
        return self.destination.with_name(self.destination.name + ".part")

    @property
    def _etag_path(self) -> Path:
        return self.destination.with_name(self.destination.name + ".part.etag")

    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def etag(self) -> str | None:
        return self._etag_path.read_text("utf-8") if self._etag_path.is_file() else None

    def is_whole(self, sha256: str | None) -> bool:
        """Whether nothing is left but to give it its name (an earlier call was stopped just there)."""
        return sha256 is not None and self.path.is_file() and sha256_of(self.path) == sha256

    def start_anew(self, etag: str | None) -> None:
        self.discard()
        with self._disk():
            self.destination.parent.mkdir(parents=True, exist_ok=True)
            if etag is not None and not etag.startswith("W/"):  # a weak mark does not promise the same bytes
                self._etag_path.write_text(etag, "utf-8")

    @contextlib.contextmanager
    def append(self) -> Iterator[Callable[[bytes], None]]:
        """A function that adds bytes at the end. Its errors are told apart from those of the network."""
        with self._disk():
            stream = self.path.open("ab")

        def write(chunk: bytes) -> None:
            with self._disk():
                stream.write(chunk)
                stream.flush()

        with stream:
            yield write

    def discard(self) -> None:
        self.resumed = False
        with self._disk():
            self.path.unlink(missing_ok=True)
            self._etag_path.unlink(missing_ok=True)

    def finish(self) -> None:
        """Give the file its name, after its bytes are safely on the disk."""
        with self._disk():
            rename_synced(self.path, self.destination)
            self._etag_path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BadInput(self.path, f"cannot be written: {(error.strerror or str(error)).lower()}") from None


def _transfer(
    url: str,
    part: _Part,
    verifiable: bool,
    size: int | None,
    timeout: float,
    progress: Callable[[int, int | None], None] | None,
) -> None:
    """One request: all of the file, or what is missing of it."""
    headers = {"User-Agent": "anaphora"}
    offset, etag = part.size(), part.etag()
    # go on only if the whole can be verified, or the server can tell that it still has the version we began with
    if offset and (verifiable or etag):
        headers["Range"] = f"bytes={offset}-"
        if etag:
            headers["If-Range"] = etag
    try:
        with _opener(url).open(request.Request(url, headers=headers), timeout=timeout) as response:
            total = _begin(url, response, part, size)
            _receive(response, part, total, size, progress)
    except HTTPError as error:
        with error:
            raise _judge(url, error, part) from None
    except URLError as error:
        if isinstance(error.reason, CUTS):
            raise _TemporaryError(_words(error.reason)) from None
        raise AnaphoraError(f"{url}: cannot be reached ({_words(error.reason)}). {REMEDY}") from None
    except (OSError, http.client.HTTPException) as error:  # the network's: those of the disk are BadInput by now
        raise _TemporaryError(_words(error)) from None


def _begin(url: str, response: Any, part: _Part, size: int | None) -> int | None:
    """Settle whether the answer continues the part or starts anew; returns the length of the whole file, if told."""
    etag, length = response.headers.get("ETag"), response.headers.get("Content-Length")
    if response.status == 206:
        told = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
        if told is None or int(told[1]) != part.size() or (part.etag() and etag and etag != part.etag()):
            part.discard()
            raise _TemporaryError("the server sent another part of the file than was asked for")
        part.resumed = True
        total: int | None = int(told[2])
    else:
        part.start_anew(etag)
        total = int(length) if length and length.isdigit() else None
    if None not in (size, total) and size != total:
        part.discard()
        raise AnaphoraError(f"{url}: the file has {total:,} bytes, but {size:,} are expected. {REMEDY}")
    return total


def _receive(
    response: Any,
    part: _Part,
    told: int | None,
    size: int | None,
    progress: Callable[[int, int | None], None] | None,
) -> None:
    """Append what arrives. An answer that ends early is a cut, also where http.client does not say so.

    told: the length of the whole file that the server promised; where it did not, one byte above the size that the
        file must have is enough to know that it is wrong
    """
    received, total = part.size(), size if told is None else told
    end = told if told is not None or size is None else size + 1
    with part.append() as write:
        # read1 gives what is there: bytes that came before a cut are kept
        while chunk := response.read1(CHUNK if end is None else min(CHUNK, end - received)):
            write(chunk)
            received += len(chunk)
            if progress is not None:
                progress(received, total)
    if total is not None and received < total:
        raise _TemporaryError(f"the connection ended after {received:,} of {total:,} bytes")


def _judge(url: str, error: HTTPError, part: _Part) -> Exception:
    """What an answer other than success means."""
    said = f"{error.code} {http.client.responses.get(error.code, '')}".strip()
    if error.code == 416:  # nothing behind what we have: it is not what we took it for
        part.discard()
        return _TemporaryError(f"the server says {said}")
    if error.code in (408, 429) or error.code >= 500:
        wait = error.headers.get("Retry-After", "")
        return _TemporaryError(f"the server says {said}", float(wait) if wait.isdigit() else 0.0)
    if error.code in (404, 410):
        return AnaphoraError(f"{url}: there is no such file any more ({said}). {REMEDY}")
    if 300 <= error.code < 400:
        return AnaphoraError(f"{url}: redirected in a circle or to an address that is not followed ({said}). {REMEDY}")
    return AnaphoraError(f"{url}: refused by the server ({said}). {REMEDY}")


def _words(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return text.splitlines()[0].lower()


class _Redirects(request.HTTPRedirectHandler):
    """Follows to http and https alone, and never from a protected address to an unprotected one."""

    def __init__(self, start: str) -> None:
        self._allowed = ("https",) if urlsplit(start).scheme == "https" else ("http", "https")

    def redirect_request(
        self, req: request.Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage, newurl: str
    ) -> request.Request | None:
        if urlsplit(newurl).scheme not in self._allowed:
            raise HTTPError(newurl, code, "not followed", headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(start: str) -> request.OpenerDirector:
    """Like urllib's own, but without its handlers for file:, ftp: and data: addresses."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(),
        request.HTTPDefaultErrorHandler(),
        request.HTTPErrorProcessor(),
        _Redirects(start),
    ):
        opener.add_handler(handler)
    return opener
