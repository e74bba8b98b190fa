"""JSON, TOML, CSV, XML, zip files and numbers: one reader each, with limits. Errors are BadInput and name the line.

Python's own parsers raise more than their documented errors: a number of 5,000 digits is a ValueError, 3,000 brackets
are a RecursionError, `1e400` is infinity, and a dotted key of TOML can take minutes. Nothing else in the package calls
them on what comes from outside.
"""

from __future__ import annotations

import csv
import json
import math
import re
import tomllib
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, Any, TypeVar, overload
from xml.etree import ElementTree

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import BLOCK, COPY_AGAIN, MAX_LINE, decode, read_text
from anaphora.core.finite import refuse_constant

MAX_NESTING = 100  # lists and objects in each other
SHORT = 600  # characters that have no room for harmful nesting, which is some 900; most lines are shorter
MAX_INTEGER = 2**63 - 1  # in either direction: what fits 64 bits, as other programs read it
MAX_VALUES = 5_000_000  # of a JSON document, counted by their signs: an empty list takes twenty times its text
MAX_TOML = 1 << 22  # bytes
MAX_ELEMENT = MAX_LINE  # bytes between two tags of XML
MAX_DEPTH = 1000  # XML elements in each other
MAX_MEMBER = 1 << 32  # bytes of a member of a zip file
LONGEST = 60  # characters of a value in a message
NESTED = f"it is nested more than {MAX_NESTING} deep"
UNEXPECTED = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError, re.error)
BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]')
HALF = re.compile("[\ud800-\udfff]")  # as Python reads such a byte
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
LONG_KEY = re.compile(rf"(?<![\w-]){KEY_PART}(?:[ \t]*+\.[ \t]*+{KEY_PART}){{{MAX_NESTING}}}")
NAMES: Mapping[Any, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}
Value = TypeVar("Value")


# Numbers


def whole_number(text: str | bytes, path: Path, line: int | None = None, what: str = "a whole number") -> int:
    """A whole number as it is written in a file: digits, perhaps with a sign, and no more than 64 bits hold."""
    plain = (text.decode("latin-1") if isinstance(text, bytes) else text).strip()
    digits = plain[1:] if plain[:1] in ("-", "+") else plain
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 30 or int(digits) > MAX_INTEGER:
        raise BadInput(path, f"{what} is expected, not {shown(text)}", line=line)
    return int(plain)


def is_count(text: str) -> bool:
    """Whether a text is a number of at most nine digits without a sign: a position, a size.

    int() also takes digits of other scripts, and raises an error for thousands of them.
    """
    return len(text) <= 9 and text.isascii() and text.isdigit()


def check_text(text: str, what: str) -> None:
    """Raise an error for bytes that are not UTF-8 in an argument of a command: no file could hold it."""
    if HALF.search(text):
        raise AnaphoraError(f"{what} is not UTF-8: {shown(text)}")


def shown(value: object) -> str:
    """A value for an error message: quoted, on one line, and not longer than a line."""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
    try:
        written = repr(text if not isinstance(text, str) else text[: LONGEST + 1])
    except (ValueError, RecursionError):  # a number of thousands of digits; a list that is nested too deep
        written = "a value that cannot be shown"
    return written if len(written) <= LONGEST else f"{written[:LONGEST]}…"


# JSON


def _integer(text: str) -> int:
    if len(text) > 18 and (len(text) > 30 or abs(int(text)) > MAX_INTEGER):  # 18 digits always fit
        raise ValueError(f"the number {shown(text)} is too large")
    return int(text)


def _real(text: str) -> float:
    value = float(text)
    if value - value != 0.0:
        raise ValueError(f"the number {shown(text)} is too large")
    return value


STATE = json.JSONDecoder(parse_int=_integer)  # what version 0.1.0 wrote may have an infinity
DOCUMENT = json.JSONDecoder(parse_constant=refuse_constant, parse_int=_integer, parse_float=_real)
LINE = json.JSONDecoder(parse_constant=refuse_constant, parse_float=_real)  # a tenth faster: records have few floats


def json_value(text: str, decoder: json.JSONDecoder = LINE) -> Any:
    """The value of a JSON text; anything else is a ValueError whose text `json_problem` gives.

    It is called for every line of suites and runs, and is about as fast as json.loads: spaces around the value are
    looked for only if there are any. Whole numbers may have up to 4,300 digits, but not with the decoder DOCUMENT.
    """
    try:
        value, end = decoder.scan_once(text, 0)  # type: ignore[attr-defined]  # what its methods call
    except (StopIteration, json.JSONDecodeError):
        end = None
    except RecursionError:
        raise ValueError(NESTED) from None
    if end != len(text):
        try:
            value = decoder.decode(text)
        except RecursionError:
            raise ValueError(NESTED) from None
    if len(text) > SHORT and text.count("[") + text.count("{") > MAX_NESTING and _nesting(text) > MAX_NESTING:
        raise ValueError(NESTED)
    if "\\" in text and SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("a string has half of a surrogate pair, which is not a character") from None
    return value


def _nesting(text: str) -> int:
    depth = deepest = 0
    for bracket in BRACKET.finditer(text):
        sign = bracket[0]
        if sign in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "]}":
            depth -= 1
    return deepest


def _form(error: json.JSONDecodeError) -> str:
    return error.msg.lower().removesuffix(" starting at")  # the message names the place itself


def json_problem(error: Exception) -> str:
    """Why a text is not JSON: its syntax, or numbers and nesting beyond the limits."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {_form(error)} at column {error.colno}"
    return f"cannot be read as JSON: {error}"


def parse_json_line(line: str | bytes, path: Path, number: int | None = None) -> Any:
    """The JSON value on one line of a file."""
    text = decode(line, path, number or 1) if isinstance(line, bytes) else line
    try:
        return json_value(text)
    except ValueError as error:
        raise BadInput(path, json_problem(error), line=number) from None


def json_record(line: str | bytes, path: Path, number: int | None = None, what: str = "") -> dict[str, Any]:
    """The JSON object on one line of a file.

    what: what the line should be, as in "a record of ParCorFull"
    """
    text = decode(line, path, number or 1) if isinstance(line, bytes) else line
    try:
        row = parse_json_line(text, path, number)
        if isinstance(row, dict):
            return row
        problem = "an object is expected on each line"
    except BadInput as error:
        problem = error.problem
    raise BadInput(path, f"not {what} ({problem})" if what else problem, line=number)


def json_header(line: str, key: str, newest: int, path: Path, what: str, remedy: str) -> dict[str, Any]:
    """The JSON object on the first line of a file, which has the version of its format under this key.

    what: what the file should be, as in "suite file"
    """
    try:
        header = json_value(line.removeprefix("\ufeff"))
    except ValueError:
        header = None
    if not isinstance(header, dict) or key not in header:
        raise BadInput(path, f"not a {what}: the first line is not its header", line=1, remedy=remedy)
    version = header[key]
    if type(version) is not int or not 1 <= version <= newest:
        problem = f"a {what} of format version {version!r}, but this program reads up to {newest}"
        raise BadInput(path, problem, line=1, remedy="Upgrade with: pip install -U anaphora")
    return header


def parse_json(text: str, path: Path | str, remedy: str = "", decoder: json.JSONDecoder = DOCUMENT) -> Any:
    """A whole JSON document, whose numbers fit 64 bits; an error says the line."""
    if len(text) > MAX_VALUES and sum(map(text.count, ",[{")) > MAX_VALUES:
        raise BadInput(path, f"more than {MAX_VALUES:,} values, which is the limit for a JSON document", remedy=remedy)
    try:
        return json_value(text, decoder)
    except json.JSONDecodeError as error:
        problem = f"not JSON: {_form(error)}"
        if not text.strip():
            problem, remedy = "not JSON: the file is empty", remedy or COPY_AGAIN
        elif error.pos >= len(text.rstrip()) or "Unterminated" in error.msg:
            problem, remedy = f"{problem}, because the file ends too early", remedy or COPY_AGAIN
        raise BadInput(path, problem, line=error.lineno, remedy=remedy) from None
    except ValueError as error:
        raise BadInput(path, json_problem(error), remedy=remedy) from None


def read_json(path: Path, remedy: str = "") -> Any:
    """The JSON document in a file."""
    return parse_json(read_text(path), path, remedy)


def read_json_list(path: Path, remedy: str = "") -> list[Any]:
    """The JSON document in a file, which must be a list."""
    document = read_json(path, remedy)
    if not isinstance(document, list):
        raise BadInput(path, "a JSON list of records is expected", remedy=remedy)
    return document


def read_json_object(path: Path, remedy: str = "", decoder: json.JSONDecoder = DOCUMENT) -> dict[str, Any]:
    """The JSON document in a file, which must be an object."""
    document = parse_json(read_text(path), path, remedy, decoder)
    if not isinstance(document, dict):
        raise BadInput(path, "a JSON object is expected", remedy=remedy)
    return document


# Values of JSON and TOML


@overload
def get(record: Mapping[str, Any], key: str, kind: type[Value], path: Path, line: int | None = None) -> Value: ...


@overload
def get(
    record: Mapping[str, Any], key: str, kind: type[Value], path: Path, line: int | None = None, *, default: Value
) -> Value: ...


def get(record: Mapping[str, Any], key: str, kind: Any, path: Path, line: int | None = None, **default: Any) -> Any:
    """The value of a key, which must be of this type; without a default it must be there.

    A whole number also counts as a number; true and false do not.
    """
    if key not in record and "default" in default:
        return default["default"]
    if key not in record:
        raise BadInput(path, f"{key!r} is missing", line=line)
    value = record[key]
    if is_a(value, kind):
        return float(value) if kind is float else value
    raise BadInput(path, f"{key!r} must be {NAMES[kind]}, not {shown(value)}", line=line)


def is_a(value: object, kind: Any) -> bool:
    """Whether a value of JSON or TOML is of this type. A whole number also counts as a number; true and false do not.

    Whole numbers fit 64 bits.
    """
    if type(value) is int:
        return kind in (int, float) and abs(value) <= MAX_INTEGER
    return type(value) is kind


def are_strings(value: object) -> bool:
    """Whether a value of JSON or TOML is a list of strings."""
    return type(value) is list and all(type(one) is str for one in value)


@contextmanager
def expecting(path: Path | str, what: str, line: int | None = None, remedy: str = "", item: str = "") -> Iterator[None]:
    """Turn errors inside, which a document of another shape than its format causes, into a BadInput.

    what: what the file should hold, as in "a record of ParCorFull"; item: where, if not by its line: "record 3"
    """
    try:
        yield
    except UNEXPECTED as error:
        kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
        problem = shortened(f"{error} is missing" if isinstance(error, KeyError) else f"{kind}{error}")
        where = f"{item}: " if item else ""
        raise BadInput(path, f"{where}not {what} ({problem})", line=line, remedy=remedy) from None


def shortened(text: str, longest: int = 200) -> str:
    """The text on one line, cut where it is longer than a message should be."""
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[:longest]}…"


# TOML


def parse_toml(text: str, path: Path | str) -> dict[str, Any]:
    """A TOML document; numbers are finite and fit 64 bits."""
    if LONG_KEY.search(text):  # the parser takes time with the square of it
        raise BadInput(path, f"cannot be read as TOML: a key of more than {MAX_NESTING} parts")
    try:
        document = tomllib.loads(text.replace("\r\n", "\n"), parse_float=_toml_float)
    except tomllib.TOMLDecodeError as error:
        problem, _, position = str(error).partition(" (at line ")
        line = position.partition(",")[0]
        raise BadInput(path, f"not TOML: {shortened(problem).lower()}", line=int(line) if line else None) from None
    except RecursionError:
        raise BadInput(path, f"cannot be read as TOML: {NESTED}") from None
    except ValueError as error:  # a date that does not exist, a number of 5,000 digits
        raise BadInput(path, f"cannot be read as TOML: {shortened(str(error))}") from None
    _check(document, path)
    return document


def _toml_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a finite number")
    return value


def _check(document: Mapping[str, Any], path: Path | str) -> None:
    """Numbers that fit 64 bits and nesting that ends; without recursion, as nesting is what is checked."""
    left: list[tuple[Any, int]] = [(document, 0)]
    while left:
        value, depth = left.pop()
        if depth > MAX_NESTING:
            raise BadInput(path, f"cannot be read as TOML: {NESTED}")
        if isinstance(value, dict):
            left += [(one, depth + 1) for one in value.values()]
        elif isinstance(value, list):
            left += [(one, depth + 1) for one in value]
        elif type(value) is int and abs(value) > MAX_INTEGER:
            raise BadInput(path, f"cannot be read as TOML: the number {shown(value)} is too large")


def read_toml(path: Path | Traversable) -> dict[str, Any]:
    """The TOML document in a file, one of the user's or one of the package's."""
    if isinstance(path, Path):
        return parse_toml(read_text(path, MAX_TOML), path)
    return parse_toml(path.read_text(encoding="utf-8"), path.name)


# CSV and TSV


def table_rows(lines: Iterable[str], path: Path, delimiter: str = "\t") -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with quoted cells, each with the number of its line; empty ones are left out."""
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = "a cell holds a carriage return" if "new-line" in str(error) else str(error)
            raise BadInput(path, f"not a table: {problem}", line=max(reader.line_num, 1)) from None
        if row:
            yield reader.line_num, row


# XML


def xml_events(stream: IO[bytes], path: Path | str) -> Iterator[tuple[str, ElementTree.Element]]:
    """Yield the events "start" and "end" of an XML document with their elements, as ElementTree.iterparse does.

    What is not XML, not in a known encoding, damaged below, or without end is a BadInput. Elements pile up unless they
    are cleared at their end.
    """
    parser: Any = ElementTree.XMLPullParser(("start", "end"))
    depth = since = 0
    try:
        while block := stream.read(BLOCK >> 2):
            parser.feed(block)
            since += len(block)
            for event, element in parser.read_events():
                since = 0
                depth += 1 if event == "start" else -1
                if depth > MAX_DEPTH:
                    raise BadInput(path, f"cannot be read as XML: elements nested more than {MAX_DEPTH:,} deep")
                yield event, element
            if since > MAX_ELEMENT:
                raise BadInput(path, f"cannot be read as XML: {MAX_ELEMENT >> 20} MB without a tag")
        parser.close()
        yield from parser.read_events()
    except ElementTree.ParseError as error:
        raise BadInput(path, f"not XML: {error.msg.partition(':')[0]}", line=error.position[0]) from None
    except (LookupError, ValueError) as error:  # an unknown encoding, or one that cannot be read as a stream
        raise BadInput(path, f"cannot be read as XML: {shortened(str(error))}") from None
    except (EOFError, OSError, zlib.error, zipfile.BadZipFile) as error:
        raise BadInput(path, f"damaged: {shortened(str(error))}", remedy="Copy or download it again.") from None


# Zip files

ZIP_ERRORS = (zipfile.BadZipFile, OSError, ValueError, EOFError, LookupError, OverflowError, zlib.error)
# a compression or an encryption that Python has not; a damaged LZMA member
ZIP_UNKNOWN = (NotImplementedError, RuntimeError)


def open_zip(path: Path) -> zipfile.ZipFile:
    """Open a zip file for reading."""
    try:
        return zipfile.ZipFile(path)
    except FileNotFoundError:
        raise BadInput(path, "no such file") from None
    except (*ZIP_ERRORS, *ZIP_UNKNOWN) as error:
        problem = shortened(str(error)) or "damaged"
        raise BadInput(path, f"cannot be read as a zip file: {problem}") from None


def open_member(archive: zipfile.ZipFile, name: str, path: Path) -> IO[bytes]:
    """Open a member of a zip file for reading; errors in its header name it."""
    try:
        size = archive.getinfo(name).file_size
        if size > MAX_MEMBER:
            raise BadInput(path, f"{name}: larger than {MAX_MEMBER >> 30} GB")
        return archive.open(name)
    except (*ZIP_ERRORS, *ZIP_UNKNOWN) as error:
        raise BadInput(path, f"{name}: cannot be read: {shortened(str(error))}") from None
