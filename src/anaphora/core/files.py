"""Text files as the field has them: UTF-8, perhaps gzipped, sometimes broken. Errors name the file and the line."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import tempfile
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, cast

from anaphora.core.errors import BadInput
from anaphora.core.finite import refuse_constant

BLOCK = 1 << 18  # bytes read at a time
DOCUMENT_TAG = "<d>"


def open_binary(path: Path) -> BufferedReader:
    """The file's bytes, decompressed if it is gzip (by its first bytes, not by its name)."""
    try:
        raw = path.open("rb")
    except FileNotFoundError:
        raise BadInput(path, "no such file") from None
    except OSError as error:
        raise BadInput(path, (error.strerror or "cannot be read").lower()) from None
    if raw.peek(2)[:2] == b"\x1f\x8b":
        stream = gzip.GzipFile(fileobj=raw, mode="rb")
        stream.myfileobj = raw  # type: ignore[assignment]  # closing the one closes the other, too
        return cast(BufferedReader, stream)
    return raw


def byte_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file as bytes, without their line ends; split a block at a time, which is fast."""
    number = 0
    begun: list[bytes] = []  # the parts of a line whose end is in a later block
    with open_binary(path) as stream:
        try:
            while block := stream.read1(BLOCK):
                if b"\n" not in block:
                    begun.append(block)
                    continue
                *lines, last = b"".join([*begun, block]).split(b"\n")
                begun = [last]
                if b"\r" in block or lines[0].endswith(b"\r"):
                    lines = [line.removesuffix(b"\r") for line in lines]
                yield from lines
                number += len(lines)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            what = "the gzip file is truncated" if isinstance(error, EOFError) else "the gzip file is damaged"
            raise BadInput(path, what, line=number + 1, remedy="Copy or download it again.") from None
    if last := b"".join(begun):
        yield last


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, without their line ends; a byte-order mark at the start is dropped."""
    for number, line in enumerate(byte_lines(path), start=1):
        text = decode(line, path, number)
        yield text.removeprefix("\ufeff") if number == 1 else text


def read_parallel(*paths: Path) -> list[list[str]]:
    """The lines of files that belong together line by line; empty lines too many at the end of one are dropped."""
    texts = [list(text_lines(path)) for path in paths]
    fewest = min(map(len, texts))
    for text, path in zip(texts, paths, strict=True):
        while len(text) > fewest and not text[-1].strip():
            text.pop()
        if len(text) != len(texts[0]):
            problem = f"{len(text):,} lines, but {paths[0]} has {len(texts[0]):,}"
            raise BadInput(path, problem, remedy="They belong together line by line: give files of the same length.")
    return texts


def decode(line: bytes, path: Path, number: int) -> str:
    """A line as text, or an error that says where the bytes stop being UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 at byte {error.start + 1} of the line (0x{line[error.start]:02x})"
        remedy = "Convert the file, for example: iconv -f latin1 -t utf-8."
        raise BadInput(path, problem, line=number, remedy=remedy) from None


def read_json(path: Path) -> Any:
    """A whole JSON document."""
    text = "\n".join(text_lines(path))
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        raise BadInput(path, f"not JSON: {error.msg.lower()}", line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise BadInput(path, f"not JSON that can be read: {error}") from None


def existing(directory: Path, name: str) -> Path | None:
    """The file of this name in a directory, plain or gzipped, if it is there."""
    for candidate in (directory / name, directory / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    return None


def require(directory: Path, name: str, why: str = "") -> Path:
    """Like `existing`, but its absence is an error."""
    found = existing(directory, name)
    if found is None:
        what = "no such directory" if not directory.is_dir() else f"{name} (or {name}.gz) is missing here"
        raise BadInput(directory, what, remedy=why)
    return found


def refuse_tag(line: str, path: Path, number: int, remedy: str) -> None:
    """A line `<d>`, which begins a document in some corpora, must not be read as a sentence."""
    if line.strip() == DOCUMENT_TAG:
        raise BadInput(path, f"a line {DOCUMENT_TAG}, which begins a document", line=number, remedy=remedy)


@contextlib.contextmanager
def atomic_writer(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that appears under its name only when it is complete; gzipped if the name ends in .gz."""
    try:
        if path.exists() and not path.is_file():  # a folder; or a device, which a rename would do away with
            raise BadInput(path, f"cannot be written: {'a folder' if path.is_dir() else 'not a regular file'}")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise BadInput(path, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as raw:
            if path.suffix == ".gz":
                # no file name and no time inside: the same content gives the same bytes
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
                    yield cast(IO[bytes], stream)
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp made it private; give it what open() would have given
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
