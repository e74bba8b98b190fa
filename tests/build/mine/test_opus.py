"""OPUS as it is downloaded: an alignment file, and XML in folders or zips, with words marked or not."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from anaphora.build.mine.opus import detokenised, read_opus
from anaphora.core.errors import BadInput

LINKS = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE cesAlign PUBLIC "-//CES//DTD XML cesAlign//EN" "">
<cesAlign version="1.0">
 <linkGrp targType="s" fromDoc="en/1999/1/11.xml.gz" toDoc="de/1999/1/22.xml.gz">
  <link id="SL0" xtargets="1;1" overlap="0.9"/>
  <link id="SL1" xtargets="2 3;2"/>
  <link id="SL2" xtargets="4;"/>
  <link id="SL3" xtargets=";3"/>
 </linkGrp>
 <linkGrp targType="s" fromDoc="en/2000/2/33.xml.gz" toDoc="de/2000/2/44.xml.gz">
  <link id="SL0" xtargets="1;1"/>
 </linkGrp>
</cesAlign>
"""
ENGLISH = """<?xml version="1.0" encoding="utf-8"?>
<document id="11"><s id="1"><time id="T1S" value="00:00:01"/>
<w id="1.1">It</w><w id="1.2">'s</w> <w>broken</w><w>.</w></s>
<s id="2"><w>So</w><w>,</w><w>(</w><w>well</w><w>)</w></s><s id="3"><w>Do</w><w>n't</w><w>!</w></s>
<s id="4"><w>Why</w><w>?</w></s>
</document>"""
GERMAN = """<?xml version="1.0" encoding="utf-8"?>
<document id="22"><s id="1">
  <time id="T1S" value="00:00:01"/>
Sie ist
kaputt.<time id="T1E" value="00:00:02"/></s><s id="2">Tja &amp; also!</s><s id="3">Ach.</s></document>"""
OTHER = '<document><s id="1">One.</s></document>'

EXPECTED = [
    ("1999/1/11=22", "It's broken.", "Sie ist kaputt."),
    ("1999/1/11=22", "So, (well) Don't!", "Tja & also!"),
    ("1999/1/11=22", "Why?", ""),
    ("1999/1/11=22", "", "Ach."),
    ("2000/2/33=44", "One.", "One."),
]
FILES = {
    "en/1999/1/11.xml": ENGLISH,
    "de/1999/1/22.xml": GERMAN,
    "en/2000/2/33.xml": OTHER,
    "de/2000/2/44.xml": OTHER,
}


@pytest.fixture
def links(tmp_path: Path) -> Path:
    path = tmp_path / "de-en.xml.gz"
    path.write_bytes(gzip.compress(LINKS.encode()))
    return path


def read(links: Path, source: Path, target: Path) -> list[tuple[str, str, str]]:
    return [(name, pair.source, pair.target) for name, pair in read_opus(links, source, target)]


@pytest.mark.parametrize("start", ["", "xml/", "raw/"])
@pytest.mark.parametrize("gzipped", [True, False])
def test_folders(tmp_path: Path, links: Path, start: str, gzipped: bool) -> None:
    for name, text in FILES.items():
        path = tmp_path / "OpenSubtitles" / f"{start}{name}{'.gz' if gzipped else ''}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if gzipped else text.encode())
    folder = tmp_path / "OpenSubtitles"
    assert read(links, folder, folder) == EXPECTED


def test_a_folder_for_each_language(tmp_path: Path, links: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert read(links, tmp_path / "en", tmp_path / "de") == EXPECTED


@pytest.mark.parametrize("end", ["", ".gz"])
def test_zips(tmp_path: Path, links: Path, end: str) -> None:
    for code in ("en", "de"):
        with zipfile.ZipFile(tmp_path / f"{code}.zip", "w") as out:
            for name, text in FILES.items():
                if name.startswith(code):
                    data = gzip.compress(text.encode()) if end else text.encode()
                    out.writestr(f"OpenSubtitles/xml/{name}{end}", data)
    assert read(links, tmp_path / "en.zip", tmp_path / "de.zip") == EXPECTED


def test_words_become_a_line() -> None:
    assert (
        detokenised(["He", "said", ":", '"', "It", "'s", "(", "not", ")", "mine", ".", '"'])
        == 'He said: "It\'s (not) mine."'
    )
    assert detokenised(["„", "So", "?"]) == "„So?"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (LINKS[:300], "not XML that can be read"),
        ("<corpus/>", "no alignment file of OPUS: no <cesAlign>"),
        (LINKS.replace(' toDoc="de/1999/1/22.xml.gz"', ""), "a <linkGrp> without fromDoc or toDoc"),
        (LINKS.replace("1;1", "1", 1), "a link without xtargets of two sides"),
        (LINKS.replace("4;", "5;"), "en/1999/1/11.xml.gz has no sentence '5'"),
        (LINKS.replace("en/1999", "en/1998"), "en/1998/1/11.xml.gz is not in it"),
    ],
)
def test_what_does_not_fit(tmp_path: Path, text: str, problem: str) -> None:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    links = tmp_path / "links.xml"
    links.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        read(links, tmp_path, tmp_path)
    assert problem in str(error.value)


def test_a_document_that_is_damaged_and_a_zip_that_is_none(tmp_path: Path, links: Path) -> None:
    (tmp_path / "en.zip").write_text("no zip")
    with pytest.raises(BadInput, match="neither a folder nor a zip"):
        read(links, tmp_path / "en.zip", tmp_path)
    with pytest.raises(BadInput, match="no such file or folder"):
        read(links, tmp_path / "fr.zip", tmp_path)
    path = tmp_path / "en/1999/1/11.xml"
    path.parent.mkdir(parents=True)
    path.write_text(ENGLISH[:200], encoding="utf-8")
    with pytest.raises(BadInput, match=r"en/1999/1/11.xml.gz: not XML that can be read"):
        read(links, tmp_path, tmp_path)
