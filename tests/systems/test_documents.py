"""Documents: what comes before a sentence, and never across the end of a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.systems.documents import Sentence, read_documents


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_blank_lines_end_documents(tmp_path: Path) -> None:
    file = written(tmp_path / "talk", "One.\nTwo.\n\nThree.\nFour.\n")
    assert list(read_documents(file)) == [
        Sentence("One.", ()),
        Sentence("Two.", ("One.",)),
        Sentence("Three.", (), "\n"),
        Sentence("Four.", ("Three.",)),
    ]


def test_several_blank_lines_are_kept_as_they_are(tmp_path: Path) -> None:
    file = written(tmp_path / "talk", "\nOne.\n\n\nTwo.\n")
    assert [s.lead for s in read_documents(file)] == ["\n", "\n\n"]


def test_a_column_of_docids(tmp_path: Path) -> None:
    file = written(tmp_path / "talk", "a\tOne.\na\tTwo.\nb\tThree.\n")
    found = list(read_documents(file, docids=True))
    assert [s.before for s in found] == [(), ("One.",), ()]
    assert [s.lead for s in found] == ["a\t", "a\t", "b\t"]


def test_a_line_without_a_docid_is_an_error(tmp_path: Path) -> None:
    file = written(tmp_path / "talk", "a\tOne.\nTwo.\n")
    with pytest.raises(BadInput, match="line 2: no tab"):
        list(read_documents(file, docids=True))


def test_a_line_d_between_documents(tmp_path: Path) -> None:
    file = written(tmp_path / "talk", "One.\n<d>\nTwo.\n")
    assert list(read_documents(file)) == [Sentence("One.", ()), Sentence("Two.", (), "<d>\n")]
