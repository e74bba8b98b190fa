"""Words of a German sentence that may take up a noun of some gender: pronouns, possessives, bare determiners."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from anaphora.languages.german import PRONOUNS, possessor_genders
from anaphora.languages.german_inflection import ADVERBS, RELATIVE, STRONG, determiner

WORD = re.compile(r"['’]?\w+(?:[-'’]\w+)*")
BEGINS = re.compile(r"(?:^|[.!?…:])[\s\"'„“”»«‚‘’()\[\]–—-]*$")
ADJECTIVE = re.compile(r"[a-zäöüß]{2,}(?:e|en|er|es|em)|\d+\.?")
NO_ADJECTIVES = frozenset(
    ["aber", "oder", "immer", "wieder", "hier", "über", "unter", "hinter", "gegen", "neben", "haben", "werden", "gerne"]
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mentions:
    """What may take up a noun: words that stand for a person or thing, and others (relative, demonstrative)."""

    pronouns: tuple[Word, ...]
    others: tuple[Word, ...]


def words_of(text: str) -> list[Word]:
    return [Word(match.group(), *match.span()) for match in WORD.finditer(text)]


def mentions(text: str, gender: str, start: int = 0) -> Mentions:
    """The words from a place on that can take up a singular noun of this gender.

    >>> found = mentions("Da ist er, und sein Dach. Der gefällt mir.", "Masc")
    >>> [w.text for w in found.pronouns], [w.text for w in found.others]
    (['er', 'sein'], ['Der'])
    """
    words = words_of(text)
    pronouns, others = [], []
    for k, word in enumerate(words):
        if word.start < start:
            continue
        form = word.text.lower()
        polite = form.startswith(("sie", "ihr")) and word.text[0].isupper() and not BEGINS.search(text, 0, word.start)
        if polite:
            continue
        if form in PRONOUNS[gender].values():
            pronouns.append(word)
        elif gender in possessor_genders(form):
            if form != "sein" or in_phrase(text, words, k):  # the verb
                pronouns.append(word)
        elif _stands_alone(form, gender) and not in_phrase(text, words, k):
            others.append(word)
    return Mentions(tuple(pronouns), tuple(others))


def in_phrase(text: str, words: Sequence[Word], index: int) -> bool:
    """Whether a determiner or possessive has its noun behind it: adjectives between them, and nothing else."""
    for before, word in zip(words[index:], words[index + 1 :], strict=False):
        if text[before.end : word.start].strip():
            return False
        if word.text[0].isupper():
            return True
        if word.text in ADVERBS:
            continue
        if word.text in NO_ADJECTIVES or not ADJECTIVE.fullmatch(word.text) or determiner(word.text) is not None:
            return False
    return False


def _stands_alone(form: str, gender: str) -> bool:
    """Whether a determiner's form can be a pronoun of this gender: der, dessen, dieser, keiner; not `ein`."""
    if form in RELATIVE[gender]:
        return True
    found = determiner(form)
    return found is not None and bool(found.stem) and form.removeprefix(found.stem) in (*STRONG[gender], "s")
