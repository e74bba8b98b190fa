"""Cleaning of subtitles: remove what nobody says, repair encoding and OCR errors, and count the changes."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable

from anaphora.align.tokenize import normalize
from anaphora.core.errors import AnaphoraError

KINDS = ("none", "subtitles")

_TAG = re.compile(r"</?(?:i|b|u|s|font)(?:\s[^<>]*)?/?>|\{\\[^{}]*\}", re.IGNORECASE)
_MUSIC = re.compile(r"[♩♪♫♬]+|(?<!\S)#(?!\S)|^#(?=\s*\D)|(?<=\D)\s*#$")
_DIRECTION = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|\*[^*]+\*")
_SPEAKER = re.compile(
    r"^(?:[-–—]\s*)?[^\W\d_a-zß-öø-ÿ]{2,}(?:[ .'’-]+[^\W\d_a-zß-öø-ÿ]+){0,2}\s*(?:#?\d+\s*)?:\s+(?=\S)"
)
_DASH = re.compile(r"^(?:[-–—‐‑]+\s*)+(?=\S)|(?<=[.!?…\"”“»]) [-–—]\s*(?=[^\W\d_a-zß-öø-ÿ\s])")
_MOJIBAKE = re.compile(
    r"[\u00c2\u00c3\u00e2\u00c5\u00c4][\u0080-\u00bf\u0152-\u0178\u02c6\u02dc\u2010-\u203a\u20ac\u2122]"
)

# OCR confuses l and I. Only words that do not exist as written are repaired.
_OCR = [
    (re.compile(r"(?<![\w'’])l(?=(?:['’](?:m|ll|ve|d|re|s)\b)|(?=[ ,.!?…]|$)(?!['’]))"), "I"),  # l'm, l
    (re.compile(r"(?<!\w)l(?=[tfsn](?:['’]?s|['’]?t)?(?!\w))"), "I"),  # lt, lf, ls, ln, lt's, lsn't
    (re.compile(r"(?<!\w)l(?=(?:ch|hr|hm|hn|hnen|hre[rnms]?|st|mmer)(?!\w))"), "I"),  # lch, lhr, lhnen
    (re.compile(r"(?<=[a-zß-öø-ÿ])II(?![A-ZÀ-ÖØ-Þ])"), "ll"),  # wiII
    (re.compile(r"(?<=[a-zß-öø-ÿ])I(?=[a-zß-öø-ÿ])"), "l"),  # aIso
    (re.compile(r"(?<!\w)0(?=[hn]\b)"), "O"),  # 0h
]


def misread(text: str) -> bool:
    """Return whether the text looks like UTF-8 that was decoded as Latin-1 or Windows-1252."""
    return _MOJIBAKE.search(text) is not None


def _encoding(text: str) -> str:
    """Repair UTF-8 that was decoded as Latin-1 or Windows-1252: the whole text, or else single characters."""
    if not misread(text):
        return text
    return normalize(_decoded(text) or _MOJIBAKE_PART.sub(lambda match: _decoded(match[0]) or match[0], text))


_MOJIBAKE_PART = re.compile(
    r"[\u00c2\u00c3][\u0080-\u00bf]|[\u00c3][\u0152-\u0178\u02c6\u02dc\u2010-\u203a\u20ac\u2122]"
)


def _decoded(text: str) -> str:
    for encoding in ("cp1252", "latin-1"):
        with contextlib.suppress(UnicodeError):
            return text.encode(encoding).decode("utf-8")
    return ""


def _ocr(text: str) -> str:
    for pattern, right in _OCR:
        text = pattern.sub(right, text)
    return text


def _direction(text: str) -> str:
    """Remove stage directions: [DOOR OPENS], (sighs). A line that consists of them becomes empty."""
    rest, count = _DIRECTION.subn(" ", text)
    return rest if not count or any(map(str.isalnum, rest)) else ""


# In this order: text inside tags and after dashes is processed later. Most lines have none of the characters that a
# rule needs, and that check is fast.
RULES: dict[str, tuple[re.Pattern[str], Callable[[str], str]]] = {
    "encoding": (re.compile("[ÂÃâÅÄ]"), _encoding),
    "tags": (re.compile("[<{]"), lambda text: _TAG.sub(" ", text)),
    "music": (re.compile("[#♩♪♫♬]"), lambda text: _MUSIC.sub(" ", text)),
    "directions": (re.compile(r"[\[(*]"), _direction),
    "dashes": (re.compile("[-–—‐‑]"), lambda text: _DASH.sub(lambda match: " " if match.start() else "", text)),
    "speakers": (re.compile(":"), lambda text: _SPEAKER.sub("", text)),
    "ocr": (re.compile(r"(?<!\w)[l0]|[^\W\d_]I"), _ocr),
}


class Cleaner:
    """Cleans sentences of one language and counts, by rule, how many were changed. A sentence may become empty."""

    def __init__(self, kind: str) -> None:
        if kind not in KINDS:
            raise AnaphoraError(f"unknown clean-up {kind!r}. Known: {', '.join(KINDS)}")
        self.rules = RULES if kind == "subtitles" else {}
        self.counts: Counter[str] = Counter(dict.fromkeys(self.rules, 0))

    def __call__(self, text: str) -> str:
        for name, (signs, rule) in self.rules.items():
            if signs.search(text):
                cleaned = " ".join(rule(text).split())
                self.counts[name] += cleaned != text
                text = cleaned
        return text
