"""Signs that are written in several ways, made one: apostrophes, HTML entities, spaces, full-width signs, accents.

`l'eau`, `l’eau`, `l&apos;eau` and `l&#39;eau` are the same words. Everything that divides text into words or compares
words normalizes them here first, so that the spelling of a sign is never a difference between translations.

- HTML entities with their semicolon, named, decimal and hexadecimal, also escaped twice: `&amp;#39;` is `'`;
- apostrophes and single quotation marks: ’ ‘ ‛ ʼ ＇ are `'`, and so are ´ and ′ between letters;
- spaces: no-break, narrow, thin and all others of Unicode are one space; a soft hyphen, a word joiner and a byte-order
  mark are nothing;
- full-width signs, digits and letters: ！ is `!`;
- accents: a letter and its combining accent are one character (NFC).

Double quotation marks, dashes and dots stay as they are: they differ in meaning or style, and no word depends on them.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from html.entities import html5
from typing import NamedTuple

ACCENTS = "combining accents"  # under this name they are counted
APOSTROPHES = "’‘‛ʼ＇"
SPACES = "\t\n\r\f\v\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
NOTHING = "\u00ad\u2060\ufeff"
FULL_WIDTH = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in (*range(0xFF01, 0xFF5F), 0xFFE0, 0xFFE1)}

_SIGNS = {
    **FULL_WIDTH,
    **dict.fromkeys(APOSTROPHES, "'"),
    **dict.fromkeys(SPACES, " "),
    **dict.fromkeys(NOTHING, ""),
}
_SIGN = re.compile(f"[{''.join(map(re.escape, _SIGNS))}]|(?<=[^\\W\\d_])[´′](?=[^\\W\\d_])")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ORDINARY = frozenset("\t\n\r\f\v")  # white space of every file; not worth counting


def normalize(text: str) -> str:
    """The text with one way to write each sign. Normalizing it again changes nothing.

    >>> normalize("C’est l&apos;eau\u202f！")
    "C'est l'eau !"
    """
    return text if text.isascii() and "&" not in text else _normalized(text, Counter())


def normalize_counting(text: str, counts: Counter[str]) -> str:
    """The same, and every sign that was replaced is added to the counts, as it was written."""
    return text if text.isascii() and "&" not in text else _normalized(text, counts)


def signs_of(lines: Iterable[str]) -> Counter[str]:
    """How often each sign occurs that `normalize` would replace."""
    counts: Counter[str] = Counter()
    for line in lines:
        normalize_counting(line, counts)
    return counts


def sign_name(sign: str) -> str:
    """A sign for people: itself, or its number where it cannot be seen."""
    return f"U+{ord(sign):04X}" if len(sign) == 1 and (sign in SPACES or sign in NOTHING) else sign


def describe_signs(counts: Mapping[str, int], most: int = 4) -> str:
    """What was replaced, the most frequent first: `3,741 ’, 12 U+00A0`."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{count:,} {sign_name(sign)}" for sign, count in ordered[:most]]
    if len(ordered) > most:
        shown.append(f"{sum(count for _, count in ordered[most:]):,} others")
    return ", ".join(shown)


class Mismatch(NamedTuple):
    """A sign that one text has far more often than the other."""

    sign: str
    text: int
    reference: int


def mismatches(text: Mapping[str, int], reference: Mapping[str, int], sentences: int) -> list[Mismatch]:
    """Signs that are written differently in two texts: in one per cent of the sentences, and more than twice as often.

    Spaces are left out: metrics that compare text as it is do not tell them apart.
    """
    found = []
    for sign in sorted({*text, *reference}):
        one, other = text.get(sign, 0), reference.get(sign, 0)
        if sign not in SPACES and abs(one - other) * 100 >= sentences and max(one, other) > 2 * min(one, other):
            found.append(Mismatch(sign, one, other))
    return found


def _normalized(text: str, counts: Counter[str]) -> str:
    """Until nothing changes: what an entity stands for may be a sign or, escaped twice, another entity."""
    while True:
        before = text
        text = _ENTITY.sub(lambda found: _unescaped(found[0], counts), text)
        composed = unicodedata.normalize("NFC", text)
        if composed != text:
            counts[ACCENTS] += max(1, len(text) - len(composed))
        text = _SIGN.sub(lambda found: _replaced(found[0], counts), composed)
        if text == before:
            return text


def _unescaped(entity: str, counts: Counter[str]) -> str:
    if entity[1] != "#" and entity[1:] not in html5:
        return entity
    counts[entity] += 1
    return html.unescape(entity)


def _replaced(sign: str, counts: Counter[str]) -> str:
    if sign not in _ORDINARY:
        counts[sign] += 1
    return _SIGNS.get(sign, "'")
