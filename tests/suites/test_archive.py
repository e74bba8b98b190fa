"""An archive from the network may be damaged or hostile: it is unpacked below one folder, whole, or not at all."""

from __future__ import annotations

import io
import random
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.archive import extract

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
