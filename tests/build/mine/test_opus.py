"""OPUS as it is downloaded: an alignment file, and XML in folders or zips, with words marked or not."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest

from anaphora.build.mine import opus
from anaphora.build.mine.opus import detokenized, read_opus
from anaphora.core.errors import BadInput
from tests.memory import PRINT_PEAK

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
        detokenized(["He", "said", ":", '"', "It", "'s", "(", "not", ")", "mine", ".", '"'])
        == 'He said: "It\'s (not) mine."'
    )
    assert detokenized(["„", "So", "?"]) == "„So?"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (LINKS[:300], "not XML"),
        ("<corpus/>", "not an OPUS alignment file: no <cesAlign>"),
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


def test_damaged_documents_and_invalid_zip_files_are_errors(tmp_path: Path, links: Path) -> None:
    (tmp_path / "en.zip").write_text("no zip")
    with pytest.raises(BadInput, match="neither a folder nor a zip"):
        read(links, tmp_path / "en.zip", tmp_path)
    with pytest.raises(BadInput, match="no such file or folder"):
        read(links, tmp_path / "fr.zip", tmp_path)
    path = tmp_path / "en/1999/1/11.xml"
    path.parent.mkdir(parents=True)
    path.write_text(ENGLISH[:200], encoding="utf-8")
    with pytest.raises(BadInput, match=r"en/1999/1/11.xml.gz: line \d: not XML"):
        read(links, tmp_path, tmp_path)


# Hostile files


def write_documents(folder: Path, **other: bytes) -> None:
    for name, content in {**{name: text.encode() for name, text in FILES.items()}, **other}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@pytest.mark.parametrize("side", ["en/1999/1/11.xml.gz", "de/1999/1/22.xml.gz"])
@pytest.mark.parametrize(
    "name",
    ["../secret.xml", "en/../../secret.xml", "{folder}/secret.xml", "..\\secret.xml", "c:/secret.xml", "..", "en/.."],
)
def test_documents_stay_inside_their_folder(tmp_path: Path, side: str, name: str) -> None:
    write_documents(tmp_path / "data")
    (tmp_path / "secret.xml").write_text(OTHER)
    links = tmp_path / "links.xml"
    links.write_text(LINKS.replace(side, name.replace("{folder}", str(tmp_path))), encoding="utf-8")
    with pytest.raises(BadInput, match="which leads outside the folder of the documents"):
        read(links, tmp_path / "data", tmp_path / "data")


@pytest.mark.parametrize(
    "content",
    [
        b'<?xml version="1.0" encoding="no-such-encoding"?><document/>',
        b'<?xml version="1.0" encoding="utf-32"?><document/>',
        b'<?xml version="1.0" encoding="utf-8"?><document>\xff</document>',
        b"<s>" * 2000,
        b"",
        b'<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">'
        + b"".join(b'<!ENTITY %c "%b">' % (n + 1, b"&%c;" % n * 10) for n in range(ord("a"), ord("j")))
        + b"]><d><s id='1'>&j;</s></d>",
    ],
)
def test_damaged_documents_are_one_line(tmp_path: Path, links: Path, content: bytes) -> None:
    write_documents(tmp_path, **{"en/1999/1/11.xml": content})
    with pytest.raises(BadInput) as caught:
        read(links, tmp_path, tmp_path)
    assert "\n" not in str(caught.value)


def test_damaged_members_of_a_zip_are_one_line(tmp_path: Path, links: Path) -> None:
    """Every byte of a small zip is changed in turn: the text, an error of ours, and nothing else."""
    write_documents(tmp_path)
    path = tmp_path / "en.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in FILES.items():
            if name.startswith("en"):
                out.writestr(name, text)
    good, refused = path.read_bytes(), 0
    for position in range(0, len(good), 3):
        for change in (0x01, 0x80):
            path.write_bytes(good[:position] + bytes([good[position] ^ change]) + good[position + 1 :])
            try:
                read(links, path, tmp_path)
            except BadInput as error:
                refused += "\n" not in str(error)
    assert refused > 50


def zipped(path: Path, name: str, start: bytes, piece: bytes, megabytes: int) -> None:
    """A zip whose one member is a piece again and again; it is compressed once, and its compressed form repeated."""
    block = piece * (1_000_000 // len(piece) + 1)
    packer = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
    head = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    body = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = zlib.crc32(start)
    for _ in range(megabytes):
        checksum = zlib.crc32(block, checksum)
    with zipfile.ZipFile(path, "w") as out:
        with out.open(name, "w") as member:
            member.write(head)
            for _ in range(megabytes):
                member.write(body)
            member.write(packer.flush())
        info = out.getinfo(name)  # written as it is: say what it is
        info.compress_type, info.CRC = zipfile.ZIP_DEFLATED, checksum
        info.file_size = len(start) + megabytes * len(block)
        assert out.fp is not None
        out.fp.seek(info.header_offset)
        out.fp.write(info.FileHeader(False))
        out.fp.seek(out.start_dir)


READER = """
import resource, sys
from pathlib import Path
from anaphora.build.mine.opus import read_opus
from anaphora.core.errors import BadInput
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
try:
    for _ in read_opus(*map(Path, sys.argv[1:])):
        pass
except BadInput as error:
    print(error, file=sys.stderr)
"""
READER += PRINT_PEAK


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("piece", "problem"),
    [
        (b"x" * 100, "without a tag"),
        (b"<w>x</w>", "a sentence of more than 100,000 words"),
        (b"</s><p a='" + b"x" * 20_000 + b"'/><s>", "more than 512 MB of XML"),
        (b"</s><s>%d" % 7 + b"y" * 100_000, "characters"),
    ],
)
def test_huge_members_stay_below_500_mb(tmp_path: Path, links: Path, piece: bytes, problem: str) -> None:
    write_documents(tmp_path)
    zipped(tmp_path / "en.zip", "en/1999/1/11.xml", b"<document><s>", piece, 600)
    command = [sys.executable, "-c", READER, str(links), str(tmp_path / "en.zip"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert problem in done.stderr
    assert int(done.stdout) < 500


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_many_sentences_and_links_stay_below_500_mb(tmp_path: Path, links: Path) -> None:
    """A fifth of what the limits allow: what it takes, five times, is what all of it would take."""
    write_documents(tmp_path)

    def peak() -> int:
        command = [sys.executable, "-c", READER, str(links), str(tmp_path), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.stderr == ""
        return int(done.stdout)

    least = peak()
    sentences = opus.MAX_SENTENCES // 5
    one = b"".join(b'<s id="%d">x</s>' % n for n in range(sentences))
    (tmp_path / "en/1999/1/11.xml").write_bytes(b"<document>" + one + b"</document>")
    (tmp_path / "de/1999/1/22.xml").write_bytes(b"<document>" + one + b"</document>")
    more = opus.MAX_LINKS // 5 - sentences - 10
    many = "".join(f'<link xtargets="{n};{n}"/>' for n in range(sentences)) + '<link xtargets="1;1"/>' * more
    links.write_text(LINKS.partition("<link ")[0] + many + "</linkGrp></cesAlign>")
    assert least + 5 * (peak() - least) < 500


def test_links_between_two_documents_are_limited(tmp_path: Path, links: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_documents(tmp_path)
    for name in ("MAX_LINKS", "MAX_TEXT"):
        with monkeypatch.context() as patch:
            patch.setattr(opus, name, 3)
            with pytest.raises(BadInput, match="between two documents"):
                read(links, tmp_path, tmp_path)
    monkeypatch.setattr(opus, "MAX_LINE", 5)
    with pytest.raises(BadInput, match="a link of more than 5 characters"):
        read(links, tmp_path, tmp_path)
