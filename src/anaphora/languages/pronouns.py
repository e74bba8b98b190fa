"""The pronouns of a language and of a language pair: APT's lists, forms by gender and number, readings, classes."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache, cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from anaphora.align.tokenize import normalize
from anaphora.core.config import toml_value
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.parsing import read_toml
from anaphora.languages import names_with, table, top_value

Words = tuple[str, ...]


@lru_cache(maxsize=1 << 17)
def normalize_word(word: str) -> str:
    """A word as the lists have it: in lower case, with normalized apostrophes and other signs."""
    return normalize(word).lower()


@dataclass(frozen=True)
class PronounLists:
    """The pronoun lists of a language pair (APT §2.5).

    pronouns: the source pronouns that are evaluated by default
    target: the pronouns of the target language, to which a source pronoun may be aligned
    identical: forms of one pronoun (c' and ce); equivalent: pronouns that are mostly interchangeable
    translations: the likely translations of a source pronoun; without an entry, every target pronoun is likely
    separators, source_separators: characters that divide a word, such as the hyphen of "purifie-t-il"
    reference_side: the reference pronouns of the reference-side variant, if they differ from `target`
    """

    pair: str
    pronouns: Words = ()
    target: Words = ()
    identical: tuple[Words, ...] = ()
    equivalent: tuple[Words, ...] = ()
    translations: Mapping[str, Words] = field(default_factory=dict)
    separators: str = ""
    source_separators: str = ""
    reference_side: Words = ()
    sources: Words = ()

    def canonical(self, word: str) -> str:
        """The first of the identical forms of a pronoun: ce for c'."""
        return self._canonical.get(word, word)

    def are_equivalent(self, one: str, other: str) -> bool:
        """Whether two pronouns are in one list of equivalents, in any of their forms."""
        return frozenset((self.canonical(one), self.canonical(other))) in self._equivalent

    def likely(self, pronoun: str) -> frozenset[str] | None:
        """The likely translations of a source pronoun in all forms (APT §2.3, third step); None: any pronoun."""
        return self._likely.get(pronoun)

    @cached_property
    def target_pronouns(self) -> frozenset[str]:
        return frozenset(self.target).union(*self._likely.values())

    @cached_property
    def digest(self) -> str:
        """A hash of the lists for signatures; it does not depend on where they come from."""
        content = {key: value for key, value in asdict(self).items() if key not in ("pair", "sources")}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @cached_property
    def _canonical(self) -> dict[str, str]:
        return {form: group[0] for group in self.identical for form in group}

    @cached_property
    def _likely(self) -> dict[str, frozenset[str]]:
        forms = {form: frozenset(group) for group in self.identical for form in group}
        return {
            pronoun: frozenset(form for word in words for form in forms.get(word, {word}))
            for pronoun, words in self.translations.items()
        }

    @cached_property
    def _equivalent(self) -> frozenset[frozenset[str]]:
        groups = [[self.canonical(word) for word in group] for group in self.equivalent]
        return frozenset(frozenset((a, b)) for group in groups for a in group for b in group if a != b)


def pronoun_in(word: str, pronouns: frozenset[str], separators: str = "") -> str | None:
    """The pronoun that a word is or contains; None if there is none."""
    if word in pronouns:
        return word
    if not separators:
        return None
    parts = re.split(f"[{re.escape(separators)}]", word)
    return next((part for part in parts if part in pronouns), None) if len(parts) > 1 else None


# Pronoun lists on disk: the table [apt] of a pair's data file; a user's own file has the same keys at its top.

LISTS = "apt"  # the table of the data files
ANY = "x"  # x-en: from any language into English
KEYS = [f.name for f in fields(PronounLists) if f.name != "pair"]


def pronoun_lists(pair: str, path: Path | None = None) -> PronounLists:
    """The lists of a language pair; keys of a user's file replace those of the built-in lists."""
    source, dash, target = pair.partition("-")
    if not (dash and source and target):
        raise AnaphoraError(f"not a language pair: {pair!r}. Write source and target, such as en-fr")
    known = names_with(LISTS)
    builtin = next((name for name in (pair, f"{ANY}-{target}") if name in known), None)
    if builtin is None and path is None:
        pairs = ", ".join(known)
        raise AnaphoraError(
            f"no pronoun lists for {pair}. There are lists for {pairs} ({ANY}: any language); "
            "supply your own with --lists FILE.toml (docs/apt.md shows one)"
        )
    content = _builtin(builtin) if builtin else {}
    if path is not None:
        content = _laid_over(content, _parse_lists(read_toml(path), path))
        if not content.get("target"):
            raise BadInput(path, f"no list 'target', and {pair} has none built in", remedy="Name the target pronouns.")
    return PronounLists(pair=pair, **content)


SOURCE_PRONOUNS = frozenset({"it", "they", "them"})  # where no list names them


def usual_pronouns(pair: str) -> tuple[frozenset[str], frozenset[str]]:
    """The source pronouns of a pair whose translations are judged, and all pronouns of the target language in lists."""
    if pair not in names_with(LISTS):
        return SOURCE_PRONOUNS, frozenset()
    lists = pronoun_lists(pair)
    return frozenset(lists.pronouns), lists.target_pronouns


def _builtin(pair: str) -> dict[str, Any]:
    return _parse_lists(table(pair, LISTS) or {}, Path(f"{pair}.toml"))


def _parse_lists(raw: dict[str, Any], path: Path) -> dict[str, Any]:
    base = raw.pop("base", None)
    if base is not None and base not in (known := names_with(LISTS)):
        raise BadInput(path, f"no built-in lists {base!r} to build on", remedy=f"There are {', '.join(known)}.")
    content = {key: _checked(key, value, path) for key, value in raw.items()}
    return _laid_over(_builtin(base), content) if base else content


def _laid_over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two sets of lists as one; translations are replaced pronoun by pronoun, sources are those of both."""
    merged = {**below, **above}
    merged["translations"] = {**below.get("translations", {}), **above.get("translations", {})}
    merged["sources"] = (*above.get("sources", ()), *below.get("sources", ()))
    return merged


def _checked(key: str, value: Any, path: Path) -> Any:
    """A value of a list file as a value of `PronounLists`."""
    if key not in KEYS:
        raise BadInput(path, f"unknown key {key!r}", remedy=f"Known: {', '.join(['base', *KEYS])}.")
    if key in ("separators", "source_separators"):
        if not isinstance(value, str):
            raise BadInput(path, f"{key} is a text of characters, such as '-'")
        return value
    if key == "translations":
        if not isinstance(value, dict):
            raise BadInput(path, "translations is a table: it = ['il', 'elle']")
        return {normalize_word(word): _words(f"{key}.{word}", words, path) for word, words in value.items()}
    if key in ("identical", "equivalent"):
        if not isinstance(value, list):
            raise BadInput(path, f"{key} is a list of lists of words")
        groups = tuple(_words(key, group, path) for group in value)
        twice = [word for word, n in Counter(word for group in groups for word in group).items() if n > 1]
        if key == "identical" and twice:
            raise BadInput(path, f"{twice[0]!r} is in two lists of identical forms", remedy="Make them one list.")
        return groups
    words = _words(key, value, path)
    return tuple(value) if key == "sources" else words


def _words(key: str, value: Any, path: Path) -> Words:
    if not isinstance(value, list) or not all(isinstance(word, str) and word.strip() for word in value):
        raise BadInput(path, f"{key} has to be a list of words")
    return tuple(dict.fromkeys(normalize_word(word.strip()) for word in value))


def to_toml(lists: Mapping[str, Any]) -> str:
    """Lists as the text of a file that `pronoun_lists` reads."""
    lines = [f"{key} = {toml_value(value)}" for key, value in lists.items() if key != "translations"]
    if lists.get("translations"):
        entries = lists["translations"].items()
        lines += ["", "[translations]", *(f"{toml_value(word)} = {toml_value(likely)}" for word, likely in entries)]
    return "\n".join([*lines, ""])


# Forms: the third-person pronouns of a language by gender and number, in all cases (table [forms]).

Forms = Mapping[str, frozenset[str]]  # class (m.sg, f.sg, …, pl) → forms, in lower case
POLITE = "polite"  # forms of address when written with a capital inside a sentence
BEGINNERS = frozenset(".!?:;…\"'„“”»«-–—(")  # signs after which a sentence may begin


@cache
def pronoun_forms(language: str) -> Forms:
    """The forms of a language by class; empty for languages without data."""
    return MappingProxyType({name: frozenset(words) for name, words in _forms(language).items() if name != POLITE})


@cache
def polite_forms(language: str) -> frozenset[str]:
    """Words that are a form of address when written with a capital: German *Sie*."""
    return frozenset(_forms(language).get(POLITE, ()))


def addressed(words: Sequence[str], polite: frozenset[str]) -> list[bool]:
    """Whether each word is a form of address: written with a capital where no sentence begins."""
    return [word in polite and index > 0 and not set(words[index - 1]) <= BEGINNERS for index, word in enumerate(words)]


def plain(words: Sequence[str], polite: frozenset[str]) -> list[str]:
    """Words in lower case, but for forms of address, which keep their capital and so do not count as pronouns."""
    address = addressed(words, polite)
    return [word if special else normalize_word(word) for word, special in zip(words, address, strict=True)]


def same_class(word: str, others: frozenset[str], forms: Forms) -> frozenset[str]:
    """All forms with the gender and number of a pronoun, and with the number of the other words if possible.

    German *sie* is singular and plural: next to *er* and *es* it is the singular.
    """
    mine = {name for name, words in forms.items() if word in words}
    numbers = {name.rpartition(".")[2] for name, words in forms.items() if words & others}
    fitting = {name for name in mine if name.rpartition(".")[2] in numbers} or mine
    return frozenset().union(*(forms[name] for name in fitting)) if fitting else frozenset({word})


def _forms(language: str) -> dict[str, list[str]]:
    return table(language.lower().partition("-")[0], "forms") or {}


# Readings: what a pronoun can mean (person, number, gender, role …), and how two pronouns differ (table [readings]).

# dimensions and their values; a reading without a dimension agrees with every value of it
DIMENSIONS = {
    "kind": ("demonstrative", "relative"),
    "person": ("1", "2", "3"),
    "number": ("sg", "pl"),
    "gender": ("m", "f", "n"),
    "animacy": ("animate", "inanimate"),
    "role": ("subject", "object", "determiner", "possessive", "reflexive"),
}
DIMENSION_OF = {value: dimension for dimension, values in DIMENSIONS.items() for value in values}
CLASSES = ("number", "gender", "animacy", "role")  # error classes by precedence; everything else is "other"
OTHER = "other"

Reading = Mapping[str, str]


@dataclass(frozen=True)
class Readings:
    """The pronouns of a language.

    readings: what each pronoun (in lower case) can mean; capital: those that are always written with a capital (I)
    """

    language: str
    readings: Mapping[str, tuple[Reading, ...]]
    capital: frozenset[str] = frozenset()

    @cached_property
    def pronouns(self) -> frozenset[str]:
        return frozenset(self.readings)

    def differ_in(self, one: str, other: str) -> tuple[str, ...]:
        """The dimensions in which the most similar readings of two pronouns differ."""
        differences = [
            tuple(d for d in DIMENSIONS if d in first and d in second and first[d] != second[d])
            for first in self.readings[one]
            for second in self.readings[other]
        ]
        return min(differences, key=len)

    def error_class(self, one: str, other: str) -> str:
        """gender (he → it), number (they → it), animacy (who → which), role (he → him), or other (§3.2).

        Pronouns of another kind or person are "other"; if several dimensions differ, the first of `CLASSES` counts.
        """
        differing = self.differ_in(one, other)
        if "kind" in differing or "person" in differing:
            return OTHER
        return next((name for name in CLASSES if name in differing), OTHER)


def load_readings(language: str, path: Path | None = None) -> Readings:
    """The pronouns of a language, or those of a user's file with the same table."""
    if path is not None:
        raw = read_toml(path)
        return _parse_readings(raw.get("readings"), raw.get("capital", []), path, language)
    readings = table(language, "readings")
    if readings is None:
        known = ", ".join(names_with("readings"))
        raise AnaphoraError(
            f"no list of pronouns for language {language!r}. There are lists for {known}; supply your own with "
            "--pronoun-list FILE.toml (docs/measure.md shows one)"
        )
    return _parse_readings(readings, top_value(language, "capital", []), Path(f"{language}.toml"), language)


def _parse_readings(readings: Any, capital: Any, path: Path, language: str) -> Readings:
    if not isinstance(readings, dict) or not readings or not isinstance(capital, list):
        raise BadInput(path, "no table [readings]", remedy='Write lines such as he = ["3 sg m subject"] in it.')
    parsed = {}
    for word, values in readings.items():
        if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
            raise BadInput(path, f"{word}: a list of readings is expected", remedy='Such as ["3 sg m subject"].')
        parsed[normalize_word(word)] = tuple(_reading(word, value, path) for value in values)
    return Readings(language, parsed, frozenset(normalize_word(str(word)) for word in capital))


def _reading(word: str, text: str, path: Path) -> Reading:
    reading: dict[str, str] = {}
    for value in text.split():
        dimension = DIMENSION_OF.get(value)
        if dimension is None:
            raise BadInput(path, f"{word}: unknown {value!r}", remedy=f"Known: {', '.join(DIMENSION_OF)}.")
        reading[dimension] = value
    return reading if "kind" in reading else {"kind": "personal", **reading}


# Classes: the pronoun classes of the shared tasks (DiscoMT 2015, WMT 2016, DiscoMT 2017; table [classes]).


def pronoun_classes(language: str) -> Mapping[str, Sequence[str]]:
    """The classes of a target language with their forms; empty if it has none."""
    return table(language, "classes") or {}


def class_of(word: str, language: str) -> str:
    """The class of a pronoun, or "other"; in a language without classes each word is its own class."""
    plain = normalize_word(word.strip())
    classes = pronoun_classes(language)
    if not classes:
        return plain
    return next((name for name, forms in classes.items() if plain in forms), OTHER)
