"""The grammar of templates: articles and pronouns by gender, number and case; inflection; how words join.

The grammar of a language is the table [grammar] of its data file; this module only looks things up.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.parsing import expecting, read_toml
from anaphora.languages import names_with, table

CITATION_CASE = "nominative"
PLURAL = "plural"  # used in place of a gender: "der, die, das" have one plural
SPACES = re.compile(r"\s+(?=[.,;]|\s|$)")  # forms may be empty and leave spaces

Table = Mapping[str, Mapping[str, str]]  # case → gender or plural → word


@dataclass(frozen=True, slots=True)
class Form:
    """An inflected form: listed words, and otherwise the first ending that matches.

    keep: words with these endings stay as they are
    endings: (old, new)
    before: what is put before the word, as in "plus grand"
    """

    words: Mapping[str, str]
    keep: tuple[str, ...]
    endings: tuple[tuple[str, str], ...]
    before: str = ""

    def of(self, text: str) -> str:
        """The form of a word; of several words it is the last that changes."""
        others, space, word = text.rpartition(" ")
        return f"{others}{space}{self.before}{self._changed(word)}"

    def _changed(self, word: str) -> str:
        if word in self.words:
            return self.words[word]
        folded = word.lower()
        if not folded.endswith(self.keep):
            for ending, new in self.endings:
                if folded.endswith(ending):
                    pairs = zip(ending, new, strict=False)
                    same = len([*itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)])  # keeps its capital
                    return word[: len(word) - len(ending) + same] + new[same:]
        return word


@dataclass(frozen=True)
class Grammar:
    """The grammar of a language as templates use it.

    genders: in the order of the candidates
    articles: the, a → case → gender → word
    pronouns: case → gender → word; "case" is any distinction between pronouns, such as "impersonal" in Spanish
    nouns: case → gender → the name of the form that nouns take; without an entry they do not change
    forms: inflected forms by name (comparative), and agreement by gender, number or person
    plurals: the genders in order of precedence, with the agreement of a plural that contains one
    joins: what happens where words meet: le ours → l'ours
    """

    language: str
    path: Path
    genders: tuple[str, ...]
    articles: Mapping[str, Table]
    pronouns: Table
    nouns: Table
    forms: Mapping[str, Form]
    plurals: Mapping[str, str]
    joins: tuple[tuple[re.Pattern[str], str], ...]
    cases: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        tables: list[Table] = [self.pronouns, self.nouns, *self.articles.values()]
        object.__setattr__(self, "cases", frozenset({CITATION_CASE}.union(*tables)))

    @property
    def features(self) -> set[str]:
        """All features that a template can request for a word."""
        return {PLURAL, *self.articles, *self.cases, *self.forms, *self.genders, *self.plurals.values()}

    def article(self, kind: str, case: str, gender: str) -> str:
        """The article; languages whose articles have no cases give one table for all."""
        table = self.articles[kind]
        return _entry(table.get(case, table.get(CITATION_CASE, {})), gender, f"article {kind!r}", case, self.path)

    def pronoun(self, case: str, gender: str) -> str:
        return _entry(self.pronouns.get(case, {}), gender, "pronoun", case, self.path)

    def noun(self, word: str, case: str, gender: str) -> str:
        """A noun in a case."""
        form = self.nouns.get(case, {}).get(gender)
        return word if form is None else self.forms[form].of(word)

    def inflected(self, word: str, form: str) -> str:
        """A word in a form; unchanged if the language has no such form."""
        return self.forms[form].of(word) if form in self.forms else word

    def together(self, genders: Collection[str]) -> str:
        """The agreement of a word with several nouns: the gender with the highest precedence decides."""
        for gender, agreement in self.plurals.items():
            if gender in genders:
                return agreement
        return PLURAL

    def sentence(self, parts: Iterable[str]) -> str:
        """The parts of a sentence joined as the language joins them, with a capital at the start."""
        text = "".join(parts)
        if "  " in text or " ." in text or " ," in text or text[:1] == " ":
            text = SPACES.sub("", text).strip()
        for pattern, new in self.joins:
            text = pattern.sub(new, text)
        return text[:1].upper() + text[1:]


def load_grammar(language: str, path: Path | None = None) -> Grammar:
    """The grammar of a language, or that of a user's file, which has the same keys at its top."""
    if path is not None:
        return parse_grammar(read_toml(path), language, path)
    data = table(language, "grammar")
    if data is None:
        known = ", ".join(names_with("grammar"))
        raise AnaphoraError(f"no grammar of {language!r} (there is {known}). Write one: see docs/templates.md")
    return parse_grammar(data, language, Path(f"{language}.toml"))


def parse_grammar(data: Mapping[str, Any], language: str, path: Path) -> Grammar:
    """A grammar from the content of its table."""
    with expecting(path, "a grammar", remedy="Compare with the built-in ones: docs/templates.md"):
        grammar = Grammar(
            language=language,
            path=path,
            genders=tuple(data.get("genders", ())),
            articles=data.get("articles", {}),
            pronouns=data.get("pronouns", {}),
            nouns=data.get("nouns", {}),
            forms={
                name: Form(
                    dict(rules.get("words", {})),
                    tuple(rules.get("keep", ())),
                    tuple((str(ending), str(new)) for ending, new in rules.get("endings", ())),
                    str(rules.get("before", "")),
                )
                for name, rules in data.get("forms", {}).items()
            },
            plurals=data.get("plurals", {}),
            joins=tuple((re.compile(join["at"]), join["write"]) for join in data.get("joins", ())),
        )
        for pattern, new in grammar.joins:
            pattern.sub(new, "")  # raises if the replacement is invalid
        for form in {form for forms in grammar.nouns.values() for form in forms.values()}:
            grammar.forms[form]
    return grammar


def _entry(table: Mapping[str, str], gender: str, what: str, case: str, path: Path) -> str:
    if gender not in table:
        raise BadInput(path, f"no {what} for gender {gender!r} in the {case}", remedy="Add it to the grammar.")
    return table[gender]
