"""What the built-in resolver knows of a language: its pronouns and short lists of words, in a data file each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from anaphora.errors import AnaphoraError

LANGUAGES = ("en", "de", "fr")

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Language:
    """Pronouns with the genders their antecedents have, and words that say something of antecedents.

    person, person_endings: nouns for persons, which the pronouns never stand for
    human_verbs, titles: a name is a person's as the subject of such a verb, and behind such a title
    time, vague: nouns that are hardly ever antecedents (year; thing)
    impersonal, lasting, doing, saying: verbs with which a pronoun often stands for no noun (it seems; it takes; do it)
    light: verbs too common to be remarkable when they occur twice
    openers: words that begin what a pronoun announces (it is good that …); questions: words before such a clause
    """

    code: str
    pronouns: Mapping[str, Words]
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

    def is_person(self, lemma: str) -> bool:
        return lemma in self.person or lemma.endswith(self.person_endings or ("\0",))


@cache
def language(code: str) -> Language:
    """The data of a language."""
    if code not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise AnaphoraError(f"pronouns of {code!r} cannot be linked: the language is not known. Known: {known}")
    text = (files("anaphora.link") / "data" / f"{code}.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    words: dict[str, Any] = {name: frozenset(value) for name, value in data["words"].items()}
    words["person_endings"] = tuple(data["words"]["person_endings"])
    return Language(code, {form: frozenset(genders) for form, genders in data["pronouns"].items()}, **words)
