"""The most frequent sense of an English noun, from the files of Princeton's WordNet (index.noun, data.noun)."""

from __future__ import annotations

from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import require, text_lines

# Morphy's rules for nouns (morphy(7WN))
ENDINGS = (("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"))


class WordNet:
    """Nouns and the words of their first sense, which is the most frequent one in the counts of WordNet."""

    def __init__(self, folder: Path) -> None:
        index = require(folder, "index.noun", "Install WordNet (apt-get install wordnet-base).")
        self._data = require(folder, "data.noun", "Install WordNet (apt-get install wordnet-base).")
        self._first: dict[str, str] = {}
        for number, line in enumerate(text_lines(index), start=1):
            if line.startswith("  "):  # the licence
                continue
            try:
                lemma, _, senses, *fields = line.split()
                self._first[lemma] = fields[len(fields) - int(senses)]  # offsets, the most frequent sense first
            except (ValueError, IndexError):
                raise BadInput(index, "not a line of WordNet's index", line=number) from None
        self._words = self._read()

    def first_sense(self, noun: str) -> tuple[str, ...]:
        """The words of the first sense, the noun among them; none where the noun is not known."""
        for lemma in self._lemmas(noun.lower().replace(" ", "_")):
            if lemma in self._first:
                return self._words.get(self._first[lemma], ())
        return ()

    def _lemmas(self, noun: str) -> list[str]:
        return [noun, *(noun.removesuffix(old) + new for old, new in ENDINGS if noun.endswith(old))]

    def _read(self) -> dict[str, tuple[str, ...]]:
        """The words of each synset that is a first sense: offset, file, type, number of words (hex), words."""
        wanted = set(self._first.values())
        found = {}
        for number, line in enumerate(text_lines(self._data), start=1):
            if line[:8] in wanted:
                try:
                    _, _, _, count, *fields = line.split(" ")
                    words = fields[: 2 * int(count, 16) : 2]
                except ValueError:
                    raise BadInput(self._data, "not a line of WordNet's data", line=number) from None
                found[line[:8]] = tuple(word.replace("_", " ").lower() for word in words)
        return found
