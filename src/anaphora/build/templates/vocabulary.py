"""Vocabularies: a folder with one file per word class, in TSV or in the JSON format of ContraCAT's release."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput, did_you_mean
from anaphora.core.files import text_lines
from anaphora.core.parsing import read_json

FIXED = ("id", "gender", "agreement")  # columns besides the two languages; every other column is a form
SUFFIXES = (".tsv", ".json")


@dataclass(frozen=True)
class Entry:
    """One word or phrase in two languages.

    id: part of the ids of its items; the source word, unless the vocabulary has another
    gender: in the target language; None if words of this class have none
    agreement: the form in which other words agree with it; its gender, unless the vocabulary has another (persons)
    forms: irregular forms of the target word by name; an empty one is omitted from the sentence
    """

    id: str
    source: str
    target: str
    gender: str | None = None
    agreement: str | None = None
    forms: Mapping[str, str] = field(default_factory=dict)
    line: int | None = None


@dataclass(frozen=True)
class WordClass:
    """The entries of one file, in its order."""

    name: str
    path: Path
    entries: tuple[Entry, ...]
    columns: frozenset[str] = frozenset()  # the forms it gives

    def require_genders(self, genders: tuple[str, ...]) -> None:
        """Raise BadInput for an entry without one of the language's genders."""
        for entry in self.entries:
            if entry.gender not in genders:
                has = f"gender {entry.gender!r}" if entry.gender else "no gender"
                remedy = f"Give it one of {', '.join(genders)}."
                raise BadInput(self.path, f"{entry.source!r} has {has}", line=entry.line, remedy=remedy)


def read_classes(folder: Path, languages: tuple[str, str]) -> dict[str, WordClass]:
    """Return all word classes of a folder by name."""
    if not folder.is_dir():
        raise BadInput(folder, "no such folder", remedy="A vocabulary is a folder with one .tsv or .json per class.")
    files = {path: path.name.removesuffix(".gz") for path in sorted(folder.iterdir())}
    files = {path: name for path, name in files.items() if name.endswith(SUFFIXES)}
    if not files:
        remedy = "A vocabulary has one file per word class, such as animal.tsv."
        raise BadInput(folder, "the folder has no .tsv or .json file", remedy=remedy)
    classes: dict[str, WordClass] = {}
    for path, file in files.items():
        name, _, suffix = file.rpartition(".")
        if name in classes:
            raise BadInput(path, f"the class {name!r} is also in {classes[name].path.name}", remedy="Keep one of them.")
        classes[name] = (_read_tsv if suffix == "tsv" else _read_released)(name, path, languages)
    return classes


def is_released(folder: Path) -> bool:
    """Return whether a vocabulary is in the format of the release."""
    return folder.is_dir() and any(path.name.removesuffix(".gz").endswith(".json") for path in folder.iterdir())


def slug(text: str) -> str:
    """Return a word as part of an id: "hot dog" → hot-dog."""
    return re.sub(r"[\W_]+", "-", text.lower()).strip("-")


def _read_tsv(name: str, path: Path, languages: tuple[str, str]) -> WordClass:
    """Read a header of column names, then an entry per line; empty lines and lines that begin with # are skipped."""
    rows = ((n, line) for n, line in enumerate(text_lines(path), start=1) if line.strip() and not line.startswith("#"))
    number, first = next(rows, (1, ""))
    header = first.split("\t")
    for needed in languages:
        if needed not in header:
            remedy = f"The first line names the columns, such as: {languages[0]}, {languages[1]}, gender."
            raise BadInput(path, f"no column {needed!r}{did_you_mean(needed, header)}", line=number, remedy=remedy)
    columns = [column for column in header if column not in (*languages, *FIXED)]

    def entries() -> Iterator[Entry]:
        for line, text in rows:
            cells = text.split("\t")
            if len(cells) > len(header):
                problem = f"{len(cells)} cells, but the first line names {len(header)} columns"
                raise BadInput(path, problem, line=line, remedy="Cells are separated by one tab.")
            row = dict(zip(header, [*cells, *[""] * (len(header) - len(cells))], strict=True))
            yield _entry(path, line, row, languages, {c: row[c] for c in columns if row[c]})

    return WordClass(name, path, _unique(path, entries()), frozenset(columns))


def _entry(path: Path, line: int, row: Mapping[str, str], languages: tuple[str, str], forms: dict[str, str]) -> Entry:
    source, target = (row[language].strip() for language in languages)
    for language, word in zip(languages, (source, target), strict=True):
        if not word:
            raise BadInput(path, f"the column {language!r} is empty", line=line, remedy="Write the word, or no line.")
    forms = {name: "" if form == "-" else form for name, form in forms.items()}
    gender = row.get("gender") or None
    return Entry(row.get("id") or slug(source), source, target, gender, row.get("agreement") or gender, forms, line)


def _read_released(name: str, path: Path, languages: tuple[str, str]) -> WordClass:
    """Read a JSON object from source words to target words, with a gender, several translations, or one per gender."""
    document = read_json(path)
    lines = _lines_of_keys(text_lines(path))
    if not isinstance(document, dict):
        raise BadInput(path, "not an object of words", remedy="Compare with the vocabulary of ContraCAT's release.")

    def entries() -> Iterator[Entry]:
        for source, value in document.items():
            written = (json.dumps(source, ensure_ascii=ascii_only) for ascii_only in (True, False))
            line = min((lines[key] for key in written if key in lines), default=None)
            translations = list(_translations(value, languages[1]))
            if not translations or not all(isinstance(target, str) and target for _, target, _ in translations):
                remedy = f'Write "{source}": {{"{languages[1]}": …, "gender": …}}.'
                raise BadInput(path, f"{source!r} has no translation", line=line, remedy=remedy)
            for suffix, target, gender in translations:
                yield Entry(f"{slug(source)}{suffix}", source, target, gender, gender, {}, line)

    return WordClass(name, path, _unique(path, entries()))


def _translations(value: Any, language: str) -> Iterator[tuple[str, Any, str | None]]:
    """Yield (suffix of the id, word, gender) for each translation. Ids do not change if translations are added."""
    if isinstance(value, dict) and language in value:
        yield "", value[language], value.get("gender")
    elif isinstance(value, dict):
        for gender, word in value.items():
            yield f"-{gender}", word, gender
    else:
        for number, word in enumerate(value if isinstance(value, list) else [value], start=1):
            yield "" if number == 1 else f"-{number}", word, None


def _lines_of_keys(lines: Iterable[str]) -> dict[str, int]:
    """Return the line of a JSON file in which each string, as it is written there, begins a line for the first time."""
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if key := re.match(r'[ {\t]*("(?:[^"\\]|\\.)*")', line):
            line_of.setdefault(key[1], number)
    return line_of


def _unique(path: Path, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    by_id: dict[str, Entry] = {}
    for entry in entries:
        if entry.id in by_id:
            problem = f"two entries have the id {entry.id!r}"
            remedy = "Drop one, or tell them apart in a column 'id'."
            raise BadInput(path, problem, line=entry.line, remedy=remedy)
        by_id[entry.id] = entry
    if not by_id:
        raise BadInput(path, "the file has no words", remedy="Write one entry per line.")
    return tuple(by_id.values())
