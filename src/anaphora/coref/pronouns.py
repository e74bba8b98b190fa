"""The pronouns that are linked (third person, neither polite nor an article) and the word lists of their language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from anaphora.annotate.document import Sentence, is_plural
from anaphora.core.errors import AnaphoraError
from anaphora.coref.phrases import role_of
from anaphora.languages import GENDERS, names_with, table
from anaphora.languages.pronouns import normalize_word

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Language:
    """The pronouns of a language with the genders of their antecedents, and words that are evidence for antecedents.

    pronouns: singular pronouns; plurals: plural pronouns
    ambiguous: forms that are pronouns only if the tagger says so, because articles look the same
    like: the language whose weights are used, for languages without annotated text to fit weights on
    person, person_endings: nouns for persons, to which the singular pronouns never refer
    human_verbs, titles: a name is that of a person as the subject of such a verb, and after such a title
    time, vague: nouns that are hardly ever antecedents (year; thing)
    impersonal, lasting, doing, saying: verbs with which a pronoun is often non-referential (it seems; it takes; do it)
    light: verbs too common to be evidence when they are repeated
    openers: words that begin an extraposed clause (it is good that …); questions: words before such a clause
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
        """The genders that the antecedent of a pronoun can have; empty if it can have any."""
        return self.pronouns.get(form) or self.plurals.get(form, frozenset())

    def is_person(self, lemma: str) -> bool:
        return lemma in self.person or lemma.endswith(self.person_endings or ("\0",))


WORD_LISTS = [f.name for f in fields(Language) if f.name not in ("code", "pronouns", "plurals", "like")]


@cache
def language(code: str) -> Language:
    """The pronouns and word lists of a language."""
    data = table(code, "coref")
    if data is None:
        known = ", ".join(names_with("coref"))
        raise AnaphoraError(f"pronouns of {code!r} cannot be linked: the language is not known. Known: {known}")
    lists = data.get("words", {})
    words: dict[str, Any] = {name: frozenset(lists.get(name, ())) for name in WORD_LISTS}
    words["person_endings"] = tuple(lists.get("person_endings", ()))
    return Language(code, _forms(data["pronouns"]), _forms(data.get("plurals", {})), data.get("like", code), **words)


def _forms(forms: Mapping[str, list[str]]) -> dict[str, Words]:
    return {form: frozenset(GENDERS[letter] for letter in letters) for form, letters in forms.items()}


def is_pronoun(sentence: Sentence, index: int, language: Language) -> bool:
    """Whether a token is a pronoun that can be linked, singular or plural."""
    return is_singular_pronoun(sentence, index, language) or is_plural_pronoun(sentence, index, language)


def is_plural_pronoun(sentence: Sentence, index: int, language: Language) -> bool:
    """Whether a token is a third-person plural pronoun. German has none here: *sie* is also the singular form."""
    token = sentence[index]
    form = normalize_word(token.text)
    return form in language.plurals and (form not in language.ambiguous or token.upos == "PRON")


def is_singular_pronoun(sentence: Sentence, index: int, language: Language) -> bool:
    """Whether a token is a third-person singular pronoun.

    French articles look like pronouns, and German *ihr* like a possessive: the tagger distinguishes them. German *sie*
    is singular or plural by its verb or by the tagger; *Sie* inside a sentence is polite.
    """
    token = sentence[index]
    form = normalize_word(token.text)
    if form not in language.pronouns:
        return False
    if form in language.ambiguous and token.upos != "PRON":
        return False
    if form == "ihr":
        return token.features.get("Poss") != "Yes" and token.features.get("Case") != "Nom"
    begins = index == 0 or sentence[index - 1].upos == "PUNCT"
    polite = token.text == "Sie" and not begins
    return form != "sie" or not (polite or is_plural(sentence, index))


def pronoun_role(sentence: Sentence, index: int, language: Language) -> str:
    """The grammatical role of a pronoun; "possessive" for possessives."""
    return "possessive" if normalize_word(sentence[index].text) in language.possessives else role_of(sentence, index)[0]
