"""A corpus in any format becomes the same pairs, with the names of their documents; what does not fit is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.build.mine.documents import Corpus, pair_name, read_corpus
from anaphora.core.errors import AnaphoraError, BadInput


def write(folder: Path, **files: str) -> dict[str, Path]:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {name: folder / name for name in files}


def pairs(corpus: Corpus) -> list[tuple[str, str, str]]:
    return [(name, pair.source, pair.target) for name, pair in read_corpus(corpus)]


def test_two_files_of_lines(tmp_path: Path) -> None:
    files = write(tmp_path, en="a\nb\n\nc\n", de="A\nB\n\nC\n")
    assert pairs(Corpus(files["en"], files["de"])) == [("1", "a", "A"), ("1", "b", "B"), ("2", "c", "C")]


def test_one_table_with_both_sides(tmp_path: Path) -> None:
    files = write(tmp_path, tsv="x\ta\tA\nx\tb\t\ny\tc\tC\n", align="0-0\n\n0-0\n")
    corpus = Corpus(files["tsv"], format="tsv", alignments=files["align"])
    assert pairs(corpus) == [("x", "a", "A"), ("x", "b", ""), ("y", "c", "C")]
    assert [pair.alignment for _, pair in read_corpus(corpus)] == [((0, 0),), (), ((0, 0),)]


def test_a_table_for_each_side(tmp_path: Path) -> None:
    files = write(tmp_path, en="x\ta\ny\tb\n", de="x\tA\ny\tB\n")
    assert pairs(Corpus(files["en"], files["de"], "tsv")) == [("x", "a", "A"), ("y", "b", "B")]


def test_lines_of_opus_with_the_documents_beside_them(tmp_path: Path) -> None:
    ids = (
        "en/1/7.xml.gz\tde/1/9.xml.gz\t1\t1 2\nen/1/7.xml.gz\tde/1/9.xml.gz\t2\t3\nen/2/8.xml.gz\tde/2/8.xml.gz\t1\t1\n"
    )
    files = write(tmp_path, en="a\nb\nc\n", de="A\nB\nC\n", ids=ids)
    found = pairs(Corpus(files["en"], files["de"], "moses", files["ids"]))
    assert found == [("1/7=9", "a", "A"), ("1/7=9", "b", "B"), ("2/8", "c", "C")]


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [
        ("en/2001/5/7.xml.gz", "de/2001/5/9.xml.gz", "2001/5/7=9"),
        ("en/2001/5/7.xml", "de/2001/6/9.xml", "2001/5/7=6/9"),
        ("en/a.xml.gz", "de/a.xml.gz", "a"),
        ("a", "b", "a=b"),
    ],
)
def test_a_name_for_two_documents(source: str, target: str, name: str) -> None:
    assert pair_name(source, target) == name


@pytest.mark.parametrize(
    ("format", "files", "problem"),
    [
        ("tsv", {"s": "x\ta\n"}, "s: line 1: 2 columns, 3 expected"),
        ("moses", {"s": "a\n", "t": "A\n", "k": "x y\n"}, "k: line 1: 1 columns, 4 expected"),
        ("moses", {"s": "a\nb\n", "t": "A\nB\n", "k": "x\ty\t1\t1\n"}, "k: 1 lines, but"),
        ("lines", {"s": "a\nb\n", "t": "A\n"}, "t: 1 lines, but"),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, format: str, files: dict[str, str], problem: str) -> None:
    paths = write(tmp_path, **files)
    with pytest.raises(BadInput) as error:
        pairs(Corpus(paths["s"], paths.get("t"), format, paths.get("k")))
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("corpus", "problem"),
    [
        (Corpus(Path("s")), "--format lines needs --target"),
        (Corpus(Path("s"), Path("t"), "opus"), "--format opus needs --links: OPUS's alignment file"),
        (Corpus(Path("s"), Path("t"), "moses"), "--format moses needs --links: the .ids file"),
        (Corpus(Path("s"), Path("t"), "lines", Path("k")), "--links k is for --format opus or moses, not lines"),
        (Corpus(Path("s"), Path("t"), "opus", Path("k"), Path("a")), "--alignments a goes with files of lines"),
        (Corpus(Path("s"), Path("t"), "xml"), "unknown format 'xml'"),
    ],
)
def test_what_belongs_together(corpus: Corpus, problem: str) -> None:
    with pytest.raises(AnaphoraError, match=problem):
        read_corpus(corpus)
