"""OpenThesaurus as MyThes has it, the format of word processors: a word and the number of its senses, a line each.

    vorhang|1
    -|Gardine|Vorhang

Words of another register or region have a mark, as `(ugs.)`; hypernyms stand among the synonyms, marked, too. Both are
left out: whoever replaces a word does not want to change its tone or to say less.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import byte_lines
from anaphora.core.parsing import shown, whole_number
from anaphora.languages.thesaurus import Sense

PLAIN_MARK = " (Hauptform)"
NOUN = re.compile(r"[A-ZÄÖÜ][\w-]+")


class MyThes:
    """A thesaurus file (.dat); its index (.idx) is not needed."""

    def __init__(self, path: Path) -> None:
        self._senses: dict[str, tuple[Sense, ...]] = {}
        lines = byte_lines(path)
        encoding = next(lines, b"").decode("ascii", "replace").strip()
        try:
            "".encode(encoding or "?")
        except (LookupError, ValueError):  # a name with a NUL is a ValueError
            remedy = "Is this the .dat file of a MyThes thesaurus?"
            raise BadInput(path, f"not an encoding: {encoding!r}", line=1, remedy=remedy) from None
        rows = (line.decode(encoding, "replace") for line in lines)
        number = 1
        for head in rows:
            number += 1
            word, _, count = head.rpartition("|")
            if not word and not count:
                continue
            if not (count.isdecimal() and len(count) < 10):
                raise BadInput(path, f"a word and the number of its senses are expected: {shown(head)}", line=number)
            senses = []
            for _ in range(whole_number(count, path, number, "a number of senses")):
                row = next(rows, None)
                number += 1
                if row is None:
                    raise BadInput(path, f"ends within the senses of {word!r}", line=number)
                senses.append(_nouns(row))
            self._senses[word] = tuple(sense for sense in senses if sense)

    def senses(self, noun: str) -> Sequence[Sense]:
        """Words are found in small letters; a sense counts if the noun itself, unmarked, is in it."""
        found = (sense for sense in self._senses.get(noun.lower(), ()) if noun in sense)
        return [tuple(word for word in sense if word != noun) for sense in found]


def _nouns(row: str) -> Sense:
    """The nouns of a sense that have no mark."""
    words = (word.removesuffix(PLAIN_MARK) for word in row.split("|")[1:])
    return tuple(word for word in words if NOUN.fullmatch(word))
