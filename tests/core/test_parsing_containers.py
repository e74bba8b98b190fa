"""XML and zip files from outside: whatever is wrong with them is one sentence that names the file."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from anaphora.core import parsing as containers
from anaphora.core.errors import BadInput
from anaphora.core.parsing import open_member, open_zip, xml_events

HERE = Path("some.xml")


def test_xml_comes_as_events() -> None:
    events = [(event, element.tag) for event, element in xml_events(io.BytesIO(b"<a><b>x</b></a>"), HERE)]
    assert events == [("start", "a"), ("start", "b"), ("end", "b"), ("end", "a")]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<a>",
        b"<a></b>",
        b"\0",
        b"<?xml version='1.0' encoding='klingon'?><a/>",
        b"<?xml version='1.0' encoding='utf-7'?><a/>",
        b"<?xml version='1.0' encoding='big5'?><a/>",
        b"<a>&b;</a>",
        b"<a>" * 2000 + b"</a>" * 2000,
    ],
)
def test_what_is_not_xml_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput, match=r"some\.xml: (line \d+: )?not XML"):
        list(xml_events(io.BytesIO(data), HERE))


def test_text_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MAX_ELEMENT", 1 << 20)
    with pytest.raises(BadInput, match=r"some\.xml: cannot be read as XML: 1 MB without a tag"):
        list(xml_events(io.BytesIO(b"<a>" + b"x" * (2 << 20) + b"</a>"), HERE))


def test_a_damaged_zip_names_the_member(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in.xml", "<a>" + "x" * 1000 + "</a>")
    whole = path.read_bytes()
    with open_zip(path) as archive:
        assert list(xml_events(open_member(archive, "in.xml", path), path))[-1][0] == "end"
        with pytest.raises(BadInput, match=r"x\.zip: no: cannot be read"):
            open_member(archive, "no", path)
    path.write_bytes(whole[:40] + b"\xff\xff" + whole[42:])
    with open_zip(path) as archive, pytest.raises(BadInput, match=r"x\.zip: damaged"):
        list(xml_events(open_member(archive, "in.xml", path), path))
    path.write_bytes(whole[:30])
    with pytest.raises(BadInput, match=r"x\.zip: cannot be read as a zip file"):
        open_zip(path)
