"""German nouns, pronouns, possessives, noun phrases and clauses.

The tables are in `data/de.toml`; nouns are those of the package `german-nouns` (Wiktionary). The case of
a noun phrase is often ambiguous (*die Tür* is nominative or accusative), and other forms depend on it (*der Eingang*,
*den Eingang*). Functions therefore follow up all cases that a form allows, and callers choose a result.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import text_lines
from anaphora.core.parsing import table_rows
from anaphora.languages import GENDERS as LETTERS
from anaphora.languages import match_case, table

# Nouns

Genders = frozenset[str]  # Masc, Fem, Neut
NUMBERS = ("Sing", "Plur")
CASES = ("Nom", "Acc", "Dat", "Gen")
COLUMNS = dict(zip(CASES, ("nominativ", "akkusativ", "dativ", "genitiv"), strict=True))
NAMES = ("name", "Toponym", "Abkürzung")  # Nachname, Vorname …
UNKNOWN = "?"
SHORTEST = 4  # letters of a last part: Rat·haus, but not Wa·gen
# endings that make nouns of one gender, for nouns that the lexicon lacks
SUFFIXES: Mapping[str, str] = {
    ending: LETTERS[letter] for letter, endings in (table("de", "nouns") or {}).items() for ending in endings
}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table; a lemma may have several. forms: all forms, of both numbers; singular: by case; plural."""

    lemma: str
    kind: str
    genders: Genders  # UNKNOWN among them where the table has no letter of a gender
    forms: tuple[str, ...]
    singular: Mapping[str, tuple[str, ...]]
    plural: tuple[str, ...] = ()


def noun_rows(path: Path) -> Iterator[Row]:
    """The rows of `nouns.csv`."""
    rows = table_rows(text_lines(path), path, ",")
    _, header = next(rows, (1, list[str]()))
    missing = {"lemma", "pos", "genus", "nominativ singular"} - set(header)
    if missing:
        raise BadInput(path, f"no column {min(missing)!r}", line=1, remedy="Is it nouns.csv of german-nouns?")
    lemma, kind = header.index("lemma"), header.index("pos")
    first = next(k for k, name in enumerate(header) if name.startswith("nominativ"))
    genus = [k for k, name in enumerate(header) if name.startswith("genus")]
    columns = {
        case: [k for k, name in enumerate(header) if name.startswith(f"{german} singular")]
        for case, german in COLUMNS.items()
    }
    plurals = [k for k, name in enumerate(header) if " plural" in name]
    for line, row in rows:
        if len(row) < len(header):
            raise BadInput(path, f"{len(row)} cells, but the first line names {len(header)} columns", line=line)
        genders = frozenset(LETTERS.get(row[k], UNKNOWN) for k in genus if row[k])
        singular = {case: tuple(row[k] for k in cells if row[k]) for case, cells in columns.items()}
        plural = tuple(row[k] for k in plurals if row[k])
        yield Row(row[lemma], row[kind], genders, tuple(form for form in row[first:] if form), singular, plural)


def installed_table() -> Path | None:
    """The table of the installed package `german-nouns`; None if it is not installed."""
    spec = find_spec("german_nouns")
    files = [Path(folder) / "nouns.csv" for folder in (spec.submodule_search_locations or ())] if spec else []
    return next((file for file in files if file.is_file()), None)


# Genders


class GermanNouns:
    """The genders and numbers of 100,000 nouns in all their forms."""

    def __init__(self, path: Path) -> None:
        self._forms: dict[str, Genders] = {}
        self._plurals: set[str] = set()
        self._singulars: set[str] = set()  # of the forms that are plurals as well
        sets: dict[Genders, Genders] = {}  # few different ones: each is kept once
        singulars: set[str] = set()
        for row in noun_rows(path):
            genders = row.genders - {UNKNOWN}
            if not genders or "name" in row.kind:  # Nachname, Vorname
                continue
            for form in {form.lower() for form in (row.lemma, *row.forms) if form}:
                joined = genders | self._forms.get(form, frozenset())
                self._forms[form] = sets.setdefault(joined, joined)
            self._plurals.update(form.lower() for form in row.plural)
            singulars.update(form.lower() for forms in row.singular.values() for form in forms)
        self._singulars = self._plurals & singulars

    def genders(self, noun: str) -> Genders:
        """The possible genders of a form, or else those of its longest last part that is a noun (Haustür·schlüssel)."""
        form = noun.lower().rpartition("-")[2]
        if genders := self._forms.get(form):
            return genders
        for suffix, gender in SUFFIXES.items():
            if form.endswith(suffix):
                return frozenset({gender})
        part = self._last_part(form)
        return self._forms[part] if part else frozenset()

    def numbers(self, noun: str) -> frozenset[str]:
        """The possible numbers of a form, Sing and Plur, or else those of its last part; both if it is unknown."""
        form = noun.lower().rpartition("-")[2]
        part = form if form in self._forms else self._last_part(form)
        if part is None:
            return frozenset(NUMBERS)
        if part not in self._plurals:
            return frozenset({"Sing"})
        return frozenset(NUMBERS) if part in self._singulars else frozenset({"Plur"})

    def _last_part(self, form: str) -> str | None:
        parts = (form[start:] for start in range(1, len(form) - SHORTEST + 1))
        return next((part for part in parts if part in self._forms), None)


@cache
def german_nouns() -> GermanNouns | None:
    """The lexicon of the package `german-nouns`; None if it is not installed."""
    path = installed_table()
    return GermanNouns(path) if path else None


# Forms in the singular


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun and its singular forms by case, the usual one first."""

    lemma: str
    gender: str
    forms: Mapping[str, tuple[str, ...]]

    def cases(self, form: str) -> frozenset[str]:
        """The possible cases of a singular form."""
        return frozenset(case for case, forms in self.forms.items() if form in forms)


class NounTable:
    """The nouns with exactly one gender; a noun with two (der or das Teil) is left out."""

    def __init__(self, path: Path) -> None:
        genders: dict[str, set[str]] = defaultdict(set)
        forms: dict[str, dict[str, dict[str, None]]] = {}
        for row in noun_rows(path):
            genders[row.lemma] |= row.genders
            if "adjektivische" in row.kind:  # Beamter, which is declined like an adjective
                genders[row.lemma].add(UNKNOWN)
            if not any(name in row.kind for name in NAMES):
                cases = forms.setdefault(row.lemma, {case: {} for case in CASES})
                for case, singular in row.singular.items():
                    cases[case] |= dict.fromkeys(singular)
        self._nouns = {
            lemma: Noun(lemma, gender, {case: tuple(own) for case, own in cases.items()})
            for lemma, cases in forms.items()
            if len(genders[lemma]) == 1 and (gender := next(iter(genders[lemma]))) != UNKNOWN and all(cases.values())
        }
        self._forms: dict[str, list[Noun]] = defaultdict(list)
        for noun in self._nouns.values():
            for form in {form for forms_ in noun.forms.values() for form in forms_} - {noun.lemma}:
                self._forms[form].append(noun)

    def noun(self, lemma: str) -> Noun | None:
        """A noun by its dictionary form; None if it is unknown, has several genders or no singular."""
        return self._nouns.get(lemma)

    def of_form(self, form: str) -> Noun | None:
        """The noun of a singular form, with dictionary forms first; None if it is ambiguous."""
        if form in self._nouns:
            return self._nouns[form]
        nouns = self._forms.get(form, [])
        return nouns[0] if len(nouns) == 1 else None


@cache
def noun_table() -> NounTable:
    """The table of the installed package."""
    path = installed_table()
    if path is None:
        raise AnaphoraError(
            "the genders of German nouns need german-nouns, which is not installed. "
            'Install it with: pip install "anaphora[mine]"'
        )
    return NounTable(path)


# Tables

GENDERS = tuple(LETTERS.values())
CASE_NAMES = dict(zip(("nominative", "accusative", "dative", "genitive"), CASES, strict=True))
Endings = Mapping[str, tuple[str, ...]]  # gender → endings in the order of CASES

_GRAMMAR, _DECLENSION = table("de", "grammar") or {}, table("de", "declension") or {}


def _endings(name: str) -> Endings:
    return {LETTERS[letter]: tuple(endings) for letter, endings in _DECLENSION[name].items()}


# Pronouns by gender and case, and possessives by the gender of the possessor

PRONOUNS: Mapping[str, Mapping[str, str]] = {
    gender: {CASE_NAMES[case]: forms[letter] for case, forms in _GRAMMAR["pronouns"].items()}
    for letter, gender in LETTERS.items()
}
FORMS = frozenset(form for cases in PRONOUNS.values() for form in cases.values())
# sein, seine, seines …; seinetwegen; callers exclude the verb by its part of speech
POSSESSIVE = re.compile(r"(sein|ihr)(e|en|em|er|es|s|etwegen|erseits|)", re.IGNORECASE)


def cases_of(form: str) -> frozenset[str]:
    """The cases a pronoun can have by its form alone."""
    return frozenset(case for cases in PRONOUNS.values() for case, own in cases.items() if own == form.lower())


def genders_of(form: str, case: str) -> frozenset[str]:
    """The genders a pronoun of this case can have: `ihm` is masculine or neuter."""
    return frozenset(gender for gender, cases in PRONOUNS.items() if cases.get(case) == form.lower())


def pronoun(gender: str, case: str, like: str = "") -> str:
    """The pronoun of a gender and case, with capitals as in another word.

    >>> pronoun("Masc", "Acc"), pronoun("Fem", "Nom", like="Es")
    ('ihn', 'Sie')
    """
    return match_case(PRONOUNS[gender][case], like)


def possessor_genders(form: str) -> frozenset[str]:
    """The possible genders of the possessor of a possessive; empty if the word is not a possessive."""
    match = POSSESSIVE.fullmatch(form)
    if match is None:
        return frozenset()
    return frozenset({"Fem"}) if match[1].lower() == "ihr" else frozenset({"Masc", "Neut"})


def possessive(form: str, gender: str) -> str:
    """The possessive for a possessor of another gender; its ending, which agrees with the possessed noun, stays.

    >>> possessive("seinem", "Fem"), possessive("Ihre", "Neut"), possessive("ihr", "Masc")
    ('ihrem', 'Seine', 'sein')
    """
    match = POSSESSIVE.fullmatch(form)
    if match is None:
        raise ValueError(f"not a possessive: {form!r}")
    return match_case(("ihr" if gender == "Fem" else "sein") + match[2], form)


# Noun phrases of another gender: determiner, adjectives and noun change together

DEFINITE, STRONG, OF_EIN = _endings("definite"), _endings("strong"), _endings("ein")
WEAK, MIXED, RELATIVE = _endings("weak"), _endings("mixed"), _endings("relative")
LIKE_DER: Sequence[str] = _DECLENSION["like_der"]
LIKE_EIN: Sequence[str] = _DECLENSION["like_ein"]
IRREGULAR: Mapping[str, str] = _DECLENSION["irregular"]
CONTRACTED: Mapping[str, tuple[str, str]] = {
    word: (preposition, article) for word, (preposition, article) in _DECLENSION["contractions"].items()
}
JOINED = {parts: word for word, parts in CONTRACTED.items()}
ADVERBS = frozenset({"sehr", "ganz", "so", "wirklich", "ziemlich", "besonders", "völlig", "total", "echt"})
PREPOSITIONS: Mapping[str, frozenset[str]] = {
    word: frozenset(CASE_NAMES[case] for case in cases.split())
    for cases, words in _DECLENSION["prepositions"].items()
    for word in words
}


@dataclass(frozen=True, slots=True)
class Determiner:
    """A determiner: its stem, its endings by gender, and the endings of adjectives after it."""

    stem: str
    endings: Endings
    adjectives: Endings

    def form(self, gender: str, case: str) -> str:
        word = self.stem + self.endings[gender][CASES.index(case)]
        return IRREGULAR.get(word, word)


def determiner(word: str) -> Determiner | None:
    """The determiner that a word is a form of.

    >>> determiner("eurem").form("Fem", "Nom"), determiner("mein").form("Fem", "Dat")
    ('eure', 'meiner')
    """
    form = word.lower()
    if any(form in forms for forms in DEFINITE.values()):
        return Determiner("", DEFINITE, WEAK)
    for stems, endings, adjectives in ((LIKE_DER, STRONG, WEAK), (LIKE_EIN, OF_EIN, MIXED)):
        for stem in stems:
            if form.startswith(stem) and any(form[len(stem) :] in own for own in endings.values()):
                return Determiner("eur" if stem == "euer" else stem, endings, adjectives)
    return None


def phrases(words: Sequence[str], before: str, old: Noun, new: Noun) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A noun phrase with another noun: each possible case with the new words.

    words: a determiner or a preposition contracted with one, adjectives, the noun
    before: the word before them, whose case a preposition restricts

    >>> old, new = (Noun(n, g, {case: (n,) for case in CASES}) for n, g in (("Vorhang", "Masc"), ("Gardine", "Fem")))
    >>> list(phrases(["ein", "alter", "Vorhang"], "", old, new))
    [('Nom', ('eine', 'alte', 'Gardine'))]
    """
    first, *adjectives, noun = words
    preposition, article = CONTRACTED.get(first.lower(), ("", first))
    first_determiner = determiner(article)
    if first_determiner is None:
        return
    form = article.lower()
    form = form.replace("euere", "eure", 1) if form.startswith("euere") else form
    allowed = PREPOSITIONS.get(preposition or before.lower(), frozenset(CASES)) & old.cases(noun)
    for case in CASES:
        if case not in allowed or first_determiner.form(old.gender, case) != form:
            continue
        changed = [_adjective(word, first_determiner, case, old.gender, new.gender) for word in adjectives]
        if None in changed:
            continue
        beginning = first_determiner.form(new.gender, case)
        if preposition:
            beginning = JOINED.get((preposition, beginning), f"{preposition} {beginning}")
        yield case, (match_case(beginning, first), *(word for word in changed if word), new.forms[case][0])


def _adjective(word: str, after: Determiner, case: str, old: str, new: str) -> str | None:
    """The adjective with its new ending; None if its ending is not that of the old gender in this case."""
    if word.lower() in ADVERBS:
        return word
    k = CASES.index(case)
    ending = after.adjectives[old][k]
    if not word.endswith(ending) or len(word) < len(ending) + 2:
        return None
    return word.removesuffix(ending) + after.adjectives[new][k]


def relatives(form: str, old: str, new: str) -> set[str]:
    """The possible forms of a relative pronoun in another gender; several if its case is ambiguous."""
    return {RELATIVE[new][k] for k in range(len(CASES)) if RELATIVE[old][k] == form.lower()}


# Words that may refer back to a noun of some gender: pronouns, possessives, bare determiners

WORD = re.compile(r"['’]?\w+(?:[-'’]\w+)*")
BEGINS = re.compile(r"(?:^|[.!?…:])[\s\"'„“”»«‚‘’()\[\]–—-]*$")
ADJECTIVE = re.compile(r"[a-zäöüß]{2,}(?:e|en|er|es|em)|\d+\.?")
NO_ADJECTIVES = frozenset(
    ["aber", "oder", "immer", "wieder", "hier", "über", "unter", "hinter", "gegen", "neben", "haben", "werden", "gerne"]
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its span in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mentions:
    """The possible anaphors of a noun: pronouns and possessives; others (relative, demonstrative)."""

    pronouns: tuple[Word, ...]
    others: tuple[Word, ...]


def words_of(text: str) -> list[Word]:
    return [Word(match.group(), *match.span()) for match in WORD.finditer(text)]


def mentions(text: str, gender: str, start: int = 0) -> Mentions:
    """The words after a position that can refer back to a singular noun of this gender.

    >>> anaphors = mentions("Da ist er, und sein Dach. Der gefällt mir.", "Masc")
    >>> [w.text for w in anaphors.pronouns], [w.text for w in anaphors.others]
    (['er', 'sein'], ['Der'])
    """
    words = words_of(text)
    pronouns, others = [], []
    for k, word in enumerate(words):
        if word.start < start:
            continue
        form = word.text.lower()
        polite = form.startswith(("sie", "ihr")) and word.text[0].isupper() and not BEGINS.search(text, 0, word.start)
        if polite:
            continue
        if form in PRONOUNS[gender].values():
            pronouns.append(word)
        elif gender in possessor_genders(form):
            if form != "sein" or in_phrase(text, words, k):  # the verb
                pronouns.append(word)
        elif _stands_alone(form, gender) and not in_phrase(text, words, k):
            others.append(word)
    return Mentions(tuple(pronouns), tuple(others))


def in_phrase(text: str, words: Sequence[Word], index: int) -> bool:
    """Whether a noun follows a determiner or possessive, with only adjectives in between."""
    for before, word in zip(words[index:], words[index + 1 :], strict=False):
        if text[before.end : word.start].strip():
            return False
        if word.text[0].isupper():
            return True
        if word.text in ADVERBS:
            continue
        if word.text in NO_ADJECTIVES or not ADJECTIVE.fullmatch(word.text) or determiner(word.text) is not None:
            return False
    return False


def _stands_alone(form: str, gender: str) -> bool:
    """Whether the form of a determiner can be a pronoun of this gender: *der, dessen, dieser, keiner*; not *ein*."""
    if form in RELATIVE[gender]:
        return True
    known = determiner(form)
    return known is not None and bool(known.stem) and form.removeprefix(known.stem) in (*STRONG[gender], "s")


# The case of a noun phrase in its clause

SIGNS = re.compile(r"[,;:.!?…\"„“”»«()–—]| - ")
# between clauses; und and oder may also join nouns, so the words beyond them are ignored
JOINING = ("und", "oder", "aber", "denn", "sondern")
OPENING = ["dass", "daß", "weil", "wenn", "ob", "als", "obwohl", "damit", "bevor", "nachdem", "bis", "wie", "was"]
BETWEEN = frozenset([*JOINING, *OPENING, "wer", "wo"])
SUBJECTS = frozenset(["ich", "du", "er", "wir", "man"])
TO_BE = frozenset(["ist", "war", "sei", "wäre", "wurde", "bin", "bist", "waren"])
# with these a second nominative is possible, or a subject after the pronoun
OTHER_VERBS = frozenset(
    ["hat", "hatte", "haben", "hast", "habe", "wird", "werden", "werde", "wirst", "kann", "will", "soll", "muss", "muß"]
)


def case_in_clause(before: str, after: str) -> str | None:
    """The case of a noun phrase by the closed-class words of its clause: Nom, Acc, or None if they do not show it.

    before, after: the text of the sentence on both sides of the noun phrase, which has no preposition

    >>> case_in_clause("Gut, ich habe ", ".")
    'Acc'
    >>> case_in_clause("Das ist ", ", sagte er.")
    'Nom'
    """
    words = _clause(before, -1) + _clause(after, 0)
    to_be = any(word in TO_BE for word in words)
    if any(word in SUBJECTS for word in words):
        return None if to_be else "Acc"  # ich bin die ganze Straße gelaufen
    if to_be and not any(word in OTHER_VERBS for word in words):
        return "Nom"
    return None


def _clause(text: str, side: int) -> list[str]:
    """The words next to the noun phrase that certainly belong to its clause."""
    words: Sequence[str] = SIGNS.split(text)[side].lower().split()
    clause: list[str] = []
    for word in reversed(words) if side else words:
        if word in BETWEEN:
            break
        clause.append(word)
    return clause
