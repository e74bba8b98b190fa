"""The dictionary of Ding (TU Chemnitz): German and English side by side, parts of an entry in the same order.

    Vorhang {m}; Gardine {f} [textil.] | Vorhänge {pl} :: curtain; drape [Am.] | curtains; drapes

Nouns before the same semicolons mean the same. It is GPL: read it where it is, it is not copied.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import text_lines
from anaphora.languages.thesaurus import Sense

# a word with one of these is not what another one says everywhere and at any time
MARKED = re.compile(
    r"\[(?:ugs|Ös|Schw|Süddt|Norddt|Bayr|Westös|Dt|Mittelwestdt|Nordostdt|Südtirol|Lie|geh|poet|pej|slang|vulg|humor|hist"
    r"|veraltet|veraltend|altertümlich|obs|rare|selten|dated|euphem|Jugendsprache|Kindersprache|fachspr|übtr)\.?\]"
)
NOTE = re.compile(r"\([^()]*\)|\[[^\]]*\]|<[^<>]*>|/[^/;]*/")
NOUN = re.compile(r"([A-ZÄÖÜ][\w-]+) \{[mfn]\}")
ENGLISH = re.compile(r"^(?:the|an?) ")


class Ding:
    """Synonyms and translations, from one file."""

    def __init__(self, path: Path) -> None:
        self._senses: dict[str, list[Sense]] = defaultdict(list)
        translations: dict[str, set[str]] = defaultdict(set)
        words: dict[str, set[str]] = defaultdict(set)
        found = False
        for nouns, english in _parts(path):
            found = True
            if len(nouns) > 1:
                for noun in nouns:
                    self._senses[noun].append(tuple(other for other in nouns if other != noun))
            for word in english:
                translations[word].update(nouns)
            for noun in nouns:
                words[noun].update(english)
        if not found:
            raise BadInput(path, "no entry of a noun in it", remedy="Is it Ding's de-en.txt (`Wort {n} :: word`)?")
        self._translations, self._words = translations, words

    def senses(self, noun: str) -> Sequence[Sense]:
        """One for each part of an entry that has the noun and others."""
        return self._senses.get(noun, ())

    def translations(self, word: str) -> frozenset[str]:
        return frozenset(self._translations.get(word.lower(), ()))

    def words(self, noun: str) -> frozenset[str]:
        return frozenset(self._words.get(noun, ()))


def _parts(path: Path) -> Iterator[tuple[Sense, list[str]]]:
    """German nouns and their translations, for each part of each entry that has nouns."""
    for line in text_lines(path):
        german, sign, english = line.partition(" :: ")
        if not sign or line.startswith("#"):
            continue
        for one, other in zip(german.split(" | "), english.split(" | "), strict=False):
            if nouns := _nouns(one):
                yield nouns, [ENGLISH.sub("", " ".join(NOTE.sub("", w).split())).lower() for w in other.split(";")]


def _nouns(part: str) -> Sense:
    """The unmarked nouns of one word; a note in brackets about one of them is no part of it."""
    found = []
    for term in part.split(";"):
        if not MARKED.search(term):
            match = NOUN.fullmatch(" ".join(NOTE.sub("", term).split()))
            if match and match[1] not in found:
                found.append(match[1])
    return tuple(found)
