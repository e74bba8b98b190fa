"""Links of the words of lines, as files have them, become links of the tokens of their annotation."""

from __future__ import annotations

from anaphora.align.alignment import Alignment
from anaphora.annotate.document import Document, Sentence
from anaphora.build.mine.piece import Piece
from anaphora.core.errors import AnaphoraError


def token_links(piece: Piece, source: Document, target: Document) -> list[Alignment]:
    """The links of a piece. A word of several tokens (`it's`, `Haus,`) passes its links on to all but the signs."""
    if piece.alignments is None:
        raise AnaphoraError(f"document {piece.document}: there are no alignments for it")
    links = []
    for k, points in enumerate(piece.alignments):
        one = _tokens(source.sentences[k], piece.source[k], piece, k)
        other = _tokens(target.sentences[k], piece.target[k], piece, k)
        links.append(tuple(sorted({(i, j) for word, words in points for i in one[word] for j in other[words]})))
    return links


def _tokens(sentence: Sentence, line: str, piece: Piece, k: int) -> list[list[int]]:
    """The tokens of each word."""
    found: list[list[int]] = [[] for _ in line.split()]
    if sentence.words and sentence.words[-1] + 1 != len(found):
        place = f"sentence {piece.start + k + 1:,} of document {piece.document}"
        problem = f"its annotation has {sentence.words[-1] + 1:,} words, but the line has {len(found):,}"
        raise AnaphoraError(f"{place}: {problem}. Alignments count words at spaces: annotate the very lines")
    for index, word in enumerate(sentence.words):
        found[word].append(index)
    return [[i for i in tokens if sentence[i].upos != "PUNCT"] or tokens for tokens in found]
