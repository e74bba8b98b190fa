"""The gender and number of a noun in a sentence, by its determiner, a lexicon and its ending (table [agreement]).

Classes are those of the pronouns of the language (table [forms]): m.sg, f.sg, pl …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.languages import GENDERS, NUMBERS, names_with, table
from anaphora.languages.german import GermanNouns, german_nouns
from anaphora.languages.pronouns import normalize_word, pronoun_forms

TABLE = "agreement"
Classes = frozenset[str]
FARTHEST = 3  # words between a determiner and its noun
VOWELS = frozenset("aeiouyhàâáéèêëíîïóôúùûüœæ")
LEXICONS: Mapping[str, Callable[[], GermanNouns | None]] = {"de": german_nouns}  # None: not installed


@dataclass(frozen=True)
class Predicates:
    """Predicates that agree with a subject that may be left out (Spanish *es nueva*): words after one of these verbs.

    between: words that may stand before it; endings: its classes by its ending; never, never_endings: do not agree
    """

    verbs: frozenset[str]
    between: frozenset[str]
    endings: Mapping[str, Classes]
    never: frozenset[str] = frozenset()
    never_endings: tuple[str, ...] = ()

    def after(self, words: Sequence[str], verb: int) -> tuple[int, Classes] | None:
        """The position of the predicate after a word, and its classes; None if nothing agrees. words: in lower case"""
        if words[verb] not in self.verbs:
            return None
        at = next((k for k in range(verb + 1, len(words)) if words[k] not in self.between), None)
        if at is None or words[at] in self.never or (self.never_endings and words[at].endswith(self.never_endings)):
            return None
        ending = max((ending for ending in self.endings if words[at].endswith(ending)), key=len, default=None)
        return None if ending is None or len(words[at]) <= FARTHEST else (at, self.endings[ending])


@dataclass(frozen=True)
class NounAgreement:
    """The gender and number of the nouns of a language.

    classes: of nouns; determiners: the classes of the noun after each; before_vowel: further ones before a vowel
    between, between_endings, never_between: words that may stand between determiner and noun
    words: genders of single nouns; endings: of nouns with an ending; lexicon: of a package, if it is installed
    usual_endings: of most nouns, asked if a determiner leaves several genders
    capitals: nouns are written with a capital; predicates: of subjects, if these are often left out
    """

    classes: Classes
    determiners: Mapping[str, Classes]
    before_vowel: Mapping[str, Classes]
    between: frozenset[str] = frozenset()
    between_endings: tuple[str, ...] = ()
    never_between: frozenset[str] = frozenset()
    words: Mapping[str, str] | None = None
    endings: Mapping[str, str] | None = None
    lexicon: GermanNouns | None = None
    capitals: bool = False
    predicates: Predicates | None = None
    usual_endings: Mapping[str, str] | None = None

    def determiner_before(self, words: Sequence[str], noun: int) -> Classes | None:
        """The classes of a noun by its determiner; None if it has none. words: in lower case"""
        for index in range(noun - 1, max(-1, noun - 2 - FARTHEST), -1):
            word = words[index]
            if word in self.determiners:
                vowel = words[index + 1][:1] in VOWELS
                return self.determiners[word] | (self.before_vowel.get(word, frozenset()) if vowel else frozenset())
            ending = bool(self.between_endings) and len(word) > FARTHEST and word.endswith(self.between_endings)
            if word in self.never_between or not (word in self.between or ending):
                return None
        return None

    def known_genders(self, noun: str) -> Classes:
        """The genders (m, f, n) of a noun by lexicon or ending; empty if neither knows it."""
        if gender := self._listed(noun):
            return frozenset(gender)
        if self.lexicon is not None and (genders := self.lexicon.genders(noun)):
            return frozenset(letter for letter, gender in GENDERS.items() if gender in genders)
        return frozenset(gender for ending, gender in (self.endings or {}).items() if noun.endswith(ending))

    def noun_classes(self, words: Sequence[str], noun: int) -> Classes:
        """The possible classes of a noun in its sentence: all if nothing restricts them, none if all are ruled out."""
        word = words[noun]
        by_determiner = self.determiner_before(words, noun)
        possible = self.classes if by_determiner is None else by_determiner & self.classes
        if listed := self._listed(word):  # el agua: the article does not show it
            numbers = {number_of(name) for name in possible}
            return frozenset(c for c in self.classes if number_of(c) in numbers and gender_of(c) in (listed, ""))
        if genders := self.known_genders(word):
            possible = frozenset(name for name in possible if gender_of(name) in (*genders, ""))
        if self.lexicon is not None:
            numbers = {letter for letter, number in NUMBERS.items() if number in self.lexicon.numbers(word)}
            possible = frozenset(name for name in possible if number_of(name) in numbers)
        if by_determiner is not None and (usual := self._usual(word)):
            possible = frozenset(name for name in possible if gender_of(name) in (usual, "")) or possible
        return possible

    def may_be_noun(self, word: str) -> bool:
        """Whether a word could be a noun: it has letters and is not a determiner."""
        return any(map(str.isalpha, word)) and word not in self.determiners

    def written_as_noun(self, sentence: Sequence[str], index: int) -> bool:
        """Whether a word has the capital of a noun, or the sentence has none at all. sentence: as it is written"""
        capital = sentence[index][:1].isupper()
        return not self.capitals or capital or not any(word[:1].isupper() for word in sentence)

    def looks_like_noun(self, words: Sequence[str], index: int) -> bool:
        """Whether a word has a determiner, and is known where there is a lexicon."""
        if not self.may_be_noun(words[index]) or self.determiner_before(words, index) is None:
            return False
        return self.lexicon is None or bool(self.known_genders(words[index]))

    def _usual(self, noun: str) -> str:
        """The gender of most nouns with the longest ending that fits, the plural's s aside."""
        usual, singular = self.usual_endings or {}, noun.removesuffix("s")
        longest = max((ending for ending in usual if singular.endswith(ending)), key=len, default="")
        return usual.get(longest, "")

    def _listed(self, noun: str) -> str:
        listed = self.words or {}
        return listed.get(noun) or listed.get(noun.removesuffix("s"), "")


def gender_of(name: str) -> str:
    """The gender of a class: m of m.sg, and none of pl."""
    return name.rpartition(".")[0]


def number_of(name: str) -> str:
    """The number of a class: sg of m.sg."""
    return name.rpartition(".")[2]


def load_agreement(language: str) -> NounAgreement:
    """The noun agreement of a language; an error if there are no data for it."""
    short = language.lower().partition("-")[0]
    known = names_with(TABLE)
    content = table(short, TABLE) or {}
    forms = pronoun_forms(short)
    if "determiners" not in content or not forms:
        targets = [name for name in known if "determiners" in (table(name, TABLE) or {})]
        raise AnaphoraError(
            f"the determiners of {language!r}, which show the gender of a noun, are not known. Known: "
            f"{', '.join(targets)}. Add the table [{TABLE}] to a data file for the language (docs/extending.md)"
        )
    genders = (table(short, "grammar") or {}).get("genders") or list(GENDERS)
    determiners = _by_form(content["determiners"], content.get("declined", []))
    return NounAgreement(
        frozenset(name for name in forms if gender_of(name) in (*genders, "")),
        determiners,
        _by_form(content.get("before_vowel", {}), []),
        frozenset(content.get("between", [])),
        tuple(content.get("between_endings", [])),
        frozenset(content.get("never_between", [])),
        _by_word(content.get("words", {})),
        _by_word(table(short, "nouns") or {}),
        LEXICONS[short]() if short in LEXICONS else None,
        capitals=content.get("capitals") is True,
        predicates=_predicates(content["predicates"], determiners) if "predicates" in content else None,
        usual_endings=_by_word(content.get("usual_endings", {})),
    )


def _predicates(content: Mapping[str, Any], determiners: Iterable[str]) -> Predicates:
    return Predicates(
        frozenset(content["verbs"]),
        frozenset(content.get("between", [])),
        _by_form(content["endings"], []),
        frozenset([*content.get("never", []), *determiners]),  # una after a verb begins a noun phrase
        tuple(content.get("never_endings", [])),
    )


def _by_form(classes: Mapping[str, Sequence[str]], declined: Sequence[Mapping[str, Any]]) -> dict[str, Classes]:
    """Class → forms, and stems with class → endings, as form → classes."""
    forms: dict[str, set[str]] = {}
    for name, words in classes.items():
        for word in words:
            forms.setdefault(normalize_word(word), set()).add(name)
    for entry in declined:
        for name, endings in entry.items():
            for form in (stem + ending for stem in entry["stems"] for ending in endings if name != "stems"):
                forms.setdefault(normalize_word(form), set()).add(name)
    return {form: frozenset(names) for form, names in forms.items()}


def _by_word(genders: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {normalize_word(word): gender for gender, words in genders.items() for word in words}


@cache
def _head_ends(language: str) -> frozenset[str]:
    return frozenset((table(language.lower().partition("-")[0], TABLE) or {}).get("after_head", []))


def head_of(phrase: Sequence[str], language: str) -> int:
    """The position of the head of a noun phrase: the last word before a preposition or a clause, or of all."""
    ends = _head_ends(language)
    first = next((k for k, word in enumerate(phrase) if k and word in ends), len(phrase))
    return first - 1
