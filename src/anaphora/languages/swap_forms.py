"""The forms that change with a pronoun's gender in a language: a data file, `data/swap/<language>.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anaphora.core.errors import AnaphoraError
from anaphora.core.parsing import read_toml

DATA = Path(__file__).with_name("data") / "swap"
GENDERS = ("Masc", "Fem", "Neut")
UNKNOWN = "?"

Endings = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PronounRow:
    """Pronouns that differ in gender alone; relations: where in the sentence they are these."""

    case: str
    number: str
    relations: frozenset[str]
    forms: Mapping[str, str]

    def gender(self, form: str) -> str | None:
        """The gender of a form; None where it is none of these, or of more than one gender."""
        found = [gender for gender, own in self.forms.items() if own == form]
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class SwapForms:
    """What a language needs.

    subject: auxiliaries with which a participle agrees with its subject; never: those with which it never agrees
    participles: by number, masculine and feminine endings
    lemmas: what taggers take for one, and the true one
    words, feminine: of adjectives from the masculine singular; plurals from the singular of their gender
    never_masculine: endings of lemmas that are none
    joins: what happens where a pronoun meets other words (s'il, si elle)
    """

    rows: tuple[PronounRow, ...]
    subject: frozenset[str]
    never: frozenset[str]
    participles: Mapping[str, Endings]
    lemmas: Mapping[str, str]
    words: Mapping[str, str]
    feminine: Endings
    never_masculine: tuple[str, ...]
    masculine_plural: Endings
    feminine_plural: Endings
    joins: tuple[tuple[re.Pattern[str], str], ...]

    def participle(self, form: str, gender: str, number: str, new: str) -> str | None:
        """A participle in another gender; None where its ending does not tell."""
        order = 1 if gender == "Masc" else -1
        fitting = [pair[::order] for pair in self.participles.get(number, ()) if form.endswith(pair[::order][0])]
        longest = max((len(old) for old, _ in fitting), default=0)
        made = {form.removesuffix(old) + other for old, other in fitting if len(old) == longest}
        if len(made) != 1:
            return None  # unknown, or two ways: pris, prises; finis, finies
        return form if new == gender else made.pop()

    def adjective(self, lemma: str, gender: str, number: str) -> str | None:
        """An adjective in a gender and number; None where the rules do not know."""
        lemma = self.lemmas.get(lemma, lemma)
        if self.never_masculine and lemma.endswith(self.never_masculine):
            return None
        form: str | None = lemma
        if gender == "Fem":
            form = self.words.get(lemma) or changed(lemma, self.feminine)
        if number == "Plur" and form is not None:
            form = changed(form, self.masculine_plural if gender == "Masc" else self.feminine_plural)
        return form


def changed(word: str, endings: Endings) -> str | None:
    """A word with another ending: the longest that fits; None where there is none, or no rule for it."""
    for old, new in sorted(endings, key=lambda pair: -len(pair[0])):
        if word.endswith(old):
            return None if new == UNKNOWN else word[: len(word) - len(old)] + new
    return None


@cache
def load_forms(language: str) -> SwapForms:
    """The forms of a language."""
    path = DATA / f"{language}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in DATA.glob("*.toml")))
        raise AnaphoraError(f"no forms to swap pronouns of {language!r} (there are {known}): write {path.name}")
    data = read_toml(path)
    adjectives, auxiliaries = data["adjectives"], data["auxiliaries"]
    return SwapForms(
        rows=tuple(_row(row) for row in data["pronouns"]),
        subject=frozenset(auxiliaries["subject"]),
        never=frozenset(auxiliaries.get("never", ())),
        participles={number: _endings(pairs) for number, pairs in data["participles"].items()},
        lemmas=adjectives.get("lemmas", {}),
        words=adjectives["words"],
        feminine=_endings(adjectives["feminine"]),
        never_masculine=tuple(adjectives.get("never_masculine", ())),
        masculine_plural=_endings(adjectives["masculine_plural"]),
        feminine_plural=_endings(adjectives["feminine_plural"]),
        joins=tuple((re.compile(join["at"]), join["write"]) for join in data.get("joins", ())),
    )


def _row(row: Mapping[str, object]) -> PronounRow:
    relations = row["relations"]
    assert isinstance(relations, list)
    forms = {gender: str(row[gender]) for gender in GENDERS if gender in row}
    return PronounRow(str(row["case"]), str(row["number"]), frozenset(relations), forms)


def _endings(pairs: Sequence[Sequence[str]]) -> Endings:
    return tuple((old, new) for old, new in pairs)
