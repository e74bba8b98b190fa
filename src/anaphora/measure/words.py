"""Words with their places in a text, so that one can be exchanged and all else stays as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from anaphora.languages.pronouns import Readings, normalise

# Letters and digits together; every other sign by itself. An apostrophe or a hyphen divides ("he's", "a-t-il").
WORD = re.compile(r"[^\W_]+|\S")
ENDS = frozenset(".!?…:")  # signs after which a sentence may begin


class Word(NamedTuple):
    """A word, where it is in the text, and its form for comparison."""

    text: str
    start: int
    end: int
    normal: str


def words_of(text: str, readings: Readings | None = None) -> list[Word]:
    """The words of a text in order.

    A pronoun that is always written with a capital (I) is none in small letters (i.e.), unless all of the text is in
    lower case: its form for comparison has a sign that no pronoun has.
    """
    found = [Word(m[0], m.start(), m.end(), normalise(m[0])) for m in WORD.finditer(text)]
    if readings is None or not readings.capital or text == text.lower():
        return found
    return [w._replace(normal=f"{w.normal}.") if w.text in readings.capital else w for w in found]


def places(words: Sequence[Word], pronouns: frozenset[str]) -> list[int]:
    """Which of the words are pronouns."""
    return [place for place, word in enumerate(words) if word.normal in pronouns]


def exchanged(text: str, words: Sequence[Word], place: int, new: str, readings: Readings) -> str:
    """The text with another pronoun at a place, written as it has to be there (Figure 1: case is kept)."""
    old = words[place]
    return text[: old.start] + _cased(text, words, place, new, readings) + text[old.end :]


def _cased(text: str, words: Sequence[Word], place: int, new: str, readings: Readings) -> str:
    """A capital where the old pronoun had one; where it is always written with one (I), where a sentence begins."""
    old, small = words[place], normalise(new)
    if text == text.lower():  # all of it is in lower case, "i" as well
        return small
    if small in readings.capital or (old.text[0].isupper() and old.normal not in readings.capital):
        return small[0].upper() + small[1:]
    return small[0].upper() + small[1:] if old.text[0].isupper() and begins(words, place) else small


def begins(words: Sequence[Word], place: int) -> bool:
    """Whether a sentence begins here: nothing before it but signs, or a sign that ends a sentence."""
    for word in reversed(words[:place]):
        if word.text in ENDS:
            return True
        if word.text[0].isalnum():
            return False
    return True
