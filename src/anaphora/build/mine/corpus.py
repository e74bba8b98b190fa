"""Reading and cleaning a corpus: parallel documents in any format become shards for all later stages."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from anaphora.align.alignment import Alignment, check_alignment, parse_alignment
from anaphora.align.tokenize import normalize, normalize_counting, normalized_words
from anaphora.build.mine.opus import Named, pair_name, read_opus
from anaphora.build.mine.shards import Count, Pair, Piece, Stage, pack_pieces
from anaphora.core import documents
from anaphora.core.documents import document_lines, parallel_lines
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import write_atomic
from anaphora.core.parsing import expecting, read_json_object

KINDS = ("none", "subtitles")

_TAG = re.compile(r"</?(?:i|b|u|s|font)(?:\s[^<>]*)?/?>|\{\\[^{}]*\}", re.IGNORECASE)
_MUSIC = re.compile(r"[♩♪♫♬]+|(?<!\S)#(?!\S)|^#(?=\s*\D)|(?<=\D)\s*#$")
_DIRECTION = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|\*[^*]+\*")
_SPEAKER = re.compile(
    r"^(?:[-–—]\s*)?[^\W\d_a-zß-öø-ÿ]{2,}(?:[ .'’-]+[^\W\d_a-zß-öø-ÿ]+){0,2}\s*(?:#?\d+\s*)?:\s+(?=\S)"
)
_DASH = re.compile(r"^(?:[-–—‐‑]+\s*)+(?=\S)|(?<=[.!?…\"”“»]) [-–—]\s*(?=[^\W\d_a-zß-öø-ÿ\s])")
_MOJIBAKE = re.compile(
    r"[\u00c2\u00c3\u00e2\u00c5\u00c4][\u0080-\u00bf\u0152-\u0178\u02c6\u02dc\u2010-\u203a\u20ac\u2122]"
)

# OCR confuses l and I. Only words that do not exist as written are repaired.
_OCR = [
    (re.compile(r"(?<![\w'’])l(?=(?:['’](?:m|ll|ve|d|re|s)\b)|(?=[ ,.!?…]|$)(?!['’]))"), "I"),  # l'm, l
    (re.compile(r"(?<!\w)l(?=[tfsn](?:['’]?s|['’]?t)?(?!\w))"), "I"),  # lt, lf, ls, ln, lt's, lsn't
    (re.compile(r"(?<!\w)l(?=(?:ch|hr|hm|hn|hnen|hre[rnms]?|st|mmer)(?!\w))"), "I"),  # lch, lhr, lhnen
    (re.compile(r"(?<=[a-zß-öø-ÿ])II(?![A-ZÀ-ÖØ-Þ])"), "ll"),  # wiII
    (re.compile(r"(?<=[a-zß-öø-ÿ])I(?=[a-zß-öø-ÿ])"), "l"),  # aIso
    (re.compile(r"(?<!\w)0(?=[hn]\b)"), "O"),  # 0h
]


def misread(text: str) -> bool:
    """Return whether the text looks like UTF-8 that was decoded as Latin-1 or Windows-1252."""
    return _MOJIBAKE.search(text) is not None


def _encoding(text: str) -> str:
    """Repair UTF-8 that was decoded as Latin-1 or Windows-1252: the whole text, or else single characters."""
    if not misread(text):
        return text
    return normalize(_decoded(text) or _MOJIBAKE_PART.sub(lambda match: _decoded(match[0]) or match[0], text))


_MOJIBAKE_PART = re.compile(
    r"[\u00c2\u00c3][\u0080-\u00bf]|[\u00c3][\u0152-\u0178\u02c6\u02dc\u2010-\u203a\u20ac\u2122]"
)


def _decoded(text: str) -> str:
    for encoding in ("cp1252", "latin-1"):
        with contextlib.suppress(UnicodeError):
            return text.encode(encoding).decode("utf-8")
    return ""


def _ocr(text: str) -> str:
    for pattern, right in _OCR:
        text = pattern.sub(right, text)
    return text


def _direction(text: str) -> str:
    """Remove stage directions: [DOOR OPENS], (sighs). A line that consists of them becomes empty."""
    rest, count = _DIRECTION.subn(" ", text)
    return rest if not count or any(map(str.isalnum, rest)) else ""


# In this order: text inside tags and after dashes is processed later. Most lines have none of the characters that a
# rule needs, and that check is fast.
RULES: dict[str, tuple[re.Pattern[str], Callable[[str], str]]] = {
    "encoding": (re.compile("[ÂÃâÅÄ]"), _encoding),
    "tags": (re.compile("[<{]"), lambda text: _TAG.sub(" ", text)),
    "music": (re.compile("[#♩♪♫♬]"), lambda text: _MUSIC.sub(" ", text)),
    "directions": (re.compile(r"[\[(*]"), _direction),
    "dashes": (re.compile("[-–—‐‑]"), lambda text: _DASH.sub(lambda match: " " if match.start() else "", text)),
    "speakers": (re.compile(":"), lambda text: _SPEAKER.sub("", text)),
    "ocr": (re.compile(r"(?<!\w)[l0]|[^\W\d_]I"), _ocr),
}


class Cleaner:
    """Cleans sentences of one language and counts, by rule, how many were changed. A sentence may become empty."""

    def __init__(self, kind: str) -> None:
        if kind not in KINDS:
            raise AnaphoraError(f"unknown clean-up {kind!r}. Known: {', '.join(KINDS)}")
        self.rules = RULES if kind == "subtitles" else {}
        self.counts: Counter[str] = Counter(dict.fromkeys(self.rules, 0))

    def __call__(self, text: str) -> str:
        for name, (signs, rule) in self.rules.items():
            if signs.search(text):
                cleaned = " ".join(rule(text).split())
                self.counts[name] += cleaned != text
                text = cleaned
        return text


FORMATS = (*documents.FORMATS, "tsv", "moses", "opus")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files of a corpus.

    target: None if `source` contains both sides (`tsv`)
    links: the alignment file of `opus`, or the `.ids` file of `moses`
    alignments: a Pharaoh file of word alignments, one line per sentence pair
    """

    source: Path
    target: Path | None = None
    format: str = "lines"
    links: Path | None = None
    alignments: Path | None = None

    def files(self) -> list[Path]:
        """Return all files that are read."""
        return [path for path in (self.source, self.target, self.links, self.alignments) if path is not None]


def read_corpus(corpus: Corpus) -> Iterator[Named]:
    """Yield the sentence pairs of a corpus, each with the name of its document. A side may be empty.

    `lines`, `docids`, `tags`: two files, see `core.documents`; `tsv`: docid⇥source⇥target; `moses`: two files and
    OPUS's `.ids`; `opus`: XML.
    """
    _check(corpus)
    if corpus.target is None:
        return _tsv(corpus)
    if corpus.links is None:
        format = "docids" if corpus.format == "tsv" else corpus.format
        return read_pairs(corpus.source, corpus.target, format, corpus.alignments)
    return read_opus(corpus.links, corpus.source, corpus.target) if corpus.format == "opus" else _moses(corpus)


def read_pairs(source: Path, target: Path, format: str, alignments: Path | None) -> Iterator[Named]:
    """Yield the pairs of two files, each with the name of its document; see `core.documents` for the formats."""
    extra = () if alignments is None else (alignments,)
    for line in document_lines(source, target, format=format, extra=extra):
        points = None if alignments is None else parse_alignment(line.extra[0], alignments, line.number)
        yield line.document, Pair(line.number, line.texts[0].strip(), line.texts[1].strip(), points)


def _check(corpus: Corpus) -> None:
    if corpus.format not in FORMATS:
        raise AnaphoraError(f"unknown format {corpus.format!r}. Known: {', '.join(FORMATS)}")
    if corpus.target is None and corpus.format != "tsv":
        raise AnaphoraError(f"--input-format {corpus.format} needs --target: the translations of {corpus.source}")
    if (corpus.links is not None) != (corpus.format in ("opus", "moses")):
        if corpus.links is not None:
            raise AnaphoraError(f"--links {corpus.links} is for --input-format opus or moses, not {corpus.format}")
        what = "OPUS's alignment file, .xml or .xml.gz" if corpus.format == "opus" else "the .ids file of the corpus"
        raise AnaphoraError(f"--input-format {corpus.format} needs --links: {what}")
    if corpus.format == "opus" and corpus.alignments is not None:
        raise AnaphoraError(f"--alignments {corpus.alignments} cannot be combined with --input-format opus")


def _tsv(corpus: Corpus) -> Iterator[Named]:
    """Read one file with the columns docid, source and target."""
    for line, (row, *points) in enumerate(parallel_lines(*corpus.files()), start=1):
        columns = row.split("\t")
        if len(columns) != 3:
            problem = f"{len(columns)} columns, 3 expected"
            remedy = "Each line is docid, a tab, the sentence, a tab, its translation."
            raise BadInput(corpus.source, problem, line=line, remedy=remedy)
        name, source, target = (column.strip() for column in columns)
        yield name, Pair(line, source, target, _points(points, corpus, line))


def _moses(corpus: Corpus) -> Iterator[Named]:
    """Read OPUS's line files. A third file has the documents of each line and of its translation."""
    rows = parallel_lines(*corpus.files())
    for line, (source, target, identifiers, *points) in enumerate(rows, start=1):
        columns = identifiers.split("\t")
        if len(columns) != 4:
            problem = f"{len(columns)} columns, 4 expected"
            remedy = "Each line of an .ids file is two documents and the numbers of their sentences, separated by tabs."
            raise BadInput(corpus.links or corpus.source, problem, line=line, remedy=remedy)
        name = pair_name(columns[0], columns[1])
        yield name, Pair(line, source.strip(), target.strip(), _points(points, corpus, line))


def _points(rows: list[str], corpus: Corpus, line: int) -> tuple[tuple[int, int], ...] | None:
    return parse_alignment(rows[0], corpus.alignments or Path(), line) if rows else None


# The stage `read`: the corpus in shards.

INDEX = "index.json"
SIDES = ("source", "target")
PIECE = 1000  # most sentences of a piece
SHARD = 5000  # sentences of a shard, or a few more: pieces are not split
OVERLAP = 24  # sentences of the previous piece that are repeated, since they may contain antecedents


@dataclass(slots=True)
class Index:
    """Counts of the corpus: sentences of each shard, documents, and normalized characters."""

    shards: list[int] = field(default_factory=list)
    documents: int = 0
    normalized: dict[str, Counter[str]] = field(default_factory=lambda: {side: Counter() for side in SIDES})

    @property
    def pairs(self) -> int:
        return sum(self.shards)

    def to_dict(self) -> dict[str, Any]:
        return {"documents": self.documents, "shards": self.shards, "normalized": self.normalized}


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of pieces, shards and overlaps in sentences; see above."""

    piece: int = PIECE
    shard: int = SHARD
    overlap: int = OVERLAP


def read_stage(stage: Stage, corpus: Corpus, sizes: Sizes, count: Count | None = None) -> Index:
    """Write the shards of a corpus, unless they exist. The index is written last and marks the stage as complete."""
    path = stage.folder / INDEX
    if path.is_file():
        saved = read_json_object(path)
        with expecting(
            path, "the index of a work folder", remedy="Delete the work folder, or choose another one with --work."
        ):
            normalized = {side: Counter(counts) for side, counts in saved["normalized"].items()}
            return Index([int(n) for n in saved["shards"]], int(saved["documents"]), normalized)
    index = Index()
    for shard in _shards(_pieces(_checked(read_corpus(corpus), corpus, index), sizes), sizes.shard):
        stage.write(len(index.shards), pack_pieces(shard))
        index.shards.append(sum(piece.new for piece in shard))
        index.documents += sum(piece.start + piece.first == 0 for piece in shard)
        if count is not None:
            count(index.pairs, None)
    if not index.shards:
        raise BadInput(
            corpus.source, "no sentences", remedy="Check that the file is not empty and that --input-format is right."
        )
    write_atomic(path, json.dumps(index.to_dict(), indent=1).encode() + b"\n")
    return index


def _checked(pairs: Iterable[Named], corpus: Corpus, index: Index) -> Iterator[Named]:
    """Yield pairs with normalized characters and single spaces, and check that alignments fit the words."""
    for name, pair in pairs:
        source, target = (
            _normalized_words(text, counts, counted=pair.alignment is not None)
            for text, counts in zip((pair.source, pair.target), index.normalized.values(), strict=True)
        )
        if pair.alignment is not None:
            check_alignment(pair.alignment, len(source), len(target), corpus.alignments or corpus.source, pair.line)
        yield name, Pair(pair.line, " ".join(source), " ".join(target), pair.alignment)


def _normalized_words(text: str, counts: Counter[str], *, counted: bool) -> list[str]:
    """Return the words of a line. counted: alignments index them, so that each stays one word."""
    if misread(text):  # left to the cleaning, which needs the original characters
        return text.split()
    return normalized_words(text, counts) if counted else normalize_counting(text, counts).split()


def _pieces(pairs: Iterable[Named], sizes: Sizes) -> Iterator[Piece]:
    """Yield documents as pieces; long documents in several pieces that overlap."""
    number = 0
    for name, document in groupby(pairs, key=itemgetter(0)):
        held: list[Pair] = []  # the overlap with the previous piece, then the sentences of this one
        start = first = 0
        for _, pair in document:
            if len(held) - first == sizes.piece:  # only now it is known that the document continues
                yield _piece(name, start, number, first, held)
                keep = min(sizes.overlap, len(held))
                start, number = start + len(held) - keep, number + len(held) - first
                held, first = held[len(held) - keep :], keep
            held.append(pair)
        yield _piece(name, start, number, first, held)
        number += len(held) - first


def _piece(name: str, start: int, number: int, first: int, pairs: list[Pair]) -> Piece:
    alignments: list[Alignment] = [pair.alignment for pair in pairs if pair.alignment is not None]
    return Piece(
        name,
        start,
        number - first,
        first,
        tuple(pair.source for pair in pairs),
        tuple(pair.target for pair in pairs),
        tuple(alignments) if len(alignments) == len(pairs) else None,
    )


def _shards(pieces: Iterable[Piece], size: int) -> Iterator[list[Piece]]:
    shard: list[Piece] = []
    held = 0
    for piece in pieces:
        shard.append(piece)
        held += piece.new
        if held >= size:
            yield shard
            shard, held = [], 0
    if shard:
        yield shard
