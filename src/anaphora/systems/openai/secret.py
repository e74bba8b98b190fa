"""The key for a server, which a server or a proxy may repeat: masked in messages, in logs and in what is stored."""

from __future__ import annotations

import base64
import contextlib
import html
import json
import logging
import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

SHOWN = 300  # characters of a server's message
LEAST = 4  # characters of a key; a shorter one is a placeholder, and masking it would show which letters it has
FRAGMENT = 8  # characters of the key that are masked in messages even without the rest
STORED = 16  # the same in what is stored, where fewer may be words
LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy")  # they log what servers send


class Secret:
    """A key that is not shown when the object that holds it is.

    value: the key; None where the server needs none, and then nothing is masked
    """

    def __init__(self, key: str | None) -> None:
        self.value = key
        self._hidden = key if key is not None and len(key) >= LEAST else None
        self._spelled = self._encoded = ()  # type: tuple[str, ...]
        if self._hidden:
            addresses = quote(self._hidden, safe=""), quote(self._hidden)
            spellings = json.dumps(self._hidden)[1:-1], repr(self._hidden)[1:-1], html.escape(self._hidden)
            self._spelled = tuple(dict.fromkeys((self._hidden, *addresses, *spellings)))
            self._encoded = (self._hidden.encode().hex(), *_base64(self._hidden.encode()))

    def __bool__(self) -> bool:
        return self.value is not None

    def __repr__(self) -> str:
        return "Secret('…')"

    def masked(self, text: str) -> str:
        """Return a text for logs: without the key, however it is written, and without a long piece of it."""
        return self._mask(text, FRAGMENT) if self._hidden else text

    def message(self, text: str) -> str:
        """Return a server's text for a message: the same, in one line and not long."""
        for form in self._spelled:  # before it is cut, so that no piece of the key is
            text = _without(text, form)
        text = " ".join(text[: 4 * SHOWN].split())
        return self.masked("".join(sign if sign.isprintable() else "�" for sign in text))[:SHOWN]

    def stored(self, text: str) -> str:
        """Return a model's text for a file: without the key or a long piece of it. Keys that may be words are kept."""
        key = self._hidden or ""
        may_be_word = len(key) < STORED and not (re.search("[0-9]", key) and re.search("[A-Za-z]", key))
        return text if len(key) < FRAGMENT or may_be_word else self._mask(text, min(len(key), STORED))

    def _mask(self, text: str, least: int) -> str:
        """Return the text without the key and its pieces; decoded if that shows the key."""
        for readable in (_decoded(text), text):
            hidden = readable
            for form in self._spelled:
                hidden = _without(hidden, form)
            for form in (*self._encoded, self._spelled[0]) if len(self._spelled[0]) >= FRAGMENT else ():
                hidden = _without_fragments(hidden, form, least)
            if hidden != readable:
                return hidden
        return text

    @contextlib.contextmanager
    def hidden_in_logs(self) -> Iterator[None]:
        """Mask the key in the log messages of the HTTP library, which repeat the words of the server."""

        def mask(record: logging.LogRecord) -> bool:
            record.msg, record.args = self.masked(record.getMessage()), ()
            return True

        loggers = [logging.getLogger(name) for name in LOGGERS]
        for logger in loggers:
            logger.addFilter(mask)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeFilter(mask)


def _base64(key: bytes) -> Iterator[str]:
    """Yield what base64 writes for the key alone and within a longer text, at each of three places."""
    for before in range(3):
        first, size = -(-8 * before // 6), 8 * (before + len(key)) // 6
        yield base64.b64encode(bytes(before) + key).decode()[first:size]


def _decoded(text: str) -> str:
    """Return the text with %41, &#65; and \\u0041 replaced by what they stand for."""
    text = re.sub(r"\\u([0-9A-Fa-f]{4})", lambda code: chr(int(code[1], 16)), text)
    return html.unescape(unquote(text))


def _without(text: str, key: str) -> str:
    return re.sub(re.escape(key), "…", text, flags=re.IGNORECASE)


def _without_fragments(text: str, key: str, least: int) -> str:
    """Return the text with every piece of the key that has at least this many characters masked, in any case."""
    known, folded = _folded(key), _folded(text)
    starts = {known[i : i + least] for i in range(len(known) - least + 1)}
    shown, position = [], 0
    while position < len(text):
        end = position + least
        if folded[position:end] in starts:
            while end < len(text) and folded[position : end + 1] in known:
                end += 1
            shown.append("…")
            position = end
        else:
            shown.append(text[position])
            position += 1
    return "".join(shown)


def _folded(text: str) -> str:
    """Return the text with its ASCII letters in lower case, so that positions stay the same."""
    return re.sub("[A-Z]+", lambda letters: letters[0].lower(), text)
