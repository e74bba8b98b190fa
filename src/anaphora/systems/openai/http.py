"""JSON over HTTP from many threads: kept connections, limits on size and time, retries, a key that stays secret."""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import http.client
import json
import os
import random
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx
import tenacity

from anaphora.core.errors import AnaphoraError
from anaphora.systems.openai.concurrency import RateLimit, as_finished
from anaphora.systems.openai.secret import SHOWN, Secret

T = TypeVar("T")
A = TypeVar("A")
MAX_BODY = 8 << 20  # bytes of one answer, before and after decompression
MAX_VALUES = 1_000_000  # brackets and commas of one answer: what its JSON takes in memory is bounded by these
DEADLINE = 5.0  # how many times the timeout a whole request may take
LONGEST_WAIT = 120.0  # seconds, whatever a server asks for
FIRST_WAIT = 0.5
LOCAL = ("localhost", "127.0.0.1", "::1")
BUSY = (408, 409, 425, 429)  # and 500 and above: it may be better in a while
STALE = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)


class Rejected(AnaphoraError):  # noqa: N818  (it is the request that is rejected)
    """The server does not accept the request. reason: the server's explanation, for messages."""

    def __init__(self, message: str, status: int, reason: str, words: str = "") -> None:
        super().__init__(message)
        self.status, self.reason, self._words = status, reason, words or reason

    def names(self, field: str) -> bool:
        """Return whether the explanation names a field. Its words are not those of the message, where a key is masked.

        >>> Rejected("rejected", 400, "no …-tokens", "no max_tokens").names("max_tokens")
        True
        """
        return field in self._words


class UnexpectedAnswer(Exception):  # noqa: N818
    """JSON that is not an answer. The text says which field is wrong and how, without any value of the server's."""


class _UnusableError(Exception):
    """An answer beyond the limits, or one that cannot be decompressed: asking again does not help."""


class _TemporaryError(Exception):
    """A failure that may pass. wait: how many seconds the server asks to wait."""

    def __init__(self, problem: str, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.wait = wait


class Client(Generic[A]):
    """Sends requests to one server.

    url: without a slash at the end; key: sent as a bearer token, and in no message; key_name: where the user put it
    timeout: seconds without a byte; deadline: seconds for a whole request; retries: how often a request is repeated
    parse: makes an answer of a JSON document, or raises UnexpectedAnswer; such a document is asked for again
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None,
        key_name: str,
        timeout: float,
        deadline: float | None = None,
        retries: int,
        concurrency: int,
        limit: RateLimit,
        parse: Callable[[Any], A],
    ) -> None:
        self.url, self.key_name, self.timeout, self.retries = url, key_name, timeout, retries
        self.deadline = DEADLINE * timeout if deadline is None else deadline
        self.concurrency, self.limit, self.parse = concurrency, limit, parse
        self.secret = Secret(key)
        self._stopped = threading.Event()
        self._parsing = threading.Lock()  # one document at a time: the memory that JSON takes is not multiplied
        self._loop: asyncio.AbstractEventLoop | None = None
        self._requests: set[Future[tuple[int, str, bytes | bytearray]]] = set()  # under way

    def each(self, work: Callable[[int], T], numbers: Iterable[int]) -> Iterator[tuple[int, T]]:
        """Do work, which may call `post`, on each number in threads; yield each with its result as they finish.

        What is known when something fails is yielded before the failure is raised.
        """
        self._stopped.clear()
        with self.secret.hidden_in_logs(), self._session():
            yield from as_finished(work, numbers, self.concurrency, failed=self._stopped.set, leave=self._cancel)

    def post(self, path: str, body: Mapping[str, Any]) -> A:
        """Return the answer to a request, repeated while failures may pass. Only for work done by `each`."""
        data = json.dumps(body).encode()
        backoff = tenacity.wait_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT)
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_TemporaryError),
            stop=tenacity.stop_any(
                tenacity.stop_after_attempt(self.retries + 1), tenacity.stop_when_event_set(self._stopped)
            ),
            wait=lambda state: backoff(state) * random.uniform(0.5, 1.0),
            sleep=tenacity.sleep_using_event(self._stopped),
            before_sleep=self._hold,
            reraise=True,
        )
        try:
            answer: A = attempts(self._attempt, f"{self.url}/{path}", data)
        except _TemporaryError as error:
            more = f", even after {self.retries} more attempts" if self.retries else ""
            raise AnaphoraError(
                f"{self.url}: {error}{more}. Finished answers are kept: use --resume to continue once the server "
                "answers again"
            ) from None
        return answer

    def _hold(self, state: tenacity.RetryCallState) -> None:
        """Make all threads wait as long as the server asks for."""
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, _TemporaryError) and error.wait:
            self.limit.hold(min(error.wait, LONGEST_WAIT))

    def _attempt(self, url: str, data: bytes) -> A:
        """One request. Everything that the server or the network can do to it ends in our own exceptions."""
        if not self.limit.wait(self._stopped) or self._loop is None:
            raise AnaphoraError("stopped")
        request = asyncio.run_coroutine_threadsafe(self._send(url, data), self._loop)
        self._requests.add(request)
        try:
            status, retry_after, body = request.result()
            with self._parsing:
                return self._check_response(status, retry_after, body)
        except CancelledError:
            raise AnaphoraError("stopped") from None
        except TimeoutError:
            raise _TemporaryError(f"no complete answer within {self.deadline:g} seconds") from None
        except _UnusableError as error:
            raise AnaphoraError(f"{self.url}: the server's answer {error}") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            text = self.secret.message(_describe(error))
            if _is_final(error):
                raise AnaphoraError(f"{self.url}: cannot be reached ({text})") from None
            raise _TemporaryError(text) from None
        finally:
            self._requests.discard(request)

    async def _send(self, url: str, data: bytes) -> tuple[int, str, bytes | bytearray]:
        """Status, Retry-After and body of an answer; a kept connection that the server has closed is opened again."""
        async with asyncio.timeout(self.deadline):
            while True:
                seen: set[str] = set()

                async def trace(event: str, info: Any, seen: set[str] = seen) -> None:
                    seen.add(event)
                    if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
                        _note_reads(info["return_value"])

                try:
                    async with self._http.stream("POST", url, content=data, extensions={"trace": trace}) as response:
                        connection = response.extensions["network_stream"]
                        if not getattr(connection, "has_read", True):
                            continue  # an answer to nothing, which came together with the one before it
                        body = await _body(response)
                        connection.has_read = False
                        return response.status_code, response.headers.get("Retry-After", ""), body
                except STALE:
                    kept = "connection.connect_tcp.started" not in seen
                    if not kept or "http11.receive_response_headers.complete" in seen:
                        raise

    @contextlib.contextmanager
    def _session(self) -> Iterator[None]:
        """An event loop in a thread of its own, on which requests can be canceled at any point, and a pool."""
        self._http = self._connections()
        loop = self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="anaphora-http", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._loop = None
            with contextlib.suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(self._http.aclose(), loop).result(5.0)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    def _connections(self) -> httpx.AsyncClient:
        headers = {"User-Agent": "anaphora", "Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self.secret:
            headers["Authorization"] = f"Bearer {self.secret.value}"
        limits = httpx.Limits(max_connections=self.concurrency, max_keepalive_connections=self.concurrency)
        try:
            return httpx.AsyncClient(
                headers=headers,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # none: they are kept in memory for ever
                timeout=self.timeout,
                limits=limits,
                proxy=proxy_for(self.url),
                verify=_certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
                trust_env=False,
                follow_redirects=False,  # the key would go along
            )
        except (ImportError, ValueError, httpx.InvalidURL):
            raise AnaphoraError(
                f"{self.url}: the proxy in the environment cannot be used. Give it as http://HOST:PORT"
            ) from None

    def _cancel(self) -> None:
        """End all requests that are under way: their threads are waiting for the server."""
        self._stopped.set()
        for request in list(self._requests):
            request.cancel()

    def _check_response(self, status: int, retry_after: str, body: bytes | bytearray) -> A:
        """Return the answer in a good response, or the exception that another one means."""
        name = f"{status} {http.client.responses.get(status, '')}".strip()
        answer, problem, message, code = self._read(body, good=200 <= status < 300)
        text, words = self._error_text(message, code), f"{message} {code}"
        why = f": {text}" if text else ""
        if 200 <= status < 300:
            if answer is not None:
                return answer
            raise _TemporaryError(f"the server's answer {problem}{why}")
        if status in (401, 403):  # no words of the server here: they may have a part of the key
            put = "does not accept the key in" if self.secret else "needs a key: put it into"
            raise AnaphoraError(f"{self.url}: the server {put} the environment variable {self.key_name} ({name})")
        if status == 429 and "insufficient_quota" in words:
            raise AnaphoraError(f"{self.url}: the quota is used up ({name}{why}). Use --resume to continue later")
        if status in BUSY or (status >= 500 and status != 501):
            raise _TemporaryError(f"the server says {name}{why}", _seconds(retry_after))
        if status < 400:
            raise AnaphoraError(f"{self.url}: the server redirects to another address ({name}). Use that address")
        problem = "knows no such address or model" if status == 404 else "does not accept the request"
        raise Rejected(f"{self.url}: the server {problem} ({name}{why})", status, text, words)

    def _read(self, body: bytes | bytearray, good: bool) -> tuple[A | None, str, str, str]:
        """Return the answer in a body, or else what is wrong with the body, and the server's message and its code.

        Nothing of the document outlives the call, which an exception that is raised with it would make it do.
        """
        document = _parse_json(body)
        if not good:
            return None, "", *_error_words(document, body)
        if document is None and body.strip() != b"null":
            return None, "is not JSON", "", ""
        try:
            return self.parse(document), "", "", ""
        except UnexpectedAnswer as error:
            message, code = _error_words(document, b"")
            return None, "is not one that was expected", message or str(error), code

    def _error_text(self, message: str, code: str) -> str:
        """Return the server's own words in one line, without the key."""
        text, code = self.secret.message(message), self.secret.message(code)
        return f"{text} ({code})" if code and code not in text else text


@lru_cache
def _certificates(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Return the certificates of these environment variables or of the machine; reading them takes a while."""
    return ssl.create_default_context()


def _note_reads(connection: Any) -> None:
    """Make a connection have an attribute that says whether something was received since it was set to False."""
    read = connection.read

    async def noted(*arguments: Any, **settings: Any) -> bytes:
        data: bytes = await read(*arguments, **settings)
        connection.has_read = True
        return data

    connection.read = noted


async def _body(response: httpx.Response) -> bytes | bytearray:
    """The body of an answer, decompressed; an error instead of a byte more than the limit."""
    too_long = _UnusableError(f"is longer than {MAX_BODY >> 20} MB, the limit for one answer")
    length = response.headers.get("Content-Length", "")
    if length.isdecimal() and int(length[:30]) > MAX_BODY:
        raise too_long
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_BODY:
            raise too_long
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in ("identity", ""):
        return body
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise _UnusableError("is compressed, although no compression was requested")
    stream = zlib.decompressobj(wbits=47)  # 47: gzip or zlib
    try:
        plain = stream.decompress(body, MAX_BODY + 1)
    except zlib.error:
        raise _UnusableError("is damaged: it cannot be decompressed") from None
    if len(plain) > MAX_BODY:
        raise too_long
    if not stream.eof:
        raise httpx.RemoteProtocolError("incomplete compressed body")
    if stream.unused_data:
        raise _UnusableError("is damaged: something follows its end")
    return plain


def _parse_json(body: bytes | bytearray) -> Any:
    """Return the document, or None where it is not JSON or has more values than any answer."""
    if sum(map(body.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise _UnusableError(f"has more than {MAX_VALUES:,} values, the limit for one answer")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _error_words(document: Any, body: bytes | bytearray) -> tuple[str, str]:
    """Return the server's own message and its code, or the beginning of the body."""
    named = document if isinstance(document, dict) else {}
    error = next((named[field] for field in ("error", "message", "detail") if field in named), None)
    fields = [error.get(name) for name in ("message", "code", "type")] if isinstance(error, dict) else []
    words = next((field for field in fields if field), None) if isinstance(error, dict) else error
    code = fields[1] if len(fields) > 1 and isinstance(fields[1], str) else ""
    return _as_text(words) or body.decode("utf-8", "replace"), code


def _as_text(words: Any) -> str:
    """Return what a server wrote where a message is expected, of any type and depth."""
    if isinstance(words, str):
        return words
    try:
        return "" if words is None or words == {} else json.dumps(words, ensure_ascii=False)[: 100 * SHOWN]
    except (ValueError, RecursionError):
        return ""


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for an address; never for this machine itself."""
    address = urlsplit(url)
    host, proxies = address.hostname or "", getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all")
    if not proxy or host in LOCAL or proxy_bypass(host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what it was raised from: libraries wrap what the operating system says."""
    reason: BaseException | None = error
    while reason is not None:
        yield reason
        if isinstance(reason, BaseExceptionGroup):
            yield from reason.exceptions
        reason = reason.__cause__ or reason.__context__


def _is_final(error: BaseException) -> bool:
    """Return whether waiting does not help."""
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            return cause.errno != socket.EAI_AGAIN
        if isinstance(cause, ssl.SSLCertVerificationError | httpx.InvalidURL | UnicodeError):
            return True
    return False


def _describe(error: BaseException) -> str:
    """Return what went wrong on the way, in a few words."""
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return "no answer in time"
    if isinstance(error, httpx.RemoteProtocolError):
        if "incomplete" in str(error) or "without sending" in str(error):
            return "the connection was cut in the middle of an answer"
        return f"the server does not speak HTTP as it should: {str(error).lower()}"
    for cause in _causes(error):
        if isinstance(cause, UnicodeError | httpx.InvalidURL):
            return "no host can have such a name"
        if isinstance(cause, OSError) and cause.errno and cause.strerror:
            own = isinstance(cause, ssl.SSLError | socket.gaierror)  # their numbers are not the operating system's
            return (cause.strerror if own else os.strerror(cause.errno)).splitlines()[0].lower()
    if isinstance(error, httpx.ProxyError):
        return f"the proxy refuses the connection: {str(error).lower()}"
    return (str(error).splitlines() or [""])[0].lower() or type(error).__name__


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
