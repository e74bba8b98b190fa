"""Text to mine from: pieces of documents in both languages, and how they are kept on disk."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from anaphora.align.alignment import Alignment
from anaphora.core.errors import BadInput
from anaphora.core.parsing import expecting, json_problem, json_value

WORK = "the work folder"
AGAIN = "Start again with another folder: --work."
LEVEL = 1  # of compression: higher ones take longer than what is saved is worth


@dataclass(frozen=True, slots=True)
class Piece:
    """Sentences of one document that follow each other, and their translations; most documents are one piece.

    start: the number of the first one in its document; number: in the corpus; both from 0
    first: so many sentences at the beginning are the end of the piece before, repeated for their context
    alignments: links of the words of the lines, where the corpus came with them
    """

    document: str
    start: int
    number: int
    first: int
    source: tuple[str, ...]
    target: tuple[str, ...]
    alignments: tuple[Alignment, ...] | None = None

    @property
    def new(self) -> int:
        """How many sentences are its own."""
        return len(self.source) - self.first

    def side(self, name: str) -> tuple[str, ...]:
        return self.source if name == "source" else self.target


def pack(rows: Iterable[Any]) -> bytes:
    """JSON Lines, compressed; the same rows always give the same bytes."""
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    text = "".join(f"{line}\n" for line in lines)
    return gzip.compress(text.encode("utf-8"), LEVEL, mtime=0)


def unpack(data: bytes) -> Iterator[Any]:
    """What `pack` made."""
    try:
        lines = gzip.decompress(data).decode("utf-8").split("\n")[:-1]
    except (EOFError, OSError, zlib.error, UnicodeDecodeError) as error:
        raise BadInput(WORK, f"a file is damaged ({error})", remedy=AGAIN) from None
    for number, line in enumerate(lines, start=1):
        try:
            row = json_value(line)
        except ValueError as error:
            raise BadInput(WORK, f"a file is damaged: {json_problem(error)}", line=number, remedy=AGAIN) from None
        yield row


def pack_pieces(pieces: Iterable[Piece], about: dict[str, Any] | None = None) -> bytes:
    """A shard of text; `about` is kept before it."""
    rows = (
        {
            "document": piece.document,
            "start": piece.start,
            "number": piece.number,
            "first": piece.first,
            "source": piece.source,
            "target": piece.target,
            **({} if piece.alignments is None else {"alignments": pack_alignments(piece.alignments)}),
        }
        for piece in pieces
    )
    return pack(rows if about is None else [about, *rows])


def unpack_pieces(data: bytes) -> Iterator[Piece]:
    """What `pack_pieces` made."""
    for row in unpack(data):
        if "document" not in row:  # what clean-up has counted
            continue
        with expecting(WORK, "a piece of text", remedy=AGAIN):
            given = row.get("alignments")
            piece = Piece(
                row["document"],
                row["start"],
                row["number"],
                row["first"],
                tuple(row["source"]),
                tuple(row["target"]),
                None if given is None else unpack_alignments(given),
            )
        yield piece


def pack_alignments(alignments: Iterable[Alignment]) -> list[list[int]]:
    """The links of each sentence as source, target, source, target …"""
    return [[number for point in alignment for number in point] for alignment in alignments]


def unpack_alignments(rows: Iterable[list[int]]) -> tuple[Alignment, ...]:
    """What `pack_alignments` made."""
    return tuple(tuple(zip(row[::2], row[1::2], strict=True)) for row in rows)
