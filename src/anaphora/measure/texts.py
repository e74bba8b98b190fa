"""Reference, systems and source line by line, with the sentences before each in its document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import read_parallel, refuse_tag
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

    A line that is empty in every file ends a document; with docids, every line is docid, a tab, a sentence.

    signs: here the replaced signs are counted, by file; a measure must not learn whose apostrophes they are
    """
    paths = [reference, *systems, *([source] if source else [])]
    texts = read_parallel(*paths)
    names = [""] * len(texts[0])
    if docids:
        columns = [_docids(text, path) for text, path in zip(texts, paths, strict=True)]
        names, texts = columns[0][0], [text for _, text in columns]
    before: list[tuple[str, ...]] = []
    counts = [(signs if signs is not None else {}).setdefault(str(path), Counter()) for path in paths]
    document = 1
    for number, row in enumerate(zip(*texts, strict=True), start=1):
        if docids and number > 1 and names[number - 1] != names[number - 2]:
            before = []
        if not docids and not any(text.strip() for text in row):
            document += bool(before)
            before = []
            continue
        refuse_tag(row[0], reference, number, "Write a blank line instead.")
        sentences = tuple(
            " ".join(normalize_counting(text, count).split()) for text, count in zip(row, counts, strict=True)
        )
        window = (
            [*before[len(before) - context if len(before) > context else 0 :], sentences] if context else [sentences]
        )
        passages = [_passage([one[k] for one in window], context) for k in range(len(texts))]
        of_systems = tuple(passages[1 : 1 + len(systems)])
        name = names[number - 1] if docids else str(document)
        yield Line(number, name, passages[0], of_systems, passages[-1] if source else None)
        before.append(sentences)


def _passage(sentences: list[str], context: int) -> Passage:
    return ("",) * (context + 1 - len(sentences)) + tuple(sentences)


def _docids(lines: list[str], path: Path) -> tuple[list[str], list[str]]:
    names, texts = [], []
    for number, line in enumerate(lines, start=1):
        name, tab, text = line.partition("\t")
        if not tab:
            remedy = "Each line is docid, a tab, a sentence; without docids leave --docids out."
            raise BadInput(path, "no tab in the line", line=number, remedy=remedy)
        names.append(name)
        texts.append(text)
    return names, texts
