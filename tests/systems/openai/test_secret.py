"""A server that repeats the key: nothing that is printed, logged or stored has it, and other text stays as it is."""

from __future__ import annotations

import base64
import html
import json
import logging
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.systems.openai.secret import Secret

KEY = "sk-Very-Secret-0123456789/+&\"'"
SECRET = Secret(KEY)
WAYS: dict[str, Callable[[str], str]] = {
    "as it is": lambda key: key,
    "lower case": str.lower,
    "upper case": str.upper,
    "percent": lambda key: quote(key, safe=""),
    "percent, all": lambda key: "".join(f"%{ord(sign):02x}" for sign in key),
    "JSON": lambda key: json.dumps(key),
    "JSON, all": lambda key: "".join(f"\\u{ord(sign):04x}" for sign in key),
    "Python": repr,
    "HTML": html.escape,
    "HTML, all": lambda key: "".join(f"&#{ord(sign)};" for sign in key),
    "hexadecimal": lambda key: key.encode().hex(),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of a user": lambda key: base64.b64encode(f":{key}".encode()).decode(),
    "base64 of a header": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    "without its end": lambda key: key[:-5],
    "without its beginning": lambda key: key[5:],
}


@pytest.mark.parametrize("way", WAYS)
def test_no_message_has_the_key(way: str) -> None:
    written = WAYS[way](KEY)
    for before in ("", "x" * 290, "x" * 1195, " " * 2000):
        text = SECRET.message(f"{before}your key {written} is wrong").lower()
        words = written if "base64 of" not in way else ""  # what comes before the key may be shown
        pieces = {form[i : i + 8] for form in (KEY.lower(), words.lower()) for i in range(len(form) - 7)}
        assert not [piece for piece in pieces if piece in text], text
        assert len(text.replace("x", "").strip()) < len("your key  is wrong") + 20, text


@pytest.mark.parametrize("way", WAYS)
def test_what_is_stored_does_not_have_the_key(way: str) -> None:
    written = WAYS[way](KEY)
    text = SECRET.stored(f"Mein Schlüssel: {written}.\nEr ist alt.")
    assert text.startswith("Mein Schlüssel: ")
    assert text.endswith(".\nEr ist alt.")
    assert len(text) < len("Mein Schlüssel: .\nEr ist alt.") + 16, text


@given(st.text(max_size=300), st.sampled_from(["Very", "secret", "VERY", "0123"]))
def test_other_text_is_stored_as_it_is(text: str, piece: str) -> None:
    for key in (None, "", "x", "EMPTY", "password", "12345678", KEY):
        whole = f"{piece}{text}"
        if not key or key.lower() not in whole.lower():
            assert Secret(key).stored(whole) == whole


@pytest.mark.parametrize(("key", "stored"), [("token-abc123", "a … b"), ("password", "a password b"), ("x1", "a x1 b")])
def test_a_short_key_that_may_be_a_word_is_stored(key: str, stored: str) -> None:
    assert Secret(key).stored(f"a {key} b") == stored
    encoded = base64.b64encode(key.encode()).decode()
    assert (encoded in Secret(key).stored(f"a {encoded} b")) == (key in stored)


def test_a_placeholder_is_no_secret() -> None:
    """Masked, it would spoil all messages and show the letters that it has."""
    assert Secret("x").message("max_tokens: 16 exceeds the maximum") == "max_tokens: 16 exceeds the maximum"
    assert Secret("demo").message("the demo key") == "the … key"


def test_a_message_is_one_short_line_without_control_characters() -> None:
    for secret in (Secret(None), SECRET):  # what is not the key is not decoded
        assert secret.message("a\n b\x1b[31m\ud800%20c&amp;d" + "x" * 999)[:22] == "a b�[31m�%20c&amp;dxxxx"[:22]
    assert len(Secret(None).message("x" * 999)) == 300


def test_logs_are_masked_while_the_key_is_in_use(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("httpx")
    with caplog.at_level(logging.INFO, "httpx"):
        with SECRET.hidden_in_logs():
            log.info('HTTP Request: "%s %d %s"', "HTTP/1.1", 400, f"no {KEY.lower()}")
        log.info("%s", "afterwards")
    assert caplog.messages == ['HTTP Request: "HTTP/1.1 400 no …"', "afterwards"]


def test_it_is_not_shown() -> None:
    assert KEY not in repr(SECRET)
    assert SECRET
    assert not Secret(None)
