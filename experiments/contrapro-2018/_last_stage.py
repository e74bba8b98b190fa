"""What the last stage reads, and its development set: passages with *it* that are kept out of it, and never ContraPro.

Whole runs of neighboring documents are held out, and no sentence of five or more words of theirs is in the text of
the last stage. Stages 1 and 2 have seen them as text: they are held out of what teaches pronouns, not of everything.

An item asks what ContraPro asks: is the translation more probable than the same with another of er (or ihn), sie, es?
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from _text import GENDERS, SEPARATOR, YOU, Document, it_passages, plain, read, telling, told, write

Item = dict[str, object]
MIXED = {"single": 40, "documents": 20}  # one of so many is in the general text
RUN = 20  # neighboring documents that are held out together
EVERY = 10  # one run of so many
SIZE = 300  # items of a gender, at most
TOLD = 5  # words from which on a sentence tells where it is from
ONE = re.compile(r"\b(er|ihn|sie|es)\b", re.IGNORECASE)


def write_last_stage(folder: Path) -> dict[str, int]:
    """Files made of those of the first stages (_text.py); how many pairs or items each has.

    masculine, feminine, neuter: passages of two sentences, the second with *it* and a German pronoun of that gender
    mixed: a part of the other text
    development.jsonl: held out
    """
    single, (documents, held) = read(folder / "single"), split(read(folder / "documents"))
    general = {"single": single, "documents": documents}
    counts = {"mixed": write([d for name, every in MIXED.items() for d in general[name][::every]], folder / "mixed")}
    for gender, found in it_passages(documents).items():
        counts[gender] = write(([pair] for pair in found), folder / gender)
    return {**counts, "development": write_development(held, folder / "development.jsonl")}


def split(documents: list[Document]) -> tuple[list[Document], list[Document]]:
    """What the last stage may learn from, and what is held out."""
    chosen = [number // RUN % EVERY == EVERY - 1 for number in range(len(documents))]
    held = [document for document, out in zip(documents, chosen, strict=True) if out]
    known = frozenset(s for document in held for english, _ in document for s in telling(english, TOLD))
    rest = [document for document, out in zip(documents, chosen, strict=True) if not out]
    return [d for d in rest if not any(told(english, known, TOLD) for english, _ in d)], held


def write_development(held: Iterable[Document], path: Path) -> int:
    """A suite of as many items of each gender; how many items it has."""
    passages = it_passages(held).values()
    items = [[swapped(*passage) for passage in found] for found in passages]
    size = min(SIZE, *map(len, items))
    head = {
        "anaphora": 1,
        "name": "development",
        "source_language": "en",
        "target_language": "de",
        "breakdowns": ["reference_pronoun"],
    }
    lines = [
        head,
        *({"id": str(n), **item} for n, item in enumerate(i for found in items for i in spaced(found, size))),
    ]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return len(lines) - 1


def spaced(items: list[Item], size: int) -> list[Item]:
    """Some of the items, at even distances: every kind of text has its share."""
    return [items[number * len(items) // size] for number in range(size)]


def swapped(english: str, german: str) -> Item:
    """An item, the right candidate first."""
    context, current = german.split(SEPARATOR)
    polite = not YOU.isdisjoint(plain(english.split(SEPARATOR)[1]).split())
    pronouns = (match for match in ONE.finditer(current) if not (polite and match[0] == "Sie"))
    found = next(pronouns)  # a passage of it_passages has one
    right = found[0].lower()
    words = [right, *(pronoun for pronoun in ("er", "sie", "es") if GENDERS[pronoun] != GENDERS[right])]
    cased = [word.capitalize() if found[0][0].isupper() else word for word in words]
    candidates = [[context, current[: found.start()] + pronoun + current[found.end() :]] for pronoun in cased]
    tags = {"reference_pronoun": right}
    return {"source": english.split(SEPARATOR), "candidates": candidates, "gold": 0, "tags": tags}
