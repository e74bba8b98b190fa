"""Determiners: what begins a noun phrase, and what becomes of it when the noun phrase gets another owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from anaphora.core.errors import AnaphoraError
from anaphora.languages import names_with, table


@dataclass(frozen=True, slots=True)
class Determiners:
    """The determiners of a language (the table [determiners] of its data file).

    articles: possessive → the article it becomes where the owner follows the noun
    bare: (ending of the dropped determiner, of the adjective) → the adjective's strong ending
    """

    words: frozenset[str]
    articles: Mapping[str, str]
    bare: Mapping[tuple[str, str], str]

    def __contains__(self, word: str) -> bool:
        return word.lower() in self.words or self.is_possessive(word)

    def is_possessive(self, word: str) -> bool:
        return word.lower() in self.articles

    def article(self, determiner: str) -> str:
        """A possessive becomes an article of the same form, others stay.

        >>> determiners_of("de").article("deiner"), determiners_of("de").article("Diese")
        ('der', 'Diese')
        """
        return self.articles.get(determiner.lower(), determiner)

    def strong(self, determiner: str, word: str) -> str:
        """A word of the noun phrase when its determiner is gone: in German adjectives take the strong ending.

        >>> determiners_of("de").strong("der", "alte"), determiners_of("de").strong("der", "Hut")
        ('alter', 'Hut')
        """
        if not word[:1].islower():  # a noun or a name
            return word
        for (of_determiner, of_adjective), new in self.bare.items():
            if determiner.lower().endswith(of_determiner) and word.endswith(of_adjective):
                return word.removesuffix(of_adjective) + new
        return word


@cache
def determiners_of(language: str) -> Determiners:
    """What is known of a language; an unknown one says which are known."""
    data = table(language, "determiners")
    if data is None:
        raise AnaphoraError(
            f"the determiners of {language!r} are not known, which an antecedent needs to be extended. "
            f"Known languages: {', '.join(names_with('determiners'))}. Add a table [determiners] to {language}.toml "
            "(docs/extending.md)"
        )
    stems, endings = data.get("stems", []), data.get("endings", [])
    return Determiners(
        frozenset(data["determiners"]) | {stem + ending for stem in stems for ending in endings},
        {stem + ending: article for stem in data["possessives"] for ending, article in data["owned"].items()},
        {(determiner, adjective): new for determiner, adjective, new in data.get("bare", [])},
    )
