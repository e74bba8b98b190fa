"""Parallel documents as a stream, in the formats they come in; what does not belong together is refused."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.build import augment_documents
from anaphora.build.augment_documents import Block, Pair, read_blocks
from anaphora.core.errors import BadInput

Files = Callable[..., tuple[Path, Path]]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    def write(source: str, target: str) -> tuple[Path, Path]:
        for name, text in (("x.en", source), ("x.de", target)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / "x.en", tmp_path / "x.de"

    return write


def test_blank_lines_between_documents(files: Files) -> None:
    blocks = list(read_blocks(*files("\na\nb\n\n\nc\n", "\nA\nB\n \n\nC\n")))
    assert blocks == [
        Block("1", 0, (Pair(2, "a", "A"), Pair(3, "b", "B"))),
        Block("2", 0, (Pair(6, "c", "C"),)),
    ]


def test_a_line_before_each_document(files: Files) -> None:
    blocks = list(read_blocks(*files("<d>\na\n\n<d>\nc\n", "<d>\nA\n\n<d>\nC\n"), format="tags"))
    assert [[(p.source, p.target) for p in block.pairs] for block in blocks] == [[("a", "A"), ("", "")], [("c", "C")]]


def test_docids(files: Files) -> None:
    blocks = list(read_blocks(*files("x\ta\nx\tb\ny\tc\n", "x\tA\nx\tB\ny\tC\n"), format="docids"))
    assert [(block.document, len(block.pairs)) for block in blocks] == [("x", 2), ("y", 1)]


def test_long_documents_come_in_blocks(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(augment_documents, "BLOCK", 2)
    blocks = list(read_blocks(*files("a\nb\nc\nd\ne\n\nf\n", "A\nB\nC\nD\nE\n\nF\n")))
    found = [(block.document, block.first, [p.source for p in block.pairs]) for block in blocks]
    assert found == [("1", 0, ["a", "b"]), ("1", 2, ["c", "d"]), ("1", 4, ["e"]), ("2", 0, ["f"])]


def test_alignments_go_with_the_lines(files: Files, tmp_path: Path) -> None:
    points = tmp_path / "x.align"
    points.write_text("0-0\n\n1-0 0-1\n", encoding="utf-8")
    first, second = read_blocks(*files("a\n\nb c\n", "A\n\nB C\n"), alignments=points)
    assert first.pairs[0].alignment == ((0, 0),)
    assert second.pairs[0].alignment == ((1, 0), (0, 1))


def test_gzipped_files(files: Files) -> None:
    paths = files("a\n", "A\n")
    for path in paths:
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert [len(block.pairs) for block in read_blocks(*paths)] == [1]


@pytest.mark.parametrize(
    ("source", "target", "format", "problem"),
    [
        ("a\nb\n", "A\n", "lines", "x.de: 1 lines, but"),
        ("a\n", "A\nB\n", "lines", "x.de: 2 lines, but"),
        ("<d>\na\n", "x\nA\n", "tags", "x.en: line 1: a document boundary <d>, but not in"),
        ("x a\n", "x A\n", "docids", "x.en: line 1: no tab in the line"),
        ("x\ta\n", "y\tA\n", "docids", "x.de: line 1: docid 'y', but 'x' in"),
    ],
)
def test_files_that_do_not_belong_together(files: Files, source: str, target: str, format: str, problem: str) -> None:
    with pytest.raises(BadInput) as error:
        list(read_blocks(*files(source, target), format=format))
    assert problem in str(error.value)


DOCUMENTS = st.lists(
    st.lists(st.text("abc ", min_size=1, max_size=5).filter(str.strip), min_size=1, max_size=9), max_size=5
)


@settings(deadline=None, max_examples=40)
@given(DOCUMENTS, st.integers(1, 4))
def test_every_sentence_comes_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, documents: list[list[str]], size: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    for name in ("x.en", "x.de"):
        text = "\n\n".join("\n".join(document) for document in documents)
        (folder / name).write_text(text + "\n", encoding="utf-8")
    found: dict[str, list[str]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(augment_documents, "BLOCK", size)
        for block in read_blocks(folder / "x.en", folder / "x.de"):
            assert block.first == len(found.setdefault(block.document, []))
            assert 1 <= len(block.pairs) <= size
            found[block.document] += [pair.source for pair in block.pairs]
    assert list(found.values()) == [[line.strip() for line in document] for document in documents]
