"""JSON over HTTP, asked from many threads: kept connections, retries with backoff, a rate limit, a key that is kept."""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import json
import random
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from anaphora.core.errors import AnaphoraError
from anaphora.systems.openai.parallel import as_finished
from anaphora.systems.openai.rate import RateLimit

T = TypeVar("T")
LONGEST_WAIT = 120.0  # seconds, whatever a server asks for
FIRST_WAIT = 0.5
LOCAL = ("localhost", "127.0.0.1", "::1")
BUSY = (408, 409, 425, 429)  # and 500 and above: it may be better in a while
STALE = (http.client.RemoteDisconnected, ConnectionResetError, ConnectionAbortedError, BrokenPipeError)


class Rejected(AnaphoraError):  # noqa: N818  (it is the request that is rejected)
    """The server does not take the request. said: why, in its words."""

    def __init__(self, message: str, status: int, said: str) -> None:
        super().__init__(message)
        self.status, self.said = status, said


class _TemporaryError(Exception):
    """A failure that may pass. wait: how many seconds the server asks to wait."""

    def __init__(self, problem: str, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.wait = wait


@dataclass
class Client:
    """Asks one server.

    url: without a slash at the end; key: sent as a bearer token, and in no message; key_name: where the user put it
    timeout: seconds without a byte; retries: how often a request is tried again
    valid: whether a JSON document is an answer; one that is not counts as damaged and is asked for again
    """

    url: str
    key: str | None = field(repr=False)
    key_name: str
    timeout: float
    retries: int
    concurrency: int
    limit: RateLimit
    valid: Callable[[Any], bool]

    def __post_init__(self) -> None:
        self._address: SplitResult = urlsplit(self.url)
        self._connections: dict[int, http.client.HTTPConnection] = {}  # of each thread
        self._stopped = threading.Event()
        self._proxy, self._headers = None, {"User-Agent": "anaphora", "Content-Type": "application/json"}
        if self.key is not None:
            self._headers["Authorization"] = f"Bearer {self.key}"
        host, proxy = self._address.hostname or "", getproxies().get(self._address.scheme)
        if proxy and host not in LOCAL and not proxy_bypass(host):
            self._proxy = urlsplit(proxy if "://" in proxy else f"http://{proxy}")

    def each(self, work: Callable[[int], T], numbers: Iterable[int]) -> Iterator[tuple[int, T]]:
        """Do work, which may ask the server, on each number in threads; each with its result as they are found.

        What is known when something fails is given before the failure is raised.
        """
        self._stopped.clear()
        try:
            yield from as_finished(work, numbers, self.concurrency, failed=self._stopped.set, leave=self._hang_up)
        finally:
            for connection in self._connections.values():
                connection.close()
            self._connections.clear()

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer to a request; asked again while failures may pass. Only for work done by `each`."""
        data = json.dumps(body).encode()
        for failures in count(1):
            try:
                return self._attempt(f"{self._address.path}/{path}", data)
            except _TemporaryError as error:
                if failures > self.retries or self._stopped.is_set():
                    more = f", also after {self.retries} more tries" if self.retries else ""
                    raise AnaphoraError(
                        f"{self.url}: {error}{more}. What has been computed is kept: "
                        "--resume goes on where it stopped, once the server answers again"
                    ) from None
                if error.wait:
                    self.limit.hold(min(error.wait, LONGEST_WAIT))
                backoff = min(FIRST_WAIT * 2 ** (failures - 1), LONGEST_WAIT)
                self._stopped.wait(backoff * random.uniform(0.5, 1.0))
        raise AssertionError

    def _attempt(self, path: str, data: bytes) -> Any:
        """One request, over this thread's connection; one that the server closed meanwhile is opened anew."""
        if not self.limit.wait(self._stopped):
            raise AnaphoraError("stopped")
        connection = self._connections.get(threading.get_ident()) or self._connection()
        path = path if self._tunnelled else f"{self._address.scheme}://{self._address.netloc}{path}"
        while True:
            kept = connection.sock is not None
            try:
                connection.request("POST", path, data, self._headers)
                with connection.getresponse() as response:
                    return self._judge(response.status, response.headers.get("Retry-After", ""), response.read())
            except (OSError, http.client.HTTPException, UnicodeError) as error:
                connection.close()
                if kept and isinstance(error, STALE) and not self._stopped.is_set():
                    continue
                if _is_final(error):
                    raise AnaphoraError(f"{self.url}: cannot be reached ({_words(error)})") from None
                raise _TemporaryError(_words(error)) from None

    def _hang_up(self) -> None:
        """End all requests that are under way: their threads are waiting for the server."""
        self._stopped.set()
        for connection in list(self._connections.values()):
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    @property
    def _tunnelled(self) -> bool:
        """Whether requests go to the server itself, and not to a proxy that has to be told the server's name."""
        return self._proxy is None or self._address.scheme == "https"

    def _connection(self) -> http.client.HTTPConnection:
        secure = self._address.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        server = self._proxy or self._address
        connection = kind(server.hostname or "", server.port, timeout=self.timeout)
        self._connections[threading.get_ident()] = connection
        if self._proxy is not None:
            user = f"{unquote(self._proxy.username or '')}:{unquote(self._proxy.password or '')}"
            headers = {"Proxy-Authorization": f"Basic {b64encode(user.encode()).decode()}"} if user != ":" else {}
            if secure:
                connection.set_tunnel(self._address.hostname or "", self._address.port, headers)
            else:
                self._headers |= headers
        return connection

    def _judge(self, status: int, retry_after: str, data: bytes) -> Any:
        """The document of a good answer, or what another one means."""
        name = f"{status} {http.client.responses.get(status, '')}".strip()
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            answer = None
        if status < 300 and self.valid(answer):
            return answer
        said = self._said(answer, data)
        why = f": {said}" if said else ""
        if status < 300:
            problem = "is not JSON" if answer is None else f"is not one that was expected{why}"
            raise _TemporaryError(f"the server's answer {problem}")
        if status in (401, 403):  # no words of the server here: they may have a part of the key
            put = "does not accept the key in" if self.key else "needs a key: put it into"
            raise AnaphoraError(f"{self.url}: the server {put} the environment variable {self.key_name} ({name})")
        if status == 429 and "insufficient_quota" in said:
            raise AnaphoraError(f"{self.url}: the quota is used up ({name}{why}). --resume goes on where it stopped")
        if status in BUSY or (status >= 500 and status != 501):
            raise _TemporaryError(f"the server says {name}{why}", _seconds(retry_after))
        if status < 400:
            raise AnaphoraError(f"{self.url}: the server is elsewhere ({name}). Name the address it redirects to")
        problem = "knows no such address or model" if status == 404 else "does not take the request"
        raise Rejected(f"{self.url}: the server {problem} ({name}{why})", status, said)

    def _said(self, answer: Any, data: bytes) -> str:
        """The server's own words in one line, without the key should it repeat it."""
        error = answer.get("error", answer.get("message", answer.get("detail"))) if isinstance(answer, dict) else None
        words = error.get("message") or error.get("code") if isinstance(error, dict) else error
        code = error.get("code") if isinstance(error, dict) else None
        text = " ".join(str(words or data.decode("utf-8", "replace")).split())
        if self.key:
            text = text.replace(self.key, "…")
        return f"{text[:300]} ({code})" if isinstance(code, str) and code not in text else text[:300]


def _is_final(error: BaseException) -> bool:
    """Whether waiting does not help."""
    if isinstance(error, socket.gaierror):
        return error.errno != socket.EAI_AGAIN
    return isinstance(error, ssl.SSLCertVerificationError | http.client.InvalidURL | UnicodeError)


def _seconds(wanted: str) -> float:
    """Retry-After, in seconds or as a date."""
    try:
        return max(0.0, float(wanted))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(wanted).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _words(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, http.client.IncompleteRead):
        return "the connection was cut in the middle of an answer"
    if isinstance(error, UnicodeError):
        return "no host can have such a name"
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return text.splitlines()[0].lower()
