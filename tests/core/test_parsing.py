"""JSON, TOML, CSV and numbers from outside: whatever is wrong with them is one sentence that names the file."""

from __future__ import annotations

import gzip
import io
import time
import zipfile
from pathlib import Path

import pytest

from anaphora.core import files, parsing
from anaphora.core.errors import BadInput
from anaphora.core.files import byte_lines, open_binary, read_bytes, read_text, text_lines
from anaphora.core.parsing import (
    expecting,
    get,
    is_count,
    json_record,
    open_member,
    open_zip,
    parse_json,
    parse_json_line,
    parse_toml,
    read_json,
    read_toml,
    shown,
    table_rows,
    whole_number,
    xml_events,
)

HERE = Path("some.file")
BAD_JSON = {
    "digits": "1" * 5001,
    "exponent": "1e400",
    "NaN": "NaN",
    "minus infinity": "-Infinity",
    "nested": "[" * 3000,
    "nested and whole": "[" * 500 + "]" * 500,
    "nested objects": '{"a":' * 101 + "1" + "}" * 101,
    "surrogate": r'"\ud800"',
    "surrogate as a key": r'{"a\udfff": 1}',
    "empty": "",
    "two values": "1 2",
    "NUL": "\0",
}


@pytest.mark.parametrize("text", BAD_JSON.values(), ids=BAD_JSON)
@pytest.mark.parametrize("around", ["{}", '{{"a": [{}]}}', " {} "])
def test_json_that_cannot_be_used_is_refused(text: str, around: str, tmp_path: Path) -> None:
    if not text and "a" in around:
        pytest.skip("an empty list is fine")
    document = around.format(text)
    with pytest.raises(BadInput, match=r"some\.file: line 7: (not|cannot be read as) JSON"):
        parse_json_line(document, HERE, 7)
    with pytest.raises(BadInput, match=r"some\.file: (line 1: )?(not|cannot be read as) JSON"):
        parse_json(document, HERE)
    path = tmp_path / "x.json"
    path.write_text(document)
    with pytest.raises(BadInput, match=r"x\.json: (line 1: )?(not|cannot be read as) JSON"):
        read_json(path)


@pytest.mark.parametrize("number", [10**400, 2**63, -(2**63)], ids=["huge", "large", "small"])
def test_whole_numbers_of_a_document_fit_64_bits(number: int) -> None:
    with pytest.raises(BadInput, match=r"some\.file: cannot be read as JSON: the number '-?\d"):
        parse_json(f"[{number}]", HERE)
    with pytest.raises(BadInput, match=r"some\.file: line 1: 'n' must be a whole number, not"):
        get(json_record(f'{{"n": {number}}}', HERE, 1), "n", int, HERE, 1)
    with pytest.raises(BadInput, match=r"some\.file: line 1: 'n' must be a number, not"):
        get(json_record(f'{{"n": {number}}}', HERE, 1), "n", float, HERE, 1)


def test_json_that_is_fine_is_read() -> None:
    text = '{"a": [1, -2.5e3, true, null, "\\ud83d\\ude00", "[[[[{{{{"], "b": 9223372036854775807}'
    expected = {"a": [1, -2500.0, True, None, "😀", "[[[[{{{{"], "b": 2**63 - 1}
    assert (
        parse_json_line(text, HERE, 1)
        == parse_json_line(f" {text}\r", HERE, 1)
        == parse_json(f"\n{text}\n", HERE)
        == expected
    )
    parse_json_line("[" * 100 + " " * 1000 + "]" * 100, HERE, 1)
    assert len(parse_json_line('["[[[[", "\\"{{"]' + " " * 5, HERE, 1)) == 2
    assert parse_json_line("[" + ",".join(["[]"] * 1000) + "]", HERE, 1) == [[]] * 1000  # many, but not deep


def test_an_error_in_a_document_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{\n "a": 1,\n "b": }\n')
    with pytest.raises(BadInput, match=r"x\.json: line 3: not JSON: expecting value"):
        read_json(path)


@pytest.mark.parametrize("text", ['[{"a": 1}, {"a": ', '[{"a": 1', '["one", "tw', ""])
def test_a_document_that_was_cut_says_how_to_repair_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"x\.json: line 1: not JSON: .*(ends too early|is empty)\. Copy or download it"):
        read_json(path)
    with pytest.raises(BadInput, match=r"(ends too early|is empty)\. Compute it again"):
        read_json(path, "Compute it again")


def test_a_record_is_an_object() -> None:
    assert json_record(b'{"a": 1}', HERE, 1) == {"a": 1}
    with pytest.raises(BadInput, match=r"some\.file: line 2: an object is expected on each line"):
        json_record("[1]", HERE, 2)
    with pytest.raises(BadInput, match=r"line 2: not UTF-8 at byte 1"):
        json_record(b"\xff", HERE, 2)


def test_values_have_the_type_that_is_asked_for() -> None:
    record = {"n": 1, "x": 1.5, "t": True, "s": "a", "l": [1], "none": None}
    assert get(record, "n", int, HERE) == 1
    assert get(record, "n", float, HERE) == 1.0
    assert get(record, "x", float, HERE) == 1.5
    assert get(record, "missing", str, HERE, default="") == ""
    for key, kind, problem in [
        ("t", int, "'t' must be a whole number, not True"),
        ("t", float, "'t' must be a number, not True"),
        ("x", int, "'x' must be a whole number, not 1.5"),
        ("l", str, r"'l' must be a string, not \[1\]"),
        ("none", dict, "'none' must be an object, not None"),
        ("missing", str, "'missing' is missing"),
    ]:
        with pytest.raises(BadInput, match=rf"some\.file: line 4: {problem}"):
            get(record, key, kind, HERE, 4)


def test_what_goes_wrong_with_a_shape_names_the_file() -> None:
    for code in (lambda: {}["x"], lambda: [][1], lambda: int("x"), lambda: float(10**400), lambda: None.x):  # type: ignore[attr-defined]
        with (
            pytest.raises(BadInput, match=r"line 3: not a record of X \("),
            expecting(HERE, "a record of X", 3),
        ):
            code()
    with pytest.raises(BadInput, match="as it was"), expecting(HERE, "a record"):
        raise BadInput("x", "as it was")


BAD_TOML = {
    "nested": "a = " + "[" * 2000,
    "nested and whole": "a = " + "[" * 150 + "]" * 150,
    "digits": f"a = {'1' * 5001}",
    "large": f"a = [{10**400}]",
    "nan": "a = nan",
    "inf": "a = {b = -inf}",
    "exponent": "a = 1e999",
    "date": "a = 2020-02-31",
    "month": "a = 2020-13-01T00:00:00Z",
    "dotted": ".".join("a" * 101) + " = 1",
    "dotted table": "[" + " . ".join("a" * 2000) + "]",
    "quoted": '"a"' + '."b"' * 5000 + " = 1",
    "NUL": "a = '\0'",
    "syntax": "a = ",
    "tables": "".join(f"[{'.'.join('a' * n)}]\n" for n in range(1, 100)) + "a = " + "[" * 50 + "]" * 50,
}


@pytest.mark.parametrize("text", BAD_TOML.values(), ids=BAD_TOML)
def test_toml_that_cannot_be_used_is_refused(text: str, tmp_path: Path) -> None:
    start = time.process_time()
    with pytest.raises(BadInput, match=r"some\.file: (line \d+: )?(not|cannot be read as) TOML"):
        parse_toml(text, HERE)
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"x\.toml: (line \d+: )?(not|cannot be read as) TOML"):
        read_toml(path)
    assert time.process_time() - start < 2


def test_toml_that_is_fine_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b'\xef\xbb\xbfa.b = 1\r\nc = "Nr. 5. usw. ..."\r\nd = [0.5, 2020-01-01]\r\n')
    assert read_toml(path)["a"] == {"b": 1}
    assert parse_toml("a = '" + "x. " * 90 + "'", HERE)


def test_counts_have_at_most_nine_digits_and_nothing_else() -> None:
    assert all(map(is_count, ("0", "7", "007", "999999999")))
    assert not any(map(is_count, ("", "1000000000", "9" * 5001, "-1", "+1", " 1", "1.", "²", "٣", "１", "a")))


def test_whole_numbers_fit_64_bits() -> None:
    assert whole_number(" -17 ", HERE) == -17
    assert whole_number(b"9223372036854775807", HERE) == 2**63 - 1
    for text in ("", "x", "1_0", "1.0", "²", "٣", "--1", "9" * 19, "1" * 5001, b"\xff"):
        with pytest.raises(BadInput, match=r"some\.file: line 2: a count is expected, not b?['\"]"):
            whole_number(text, HERE, 2, "a count")


def test_what_is_shown_is_short() -> None:
    assert shown("a" * 10**6) == "'" + "a" * 59 + "…"
    assert len(shown(["b" * 1000])) == 61
    assert shown(10**5000) == "a value that cannot be shown"


def test_rows_of_tables_have_their_lines() -> None:
    lines = ["a\tb", "", '"c', 'd"\te']
    assert list(table_rows(lines, HERE)) == [(1, ["a", "b"]), (4, ["cd", "e"])]
    for line in ("a\rb\tc", "a" * 200_000):
        with pytest.raises(BadInput, match=r"some\.file: line 4: not a table"):
            list(table_rows(["", "", "x", line], HERE))


# limits


def test_a_line_without_end_is_refused_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 1 << 20)
    path = tmp_path / "x"
    path.write_bytes(b"short\n" + b"x" * (3 << 20))
    lines = byte_lines(path)
    assert next(lines) == b"short"
    with pytest.raises(BadInput, match=r"x: line 2: a line of more than 1 MB"):
        next(lines)


def test_a_gzip_bomb_is_refused_early(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb") as out:
        for _ in range(40):
            out.write(b"\n" * (1 << 20))
    with pytest.raises(BadInput, match=r"bomb\.gz: line [\d,]+: the gzip file decompresses to more than 200 times"):
        for _ in byte_lines(path):
            pass
    with pytest.raises(BadInput, match=r"bomb\.gz: the gzip file decompresses to more than 200 times"):
        read_bytes(path)


def test_a_member_of_a_zip_file_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the size that its header gives, before any of it is read."""
    monkeypatch.setattr(parsing, "MAX_MEMBER", 1 << 30)
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("small", b"x")
        archive.writestr("large", b"x")
    with open_zip(path) as archive:
        assert open_member(archive, "small", path).read() == b"x"
        archive.getinfo("large").file_size = (1 << 30) + 1
        with pytest.raises(BadInput, match=r"x\.zip: large: larger than 1 GB"):
            open_member(archive, "large", path)


def test_a_document_has_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"x" * (1 << 20))
    assert len(read_bytes(path, 1 << 20)) == 1 << 20
    path.write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(BadInput, match="x: larger than 1 MB"):
        read_text(path, 1 << 20)


def test_a_document_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes("a = 1\r\nb = 'é'\nc = 'é'".encode()[:-3] + b"\xe9'\n")
    with pytest.raises(BadInput, match=r"x\.toml: line 3: not UTF-8 at byte 6 of the line \(0xe9\)"):
        read_toml(path)


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "/".join(["y" * 200] * 30)])
def test_paths_that_cannot_be_are_refused(name: str, tmp_path: Path) -> None:
    for read in (open_binary, read_text, lambda path: list(text_lines(path)), read_json, read_toml):
        with pytest.raises(BadInput):
            read(tmp_path / name)
    with pytest.raises(BadInput, match="is a directory"):
        read_json(tmp_path)


# XML and zip files from outside: whatever is wrong with them is one sentence that names the file


SOME_XML = Path("some.xml")


def test_xml_comes_as_events() -> None:
    events = [(event, element.tag) for event, element in xml_events(io.BytesIO(b"<a><b>x</b></a>"), SOME_XML)]
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
    with pytest.raises(BadInput, match=r"some\.xml: (line \d+: )?(not|cannot be read as) XML"):
        list(xml_events(io.BytesIO(data), SOME_XML))


def test_text_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "MAX_ELEMENT", 1 << 20)
    with pytest.raises(BadInput, match=r"some\.xml: cannot be read as XML: 1 MB without a tag"):
        list(xml_events(io.BytesIO(b"<a>" + b"x" * (2 << 20) + b"</a>"), SOME_XML))


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


def test_a_json_document_has_a_limit_of_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`[[],[],…` takes twenty times its text in memory, and gzipped hardly any disk."""
    monkeypatch.setattr(parsing, "MAX_VALUES", 10)
    (tmp_path / "a.json").write_text("[[],[],[],[],1]")
    assert len(read_json(tmp_path / "a.json")) == 5
    (tmp_path / "b.json").write_text("[[],[],[],[],[],[]]")
    with pytest.raises(BadInput, match=r"b\.json: more than 10 values, which is the limit for a JSON document"):
        read_json(tmp_path / "b.json")
