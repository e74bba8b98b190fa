"""Synonyms from WordNet's own files (wndb(5WN)): index.{noun,verb,adj,adv} and the exception lists.

Words are synonyms if they have a synset in common, in their base forms (morphy(7WN)). The files come with Debian's
`wordnet-base` or from wordnet.princeton.edu; nothing else is needed to read them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import require, text_lines

STANDARD_PLACE = Path("/usr/share/wordnet")
VARIABLE = "ANAPHORA_WORDNET"
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

Synset = tuple[str, int]  # the part of speech and the place in its data file


@dataclass(frozen=True, slots=True)
class WordNet:
    """The synsets of each word, by part of speech, and the irregular forms."""

    synsets: Mapping[str, Mapping[str, tuple[int, ...]]]
    exceptions: Mapping[str, Mapping[str, tuple[str, ...]]]

    def synsets_of(self, word: str) -> Iterator[Synset]:
        """All senses of a word in any of its base forms."""
        for part in PARTS:
            for base in set(self._bases(word, part)):
                for offset in self.synsets[part].get(base, ()):
                    yield part, offset

    def _bases(self, word: str, part: str) -> Iterable[str]:
        yield word
        irregular = self.exceptions[part].get(word)
        if irregular:
            yield from irregular  # and then, as morphy, no regular ending is tried
            return
        for ending, instead in ENDINGS[part]:
            if word.endswith(ending) and len(word) > len(ending):
                yield word.removesuffix(ending) + instead


def find_wordnet(folder: Path | None = None) -> WordNet | None:
    """WordNet in a folder, at ANAPHORA_WORDNET, or at Debian's place; None where it is at neither of the latter."""
    if folder is None and (named := os.environ.get(VARIABLE)):
        folder = Path(named)
    if folder is not None:
        return read_wordnet(folder)
    return read_wordnet(STANDARD_PLACE) if (STANDARD_PLACE / "index.noun").is_file() else None


def read_wordnet(folder: Path) -> WordNet:
    """The index and the exceptions in a folder of WordNet's database files."""
    remedy = "Name WordNet's folder dict, or install Debian's wordnet-base."
    return WordNet(
        {part: dict(_index(require(folder, f"index.{part}", remedy))) for part in PARTS},
        {part: dict(_exceptions(require(folder, f"{part}.exc", remedy))) for part in PARTS},
    )


def _index(path: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """`lemma pos synset_cnt p_cnt [ptr_symbol…] sense_cnt tagsense_cnt synset_offset…`; two spaces begin the licence.

    The offsets are the last synset_cnt fields. Collocations (`ice_cream`) are no single words and left out.
    """
    for number, line in enumerate(text_lines(path), start=1):
        if line.startswith("  ") or not line.strip():
            continue
        fields = line.split()
        try:
            offsets = tuple(int(field) for field in fields[-int(fields[2]) :])
        except (IndexError, ValueError):
            raise BadInput(path, "not a line of a WordNet index", line=number) from None
        if "_" not in fields[0]:
            yield fields[0], offsets


def _exceptions(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`inflected base…`"""
    for line in text_lines(path):
        inflected, *bases = line.split() or [""]
        if bases:
            yield inflected, tuple(bases)
