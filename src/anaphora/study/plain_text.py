"""Sentences as people write them, and where a word of the tokenized sentence is in them.

`apt` counts words of tokenized text: of its files, or of what it made of plain files. People are shown neither
"J' ai acheté" nor "cheap ." but plain text: the file's own, or the words put together again.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from anaphora.core.errors import AnaphoraError
from anaphora.languages.highlight import Span
from anaphora.normalization import APOSTROPHES as SIGNS

APOSTROPHES = str.maketrans(dict.fromkeys(SIGNS, "'"))
SPACE_BEFORE_NOT = re.compile(r"(?<=\w) (?=n't\b)")  # is n't: Moses' rules leave it


def plain_text(lines: Sequence[str], language: str, *, tokenized: bool) -> list[str]:
    """Lines as people write them; those of a tokenized text are put together by Moses' rules for the language."""
    plain = [" ".join(html.unescape(line).split()) for line in lines]
    if not tokenized:
        return plain
    try:
        from sacremoses import MosesDetokenizer  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        problem = "tokenized text is shown as plain text by sacremoses, which is not installed"
        raise AnaphoraError(f'{problem}. Install it with: pip install "anaphora[align]"') from None
    together = MosesDetokenizer(lang=language)
    # the rules read a straight apostrophe: which one it was is put back
    joined = (_like(line, together.detokenize(line.translate(APOSTROPHES).split())) for line in plain)
    return [SPACE_BEFORE_NOT.sub("", line) for line in joined]


def _like(line: str, joined: str) -> str:
    """The joined text with the signs of the line it was made of, if only spaces differ."""
    signs = iter("".join(line.split()))
    if "".join(line.split()).translate(APOSTROPHES) != "".join(joined.split()):
        return joined
    return "".join(sign if sign.isspace() else next(signs) for sign in joined)


def find_word(shown: str, words: Sequence[str], number: int, offset: int, length: int) -> Span | None:
    """Where some characters of a word are in a sentence whose spaces are not those between the words.

    None if the sentence does not have them: it says something else.
    """
    places = [place for place, sign in enumerate(shown) if not sign.isspace()]
    ours = "".join(words).translate(APOSTROPHES)
    theirs = "".join(shown[place] for place in places).translate(APOSTROPHES)
    start = sum(map(len, words[:number])) + offset
    for a, b, size in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        if a <= start and start + length <= a + size:
            first = b + start - a
            return places[first], places[first + length - 1] + 1
    return None
