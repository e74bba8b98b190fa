"""Reference, systems and source line by line, with the sentences before each in its document."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from anaphora.core.documents import document_lines
from anaphora.normalization import normalize_counting
from anaphora.suites.example import Passage


@dataclass(frozen=True, slots=True)
class Line:
    """A line of all texts: its number in the files (from 1), its document, and its passage in each text.

    Passages have one length: a sentence that does not exist, before a document's first, is "".
    """

    number: int
    document: str
    reference: Passage
    systems: tuple[Passage, ...]
    source: Passage | None


def read_texts(
    reference: Path,
    systems: Sequence[Path],
    source: Path | None = None,
    *,
    context: int = 2,
    docids: bool = False,
    signs: dict[str, Counter[str]] | None = None,
) -> Iterator[Line]:
    """The lines of files that belong together, with signs that are written in several ways made one.

    Documents are separated as in every command (see `core.documents`); with docids, lines are docid⇥sentence.

    signs: here the replaced signs are counted, by file; a measure must not learn whose apostrophes they are
    """
    paths = [reference, *systems, *([source] if source else [])]
    counts = [(signs if signs is not None else {}).setdefault(str(path), Counter()) for path in paths]
    lines = document_lines(*paths, format="docids" if docids else "lines")
    for name, document in groupby(lines, key=attrgetter("document")):
        window: deque[tuple[str, ...]] = deque(maxlen=context + 1)
        for line in document:
            sentences = tuple(
                " ".join(normalize_counting(text, count).split())
                for text, count in zip(line.texts, counts, strict=True)
            )
            window.append(sentences)
            passages = [_passage(list(texts), context) for texts in zip(*window, strict=True)]
            of_systems = tuple(passages[1 : 1 + len(systems)])
            yield Line(line.number, name, passages[0], of_systems, passages[-1] if source else None)


def _passage(sentences: list[str], context: int) -> Passage:
    return ("",) * (context + 1 - len(sentences)) + tuple(sentences)
