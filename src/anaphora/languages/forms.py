"""The forms of a language's third-person pronouns: which are of the same gender and number, whatever their case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from anaphora.core.parsing import read_toml

Forms = Mapping[str, frozenset[str]]  # class (m.sg, f.sg, …, pl) → forms, in lower case
POLITE = "polite"  # forms that are something else with a capital, unless a sentence begins with them
BEGINNERS = frozenset(".!?:;…\"'„“”»«-–—(")  # signs after which a sentence may begin


@cache
def pronoun_forms(language: str) -> Forms:
    """The classes of a language by its code; none where the tool does not know it."""
    return MappingProxyType({name: frozenset(words) for name, words in _read(language).items() if name != POLITE})


@cache
def polite_forms(language: str) -> frozenset[str]:
    """Words that a capital makes a form of address: German Sie."""
    return frozenset(_read(language).get(POLITE, ()))


def addressed(words: Sequence[str], polite: frozenset[str]) -> list[bool]:
    """For each word whether it is a form of address: written with a capital where no sentence begins."""
    return [word in polite and place > 0 and not set(words[place - 1]) <= BEGINNERS for place, word in enumerate(words)]


def known_languages() -> list[str]:
    folder = files("anaphora.languages") / "data" / "forms"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def same_class(word: str, others: frozenset[str], forms: Forms) -> frozenset[str]:
    """Every form of the gender and number of a pronoun; the number is that of the words it stands against, if any is.

    German sie is one word in the singular and in the plural: against er and es it is the singular.
    """
    mine = {name for name, words in forms.items() if word in words}
    numbers = {_number(name) for name, words in forms.items() if words & others}
    fitting = {name for name in mine if _number(name) in numbers} or mine
    return frozenset().union(*(forms[name] for name in fitting)) if fitting else frozenset({word})


def _read(language: str) -> dict[str, list[str]]:
    file = files("anaphora.languages") / "data" / "forms" / f"{language.lower().partition('-')[0]}.toml"
    return read_toml(file) if file.is_file() else {}


def _number(name: str) -> str:
    return name.rpartition(".")[2]
