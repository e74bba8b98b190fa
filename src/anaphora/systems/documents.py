"""Documents of sentences, as translators have them: lines with blank lines between documents, or docid⇥sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import refuse_tag, text_lines
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
    """The sentences of a file in order; context never crosses from one document into the next.

    docids: the first column, up to a tab, names the document; else a blank line ends one
    """
    before: list[str] = []
    lead, current = "", None
    for number, line in enumerate(text_lines(path), start=1):
        if docids:
            docid, tab, text = line.partition("\t")
            if not tab:
                remedy = "Each line is docid, a tab, a sentence; without docids leave --docids out."
                raise BadInput(path, "no tab in the line", line=number, remedy=remedy)
            if docid != current:
                before, current = [], docid
            lead = f"{docid}\t"
        elif not line.strip():
            before = []
            lead += "\n"
            continue
        else:
            refuse_tag(line, path, number, "Write a blank line instead.")
            text = line
        yield Sentence(text, tuple(before), lead)
        before.append(text)
        lead = ""
