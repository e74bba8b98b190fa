"""A corpus is cut into shards of pieces: every sentence is somebody's own exactly once, no document meets another."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.build.mine.documents import Corpus
from anaphora.build.mine.piece import Piece, unpack_pieces
from anaphora.build.mine.reading import Index, Sizes, read_stage
from anaphora.build.mine.stage import open_stage
from anaphora.core.errors import BadInput


def read(folder: Path, sizes: Sizes, **more: Path) -> tuple[Index, list[list[Piece]]]:
    corpus = Corpus(folder / "x.en", folder / "x.de", **more)  # type: ignore[arg-type]
    stage = open_stage(folder, f"read-{sizes}", {})
    index = read_stage(stage, corpus, sizes)
    return index, [list(unpack_pieces(stage.read(number))) for number in range(len(index.shards))]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 13), min_size=1, max_size=6), st.integers(1, 5), st.integers(1, 9), st.integers(0, 4))
def test_every_sentence_is_one_pieces_own(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], piece: int, shard: int, overlap: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    documents = [[f"{d}.{k}" for k in range(length)] for d, length in enumerate(lengths, start=1)]
    for name, sign in (("x.en", "e"), ("x.de", "d")):
        text = "\n\n".join("\n".join(sign + line for line in document) for document in documents)
        (folder / name).write_text(text + "\n", encoding="utf-8")
    index, shards = read(folder, Sizes(piece, shard, overlap))
    own: list[str] = []
    for found in (piece for shard in shards for piece in shard):
        document = [f"e{line}" for line in documents[int(found.document) - 1]]
        assert list(found.source) == document[found.start : found.start + len(found.source)]
        assert [line.replace("d", "e") for line in found.target] == list(found.source)
        assert found.number + found.first == len(own)
        assert found.first == min(found.start + found.first, overlap if found.start + found.first else 0)
        assert 1 <= found.new <= piece
        own += found.source[found.first :]
    assert own == [f"e{line}" for document in documents for line in document]
    assert (index.documents, index.pairs) == (len(documents), len(own))
    assert index.shards == [sum(piece.new for piece in shard) for shard in shards]
    assert all(size >= shard for size in index.shards[:-1])


def test_alignments_must_fit(tmp_path: Path) -> None:
    (tmp_path / "x.en").write_text("a b\nc\n", encoding="utf-8")
    (tmp_path / "x.de").write_text("A B\nC\n", encoding="utf-8")
    (tmp_path / "x.align").write_text("0-0 1-1\n0-1\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"x.align: line 2: point 0-1 is outside the sentences of 1 and 1 words"):
        read(tmp_path, Sizes(), alignments=tmp_path / "x.align")


def test_an_index_that_is_there_is_used(tmp_path: Path) -> None:
    for name in ("x.en", "x.de"):
        (tmp_path / name).write_text("a\nb\n\nc\n", encoding="utf-8")
    first, _ = read(tmp_path, Sizes(shard=1))
    (tmp_path / "x.en").unlink()
    assert read(tmp_path, Sizes(shard=1))[0] == first == Index([2, 1], 2)


@pytest.mark.parametrize("text", ["", "\n\n\n"])
def test_no_sentences(tmp_path: Path, text: str) -> None:
    for name in ("x.en", "x.de"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"x\.en: no sentences"):
        read(tmp_path, Sizes())


def test_signs_are_made_one_and_counted(tmp_path: Path) -> None:
    (tmp_path / "x.en").write_text("It’s\u00a0late , &quot; he said\n", encoding="utf-8")
    (tmp_path / "x.de").write_text("Geht&apos;s gut , Ã\u00adst \n", encoding="utf-8")
    index, (((piece,),)) = read(tmp_path, Sizes())
    assert piece.source == ("It's late , \" he said",)
    assert piece.target == ("Geht&apos;s gut , Ã\u00adst",)  # misread: the clean-up looks at the very characters
    assert index.normalized == {"source": {"’": 1, "\u00a0": 1, "&quot;": 1}, "target": {}}
    assert read(tmp_path, Sizes())[0] == index


def test_words_that_alignments_count_stay_one_word(tmp_path: Path) -> None:
    (tmp_path / "x.en").write_text("l’ 10&nbsp;000\n", encoding="utf-8")
    (tmp_path / "x.de").write_text("l' a\n", encoding="utf-8")
    (tmp_path / "x.align").write_text("0-0 1-1\n", encoding="utf-8")
    _, ((piece,),) = read(tmp_path, Sizes(), alignments=tmp_path / "x.align")
    assert piece.source == ("l' 10000",)
