"""Parallel documents: the same rules for every command, whatever the number of files."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.documents import DocumentLine, document_lines, parallel_lines, read_parallel
from anaphora.core.errors import AnaphoraError, BadInput

Write = Callable[..., list[Path]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write texts as the files a, b, c …."""

    def write(*texts: str) -> list[Path]:
        paths = [tmp_path / name for name, _ in zip("abcdef", texts, strict=False)]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        return paths

    return write


def sentences(paths: list[Path], **options: str) -> list[tuple[str, ...]]:
    return [(line.document, *line.texts) for line in document_lines(*paths, **options)]  # type: ignore[arg-type]


# Lines that belong together.


def test_parallel_lines(write: Write) -> None:
    assert list(parallel_lines(*write("a\nb\n", "1\n2", "x\n\n"))) == [("a", "1", "x"), ("b", "2", "")]


def test_one_file_no_file_and_empty_files(write: Write) -> None:
    assert list(parallel_lines(*write("a\nb\n"))) == [("a",), ("b",)]
    assert list(parallel_lines(*write("", ""))) == []
    assert list(parallel_lines()) == []


def test_parallel_lines_are_read_as_a_stream(write: Write) -> None:
    rows = parallel_lines(*write("a\nb\nc\n", "a\nb\n"))
    assert [next(rows), next(rows)] == [("a", "a"), ("b", "b")]
    with pytest.raises(BadInput):
        next(rows)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["1\n2\n", "1\n"], "b: 1 lines, but {a} has 2."),
        (["1\n", "1\n2\n3\n"], "b: 3 lines, but {a} has 1."),
        (["1\n2\n3\n", "1\n2\n3\n", "1\n2\n"], "c: 2 lines, but {a} has 3."),
        (["1\n", ""], "b: 0 lines, but {a} has 1."),
        (["1\n", "1\n\n2\n\n"], "b: 3 lines, but {a} has 1."),
    ],
)
def test_files_of_different_lengths_are_an_error(write: Write, texts: list[str], message: str) -> None:
    paths = write(*texts)
    with pytest.raises(BadInput) as error:
        list(parallel_lines(*paths))
    assert message.format(a=paths[0]) in str(error.value)
    assert str(error.value).endswith("They belong together line by line: give files of the same length.")


def test_blank_lines_at_the_end_may_differ(write: Write) -> None:
    paths = write("1\n\n3\n", "x\ny\nz\n\n \n")
    assert read_parallel(*paths) == [["1", "", "3"], ["x", "y", "z"]]
    assert read_parallel(*reversed(paths)) == [["x", "y", "z"], ["1", "", "3"]]


# Documents.


def test_blank_lines_separate_documents(write: Write) -> None:
    paths = write("\na\nb\n\n\nc\n", "\nA\nB\n \n\nC\n")
    assert list(document_lines(*paths)) == [
        DocumentLine(2, "1", ("a", "A"), prefix="\n"),
        DocumentLine(3, "1", ("b", "B")),
        DocumentLine(6, "2", ("c", "C"), prefix="\n\n"),
    ]


def test_a_line_blank_in_one_file_is_an_empty_sentence(write: Write) -> None:
    assert sentences(write("a\n\nc\n\nd\n", "A\nB\n\n\nD\n")) == [
        ("1", "a", "A"),
        ("1", "", "B"),
        ("1", "c", ""),
        ("2", "d", "D"),
    ]


def test_tags_separate_documents_with_and_without_the_format(write: Write) -> None:
    paths = write("<d>\na\n<d>\n<d>\nb\n")
    assert sentences(paths) == sentences(paths, format="tags") == [("1", "a"), ("2", "b")]
    assert [line.prefix for line in document_lines(*paths)] == ["<d>\n", "<d>\n<d>\n"]


def test_blank_lines_between_tags_are_sentences_in_the_tags_format(write: Write) -> None:
    paths = write("<d>\na\n\n<d>\nc\n", "<d>\nA\n\n<d>\nC\n")
    assert sentences(paths, format="tags") == [("1", "a", "A"), ("1", "", ""), ("2", "c", "C")]
    assert sentences(paths) == [("1", "a", "A"), ("2", "c", "C")]


def test_another_boundary_line(write: Write) -> None:
    assert sentences(write("a\n###\nb\n"), format="tags", boundary="###") == [("1", "a"), ("2", "b")]


def test_docids(write: Write) -> None:
    paths = write("x\ta\nx\t\ny\tc\nx\td\n")
    assert sentences(paths, format="docids") == [("x", "a"), ("x", ""), ("y", "c"), ("x", "d")]
    assert [line.prefix for line in document_lines(*paths, format="docids")] == ["x\t", "x\t", "y\t", "x\t"]


@pytest.mark.parametrize("texts", [["x\ta\n", "A\n"], ["a\n", "x\tA\n"], ["x\ta\n", "x\tA\n"]])
def test_docids_in_one_file_are_enough(write: Write, texts: list[str]) -> None:
    assert sentences(write(*texts), format="docids") == [("x", "a", "A")]


def test_further_files_say_nothing_about_documents(write: Write) -> None:
    *texts, points = write("a\n\nb c\n", "A\n\nB C\n", "0-0\n\n1-0 0-1\n")
    assert [line.extra for line in document_lines(*texts, extra=[points])] == [("0-0",), ("1-0 0-1",)]


def test_gzipped_files(write: Write) -> None:
    paths = write("a\n\nb\n", "A\n\nB\n")
    paths[0].write_bytes(gzip.compress(paths[0].read_bytes()))
    assert sentences(paths) == [("1", "a", "A"), ("2", "b", "B")]


@pytest.mark.parametrize(
    ("texts", "format", "problem"),
    [
        (["a\n<d>\n", "A\nx\n"], "lines", "a: line 2: a document boundary <d>, but not in"),
        (["x\nb\n", "<d>\nB\n"], "tags", "b: line 1: a document boundary <d>, but not in"),
        (["x\ta\nb\n"], "docids", "a: line 2: no tab in the line"),
        (["a\n", "A\n"], "docids", "a: line 1: no tab in the line"),
        (["x\ta\n", "A\n", "y\tA\n"], "docids", "c: line 1: docid 'y', but 'x' in"),
    ],
)
def test_files_that_do_not_belong_together(write: Write, texts: list[str], format: str, problem: str) -> None:
    with pytest.raises(BadInput) as error:
        list(document_lines(*write(*texts), format=format))
    assert problem in str(error.value)


def test_an_unknown_format(write: Write) -> None:
    with pytest.raises(AnaphoraError, match=r"unknown format 'tag' \(did you mean tags\?\)"):
        list(document_lines(*write("a\n"), format="tag"))


# Any documents, in any of the layouts, are read back.

SENTENCE = st.text("ab <d>é", min_size=1, max_size=6).filter(lambda text: text.strip() not in ("", "<d>"))
DOCUMENTS = st.lists(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=5), max_size=5)
LAYOUTS = ("lines", "tags in lines", "tags", "docids", "docids in one file")


def lay_out(documents: list[list[tuple[str, str]]], layout: str, side: int) -> str:
    if layout.startswith("docids"):
        with_docid = layout == "docids" or side == 1
        rows = [(f"d{n}\t" if with_docid else "") + pair[side] for n, one in enumerate(documents) for pair in one]
        return "".join(f"{row}\n" for row in rows)
    boundary = "\n" if layout == "lines" else "<d>\n"
    return "".join(boundary + "".join(f"{pair[side]}\n" for pair in one) for one in documents)


@settings(max_examples=60)
@given(DOCUMENTS, st.sampled_from(LAYOUTS), st.booleans())
def test_every_layout_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, documents: list[list[tuple[str, str]]], layout: str, compress: bool
) -> None:
    folder = tmp_path_factory.mktemp("any")
    paths = [folder / "source", folder / "target"]
    for side, path in enumerate(paths):
        data = lay_out(documents, layout, side).encode()
        path.write_bytes(gzip.compress(data) if compress and side else data)
    lines = list(document_lines(*paths, format="lines" if layout == "tags in lines" else layout.split()[0]))
    read = [[line.texts for line in one] for _, one in groupby(lines, key=lambda line: line.document)]
    assert read == documents
    assert [line.number for line in lines] == sorted({line.number for line in lines})


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["", " ", "<d>", "a", "b c"]), max_size=12), st.sampled_from(["lines", "tags"]))
def test_prefixes_and_sentences_make_the_file(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str], format: str
) -> None:
    """What `translate` needs to write its output in the layout of its input."""
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    written = "".join(f"{line.prefix}{line.texts[0]}\n" for line in document_lines(path, format=format))
    expected = "".join(f"{row}\n" for row in rows)
    if format == "lines":
        expected = expected.replace(" \n", "\n")  # a blank line has no spaces
    assert expected.startswith(written)
    assert set(expected[len(written) :].splitlines()) <= {"", "<d>"}  # boundaries at the end are dropped
