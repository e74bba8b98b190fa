"""An archive from the network may be damaged or hostile: it is unpacked below one folder, whole, or not at all."""

from __future__ import annotations

import gzip
import io
import random
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites import archive as archive_module
from anaphora.suites.archive import extract
from tests.memory import PRINT_PEAK

FILES = {"repo-c8b/README": b"hello", "repo-c8b/data/a/en.txt": b"It rained.\n", "repo-c8b/data/b.txt": b""}


def make_tar(path: Path, files: dict[str, bytes], extra: list[tarfile.TarInfo] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as tape:
        for info in extra or []:
            tape.addfile(info)
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tape.addfile(info, io.BytesIO(content))
    return path


def make_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in files.items():
            bundle.writestr(name, content)
    return path


MAKERS = pytest.mark.parametrize("make", [make_tar, make_zip])
Maker = Callable[[Path, dict[str, bytes]], Path]


def noise(size: int) -> bytes:
    """Bytes that do not compress, the same each time."""
    return random.Random(size).randbytes(size)


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(archive: Path, tmp_path: Path, message: str) -> None:
    """Unpacking fails with this message, and leaves everything as it was."""
    before = tree(tmp_path)
    with pytest.raises(BadInput, match=message) as error:
        extract(archive, tmp_path / "into")
    assert str(archive) in str(error.value)
    assert tree(tmp_path) == before
    assert not (tmp_path / "into").exists()


@MAKERS
def test_all_files_are_unpacked(tmp_path: Path, make: Maker) -> None:
    taken = extract(make(tmp_path / "x", FILES), tmp_path / "deep" / "into")
    assert tree(tmp_path / "deep" / "into") == FILES
    assert sorted(path.as_posix() for path in taken) == sorted(FILES)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["into"]  # nothing temporary stays


@MAKERS
def test_leading_folders_are_dropped_and_members_chosen(tmp_path: Path, make: Maker) -> None:
    taken = extract(make(tmp_path / "x", FILES), tmp_path / "into", strip=2, members=["a/"])
    assert taken == [PurePosixPath("a/en.txt")]
    assert tree(tmp_path / "into") == {"a/en.txt": b"It rained.\n"}


def test_a_member_above_the_dropped_folders_is_left_out(tmp_path: Path) -> None:
    assert extract(make_tar(tmp_path / "x", {"README": b"", "a/b": b"1"}), tmp_path / "into", strip=1) == [
        PurePosixPath("b")
    ]


def test_a_folder_that_is_there_keeps_its_other_files(tmp_path: Path) -> None:
    (tmp_path / "into").mkdir()
    (tmp_path / "into" / "mine").write_bytes(b"mine")
    (tmp_path / "into" / "a").write_bytes(b"old")
    extract(make_tar(tmp_path / "x", {"a": b"new"}), tmp_path / "into")
    assert tree(tmp_path / "into") == {"mine": b"mine", "a": b"new"}


def test_a_new_folder_appears_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "replace", lambda *_: pytest.fail("the files were moved one by one"))
    extract(make_tar(tmp_path / "x", FILES), tmp_path / "into")
    assert tree(tmp_path / "into") == FILES


def test_unpacked_files_are_readable_by_others_as_new_files_are(tmp_path: Path) -> None:
    extract(make_tar(tmp_path / "x", {"a": b""}), tmp_path / "into")
    (tmp_path / "plain").touch()
    assert (tmp_path / "into" / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


@MAKERS
@pytest.mark.parametrize(
    "name", ["../evil", "a/../../evil", "/tmp/evil", "//evil", "C:/evil", "C:\\evil", "a\\..\\evil"]
)
def test_a_path_that_leads_outside_is_refused(tmp_path: Path, make: Maker, name: str) -> None:
    refused(make(tmp_path / "x", {"good": b"1", name: b"2"}), tmp_path, "leads outside")


def test_a_path_that_leads_outside_is_refused_even_where_it_would_not_be_taken(tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "x", {"a/good": b"1", "../evil": b"2"})
    with pytest.raises(BadInput, match="leads outside"):
        extract(archive, tmp_path / "into", members=["a/"])
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize("target", ["/etc", "..", "a"])
def test_a_symbolic_link_and_what_is_written_through_it_are_refused(tmp_path: Path, target: str) -> None:
    archive = make_tar(tmp_path / "x", {"link/evil": b"2"}, [special("link", tarfile.SYMTYPE, target)])
    refused(archive, tmp_path, "link is a link")


def test_a_hard_link_is_refused(tmp_path: Path) -> None:
    refused(make_tar(tmp_path / "x", {}, [special("hard", tarfile.LNKTYPE, "/etc/passwd")]), tmp_path, "is a link")


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    refused(make_tar(tmp_path / "x", {}, [special("device", kind)]), tmp_path, "is a device")


def test_a_symbolic_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "x", "w") as bundle:
        bundle.writestr(info, "/etc/passwd")
    refused(tmp_path / "x", tmp_path, "link is a link")


def test_a_link_among_members_that_are_not_taken_does_no_harm(tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "x", {"a/good": b"1"}, [special("docs/link", tarfile.SYMTYPE, "../a")])
    assert extract(archive, tmp_path / "into", members=["a/"]) == [PurePosixPath("a/good")]


@pytest.mark.parametrize("again", ["a/b", "A/B", "./a/b", "a//b"])
def test_a_file_that_comes_twice_is_refused(tmp_path: Path, again: str) -> None:
    with tarfile.open(tmp_path / "x", "w:gz") as tape:
        tape.addfile(tarfile.TarInfo("a/b"))
        tape.addfile(tarfile.TarInfo(again))
    refused(tmp_path / "x", tmp_path, "comes twice")


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    refused(make_tar(tmp_path / "x", {"a": b"1", "a/b": b"2"}), tmp_path, "cannot be unpacked")


@MAKERS
def test_what_unpacks_to_more_than_allowed_is_refused(tmp_path: Path, make: Maker) -> None:
    archive = make(tmp_path / "x", {"one": b"0" * 60_000, "two": b"0" * 60_000})
    with pytest.raises(BadInput, match=r"unpacks to more than allowed \(at two\)"):
        extract(archive, tmp_path / "into", limit=100_000)
    assert not (tmp_path / "into").exists()
    assert len(extract(archive, tmp_path / "into", limit=120_000)) == 2


@MAKERS
@pytest.mark.parametrize("keep", [0.2, 0.6, 0.95])
def test_a_truncated_archive_is_an_error_and_leaves_nothing(tmp_path: Path, make: Maker, keep: float) -> None:
    archive = make(tmp_path / "x", {"one": noise(100_000), "two": noise(100_000)})
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(len(whole) * keep)])
    refused(archive, tmp_path, "not a whole tar or zip archive")


@MAKERS
def test_damaged_bytes_are_an_error_and_leave_nothing(tmp_path: Path, make: Maker) -> None:
    archive = make(tmp_path / "x", {"one": noise(100_000)})
    whole = bytearray(archive.read_bytes())
    whole[50_000] ^= 0xFF
    archive.write_bytes(whole)
    refused(archive, tmp_path, "not a whole tar or zip archive")


def test_what_is_no_archive_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"<html>404</html>")
    refused(tmp_path / "x", tmp_path, "not a whole tar or zip archive")


def test_an_archive_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        extract(tmp_path / "x", tmp_path / "into")


# Names and numbers that are none


def pax(name: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo("short")
    info.pax_headers = {"path": name}
    return info


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "a\x1b[2Jb", "x" * 256, "d/" * 600 + "x", "\u202eevil"])
def test_names_that_are_none_are_refused(tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "x", "w", format=tarfile.PAX_FORMAT) as tape:
        tape.addfile(pax(name))
    refused(tmp_path / "x", tmp_path, "is not a name for a file")


def test_names_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x", "w", format=tarfile.GNU_FORMAT) as tape:
        tape.addfile(tarfile.TarInfo("a\udcffb"))
    refused(tmp_path / "x", tmp_path, "is not a name for a file")
    make_zip(tmp_path / "y", {"é.txt": b"1"})
    data = (tmp_path / "y").read_bytes()
    (tmp_path / "y").write_bytes(data.replace("é".encode(), b"\xff\xfe"))
    refused(tmp_path / "y", tmp_path, "not a whole tar or zip archive")


@pytest.mark.parametrize(("place", "size"), [(100, 8), (108, 8), (124, 12), (136, 12), (148, 8)])
@pytest.mark.parametrize("value", [b"\xff" * 12, b"\x80" + b"\xff" * 11, b"99999999999 ", b"-0000001    ", b"zz" * 6])
def test_odd_numbers_are_refused_or_harmless(tmp_path: Path, place: int, size: int, value: bytes) -> None:
    with tarfile.open(tmp_path / "x", "w", format=tarfile.GNU_FORMAT) as tape:
        tape.addfile(tarfile.TarInfo("a"))
    data = bytearray((tmp_path / "x").read_bytes())
    data[place : place + size] = value[:size]
    data[148:156] = b"        "
    data[148:156] = b"%06o\0 " % sum(data[:512]) if place != 148 else value[:8]
    (tmp_path / "x").write_bytes(data)
    try:
        assert extract(tmp_path / "x", tmp_path / "into") in ([], [PurePosixPath("a")])
    except BadInput as error:
        assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("make", [make_tar, make_zip])
def test_every_damage_is_a_refusal_or_harmless(tmp_path: Path, make: Maker) -> None:
    """Bytes of an archive are changed in turn; nothing is ever written outside."""
    good = make(tmp_path / "x", FILES).read_bytes()
    refusals = 0
    for position in range(0, len(good), 2):
        for change in (0x01, 0xFF):
            (tmp_path / "x").write_bytes(good[:position] + bytes([good[position] ^ change]) + good[position + 1 :])
            try:
                extract(tmp_path / "x", tmp_path / "into")
            except BadInput as error:
                refusals += "\n" not in str(error)
            shutil.rmtree(tmp_path / "into", ignore_errors=True)
            assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert refusals > len(good) / 4


# Limits


@MAKERS
def test_the_number_of_members_is_limited(tmp_path: Path, make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "MAX_MEMBERS", 2)
    refused(make(tmp_path / "x", FILES), tmp_path, "has more than 2 members")


def test_what_is_passed_over_is_limited_too(tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "x", {"docs/large": bytes(1_000_000), "a/b": b"1"})
    with pytest.raises(BadInput, match="is longer than"):
        extract(archive, tmp_path / "into", members=["a/"], limit=1000)


UNPACK = """
import resource, sys
from pathlib import Path
from anaphora.core.errors import BadInput
from anaphora.suites.archive import extract
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    extract(Path(sys.argv[1]), Path(sys.argv[2]), limit=10_000_000)
except BadInput as error:
    print(error, file=sys.stderr)
"""
UNPACK += PRINT_PEAK


def tar_bomb(path: Path, kind: bytes, size: int, times: int = 1) -> None:
    """A tar archive with headers of a kind and a size."""
    info = tarfile.TarInfo("header")
    info.type, info.size = kind, size
    with gzip.open(path, "wb", 1) as out:
        for _ in range(times):
            out.write(info.tobuf(tarfile.GNU_FORMAT))
            for _ in range(size >> 20):
                out.write(b"1" * (1 << 20))
            out.write(b"1" * (size % (1 << 20)))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("bomb", ["pax", "long name", "many long names", "file", "zip names", "zip member"])
def test_bombs_stay_below_500_mb(tmp_path: Path, bomb: str) -> None:
    path = tmp_path / "x"
    if bomb == "pax":
        tar_bomb(path, tarfile.XHDTYPE, 700 << 20)
    elif bomb == "long name":
        tar_bomb(path, tarfile.GNUTYPE_LONGNAME, 700 << 20)
    elif bomb == "many long names":
        tar_bomb(path, tarfile.GNUTYPE_LONGNAME, 1 << 16, 2000)
    elif bomb == "file":
        tar_bomb(path, tarfile.REGTYPE, 700 << 20)
    elif bomb == "zip names":
        with zipfile.ZipFile(path, "w") as bundle:
            for n in range(66_000):
                bundle.writestr(f"{n}", b"")
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle, bundle.open("a", "w") as member:
            for _ in range(700):
                member.write(bytes(1 << 20))
    command = [sys.executable, "-c", UNPACK, str(path), str(tmp_path / "into")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert done.stderr.count("\n") == 1
    assert int(done.stdout) < 500
    assert not (tmp_path / "into").exists()
