"""The gender of German nouns: a lexicon, compounds by their last part, and articles, before the tagger's guess.

A small tagger gets about nine in ten genders of nouns right, and a wrong one makes *er* and *sie* look for the wrong
antecedent. The lexicon is the package `german-nouns` (from Wiktionary), where it is installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from anaphora.annotate.document import Document, Sentence, Token
from anaphora.core.errors import BadInput
from anaphora.core.files import text_lines
from anaphora.core.parsing import table_rows

if TYPE_CHECKING:
    from anaphora.annotate import Annotator, Line

Genders = frozenset[str]  # of Masc, Fem, Neut

ALL: Genders = frozenset({"Masc", "Fem", "Neut"})
LETTERS = {"m": "Masc", "f": "Fem", "n": "Neut"}
SHORTEST = 4  # letters of a last part: Rat·haus, but not Wa·gen
# endings that make nouns of one gender, for nouns that the lexicon lacks
SUFFIXES: Mapping[str, str] = {
    **dict.fromkeys(["ung", "heit", "keit", "schaft", "ion", "tät", "erei", "enz", "anz", "ose", "itis"], "Fem"),
    **dict.fromkeys(["chen", "lein", "ment", "tum", "zeug"], "Neut"),
    **dict.fromkeys(["ismus", "ling"], "Masc"),
}

# what the form of an article, pronoun or contraction says of a noun in the singular
FORMS: Mapping[str, Genders] = {
    **dict.fromkeys(["das", "ins", "ans", "aufs", "fürs", "durchs", "ums"], frozenset({"Neut"})),
    **dict.fromkeys(["die", "zur"], frozenset({"Fem"})),
    "den": frozenset({"Masc"}),
    "der": frozenset({"Masc", "Fem"}),
    **dict.fromkeys(["dem", "des", "im", "am", "zum", "beim", "vom"], frozenset({"Masc", "Neut"})),
}
STEMS = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser", "euer", "eur", "dies", "jen", "jed", "welch", "manch")
ENDINGS: Mapping[str, Genders] = {
    "e": frozenset({"Fem"}),
    "en": frozenset({"Masc"}),
    "em": frozenset({"Masc", "Neut"}),
    "es": frozenset({"Masc", "Neut"}),
    "er": frozenset({"Masc", "Fem"}),
    "": frozenset({"Masc", "Neut"}),
}


class NounLexicon(Protocol):
    """What is known of nouns."""

    def genders(self, noun: str) -> Genders:
        """All genders that a form of a noun can have; none where the noun is not known."""
        ...


class GermanNouns:
    """The table of the package `german-nouns`: 100,000 nouns with their forms."""

    def __init__(self, table: Path) -> None:
        self._forms: dict[str, Genders] = {}
        sets: dict[Genders, Genders] = {}  # few different ones: each is kept once
        for forms, genders in _rows(table):
            for form in forms:
                joined = genders | self._forms.get(form, frozenset())
                self._forms[form] = sets.setdefault(joined, joined)

    def genders(self, noun: str) -> Genders:
        """Of the form itself, else of the longest last part that is a noun: Schlüssel of Haustürschlüssel."""
        form = noun.lower().rpartition("-")[2]
        if found := self._forms.get(form):
            return found
        for suffix, gender in SUFFIXES.items():
            if form.endswith(suffix):
                return frozenset({gender})
        for start in range(1, len(form) - SHORTEST + 1):
            if found := self._forms.get(form[start:]):
                return found
        return frozenset()


def _rows(table: Path) -> Iterator[tuple[set[str], Genders]]:
    """The forms of each noun, and its genders; names of people tell nothing."""
    rows = table_rows(text_lines(table), table, ",")
    _, header = next(rows, (1, list[str]()))
    first = next((i for i, name in enumerate(header) if name.startswith("nominativ")), None)
    genus = [i for i, name in enumerate(header) if name.startswith("genus")]
    if first is None:
        raise BadInput(table, "no column 'nominativ singular'", line=1, remedy="Is it nouns.csv of german-nouns?")
    for line, row in rows:
        if len(row) < len(header):
            raise BadInput(table, f"{len(row)} cells, but the first line names {len(header)} columns", line=line)
        if "name" in row[1]:  # Nachname, Vorname
            continue
        genders = frozenset(LETTERS[row[i]] for i in genus if row[i] in LETTERS)
        if genders:
            yield {form.lower() for form in [row[0], *row[first:]] if form}, genders


@cache
def german_nouns() -> NounLexicon | None:
    """The lexicon of the package `german-nouns`; None where it is not installed."""
    spec = find_spec("german_nouns")
    places = list(spec.submodule_search_locations or ()) if spec else []
    tables = [Path(place) / "nouns.csv" for place in places]
    return next((GermanNouns(table) for table in tables if table.is_file()), None)


class WithGenders:
    """An annotator of German whose nouns have the genders of a lexicon."""

    needs_all = False

    def __init__(self, annotator: Annotator, lexicon: NounLexicon) -> None:
        self._annotator, self._lexicon = annotator, lexicon
        self.language = annotator.language

    def settings(self) -> Mapping[str, Any]:
        return {**self._annotator.settings(), "genders": type(self._lexicon).__name__}

    def annotate(self, documents: Iterable[Sequence[Line]]) -> Iterator[Document]:
        for document in self._annotator.annotate(documents):
            yield replace(document, sentences=tuple(corrected(s, self._lexicon) for s in document.sentences))


def corrected(sentence: Sentence, lexicon: NounLexicon) -> Sentence:
    """The sentence with the genders of its common nouns by lexicon, article and tagger, in this order."""
    tokens = list(sentence.tokens)
    for i, token in enumerate(tokens):
        if token.upos == "NOUN" or (token.upos == "PROPN" and _has_article(sentence, i)):
            found = noun_gender(sentence, i, lexicon)
            if found and found != token.features.get("Gender"):
                tokens[i] = replace(token, features={**token.features, "Gender": found})
    return Sentence(tuple(tokens))


def noun_gender(sentence: Sentence, index: int, lexicon: NounLexicon) -> str:
    """The gender of a noun in its sentence."""
    token = sentence[index]
    tagged = token.features.get("Gender", "")
    if tagged == "Neut" and token.features.get("Number") == "Sing" and token.text.endswith("n"):
        return tagged  # das Eingreifen: a verb as a noun, which the endings of nouns know nothing of
    known = lexicon.genders(token.text) or lexicon.genders(token.lemma) or ALL
    if len(known) == 1:
        return next(iter(known))
    possible = known & _by_article(sentence, index) if token.features.get("Number") != "Plur" else known
    if len(possible) == 1:
        return next(iter(possible))
    possible = possible or known
    return tagged if tagged in possible or possible == ALL else min(possible)


def _has_article(sentence: Sentence, index: int) -> bool:
    """Names of people, which a lexicon of nouns knows nothing of, have none."""
    return any(sentence[child].upos == "DET" for child in sentence.children[index])


def _by_article(sentence: Sentence, index: int) -> Genders:
    found = ALL
    for child in sentence.children[index]:
        token = sentence[child]
        if child < index and token.upos in ("DET", "ADP", "PRON"):
            found &= _form(token) or ALL
    return found or ALL


def _form(token: Token) -> Genders:
    form = token.text.lower()
    if form in FORMS:
        return FORMS[form]
    for stem in STEMS:
        if form.startswith(stem) and form[len(stem) :] in ENDINGS and (form != stem or stem[-1] in "nr"):
            return ENDINGS[form[len(stem) :]]
    return frozenset()
