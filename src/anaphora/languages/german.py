"""German pronouns by gender and case, and possessives by the gender of the possessor."""

from __future__ import annotations

import re
from collections.abc import Mapping

GENDERS = ("Masc", "Fem", "Neut")

PRONOUNS: Mapping[str, Mapping[str, str]] = {
    "Masc": {"Nom": "er", "Acc": "ihn", "Dat": "ihm"},
    "Fem": {"Nom": "sie", "Acc": "sie", "Dat": "ihr"},
    "Neut": {"Nom": "es", "Acc": "es", "Dat": "ihm"},
}
FORMS = frozenset(form for cases in PRONOUNS.values() for form in cases.values())
# sein, seine, seines …; seinetwegen; not the verb, which the caller tells from it by its part of speech
POSSESSIVE = re.compile(r"(sein|ihr)(e|en|em|er|es|s|etwegen|erseits|)", re.IGNORECASE)


def cases_of(form: str) -> frozenset[str]:
    """The cases a pronoun can have by its form alone."""
    return frozenset(case for cases in PRONOUNS.values() for case, own in cases.items() if own == form.lower())


def genders_of(form: str, case: str) -> frozenset[str]:
    """The genders a pronoun of this case can have: `ihm` is masculine or neuter."""
    return frozenset(gender for gender, cases in PRONOUNS.items() if cases.get(case) == form.lower())


def pronoun(gender: str, case: str, like: str = "") -> str:
    """The pronoun of a gender and case, with a capital where the other one has it.

    >>> pronoun("Masc", "Acc"), pronoun("Fem", "Nom", like="Es")
    ('ihn', 'Sie')
    """
    return as_in(PRONOUNS[gender][case], like)


def possessor_genders(form: str) -> frozenset[str]:
    """The genders of the possessor that a possessive can have; none where the word is no possessive."""
    match = POSSESSIVE.fullmatch(form)
    if match is None:
        return frozenset()
    return frozenset({"Fem"}) if match[1].lower() == "ihr" else frozenset({"Masc", "Neut"})


def possessive(form: str, gender: str) -> str:
    """The possessive for a possessor of another gender; its ending, which is that of the possessed, stays.

    >>> possessive("seinem", "Fem"), possessive("Ihre", "Neut"), possessive("ihr", "Masc")
    ('ihrem', 'Seine', 'sein')
    """
    match = POSSESSIVE.fullmatch(form)
    if match is None:
        raise ValueError(f"not a possessive: {form!r}")
    return as_in(("ihr" if gender == "Fem" else "sein") + match[2], form)


def as_in(word: str, like: str) -> str:
    """A word with capital letters as in another one: all, the first, or none."""
    if len(like) > 1 and like.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
