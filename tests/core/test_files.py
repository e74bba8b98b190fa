"""Text files as the field has them: gzipped or not, from any machine, sometimes broken. What is read is what is there,
or an error names the file and the line; what is written is there as a whole or not at all."""

from __future__ import annotations

import gc
import gzip
import os
import stat
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.core.files import atomic_writer, byte_lines, existing, open_binary, require, text_lines, write_atomic
from anaphora.core.parsing import read_json


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    def make(content: bytes, name: str = "some.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return make


# reading


def test_lines_come_without_their_ends(file) -> None:
    assert list(text_lines(file(b"one\ntwo\n"))) == ["one", "two"]


def test_a_last_line_without_an_end_is_a_line(file) -> None:
    assert list(text_lines(file(b"one\ntwo"))) == ["one", "two"]


def test_an_empty_file_has_no_lines(file) -> None:
    assert list(text_lines(file(b""))) == []
    assert list(text_lines(file(b"\n\nx\n\n"))) == ["", "", "x", ""]


def test_windows_line_ends_are_not_part_of_the_text(file) -> None:
    assert list(text_lines(file(b"one\r\ntwo\r\n"))) == ["one", "two"]


def test_only_a_newline_ends_a_line(file) -> None:
    """str.splitlines would also cut at these, and the files of a pair would no longer go together."""
    text = "one\u2028still one\x85still\x0cstill\rone"
    assert list(text_lines(file(f"{text}\ntwo\n".encode()))) == [text, "two"]


def test_a_byte_order_mark_is_dropped_only_at_the_start(file) -> None:
    assert list(text_lines(file(b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n"))) == ["one", "\ufefftwo"]


def test_gzip_is_known_by_its_bytes_not_by_its_name(file) -> None:
    assert list(text_lines(file(gzip.compress(b"one\ntwo\n"), "plain.txt"))) == ["one", "two"]
    assert list(text_lines(file(b"one\ntwo\n", "named.gz"))) == ["one", "two"]


def test_gzip_members_put_one_after_the_other_are_one_file(file) -> None:
    """`cat a.gz b.gz`"""
    assert list(text_lines(file(gzip.compress(b"one\n") + gzip.compress(b"two\n")))) == ["one", "two"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_no_file_is_left_open(file, pack) -> None:
    path = file(pack(b"one\ntwo\nthree\n"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(text_lines(path)) == ["one", "two", "three"]
        begun = text_lines(path)
        next(begun)
        begun.close()
        with open_binary(path) as stream:
            stream.read()
        del begun, stream
        gc.collect()
    assert [str(w.message) for w in caught] == []


def test_lines_before_a_truncation_are_given_then_the_error(file) -> None:
    whole = gzip.compress(os.urandom(100_000).hex().encode() + b"\nlast\n")
    path = file(gzip.compress(b"first\n") + whole[: len(whole) // 2])
    lines = byte_lines(path)
    assert next(lines) == b"first"
    with pytest.raises(BadInput, match=r"some\.txt: line 2: the gzip file is truncated\. Copy or download it again\."):
        list(lines)


def test_a_gzip_that_ends_in_its_header_is_truncated(file) -> None:
    with pytest.raises(BadInput, match="truncated"):
        list(text_lines(file(gzip.compress(b"some text\n")[:5])))


def test_changed_bytes_in_a_gzip_are_noticed(file) -> None:
    packed = bytearray(gzip.compress(b"some text that is long enough to be changed in the middle\n", compresslevel=0))
    packed[30] ^= 0x01  # the checksum at the end no longer fits
    with pytest.raises(BadInput, match="the gzip file is damaged"):
        list(text_lines(file(bytes(packed))))
    packed = bytearray(gzip.compress(os.urandom(2000).hex().encode()))
    packed[10] = 0xFF  # no such kind of block
    with pytest.raises(BadInput, match=r"line 1: the gzip file is damaged"):
        list(text_lines(file(bytes(packed))))


def test_text_after_a_gzip_is_damage(file) -> None:
    with pytest.raises(BadInput, match="damaged"):
        list(text_lines(file(gzip.compress(b"one\n") + b"and then some text")))


def test_invalid_utf8_is_located_by_line_and_position(file) -> None:
    path = file("eins\nMüller\n".encode("latin-1"))
    with pytest.raises(BadInput) as caught:
        list(text_lines(path))
    assert caught.value.line == 2
    assert caught.value.problem == "not UTF-8 at byte 2 of the line (0xfc)"
    assert "iconv" in caught.value.remedy


def test_lines_before_the_bad_bytes_are_given(file) -> None:
    lines = text_lines(file(b"good\n\xff\n"))
    assert next(lines) == "good"
    with pytest.raises(BadInput, match="line 2: not UTF-8"):
        next(lines)


def test_a_missing_file_and_a_folder_are_named_errors(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"absent\.txt: no such file$"):
        list(text_lines(tmp_path / "absent.txt"))
    with pytest.raises(BadInput, match="is a directory"):
        list(text_lines(tmp_path))


def test_json_may_be_gzipped_and_from_windows(file) -> None:
    assert read_json(file(gzip.compress(b'\xef\xbb\xbf{"a":\r\n [1, "\xc3\xa9"]}'))) == {"a": [1, "é"]}


def test_broken_json_is_found_by_its_line(file) -> None:
    with pytest.raises(BadInput) as caught:
        read_json(file(b'[\n  {"a": 1},\n  {"a": oops}\n]'))
    assert caught.value.line == 3
    assert str(caught.value).startswith(f"{caught.value.path}: line 3: not JSON: ")


def test_a_file_is_found_plain_or_gzipped_plain_first(tmp_path: Path) -> None:
    assert existing(tmp_path, "en.txt") is None
    (tmp_path / "en.txt.gz").write_bytes(b"")
    assert existing(tmp_path, "en.txt") == tmp_path / "en.txt.gz"
    (tmp_path / "en.txt").write_bytes(b"")
    assert existing(tmp_path, "en.txt") == tmp_path / "en.txt"


def test_a_folder_of_that_name_is_not_the_file(tmp_path: Path) -> None:
    (tmp_path / "en.txt").mkdir()
    assert existing(tmp_path, "en.txt") is None


def test_a_required_file_error_names_it_and_its_purpose(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"en\.txt \(or en\.txt\.gz\) is missing here\. It has the sources\.$"):
        require(tmp_path, "en.txt", "It has the sources.")
    with pytest.raises(BadInput, match=r"absent: no such directory"):
        require(tmp_path / "absent", "en.txt")
    (tmp_path / "en.txt").write_bytes(b"")
    assert require(tmp_path, "en.txt") == tmp_path / "en.txt"
    with pytest.raises(BadInput, match=r"en\.txt: not a directory\. Name the directory that has de\.txt \(or"):
        require(tmp_path / "en.txt", "de.txt", "Choose another split.")


def test_a_missing_file_names_a_file_of_a_similar_name(tmp_path: Path) -> None:
    for name in ("baseline.scores", ".baseline.score", "other"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(BadInput, match=r"baselin\.score: no such file \(did you mean baseline\.scores\?\)$"):
        open_binary(tmp_path / "baselin.score")
    with pytest.raises(BadInput, match=r"unlike: no such file$"):
        open_binary(tmp_path / "unlike")
    with pytest.raises(BadInput, match=r"baseline\.scores: no such file$"):
        open_binary(tmp_path / "absent" / "baseline.scores")


# writing


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "out.txt"
    with atomic_writer(path) as out:
        out.write(b"one\n")
        out.flush()
        assert not path.exists()
    assert path.read_bytes() == b"one\n"
    assert list(path.parent.iterdir()) == [path]


def break_off(path: Path, error: type[BaseException]) -> None:
    with atomic_writer(path) as out:
        out.write(b"half of the new" * 10_000)
        raise error


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        break_off(path, ZeroDivisionError)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_stop_by_the_user_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        break_off(tmp_path / "out.txt", KeyboardInterrupt)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(b"a much longer old content")
    with atomic_writer(path) as out:
        out.write(b"new")
    assert path.read_bytes() == b"new"


def test_gz_files_are_compressed_to_the_same_bytes_every_time(tmp_path: Path) -> None:
    paths = [tmp_path / "one.gz", tmp_path / "other.gz"]
    for path in paths:
        with atomic_writer(path) as out:
            out.write(b"text\n" * 100)
    assert gzip.decompress(paths[0].read_bytes()) == b"text\n" * 100
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_bytes()[4:8] == b"\0\0\0\0"  # no time is in it


def test_new_files_have_the_permissions_of_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        with atomic_writer(tmp_path / "out.txt") as out:
            out.write(b"")
        assert os.umask(0o027) == 0o027  # it is put back
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == 0o640


def test_a_path_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BadInput, match=r"out\.txt: cannot be written: "), atomic_writer(tmp_path / "file" / "out.txt"):
        pass


@pytest.mark.parametrize("name", ["a\0b", "a\0b/out.txt"])
def test_a_nul_byte_is_in_no_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"a\\x00b\S*: not a file name"), atomic_writer(tmp_path / name):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(BadInput, match="out: cannot be written: a folder"), atomic_writer(folder):
        pass
    assert list(tmp_path.iterdir()) == [folder]


def test_a_pipe_or_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    """`-o /dev/null` as root must not replace /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BadInput, match="pipe: cannot be written: not a regular file"), atomic_writer(pipe):
        pass
    assert pipe.is_fifo()


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_json_has_no_nan_and_no_infinity(file, constant: str) -> None:
    with pytest.raises(BadInput, match=rf"cannot be read as JSON: {constant} is not a number"):
        read_json(file(f'{{"a": {constant}}}'.encode()))


def test_bytes_are_written_as_they_are_whatever_the_name(tmp_path: Path) -> None:
    write_atomic(tmp_path / "shard.gz", b"already compressed")
    assert (tmp_path / "shard.gz").read_bytes() == b"already compressed"
