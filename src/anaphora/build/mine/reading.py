"""The first stage: a corpus in any format becomes shards of pieces, which all other stages go by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from anaphora.align.alignment import Alignment, check_alignment
from anaphora.build.augment_documents import Pair
from anaphora.build.mine.documents import Corpus, Named, read_corpus
from anaphora.build.mine.piece import Piece, pack_pieces
from anaphora.build.mine.stage import Count, Stage, write_whole
from anaphora.errors import BadInput

INDEX = "index.json"
PIECE = 1000  # sentences of a document at most that are held together
SHARD = 5000  # sentences, or a few more, as documents are not cut for it
OVERLAP = 24  # sentences of the piece before, in which antecedents may be


@dataclass(slots=True)
class Index:
    """What was read: the sentences of each shard, and how many documents there are."""

    shards: list[int] = field(default_factory=list)
    documents: int = 0

    @property
    def pairs(self) -> int:
        return sum(self.shards)

    def to_dict(self) -> dict[str, Any]:
        return {"documents": self.documents, "shards": self.shards}


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
        found = json.loads(path.read_text(encoding="utf-8"))
        return Index(found["shards"], found["documents"])
    index = Index()
    for shard in _shards(_pieces(_checked(read_corpus(corpus), corpus), sizes), sizes.shard):
        stage.write(len(index.shards), pack_pieces(shard))
        index.shards.append(sum(piece.new for piece in shard))
        index.documents += sum(piece.start + piece.first == 0 for piece in shard)
        if count is not None:
            count(index.pairs, None)
    if not index.shards:
        raise BadInput(corpus.source, "no sentences", remedy="Is it empty, or of another --format?")
    write_whole(path, json.dumps(index.to_dict(), indent=1).encode() + b"\n")
    return index


def _checked(pairs: Iterable[Named], corpus: Corpus) -> Iterator[Named]:
    """Single spaces in the lines, and alignments that fit the words."""
    for name, pair in pairs:
        source, target = " ".join(pair.source.split()), " ".join(pair.target.split())
        if pair.alignment is not None:
            assert corpus.alignments is not None
            words = len(source.split()), len(target.split())
            check_alignment(pair.alignment, *words, corpus.alignments, pair.line)
        yield name, Pair(pair.line, source, target, pair.alignment)


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
