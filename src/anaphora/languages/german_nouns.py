"""German nouns with their genders and forms, from the table of the package `german-nouns` (Wiktionary)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import text_lines
from anaphora.core.parsing import table_rows
from anaphora.languages import GENDERS as LETTERS
from anaphora.languages import table as data_table

Genders = frozenset[str]  # Masc, Fem, Neut
CASES = ("Nom", "Acc", "Dat", "Gen")
COLUMNS = dict(zip(CASES, ("nominativ", "akkusativ", "dativ", "genitiv"), strict=True))
NAMES = ("name", "Toponym", "Abkürzung")  # Nachname, Vorname …
UNKNOWN = "?"
SHORTEST = 4  # letters of a last part: Rat·haus, but not Wa·gen
# endings that make nouns of one gender, for nouns that the lexicon lacks
SUFFIXES: Mapping[str, str] = {
    ending: LETTERS[letter] for letter, endings in (data_table("de", "nouns") or {}).items() for ending in endings
}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table; a lemma may have several. forms: all forms, of both numbers; singular: by case."""

    lemma: str
    kind: str
    genders: Genders  # UNKNOWN among them where the table has no letter of a gender
    forms: tuple[str, ...]
    singular: Mapping[str, tuple[str, ...]]


def noun_rows(table: Path) -> Iterator[Row]:
    """The rows of `nouns.csv`."""
    rows = table_rows(text_lines(table), table, ",")
    _, header = next(rows, (1, list[str]()))
    missing = {"lemma", "pos", "genus", "nominativ singular"} - set(header)
    if missing:
        raise BadInput(table, f"no column {min(missing)!r}", line=1, remedy="Is it nouns.csv of german-nouns?")
    lemma, kind = header.index("lemma"), header.index("pos")
    first = next(k for k, name in enumerate(header) if name.startswith("nominativ"))
    genus = [k for k, name in enumerate(header) if name.startswith("genus")]
    columns = {
        case: [k for k, name in enumerate(header) if name.startswith(f"{german} singular")]
        for case, german in COLUMNS.items()
    }
    for line, row in rows:
        if len(row) < len(header):
            raise BadInput(table, f"{len(row)} cells, but the first line names {len(header)} columns", line=line)
        genders = frozenset(LETTERS.get(row[k], UNKNOWN) for k in genus if row[k])
        singular = {case: tuple(row[k] for k in cells if row[k]) for case, cells in columns.items()}
        yield Row(row[lemma], row[kind], genders, tuple(form for form in row[first:] if form), singular)


def installed_table() -> Path | None:
    """The table of the installed package `german-nouns`; None if it is not installed."""
    spec = find_spec("german_nouns")
    tables = [Path(folder) / "nouns.csv" for folder in (spec.submodule_search_locations or ())] if spec else []
    return next((table for table in tables if table.is_file()), None)


# Genders


class GermanNouns:
    """The genders of 100,000 nouns in all their forms."""

    def __init__(self, table: Path) -> None:
        self._forms: dict[str, Genders] = {}
        sets: dict[Genders, Genders] = {}  # few different ones: each is kept once
        for row in noun_rows(table):
            genders = row.genders - {UNKNOWN}
            if not genders or "name" in row.kind:  # Nachname, Vorname
                continue
            for form in {form.lower() for form in (row.lemma, *row.forms) if form}:
                joined = genders | self._forms.get(form, frozenset())
                self._forms[form] = sets.setdefault(joined, joined)

    def genders(self, noun: str) -> Genders:
        """The possible genders of a form, or else those of its longest last part that is a noun (Haustür·schlüssel)."""
        form = noun.lower().rpartition("-")[2]
        if genders := self._forms.get(form):
            return genders
        for suffix, gender in SUFFIXES.items():
            if form.endswith(suffix):
                return frozenset({gender})
        for start in range(1, len(form) - SHORTEST + 1):
            if genders := self._forms.get(form[start:]):
                return genders
        return frozenset()


@cache
def german_nouns() -> GermanNouns | None:
    """The lexicon of the package `german-nouns`; None if it is not installed."""
    table = installed_table()
    return GermanNouns(table) if table else None


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

    def __init__(self, table: Path) -> None:
        genders: dict[str, set[str]] = defaultdict(set)
        forms: dict[str, dict[str, dict[str, None]]] = {}
        for row in noun_rows(table):
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
    table = installed_table()
    if table is None:
        raise AnaphoraError(
            "the genders of German nouns need german-nouns, which is not installed. "
            'Install it with: pip install "anaphora[mine]"'
        )
    return NounTable(table)
