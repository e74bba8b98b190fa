"""An OpenAI-compatible server: which one a spec names, and how it is asked."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from anaphora.core.errors import AnaphoraError
from anaphora.systems.openai.http_client import Client, Rejected
from anaphora.systems.openai.rate import RateLimit
from anaphora.systems.options import split_settings

T = TypeVar("T")
KEY = "OPENAI_API_KEY"
SETTINGS = ("model", "concurrency", "timeout", "retries", "requests_per_minute", "key_env")
OPTIONAL = ("top_logprobs", "logprobs", "max_tokens", "temperature")  # what a server may not take in a chat


class Server:
    """One model at one server."""

    def __init__(self, url: str, settings: Mapping[str, str]) -> None:
        self.url, self.model = url, settings["model"]
        concurrency = int(number(settings, "concurrency", 8, least=1))
        per_minute = number(settings, "requests_per_minute", 0)
        key_name = settings.get("key_env", KEY)
        self._client = Client(
            url,
            key=_key(key_name, required="key_env" in settings),
            key_name=key_name,
            timeout=number(settings, "timeout", 120, least=0.001),
            retries=int(number(settings, "retries", 5)),
            concurrency=concurrency,
            limit=RateLimit(per_minute or None, burst=concurrency),
            valid=_is_answer,
        )
        self._refused: frozenset[str] = frozenset()  # which of OPTIONAL this server does not take
        self._lock = threading.Lock()

    def each(self, work: Callable[[int], T], numbers: Iterable[int]) -> Iterator[tuple[int, T]]:
        """Do work that asks the server on each number, many at a time; each with its result as they are found."""
        return self._client.each(work, numbers)

    def complete(self, prompt: str, body: Mapping[str, Any]) -> Any:
        """What follows a prompt."""
        return self._client.post("completions", {"model": self.model, "prompt": prompt, "temperature": 0, **body})

    def chat(self, messages: Sequence[Mapping[str, str]], body: Mapping[str, Any]) -> Any:
        """An answer in a chat, asked for without what the server was found not to take."""
        while True:
            refused, fitted = self._refused, {"temperature": 0, **body}
            if "top_logprobs" in refused and "top_logprobs" in fitted:
                fitted["top_logprobs"] = 5  # fewer are taken by some
            if "logprobs" in refused:
                fitted = {key: value for key, value in fitted.items() if key not in ("logprobs", "top_logprobs")}
            if "temperature" in refused:
                del fitted["temperature"]
            if "max_tokens" in refused and "max_tokens" in fitted:
                fitted["max_completion_tokens"] = fitted.pop("max_tokens")
            try:
                return self._client.post("chat/completions", {"model": self.model, "messages": messages, **fitted})
            except Rejected as error:
                named = (name for name in OPTIONAL if name in fitted and name in error.said)
                found = next((name for name in named if name not in refused), None)
                if found is None or error.status == 404:
                    raise
                with self._lock:
                    self._refused |= {found}


def read_spec(what: str, known: Sequence[str]) -> tuple[str, Mapping[str, str]]:
    """The server's address and the settings of a spec. A key that is written there is refused, and not repeated."""
    address, _, query = what.partition("?")
    names = [name for name, _ in parse_qsl(query, keep_blank_values=True)]
    if any("key" in name.lower() and name != "key_env" for name in names):
        raise AnaphoraError(f"a key does not belong in a spec: put it into the environment variable {KEY}")
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # for example a port that is no number
        good = False
    if "@" in (parts.netloc if good else address):  # in a path it means nothing
        raise AnaphoraError(f"a name or password does not belong in an address: put the key into {KEY}")
    if not good:
        raise AnaphoraError(
            f"not an address: {address!r}. Write, for example, openai:http://127.0.0.1:8000/v1?model=NAME"
        )
    split_settings(f"{address}?{'&'.join(names)}", known)  # names only: no value comes into a message
    settings = split_settings(what, known)[1]
    path = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~") or "/v1"
    url = f"{parts.scheme}://{parts.netloc}{path}"
    if not settings.get("model"):
        raise AnaphoraError(f"which model? Write openai:{address}?model=NAME; the server lists them at {url}/models")
    return url, settings


def _key(name: str, required: bool) -> str | None:
    """The key from the environment. It is not in any message, and what is meant as its name may be the key itself."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise AnaphoraError("key_env is the NAME of an environment variable that holds the key, not the key")
    key = os.environ.get(name, "").strip()
    if not key and required:
        raise AnaphoraError("the environment variable that key_env names is not set, or is empty")
    if not (key.isascii() and key.isprintable()):
        raise AnaphoraError("the key in the environment has characters that no key has, for example a line break")
    return key or None


def number(settings: Mapping[str, str], name: str, default: float, least: float = 0) -> float:
    """A setting that is a number."""
    try:
        value = float(settings.get(name, default))
    except ValueError:
        value = -1.0
    if not least <= value < 1e9:
        raise AnaphoraError(f"{name} must be a number{' above 0' if least else ''}, not {settings[name]!r}")
    return value


def _is_answer(document: Any) -> bool:
    choices = document.get("choices") if isinstance(document, dict) else None
    return isinstance(choices, list) and bool(choices) and isinstance(choices[0], dict)
