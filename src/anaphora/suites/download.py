"""Download one file over HTTP: verified, limited in size and time, and under its name only when it is right."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import itertools
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import IO, Any
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from anaphora.core.errors import AnaphoraError, CannotWrite
from anaphora.core.files import atomic_path

CHUNK = 1 << 16
MAX_SIZE = 1 << 28  # bytes of a file whose size is not known; the largest of the catalog has 4 MB
TIMEOUT = 30.0  # seconds without a byte
DEADLINE = 600.0  # seconds for the whole file
LONGEST_WAIT = 60.0  # seconds, whatever a server asks for
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
                except OSError as error:  # those of the network are exceptions of ours by now
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


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes as they are."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _transfer(
    url: str, out: IO[bytes], size: int | None, timeout: float, deadline: float, progress: Progress | None
) -> str:
    """Write what the server sends; returns its SHA-256. Every failure of the network is one of our exceptions."""
    end, late = time.monotonic() + deadline, f"not complete after {deadline:g} seconds"
    connections: list[http.client.HTTPConnection] = []

    def hang_up() -> None:
        for connection in connections:
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    watchdog = Timer(deadline, hang_up)  # for what comes before the body: headers without end
    watchdog.daemon = True
    watchdog.start()
    try:
        ask = request.Request(url, headers={"User-Agent": "anaphora", "Accept-Encoding": "identity"})
        with _opener(url, connections).open(ask, timeout=timeout) as response:
            return _receive(url, response, out, size, end, late, progress)
    except HTTPError as error:
        with error:
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
        watchdog.cancel()


def _receive(
    url: str, response: Any, out: IO[bytes], size: int | None, end: float, late: str, progress: Progress | None
) -> str:
    """Copy a body as far as the file may go. One that ends early is a cut, also where http.client does not say so."""
    header = response.headers.get("Content-Length", "")
    length = int(header) if header.isascii() and header.isdigit() and len(header) < 20 else None
    if None not in (size, length) and size != length:
        raise AnaphoraError(f"{url}: the file has {length:,} bytes, but {size:,} are expected. {REMEDY}")
    limit = MAX_SIZE if size is None else size
    hasher, received = hashlib.sha256(), 0
    while True:
        try:
            # read1 gives what is there, so that time can be looked at
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


def _problem(url: str, error: HTTPError) -> Exception:
    status = f"{error.code} {http.client.responses.get(error.code, '')}".strip()
    if error.code in (408, 429) or error.code >= 500:
        wait = error.headers.get("Retry-After", "")
        return _TemporaryError(
            f"the server says {status}", float(wait[:9]) if wait.isascii() and wait.isdigit() else 0.0
        )
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
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(start: str, connections: list[http.client.HTTPConnection]) -> request.OpenerDirector:
    """Like urllib's own, but without its handlers for file:, ftp: and data: addresses. It fills `connections`."""

    class Noting(request.AbstractHTTPHandler):
        def do_open(self, http_class: Any, req: Any, **settings: Any) -> Any:
            def connect(*arguments: Any, **more: Any) -> http.client.HTTPConnection:
                connections.append(http_class(*arguments, **more))
                return connections[-1]

            return super().do_open(connect, req, **settings)

    class Plain(Noting, request.HTTPHandler):
        pass

    class Secure(Noting, request.HTTPSHandler):
        pass

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
