"""WordNet's own files (wndb(5WN)): synsets, base forms (morphy(7WN)) and the most frequent sense of a noun.

The files come with Debian's `wordnet-base` or from wordnet.princeton.edu; nothing else is needed to read them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import require, text_lines

STANDARD_FOLDER = Path("/usr/share/wordnet")
VARIABLE = "ANAPHORA_WORDNET"
REMEDY = "Name WordNet's folder dict, or install Debian's wordnet-base."
PARTS = ("noun", "verb", "adj", "adv")

# morphy(7WN), "rules of detachment": ending → what the base form has instead
ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}

Synset = tuple[str, int]  # the part of speech and the offset in its data file


@dataclass(frozen=True, slots=True)
class WordNet:
    """The synsets of each word, by part of speech, and the irregular forms."""

    synsets: Mapping[str, Mapping[str, tuple[int, ...]]]
    exceptions: Mapping[str, Mapping[str, tuple[str, ...]]]

    def synsets_of(self, word: str) -> Iterator[Synset]:
        """All senses of a word in any of its base forms."""
        for part in PARTS:
            irregular = self.exceptions[part].get(word)  # then, as in morphy, no regular ending is tried
            for base in {word, *irregular} if irregular else set(base_forms(word, part)):
                for offset in self.synsets[part].get(base, ()):
                    yield part, offset


def base_forms(word: str, part: str) -> list[str]:
    """A word and its possible base forms by the rules of detachment."""
    rules = (
        (ending, instead) for ending, instead in ENDINGS[part] if word.endswith(ending) and len(word) > len(ending)
    )
    return [word, *(word.removesuffix(ending) + instead for ending, instead in rules)]


def find_wordnet(folder: Path | None = None) -> WordNet | None:
    """WordNet from a folder, from ANAPHORA_WORDNET, or from Debian's folder; None if Debian's does not exist."""
    if folder is None and (named := os.environ.get(VARIABLE)):
        folder = Path(named)
    if folder is not None:
        return read_wordnet(folder)
    return read_wordnet(STANDARD_FOLDER) if (STANDARD_FOLDER / "index.noun").is_file() else None


def read_wordnet(folder: Path) -> WordNet:
    """WordNet from a folder of its database files."""
    return WordNet(
        {
            part: {w: offsets for w, offsets in _index(require(folder, f"index.{part}", REMEDY)) if "_" not in w}
            for part in PARTS
        },  # no collocations (ice_cream)
        {part: dict(_exceptions(require(folder, f"{part}.exc", REMEDY))) for part in PARTS},
    )


def _index(path: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Lemmas and the offsets of their synsets, the most frequent sense first.

    `lemma pos synset_cnt p_cnt [ptr_symbol…] sense_cnt tagsense_cnt synset_offset…`; the offsets are the last
    synset_cnt fields. Lines that begin with two spaces are the license.
    """
    for number, line in enumerate(text_lines(path), start=1):
        if line.startswith("  ") or not line.strip():
            continue
        fields = line.split()
        try:
            yield fields[0], tuple(int(field) for field in fields[-int(fields[2]) :])
        except (IndexError, ValueError):
            raise BadInput(path, "not a line of a WordNet index", line=number) from None


def _exceptions(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`inflected base…`"""
    for line in text_lines(path):
        inflected, *bases = line.split() or [""]
        if bases:
            yield inflected, tuple(bases)


class FirstSenses:
    """English nouns and the words of their first sense, the most frequent one in WordNet's counts."""

    def __init__(self, folder: Path) -> None:
        self._first = {lemma: offsets[0] for lemma, offsets in _index(require(folder, "index.noun", REMEDY)) if offsets}
        self._words = dict(_words(require(folder, "data.noun", REMEDY), set(self._first.values())))

    def first_sense(self, noun: str) -> tuple[str, ...]:
        """The words of the first sense, including the noun; empty if the noun is unknown."""
        for lemma in base_forms(noun.lower().replace(" ", "_"), "noun"):
            if lemma in self._first:
                return self._words.get(self._first[lemma], ())
        return ()


def _words(path: Path, offsets: set[int]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The words of some synsets: `offset file type count(hex) word lex_id …`."""
    wanted = {f"{offset:08}" for offset in offsets}
    for number, line in enumerate(text_lines(path), start=1):
        if line[:8] in wanted:
            try:
                _, _, _, count, *fields = line.split(" ")
                words = fields[: 2 * int(count, 16) : 2]
            except ValueError:
                raise BadInput(path, "not a line of WordNet's data", line=number) from None
            yield int(line[:8]), tuple(word.replace("_", " ").lower() for word in words)
