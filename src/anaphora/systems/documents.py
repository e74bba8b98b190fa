"""Documents of sentences, as translators have them: lines with blank lines between documents, or docid⇥sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from anaphora.core.documents import document_lines
from anaphora.suites.example import Passage


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with what comes before it in its document.

    lead: what stands before it in an output of the same layout (blank lines, or its docid and a tab)
    """

    text: str
    before: Passage
    lead: str = ""


def read_documents(path: Path, *, docids: bool = False) -> Iterator[Sentence]:
    """Yield the sentences of a file in order; context never crosses from one document into the next.

    docids: the first column, up to a tab, names the document; otherwise a blank line or a line `<d>` ends one
    """
    lines = document_lines(path, format="docids" if docids else "lines")
    for _, document in groupby(lines, key=attrgetter("document")):
        before: list[str] = []
        for line in document:
            yield Sentence(line.texts[0], tuple(before), line.prefix)
            before.append(line.texts[0])
