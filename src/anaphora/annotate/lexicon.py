"""Genders of German nouns in annotated text: by a lexicon, by the last part of compounds and by articles.

A small tagger gets about nine in ten genders of nouns right, and a wrong gender leads *er* and *sie* to the wrong
antecedent. The lexicon is the package `german-nouns`, where it is installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anaphora.annotate.document import Document, Sentence, Token
from anaphora.languages.german import (
    CASES,
    CONTRACTED,
    DEFINITE,
    LIKE_DER,
    LIKE_EIN,
    OF_EIN,
    PREPOSITIONS,
    STRONG,
    Endings,
    Genders,
    GermanNouns,
)

if TYPE_CHECKING:
    from anaphora.annotate import Annotator, Line

ALL: Genders = frozenset({"Masc", "Fem", "Neut"})
STEMS = (*LIKE_EIN, *LIKE_DER)


def _genders(form: str, *tables: Endings, cases: Iterable[str] = CASES) -> Genders:
    """The genders of a noun in the singular that a form or ending allows."""
    numbers = [CASES.index(case) for case in cases]
    return frozenset(g for endings in tables for g, forms in endings.items() if form in [forms[k] for k in numbers])


# the genders that an article or a contraction allows, and those that the ending of another determiner allows
FORMS: Mapping[str, Genders] = {
    **{form: _genders(form, DEFINITE) for forms in DEFINITE.values() for form in forms},
    **{
        word: _genders(article, DEFINITE, cases=PREPOSITIONS[preposition])
        for word, (preposition, article) in CONTRACTED.items()
    },
}
ENDINGS: Mapping[str, Genders] = {
    ending: _genders(ending, STRONG, OF_EIN) for ending in ("e", "en", "em", "es", "er", "")
}


class WithGenders:
    """A German annotator whose nouns have the genders of a lexicon."""

    needs_all = False

    def __init__(self, annotator: Annotator, lexicon: GermanNouns) -> None:
        self._annotator, self._lexicon = annotator, lexicon
        self.language = annotator.language

    def settings(self) -> Mapping[str, Any]:
        return {**self._annotator.settings(), "genders": type(self._lexicon).__name__}

    def annotate(self, documents: Iterable[Sequence[Line]]) -> Iterator[Document]:
        for document in self._annotator.annotate(documents):
            yield replace(document, sentences=tuple(corrected(s, self._lexicon) for s in document.sentences))


def corrected(sentence: Sentence, lexicon: GermanNouns) -> Sentence:
    """The sentence with the genders of its common nouns by lexicon, article and tagger, in this order."""
    tokens = list(sentence.tokens)
    for i, token in enumerate(tokens):
        # names of people have no article, and are not in the lexicon
        named = token.upos == "PROPN" and any(sentence[child].upos == "DET" for child in sentence.children[i])
        if token.upos == "NOUN" or named:
            gender = noun_gender(sentence, i, lexicon)
            if gender and gender != token.features.get("Gender"):
                tokens[i] = replace(token, features={**token.features, "Gender": gender})
    return Sentence(tuple(tokens))


def noun_gender(sentence: Sentence, index: int, lexicon: GermanNouns) -> str:
    """The gender of a noun in its sentence."""
    token = sentence[index]
    tagged = token.features.get("Gender", "")
    if tagged == "Neut" and token.features.get("Number") == "Sing" and token.text.endswith("n"):
        return tagged  # das Eingreifen: a verb as a noun, to which the endings of nouns do not apply
    known = lexicon.genders(token.text) or lexicon.genders(token.lemma) or ALL
    if len(known) == 1:
        return next(iter(known))
    possible = known
    if token.features.get("Number") != "Plur":
        by_article = ALL
        for child in sentence.children[index]:
            if child < index and sentence[child].upos in ("DET", "ADP", "PRON"):
                by_article &= _form(sentence[child]) or ALL
        possible = known & (by_article or ALL)
    if len(possible) == 1:
        return next(iter(possible))
    possible = possible or known
    return tagged if tagged in possible or possible == ALL else min(possible)


def _form(token: Token) -> Genders:
    form = token.text.lower()
    if form in FORMS:
        return FORMS[form]
    for stem in STEMS:
        if form.startswith(stem) and form[len(stem) :] in ENDINGS and (form != stem or stem[-1] in "nr"):
            return ENDINGS[form[len(stem) :]]
    return frozenset()
