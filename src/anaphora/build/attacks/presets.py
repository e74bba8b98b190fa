"""Data of the attacks: presets and determiners in TOML files, so that a new one needs no code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.parsing import read_toml

DATA = Path(__file__).with_name("data")
Table = Mapping[str, Any]


@cache
def built_in(kind: str) -> dict[str, Any]:
    """Return the built-in presets."""
    return read_toml(DATA / f"{kind}.toml")


def preset(kind: str, name: str, file: Path | None = None) -> Table:
    """Return a preset by its name, from the user's file or from the papers' presets.

    kind: `phrase`, `possessive` or `distractor`
    """
    presets = {**built_in(kind), **(read_toml(file) if file else {})}
    if name not in presets:
        known = ", ".join(presets)
        raise AnaphoraError(f"unknown preset {name!r}{did_you_mean(name, presets)}. Known: {known}")
    table = presets[name]
    if not isinstance(table, dict):
        raise BadInput(place_of(kind, name, file), f"{name} must be a table", remedy=f"Begin it with [{name}].")
    return table


def place_of(kind: str, name: str, file: Path | None) -> Path:
    """Return the file of a preset, for errors."""
    return file if file is not None and name in read_toml(file) else DATA / f"{kind}.toml"


def for_languages(texts: Mapping[str, Any], source: str, target: str, what: str) -> tuple[Any, Any]:
    """Return the entries of a preset for the two languages of a suite; raise AnaphoraError if one is missing."""
    for language in (source, target):
        if language not in texts:
            has = ", ".join(texts) or "no language"
            raise AnaphoraError(
                f"{what} has no phrase for {language!r} (it has: {has}). "
                f"Give it in both languages: --source TEXT --target TEXT, or in a file: --presets FILE"
            )
    return texts[source], texts[target]


# Determiners: the beginning of a noun phrase, and its form when the noun phrase gets another owner.


@dataclass(frozen=True, slots=True)
class Determiners:
    """The determiners of a language (data/determiners.toml explains the parts).

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
        """Return the article for a possessive, and any other determiner unchanged.

        >>> determiners_of("de").article("deiner"), determiners_of("de").article("Diese")
        ('der', 'Diese')
        """
        return self.articles.get(determiner.lower(), determiner)

    def strong(self, determiner: str, word: str) -> str:
        """Return a word of a noun phrase without its determiner: German adjectives take the strong ending.

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
    """Return the determiners of a language; raise AnaphoraError if it is unknown."""
    tables = built_in("determiners")
    if language not in tables:
        raise AnaphoraError(
            f"the determiners of {language!r} are not known, which an antecedent needs to be extended. "
            f"Known languages: {', '.join(tables)}. Add one in determiners.toml"
        )
    table = tables[language]
    stems, endings = table.get("stems", []), table.get("endings", [])
    return Determiners(
        frozenset(table["determiners"]) | {stem + ending for stem in stems for ending in endings},
        {stem + ending: article for stem in table["possessives"] for ending, article in table["owned"].items()},
        {(determiner, adjective): new for determiner, adjective, new in table.get("bare", [])},
    )
