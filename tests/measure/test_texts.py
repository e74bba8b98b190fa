"""Texts that belong together line by line, in documents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.measure.texts import Line, read_texts


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_context_stays_in_its_document(tmp_path: Path) -> None:
    reference = write(tmp_path / "r", "A.\nB.\nC.\nD.\n\nE.\n")
    system = write(tmp_path / "s", "a.\nb.\n\nd.\n\ne.\n")  # an empty translation is not the end of a document
    lines = list(read_texts(reference, [system]))
    assert [line.reference for line in lines] == [
        ("", "", "A."),
        ("", "A.", "B."),
        ("A.", "B.", "C."),
        ("B.", "C.", "D."),
        ("", "", "E."),
    ]
    assert lines[3].systems == (("b.", "", "d."),)
    assert [(line.number, line.document) for line in lines] == [(1, "1"), (2, "1"), (3, "1"), (4, "1"), (6, "2")]
    assert all(line.source is None for line in lines)


def test_docids_and_sources(tmp_path: Path) -> None:
    reference = write(tmp_path / "r", "x\tA.\nx\tB.\ny\tC.\n")
    source = write(tmp_path / "q", "x\tÄ.\nx\tÖ.\ny\tÜ.\n")
    lines = list(read_texts(reference, [], source, context=1, docids=True))
    assert lines[1] == Line(2, "x", ("A.", "B."), (), ("Ä.", "Ö."))
    assert lines[2] == Line(3, "y", ("", "C."), (), ("", "Ü."))


def test_no_context(tmp_path: Path) -> None:
    lines = list(read_texts(write(tmp_path / "r", "A.\nB.\n"), [], context=0))
    assert [line.reference for line in lines] == [("A.",), ("B.",)]


def test_files_of_other_lengths_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"1 lines, but .* has 2"):
        list(read_texts(write(tmp_path / "r", "A.\nB.\n"), [write(tmp_path / "s", "a.\n")]))


def test_a_line_without_a_docid_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 2: no tab"):
        list(read_texts(write(tmp_path / "r", "x\tA.\nB.\n"), [], docids=True))


def test_a_line_d_between_documents(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, "One.\n<d>\nTwo.\n") for name in ("r", "s")]
    lines = list(read_texts(paths[0], paths[1:], context=1))
    assert [(line.document, line.reference) for line in lines] == [("1", ("", "One.")), ("2", ("", "Two."))]


def test_signs_are_made_one_and_counted(tmp_path: Path) -> None:
    """Otherwise a measure learns by the apostrophes which text is the reference."""
    reference = write(tmp_path / "r", "It's here.\n")
    system = write(tmp_path / "s", "It’s\u00a0here.\n")
    signs: dict[str, Counter[str]] = {}
    (line,) = read_texts(reference, [system], context=0, signs=signs)
    assert line.reference == line.systems[0] == ("It's here.",)
    assert signs == {str(reference): {}, str(system): {"’": 1, "\u00a0": 1}}
