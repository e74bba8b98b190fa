"""Alignment files count words at spaces, annotation has tokens: links pass from the ones to the others."""

from __future__ import annotations

import pytest

from anaphora.annotate.document import Document, Sentence, Token
from anaphora.build.mine.piece import Piece
from anaphora.build.mine.word_links import token_links
from anaphora.core.errors import AnaphoraError


def document(*lines: str) -> Document:
    """Tokens with `|` between those of one word."""
    sentences = []
    for line in lines:
        tokens = []
        for word in line.split():
            *parts, last = word.split("|")
            kinds = [(part, False) for part in parts] + [(last, True)]
            tokens += [
                Token(text, upos="X" if text.isalnum() or "'" in text else "PUNCT", space_after=space)
                for text, space in kinds
            ]
        sentences.append(Sentence(tuple(tokens)))
    return Document(tuple(sentences))


def test_a_word_passes_its_links_to_its_tokens_but_not_to_signs() -> None:
    source, target = document("It|'s here|, now !"), document("Er ist hier|. !")
    piece = Piece("d", 0, 0, 0, ("It's here, now !",), ("Er ist hier. !",), (((0, 0), (0, 1), (1, 2), (3, 3)),))
    assert token_links(piece, source, target) == [((0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (5, 4))]


def test_empty_lines_have_no_links() -> None:
    piece = Piece("d", 0, 0, 0, ("", "a"), ("", ""), ((), ()))
    assert token_links(piece, document("", "a"), document("", "")) == [(), ()]


def test_annotation_of_other_words() -> None:
    piece = Piece("d", 4, 0, 0, ("a b",), ("A B",), ((),))
    with pytest.raises(
        AnaphoraError, match=r"sentence 5 of document d: its annotation has 3 words, but the line has 2"
    ):
        token_links(piece, document("a b c"), document("A B"))
