"""What the built-in resolver knows of a language: its pronouns and short lists of words, in a data file each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.core.parsing import read_toml

Words = frozenset[str]


def known_languages() -> list[str]:
    """The languages that there is a data file for."""
    names = (file.name for file in (files("anaphora.link") / "data").iterdir())
    return sorted(name[:2] for name in names if len(name) == len("en.toml") and name.endswith(".toml"))


@dataclass(frozen=True, slots=True)
class Language:
    """Pronouns with the genders their antecedents have, and words that say something of antecedents.

    pronouns: those of the singular; plurals: those of the plural
    ambiguous: forms that are pronouns only if the tagger says so, as articles look the same
    like: the language whose weights it has, where nobody has annotated a text to learn its own from
    person, person_endings: nouns for persons, which the pronouns never stand for
    human_verbs, titles: a name is a person's as the subject of such a verb, and behind such a title
    time, vague: nouns that are hardly ever antecedents (year; thing)
    impersonal, lasting, doing, saying: verbs with which a pronoun often stands for no noun (it seems; it takes; do it)
    light: verbs too common to be remarkable when they occur twice
    openers: words that begin what a pronoun announces (it is good that …); questions: words before such a clause
    """

    code: str
    pronouns: Mapping[str, Words]
    plurals: Mapping[str, Words]
    like: str
    ambiguous: Words
    demonstratives: Words
    negations: Words
    possessives: Words
    person: Words
    person_endings: tuple[str, ...]
    human_verbs: Words
    titles: Words
    time: Words
    vague: Words
    impersonal: Words
    lasting: Words
    doing: Words
    saying: Words
    light: Words
    openers: Words
    questions: Words

    def genders(self, form: str) -> Words:
        """Those that the antecedent of a pronoun can have; none: any."""
        return self.pronouns.get(form) or self.plurals.get(form, frozenset())

    def is_person(self, lemma: str) -> bool:
        return lemma in self.person or lemma.endswith(self.person_endings or ("\0",))


@cache
def language(code: str) -> Language:
    """The data of a language."""
    if code not in known_languages():
        known = ", ".join(known_languages())
        raise AnaphoraError(f"pronouns of {code!r} cannot be linked: the language is not known. Known: {known}")
    data = read_toml(files("anaphora.link") / "data" / f"{code}.toml")
    words: dict[str, Any] = {name: frozenset(value) for name, value in data["words"].items()}
    words["person_endings"] = tuple(data["words"]["person_endings"])
    return Language(code, _forms(data["pronouns"]), _forms(data.get("plurals", {})), data.get("like", code), **words)


def _forms(table: Mapping[str, list[str]]) -> dict[str, Words]:
    return {form: frozenset(genders) for form, genders in table.items()}
