"""The first stage: a corpus in any format becomes shards of pieces, which all other stages go by."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from anaphora.align.alignment import Alignment, check_alignment
from anaphora.align.tokenize import normalized_words
from anaphora.build.augment_documents import Pair
from anaphora.build.mine.clean import misread
from anaphora.build.mine.documents import Corpus, Named, read_corpus
from anaphora.build.mine.piece import Piece, pack_pieces
from anaphora.build.mine.stage import Count, Stage
from anaphora.core.errors import BadInput
from anaphora.core.files import write_atomic
from anaphora.core.parsing import expecting, read_json_object
from anaphora.normalization import normalize_counting

INDEX = "index.json"
SIDES = ("source", "target")
PIECE = 1000  # sentences of a document at most that are held together
SHARD = 5000  # sentences, or a few more, as documents are not cut for it
OVERLAP = 24  # sentences of the piece before, in which antecedents may be


@dataclass(slots=True)
class Index:
    """What was read: the sentences of each shard, how many documents there are, and the signs that were made one."""

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
    """How text is cut; see above."""

    piece: int = PIECE
    shard: int = SHARD
    overlap: int = OVERLAP


def read_stage(stage: Stage, corpus: Corpus, sizes: Sizes, count: Count | None = None) -> Index:
    """Write the shards of a corpus, unless a run before has; the index is written last, and says that all are there."""
    path = stage.folder / INDEX
    if path.is_file():
        found = read_json_object(path)
        with expecting(path, "the index of a work folder", remedy="Remove the work folder, or name another: --work."):
            normalized = {side: Counter(counts) for side, counts in found["normalized"].items()}
            return Index([int(n) for n in found["shards"]], int(found["documents"]), normalized)
    index = Index()
    for shard in _shards(_pieces(_checked(read_corpus(corpus), corpus, index), sizes), sizes.shard):
        stage.write(len(index.shards), pack_pieces(shard))
        index.shards.append(sum(piece.new for piece in shard))
        index.documents += sum(piece.start + piece.first == 0 for piece in shard)
        if count is not None:
            count(index.pairs, None)
    if not index.shards:
        raise BadInput(corpus.source, "no sentences", remedy="Is it empty, or of another --format?")
    write_atomic(path, json.dumps(index.to_dict(), indent=1).encode() + b"\n")
    return index


def _checked(pairs: Iterable[Named], corpus: Corpus, index: Index) -> Iterator[Named]:
    """Lines with one way to write each sign and single spaces, and alignments that fit the words."""
    for name, pair in pairs:
        source, target = (
            _normalized(text, counts, counted=pair.alignment is not None)
            for text, counts in zip((pair.source, pair.target), index.normalized.values(), strict=True)
        )
        if pair.alignment is not None:
            assert corpus.alignments is not None
            words = len(source.split()), len(target.split())
            check_alignment(pair.alignment, *words, corpus.alignments, pair.line)
        yield name, Pair(pair.line, source, target, pair.alignment)


def _normalized(text: str, counts: Counter[str], *, counted: bool) -> str:
    """A line with one way to write each sign. counted: alignments count its words, of which each stays one.

    A line whose encoding was misread is left for the clean-up, which looks at the very characters.
    """
    if misread(text):
        return " ".join(text.split())
    if counted:
        return " ".join(normalized_words(text, counts))
    return " ".join(normalize_counting(text, counts).split())


def _pieces(pairs: Iterable[Named], sizes: Sizes) -> Iterator[Piece]:
    """Documents, long ones in several pieces that overlap; never two documents in one."""
    number = 0
    for name, found in groupby(pairs, key=itemgetter(0)):
        held: list[Pair] = []  # what the next piece begins with, and what is its own so far
        start = first = 0
        for _, pair in found:
            if len(held) - first == sizes.piece:  # it is known only now that more comes
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
