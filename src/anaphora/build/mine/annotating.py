"""Ready annotation, which is a file for the whole corpus: read along with the text, in its order, by one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from anaphora.annotate import Annotator, Document, Sentence
from anaphora.build.mine.annotation import pack_documents
from anaphora.build.mine.piece import Piece, unpack_pieces
from anaphora.build.mine.stage import Count, Stage


def annotate_in_order(
    stage: Stage,
    text: Stage,
    annotator: Annotator,
    side: str,
    sizes: list[int],
    count: Count | None = None,
) -> None:
    """Annotate all shards, unless all are there.

    What a piece of a long document repeats of the piece before has its annotation from there; chains do not reach back.
    """
    if len(stage.finished(len(sizes))) == len(sizes):
        return

    def pieces() -> Iterator[Piece]:
        for number in range(len(sizes)):
            yield from unpack_pieces(text.read(number))

    annotated = annotator.annotate(piece.side(side)[piece.first :] for piece in pieces())
    before: tuple[Sentence, ...] = ()
    done = 0
    for number, size in enumerate(sizes):
        documents = []
        for piece in unpack_pieces(text.read(number)):
            documents.append(_with(before, piece.first, next(annotated)))
            before = documents[-1].sentences
        stage.write(number, pack_documents(documents))
        done += size
        if count is not None:
            count(done, sum(sizes))
    next(annotated, None)  # it says if there is annotation for more than the corpus has


def _with(before: Sequence[Sentence], first: int, document: Document) -> Document:
    """A piece with the last sentences of the piece before."""
    if not first:
        return document
    chains = document.chains
    if chains is not None:
        chains = tuple(tuple(replace(m, sentence=m.sentence + first) for m in chain) for chain in chains)
    return Document((*before[len(before) - first :], *document.sentences), chains)
