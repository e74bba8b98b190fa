"""Gap-filling annotations as a table: `item`, `translation`, `accepted`, and `system` where there are several.

    system    item  translation  accepted
    baseline  1     il           il, ce
    baseline  2     other        bad

`accepted` lists the options that annotators chose, separated by commas or bars; `bad` alone is a bad translation.
"""

from __future__ import annotations

import re
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import atomic_writer
from anaphora.metrics.columns import Record, read_columns
from anaphora.metrics.discomt.classes import class_of
from anaphora.metrics.discomt.measures import Item

BAD = ("bad", "bad translation")
FORMAT = "The columns are item, translation, accepted (options separated by commas, or bad), and perhaps system."

# made up: what two systems have for ten pronouns, and what was accepted
EXAMPLE = {
    "sentence-level": "il:il il:elle il:il,ce ce:ce il:elle ils:ils ils:elles other:other il:bad ça:cela,ce",
    "document-level": "il:il elle:elle ce:il,ce ce:ce elle:elle ils:ils ils:elles other:il other:other ce:cela,ce",
}


def read_annotations(path: Path, language: str = "") -> dict[str, list[Item]]:
    """The items of each system, in the order of the file's first system where they have the same.

    language: the target language, whose forms are put together into the classes of the shared tasks (ça into cela);
        what is none of them is OTHER. Without one each word is a class of its own.
    """
    table = read_columns(path)
    table.require(("item", "translation", "accepted"), FORMAT)
    found: dict[str, dict[str, Item]] = {}
    for record in table.records:
        items = found.setdefault(record.cells.get("system", path.name), {})
        item = _item(record, language)
        if item.id in items:
            raise BadInput(path, f"item {item.id!r} a second time for the same system", line=record.line)
        items[item.id] = item
    order = next(iter(found.values()))
    return {
        system: [items[k] for k in order] if items.keys() == order.keys() else list(items.values())
        for system, items in found.items()
    }


def _item(record: Record, language: str) -> Item:
    translation, accepted = record.cells["translation"], record.cells["accepted"].lower()
    options = [option for option in map(str.strip, re.split(r"[,|;]", accepted)) if option]
    if not translation or not options:
        empty = "translation" if not translation else "accepted"
        raise BadInput(record.path, f"nothing in the column {empty!r}", line=record.line, remedy=FORMAT)
    if any(option in BAD for option in options):
        if len(options) > 1:
            problem = f"a bad translation has no other options: {accepted!r}"
            raise BadInput(record.path, problem, line=record.line, remedy=FORMAT)
        options = []
    classes = frozenset(class_of(option, language) for option in options)
    return Item(record.cells["item"], class_of(translation, language), classes)


def write_example(path: Path) -> None:
    """A small table to try the command with."""
    lines = ["system\titem\ttranslation\taccepted"]
    for system, items in EXAMPLE.items():
        for number, item in enumerate(items.split(), start=1):
            translation, _, accepted = item.partition(":")
            lines.append(f"{system}\t{number}\t{translation}\t{accepted.replace(',', ', ')}")
    with atomic_writer(path) as out:
        out.write("".join(f"{line}\n" for line in lines).encode())
