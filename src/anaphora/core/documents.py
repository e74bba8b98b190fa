"""The reader of parallel documents: text files that are aligned line by line, and where documents begin in them.

Every command that reads documents reads them here, so that a file is valid in all commands or in none:

- A document boundary is a blank line (`lines`), a docid that differs from the line before (`docids`), or a line `<d>`
  (`tags`). In `lines`, a line `<d>` is a boundary as well.
- A blank line is a boundary only if it is blank in every file. If some file has text there, the others have an empty
  sentence: an empty translation, for example.
- A docid column is needed in one of the files only. Files that have one must agree.
- Files have the same number of lines, apart from blank lines at the end of a file.
- Boundaries in a row are one boundary: there are no empty documents.

Files are UTF-8, plain or gzipped, and are read as a stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from anaphora.core.errors import BadInput, check_name
from anaphora.core.files import text_lines

FORMATS = ("lines", "docids", "tags")
BOUNDARY = "<d>"
SAME_LENGTH = "They belong together line by line: give files of the same length."


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A line of parallel files that is not a document boundary.

    number: the line number in the files, from 1
    document: the docid, or the number of the document from "1"
    texts: the sentence in each file, without its docid and otherwise as written
    extra: the line of each further file
    prefix: what precedes the sentence in a file with the same layout: boundary lines, or a docid and a tab
    """

    number: int
    document: str
    texts: tuple[str, ...]
    extra: tuple[str, ...] = ()
    prefix: str = ""


def document_lines(
    *paths: Path, format: str = "lines", boundary: str = BOUNDARY, extra: Sequence[Path] = ()
) -> Iterator[DocumentLine]:
    """Yield the sentences of one or more parallel files in order, with the document of each.

    A document ends where `document` changes; with docids, it is the docid and may occur again later.

    format: `lines` (blank lines between documents), `docids` (docid⇥sentence), or `tags` (a boundary line before each
        document; blank lines are empty sentences)
    boundary: the boundary line of `tags`
    extra: files with a line for every line of the texts that say nothing about documents, such as word alignments
    """
    check_name("format", format, FORMATS)
    rows = enumerate(parallel_lines(*paths, *extra), start=1)
    if format == "docids":
        for number, row in rows:
            docid, texts = _split_docids(row[: len(paths)], paths, number)
            yield DocumentLine(number, docid, texts, row[len(paths) :], f"{docid}\t")
        return
    tag = BOUNDARY if format == "lines" else boundary
    documents, inside, prefix = 0, False, ""
    for number, row in rows:
        texts = row[: len(paths)]
        if _all_tagged(texts, tag, paths, number):
            inside, prefix = False, f"{prefix}{tag}\n"
        elif format == "lines" and not any(map(str.strip, texts)):
            inside, prefix = False, f"{prefix}\n"
        else:
            documents += not inside
            yield DocumentLine(number, str(documents), texts, row[len(paths) :], prefix)
            inside, prefix = True, ""


def parallel_lines(*paths: Path) -> Iterator[tuple[str, ...]]:
    """Yield the lines of files that are aligned line by line; raise BadInput if one has more lines than another.

    Blank lines at the end of a file that others lack are dropped.
    """
    files = [text_lines(path) for path in paths]
    number = 0
    row: list[str | None] = []
    while files:
        row = [next(lines, None) for lines in files]
        complete = tuple(line for line in row if line is not None)
        if len(complete) < len(row):
            break
        yield complete
        number += 1
    lengths = [
        number if line is None else _last_text(chain([line], lines), number)
        for line, lines in zip(row, files, strict=True)
    ]
    for path, length in zip(paths, lengths, strict=True):
        if length != lengths[0]:
            raise BadInput(path, f"{length:,} lines, but {paths[0]} has {lengths[0]:,}", remedy=SAME_LENGTH)


def read_parallel(*paths: Path) -> list[list[str]]:
    """Return the lines of each of several files that are aligned line by line; see `parallel_lines`."""
    texts: list[list[str]] = [[] for _ in paths]
    for row in parallel_lines(*paths):
        for text, line in zip(texts, row, strict=True):
            text.append(line)
    return texts


def _last_text(lines: Iterator[str], before: int) -> int:
    """Return the number of the last line with text, or `before` where all are blank."""
    return max((number for number, line in enumerate(lines, start=before + 1) if line.strip()), default=before)


def _all_tagged(texts: tuple[str, ...], tag: str, paths: Sequence[Path], number: int) -> bool:
    """Return whether a line is the boundary in all files; a boundary in some of them is an error."""
    tagged = [text.strip() == tag for text in texts]
    if any(tagged) and not all(tagged):
        path, other = paths[tagged.index(True)], paths[tagged.index(False)]
        remedy = "Documents must begin at the same line of all files."
        raise BadInput(path, f"a document boundary {tag}, but not in {other}", line=number, remedy=remedy)
    return all(tagged)


def _split_docids(texts: tuple[str, ...], paths: Sequence[Path], number: int) -> tuple[str, tuple[str, ...]]:
    """Return the docid of a line and its sentences."""
    columns = [text.partition("\t") for text in texts]
    named = [k for k, (_, tab, _) in enumerate(columns) if tab]
    if not named:
        remedy = "With docids, each line is a docid, a tab and a sentence, in at least one of the files."
        raise BadInput(paths[0], "no tab in the line", line=number, remedy=remedy)
    docid = columns[named[0]][0]
    for k in named:
        if columns[k][0] != docid:
            problem = f"docid {columns[k][0]!r}, but {docid!r} in {paths[named[0]]}"
            raise BadInput(paths[k], problem, line=number, remedy="The files belong together line by line.")
    return docid, tuple(column[2] if column[1] else column[0] for column in columns)
