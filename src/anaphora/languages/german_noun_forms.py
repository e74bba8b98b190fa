"""German nouns with their gender and their forms in the singular, from the table of the package `german-nouns`."""

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

CASES = ("Nom", "Acc", "Dat", "Gen")
COLUMNS = dict(zip(CASES, ("nominativ", "akkusativ", "dativ", "genitiv"), strict=True))
GENDERS = {"m": "Masc", "f": "Fem", "n": "Neut"}
NAMES = ("name", "Toponym", "Abkürzung")  # Nachname, Vorname …


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun and its forms in the singular, by case: the usual one first."""

    lemma: str
    gender: str
    forms: Mapping[str, tuple[str, ...]]

    def cases(self, form: str) -> frozenset[str]:
        """The cases that a form can be in the singular."""
        return frozenset(case for case, forms in self.forms.items() if form in forms)


class NounTable:
    """All nouns that have one gender: a noun of two genders (der or das Teil) is left out, one cannot be sure of it."""

    def __init__(self, table: Path) -> None:
        genders: dict[str, set[str]] = defaultdict(set)
        forms: dict[str, dict[str, dict[str, None]]] = {}
        for lemma, kind, own, singular in _rows(table):
            genders[lemma] |= own
            if "adjektivische" in kind:  # Beamter, which is declined as adjectives are
                genders[lemma].add("?")
            if not any(name in kind for name in NAMES):
                cases = forms.setdefault(lemma, {case: {} for case in CASES})
                for case, found in singular.items():
                    cases[case] |= dict.fromkeys(found)
        self._nouns = {
            lemma: Noun(lemma, gender, {case: tuple(found) for case, found in cases.items()})
            for lemma, cases in forms.items()
            if len(genders[lemma]) == 1 and (gender := next(iter(genders[lemma]))) != "?" and all(cases.values())
        }
        self._forms: dict[str, list[Noun]] = defaultdict(list)
        for noun in self._nouns.values():
            for form in {form for found in noun.forms.values() for form in found} - {noun.lemma}:
                self._forms[form].append(noun)

    def noun(self, lemma: str) -> Noun | None:
        """A noun by its dictionary form; None where it is not known, has several genders or no singular."""
        return self._nouns.get(lemma)

    def of_form(self, form: str) -> Noun | None:
        """The noun that a form in the singular is of, its dictionary form before others; None if there are several."""
        if form in self._nouns:
            return self._nouns[form]
        found = self._forms.get(form, [])
        return found[0] if len(found) == 1 else None


def _rows(table: Path) -> Iterator[tuple[str, str, set[str], dict[str, list[str]]]]:
    """Lemma, kind, genders and forms in the singular of each row; a lemma may have several rows."""
    rows = table_rows(text_lines(table), table, ",")
    _, header = next(rows, (1, list[str]()))
    missing = {"lemma", "pos", "genus", "nominativ singular"} - set(header)
    if missing:
        raise BadInput(table, f"no column {min(missing)!r}", line=1, remedy="Is it nouns.csv of german-nouns?")
    lemma, kind = header.index("lemma"), header.index("pos")
    genus = [k for k, name in enumerate(header) if name.startswith("genus")]
    columns = {
        case: [k for k, name in enumerate(header) if name.startswith(f"{german} singular")]
        for case, german in COLUMNS.items()
    }
    for line, row in rows:
        if len(row) < len(header):
            raise BadInput(table, f"{len(row)} cells, but the first line names {len(header)} columns", line=line)
        genders = {GENDERS.get(row[k], "?") for k in genus if row[k]}
        forms = {case: [row[k] for k in places if row[k]] for case, places in columns.items()}
        yield row[lemma], row[kind], genders, forms


@cache
def noun_table() -> NounTable:
    """The table of the installed package."""
    spec = find_spec("german_nouns")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        table = Path(place) / "nouns.csv"
        if table.is_file():
            return NounTable(table)
    raise AnaphoraError(
        "the genders of German nouns need german-nouns, which is not installed. "
        'Install it with: pip install "anaphora[mine]"'
    )
