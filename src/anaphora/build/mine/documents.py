"""Parallel documents in the formats they come in: one stream of sentence pairs, each with the name of its document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anaphora.align.alignment import parse_alignment
from anaphora.build.augment_documents import Pair, read_pairs
from anaphora.core import documents
from anaphora.core.documents import parallel_lines
from anaphora.core.errors import AnaphoraError, BadInput

FORMATS = (*documents.FORMATS, "tsv", "moses", "opus")
Named = tuple[str, Pair]  # the name of a document, and a pair of it


@dataclass(frozen=True, slots=True)
class Corpus:
    """Where the text is.

    target: None where `source` holds both sides (`tsv`)
    links: what says which sentences belong together: the alignment file of `opus`, the `.ids` file of `moses`
    alignments: a Pharaoh file of word alignments, a line for each pair of lines
    """

    source: Path
    target: Path | None = None
    format: str = "lines"
    links: Path | None = None
    alignments: Path | None = None

    def files(self) -> list[Path]:
        """All that is read."""
        return [path for path in (self.source, self.target, self.links, self.alignments) if path is not None]


def read_corpus(corpus: Corpus) -> Iterator[Named]:
    """The pairs of a corpus, a document after the other.

    `lines`: two files, blank lines between documents; `docids`: docid⇥sentence; `tags`: a line `<d>` before each
    document; `tsv`: docid⇥source⇥target; `moses`: two files and OPUS's `.ids`; `opus`: XML. A side may be empty.
    """
    _check(corpus)
    if corpus.format == "opus":
        from anaphora.build.mine.opus import read_opus

        assert corpus.target is not None
        assert corpus.links is not None
        return read_opus(corpus.links, corpus.source, corpus.target)
    if corpus.format == "moses":
        return _moses(corpus)
    if corpus.format == "tsv" and corpus.target is None:
        return _tsv(corpus)
    assert corpus.target is not None
    format = "docids" if corpus.format == "tsv" else corpus.format
    return read_pairs(corpus.source, corpus.target, format, corpus.alignments)


def _check(corpus: Corpus) -> None:
    if corpus.format not in FORMATS:
        raise AnaphoraError(f"unknown format {corpus.format!r}. Known: {', '.join(FORMATS)}")
    if corpus.target is None and corpus.format != "tsv":
        raise AnaphoraError(f"--format {corpus.format} needs --target: the translations of {corpus.source}")
    if (corpus.links is not None) != (corpus.format in ("opus", "moses")):
        if corpus.links is not None:
            raise AnaphoraError(f"--links {corpus.links} is for --format opus or moses, not {corpus.format}")
        what = "OPUS's alignment file, .xml or .xml.gz" if corpus.format == "opus" else "the .ids file of the corpus"
        raise AnaphoraError(f"--format {corpus.format} needs --links: {what}")
    if corpus.format == "opus" and corpus.alignments is not None:
        raise AnaphoraError(f"--alignments {corpus.alignments} goes with files of lines, not with --format opus")


def _tsv(corpus: Corpus) -> Iterator[Named]:
    """One file: docid, source, target."""
    for line, (row, *points) in enumerate(parallel_lines(*corpus.files()), start=1):
        columns = row.split("\t")
        if len(columns) != 3:
            problem = f"{len(columns)} columns, 3 expected"
            remedy = "Each line is docid, a tab, the sentence, a tab, its translation."
            raise BadInput(corpus.source, problem, line=line, remedy=remedy)
        name, source, target = (column.strip() for column in columns)
        yield name, Pair(line, source, target, _points(points, corpus, line))


def _moses(corpus: Corpus) -> Iterator[Named]:
    """OPUS's line files: which document a line is from is in a third file, and the document of its translation."""
    assert corpus.links is not None
    rows = parallel_lines(*corpus.files())
    for line, (source, target, identifiers, *points) in enumerate(rows, start=1):
        columns = identifiers.split("\t")
        if len(columns) != 4:
            problem = f"{len(columns)} columns, 4 expected"
            remedy = "A line of an .ids file is two documents and the numbers of their sentences, tabs between."
            raise BadInput(corpus.links, problem, line=line, remedy=remedy)
        name = pair_name(columns[0], columns[1])
        yield name, Pair(line, source.strip(), target.strip(), _points(points, corpus, line))


def _points(rows: list[str], corpus: Corpus, line: int) -> tuple[tuple[int, int], ...] | None:
    return parse_alignment(rows[0], corpus.alignments or Path(), line) if rows else None


def pair_name(source: str, target: str) -> str:
    """A name for OPUS's documents en/2001/5/7.xml.gz and de/2001/5/9.xml.gz: 2001/5/7=9.

    The target is in it, as a film has many subtitles, and may be in the corpus with several of them.
    """
    one, other = (_stem(name) for name in (source, target))
    parts, others = one.split("/"), other.split("/")
    same = 0
    while same < min(len(parts), len(others)) and parts[same] == others[same]:
        same += 1
    rest = "/".join(others[same:])
    return f"{one}={rest}" if rest else one


def _stem(name: str) -> str:
    """Without the folder of the language, and without the end of the file's name."""
    stem = name.strip().removesuffix(".gz").removesuffix(".xml")
    return stem.partition("/")[2] or stem
