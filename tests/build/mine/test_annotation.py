"""Annotation on disk is the same again when it is read, and takes the same bytes every time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.annotate.document import Document, Mention, Sentence, Token
from anaphora.build.mine.annotation import pack_documents, unpack_documents, unpack_words
from anaphora.build.mine.piece import Piece, pack_pieces, unpack_pieces

WORD = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
FEATURES = st.dictionaries(st.sampled_from(["Gender", "Number"]), st.sampled_from(["Masc", "Plur", "Fem,Masc"]))


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    size = draw(st.integers(0, 4))
    heads = st.none() | st.integers(0, max(0, size - 1))
    token = st.builds(Token, WORD, WORD, st.sampled_from(["NOUN", "X"]), FEATURES, heads, WORD, st.booleans(), WORD)
    return Sentence(tuple(draw(token) for _ in range(size)))


MENTIONS = st.builds(Mention, *[st.integers(0, 9)] * 4)
CHAINS = st.none() | st.lists(st.lists(MENTIONS, max_size=2).map(tuple), max_size=2).map(tuple)
DOCUMENTS = st.builds(Document, st.lists(sentences(), max_size=3).map(tuple), CHAINS)


@settings(max_examples=60, deadline=None)
@given(st.lists(DOCUMENTS, max_size=3))
def test_documents_come_back(documents: list[Document]) -> None:
    packed = pack_documents(documents)
    found = list(unpack_documents(packed))
    assert found == documents
    assert [[s.tokens for s in d.sentences] for d in found] == [[s.tokens for s in d.sentences] for d in documents]
    assert [[[dict(t.features) for t in s] for s in d.sentences] for d in found] == [
        [[dict(t.features) for t in s] for s in d.sentences] for d in documents
    ]
    assert pack_documents(found) == packed
    words = [[(list(w.texts), [kind for kind, _ in w.kinds]) for w in document] for document in unpack_words(packed)]
    assert words == [[([t.text for t in s], [t.upos for t in s]) for s in d.sentences] for d in documents]


def test_pieces_come_back() -> None:
    pieces = [
        Piece("a\u2028b", 0, 0, 0, ("x\u2028", ""), ("\u0085", "y")),
        Piece("c", 7, 9, 1, ("x y",), ("X Y",), (((0, 1), (1, 0)),)),
        Piece("d", 0, 10, 0, ("x", "y"), ("X", "Y"), ((), ())),
    ]
    assert list(unpack_pieces(pack_pieces(pieces))) == pieces
    assert pieces[1].new == 0
    assert pieces[1].side("target") == ("X Y",)
