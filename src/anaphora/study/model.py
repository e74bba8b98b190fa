"""A study: its questions, who is asked them and in which order; study.json and links.json.

A study is written once, as a new folder, and nothing that exists is overwritten.
"""

from __future__ import annotations

import json
import os
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from anaphora.core.errors import AnaphoraError, BadInput, CannotWrite
from anaphora.core.files import atomic_folder
from anaphora.core.parsing import UNEXPECTED, read_json, read_toml
from anaphora.evaluation.verdicts import ANSWERS as VERDICT_CHOICES
from anaphora.languages.highlight import Span
from anaphora.suites.example import Passage, Tag

PAIRS, GAPS, VERDICTS = "pairs", "gaps", "verdicts"
CANDIDATES = {PAIRS: 2, GAPS: 1, VERDICTS: 1}  # in each item of a mode

# Answers on two candidates (Jwalapuram et al. 2019, §3.1). A and B are as shown, in random order.
A, B, EQUAL, NEITHER, INVALID = "a", "b", "equal", "neither", "invalid"
PAIR_CHOICES = (A, B, EQUAL, NEITHER, INVALID)
# Answers on a gap in addition to the language's pronouns (DiscoMT 2015; APT §3.1).
OTHER, BAD = "other", "bad"


@dataclass(frozen=True, slots=True)
class Item:
    """One question.

    source, candidates: passages, the current sentence last; two candidates in a pair, otherwise one translation
    gold: in a pair the index of the reference
    marks: for each candidate the spans of its current sentence that are highlighted, or hidden as the gap
    pair: the pronouns of the reference and the other candidate, such as ("he", "it"); None if they are not known
    pronoun, system, sentence, position: in a gap or a verdict what the translation has there, whose it is, and which
        pronoun it is
    source_marks: in a verdict the spans of the source's current sentence that are highlighted
    """

    id: str
    source: Passage
    candidates: tuple[Passage, ...]
    gold: int
    marks: tuple[tuple[Span, ...], ...]
    pair: tuple[str, str] | None = None
    pronoun: str = ""
    system: str = ""
    sentence: str = ""
    position: str = ""
    tags: Mapping[str, Tag] = field(default_factory=dict)
    source_marks: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """An item as an annotator gets it: order (1, 0) shows the second candidate first."""

    item: str
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Annotator:
    """An annotator and their items, in their order."""

    name: str
    assignments: tuple[Assignment, ...]


@dataclass(frozen=True)
class Study:
    """The contents of study.json.

    id: names the study in a database; overlap: number of annotators per item
    options: the pronouns that can be put into a gap; forms: other forms of these, such as ça for cela
    blind: pages know items by opaque ids. False: created by 0.1.0, whose pages used the items' own ids, so that answers
        with these may still arrive
    """

    id: str
    mode: str
    title: str
    source_language: str
    target_language: str
    instructions: tuple[str, ...]
    show_source: bool
    options: tuple[str, ...]
    forms: Mapping[str, str]
    overlap: int
    seed: int
    suite: str  # name@hash
    items: tuple[Item, ...]
    annotators: tuple[Annotator, ...]
    blind: bool = True

    @cached_property
    def by_id(self) -> dict[str, Item]:
        return {item.id: item for item in self.items}

    @cached_property
    def orders(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """The order of the candidates by (annotator, item); other pairs were not asked."""
        return {(a.name, one.item): one.order for a in self.annotators for one in a.assignments}

    @property
    def choices(self) -> tuple[str, ...]:
        fixed = {PAIRS: PAIR_CHOICES, VERDICTS: VERDICT_CHOICES}
        return fixed.get(self.mode, (*self.options, OTHER, BAD))

    def problem_with(self, choice: tuple[str, ...]) -> str | None:
        """Return why a choice is not a valid answer, or None; the empty choice takes an answer back."""
        unknown = next((word for word in choice if word not in self.choices), None)
        if unknown is not None:
            return f"unknown choice {unknown!r}"
        if len(set(choice)) != len(choice):
            return "a choice is given twice"
        if self.mode != GAPS and len(choice) > 1:
            return "only one choice is possible"
        if BAD in choice and len(choice) > 1:
            return "a bad translation has no other answer"
        return None


@cache
def default_texts(mode: str) -> Mapping[str, Any]:
    """Return the title, the instructions and the examples of a mode, by language, unless a study has its own."""
    texts: Mapping[str, Any] = read_toml(Path(__file__).with_name("instructions.toml"))[mode]
    return {**texts, "instructions": tuple(texts["instructions"])}


# Files: study.json, and links.json with the secret links of annotators and admin.

FORMAT_VERSION = 3  # 2: pages get other ids than those of the items (Study.blind); 3: verdicts
LINKS_VERSION = 1
TOKEN_BYTES = 24  # 192 bits: a link cannot be guessed
TEXTS = ("id", "mode", "title", "source_language", "target_language")
STUDY_FILE, LINKS_FILE = "study.json", "links.json"
REMEDY = "A study is created by: anaphora study create PAIRS -o STUDY"
Value = TypeVar("Value")


def write_study(study: Study, folder: Path) -> None:
    """Write a new folder with the study and its secret links, atomically; only its owner can read it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(folder, "already exists", remedy="A study is never overwritten: choose another folder.")
    links = {
        "anaphora_study_links": LINKS_VERSION,
        "study": study.id,
        "admin": secrets.token_urlsafe(TOKEN_BYTES),
        "annotators": {annotator.name: secrets.token_urlsafe(TOKEN_BYTES) for annotator in study.annotators},
    }
    try:
        with atomic_folder(folder, mode=0o700) as unfinished:
            _write_private(unfinished / STUDY_FILE, to_dict(study))
            _write_private(unfinished / LINKS_FILE, links)
    except OSError as error:
        raise CannotWrite(folder, error) from None


def _write_private(path: Path, document: Mapping[str, Any]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        try:
            json.dump(document, out, ensure_ascii=False, indent=1, allow_nan=False)
        except UnicodeEncodeError:
            raise AnaphoraError(
                "the suite or the title has text that is not valid Unicode (a lone surrogate). Correct it first"
            ) from None
        out.write("\n")


def to_dict(study: Study) -> dict[str, Any]:
    return {
        "anaphora_study": 1 if not study.blind else 3 if study.mode == VERDICTS else 2,
        **{name: getattr(study, name) for name in TEXTS},
        "instructions": list(study.instructions),
        "show_source": study.show_source,
        "options": list(study.options),
        "forms": dict(study.forms),
        "overlap": study.overlap,
        "seed": study.seed,
        "suite": study.suite,
        "items": [
            {name: value for name in Item.__slots__ if (value := getattr(item, name))}
            | {"gold": item.gold, "tags": dict(item.tags)}
            for item in study.items
        ],
        "annotators": [
            {"name": a.name, "items": [[one.item, list(one.order)] for one in a.assignments]} for a in study.annotators
        ],
    }


def read_study(folder: Path) -> Study:
    """Read the study of a folder."""
    path = folder / STUDY_FILE
    if not path.is_file():
        what = "no such folder" if not folder.exists() else f"no study: {STUDY_FILE} is missing here"
        if folder.is_file():
            what = "a file, and not the folder of a study, which has the questions and the answers"
        raise BadInput(folder, what, remedy=REMEDY)
    document = read_json(path, "Restore the file from a copy: the answers belong to this study and to no other.")
    version = document.get("anaphora_study") if isinstance(document, dict) else None
    if type(version) is not int:
        raise BadInput(path, "not a study", remedy=REMEDY)
    if not 1 <= version <= FORMAT_VERSION:
        problem = f"study format version {version}, this program reads up to {FORMAT_VERSION}"
        raise BadInput(path, problem, remedy="Upgrade with: pip install -U anaphora")
    kinds = {**dict.fromkeys(TEXTS, str), "suite": str, "overlap": int, "seed": int}
    simple: dict[str, Any] = {name: _get(document, name, kind, path) for name, kind in kinds.items()}
    study = Study(
        **simple,
        show_source=_get(document, "show_source", bool, path),
        instructions=tuple(_get(document, "instructions", list, path)),
        options=tuple(_get(document, "options", list, path)),
        forms=_get(document, "forms", dict, path),
        items=_each(_get(document, "items", list, path), "item", path, _item),
        annotators=_each(
            _get(document, "annotators", list, path),
            "annotator",
            path,
            lambda row: Annotator(
                str(row["name"]), tuple(Assignment(str(item), tuple(map(int, order))) for item, order in row["items"])
            ),
        ),
        blind=version >= 2,
    )
    wrong = _inconsistency(study)
    if wrong is not None:
        raise BadInput(path, wrong, remedy="Restore the file as `study create` wrote it.")
    return study


def read_links(folder: Path, study: Study) -> tuple[str, dict[str, str]]:
    """Return the admin's token, and the annotators' tokens by name."""
    path = folder / LINKS_FILE
    document = read_json(path)
    try:
        admin, tokens = document["admin"], {name: str(token) for name, token in document["annotators"].items()}
        owner = document["study"]
    except UNEXPECTED:
        raise BadInput(path, "not the links of a study", remedy="Restore the file.") from None
    if owner != study.id or set(tokens) != {a.name for a in study.annotators}:
        raise BadInput(path, f"these links belong to another study, not to {study.id}", remedy="Restore the file.")
    every = [admin, *tokens.values()]
    if not all(isinstance(t, str) and len(t) >= 22 for t in every) or len(set(every)) < len(every):
        raise BadInput(path, "two links are the same, or one could be guessed", remedy="Restore the file.")
    return admin, tokens


def _get(document: dict[str, Any], name: str, kind: type[Value], path: Path) -> Value:
    value = document.get(name)
    if type(value) is not kind:
        what = "is missing" if name not in document else f"is not of the type {kind.__name__}"
        raise BadInput(path, f"{name!r} {what}", remedy="Restore the file as `study create` wrote it.")
    return value


def _each(rows: list[Any], what: str, path: Path, parse: Callable[[Any], Value]) -> tuple[Value, ...]:
    parsed = []
    for number, row in enumerate(rows, start=1):
        try:
            parsed.append(parse(row))
        except UNEXPECTED as error:
            name = f" ({row['id']})" if isinstance(row, dict) and "id" in row else ""
            remedy = "Restore the file as `study create` wrote it."
            raise BadInput(path, f"{what} {number:,}{name} is broken: {error}", remedy=remedy) from None
    return tuple(parsed)


def _item(row: dict[str, Any]) -> Item:
    candidates = tuple(_passage(candidate) for candidate in row["candidates"])
    marks = tuple(tuple((int(start), int(end)) for start, end in spans) for spans in row["marks"])
    if len(marks) != len(candidates) or not 0 <= row["gold"] < len(candidates):
        raise ValueError("marks or gold do not belong to the candidates")
    source = _passage(row["source"])
    source_marks = tuple((int(start), int(end)) for start, end in row.get("source_marks", ()))
    for passage, spans in zip((*candidates, source), (*marks, source_marks), strict=True):
        bounds = [bound for span in spans for bound in span]
        if bounds != sorted(bounds) or (bounds and not 0 <= bounds[0] <= bounds[-1] <= len(passage[-1])):
            raise ValueError("marks outside of the sentence")
    pair: tuple[str, str] | None = None
    if row.get("pair"):
        first, second = row["pair"]
        pair = str(first), str(second)
    texts: dict[str, Any] = {name: str(row.get(name, "")) for name in ("pronoun", "system", "sentence", "position")}
    if not isinstance(row["id"], str):
        raise TypeError("the id is not a text")
    if not isinstance(row["tags"], dict):
        raise TypeError("the tags are not an object")
    own = {**texts, "tags": row["tags"], "source_marks": source_marks}
    return Item(row["id"], source, candidates, row["gold"], marks, pair, **own)


def _passage(sentences: Any) -> tuple[str, ...]:
    if not isinstance(sentences, list) or not sentences or not all(isinstance(s, str) for s in sentences):
        raise TypeError("a passage is a list of one or more sentences")
    return tuple(sentences)


def _inconsistency(study: Study) -> str | None:
    if study.mode not in CANDIDATES:
        return f"unknown mode {study.mode!r}"
    names = [item.id for item in study.items], [annotator.name for annotator in study.annotators]
    for what, listed in zip(("id", "annotator"), names, strict=True):
        if len(set(listed)) < len(listed):
            return f"the {what} {Counter(listed).most_common(1)[0][0]!r} occurs twice"
    size = CANDIDATES[study.mode]
    if wrong := next((item.id for item in study.items if len(item.candidates) != size), None):
        return f"item {wrong!r} does not have {size} candidate{'s' if size > 1 else ''}"
    for annotator in study.annotators:
        asked = Counter(one.item for one in annotator.assignments)
        for one in annotator.assignments:
            if asked[one.item] > 1:
                return f"{one.item!r} is assigned to {annotator.name} twice"
            if one.item not in study.by_id or sorted(one.order) != list(range(size)):
                return f"{one.item!r} of {annotator.name} is not an item, or its order is invalid"
    return None
