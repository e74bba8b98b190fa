"""XML and zip files: one reader each, with limits. Whatever is wrong is a BadInput with its place."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast
from xml.etree import ElementTree

from anaphora.core.errors import BadInput
from anaphora.core.files import BLOCK, MAX_LINE
from anaphora.core.parsing import shortened

MAX_ELEMENT = MAX_LINE  # bytes between two tags of XML
MAX_DEPTH = 1000  # XML elements in each other
MAX_MEMBER = 1 << 32  # bytes of a member of a zip file


# XML


def xml_events(stream: IO[bytes], path: Path | str) -> Iterator[tuple[str, ElementTree.Element]]:
    """The events "start" and "end" of an XML document with their elements, as ElementTree.iterparse gives them.

    What is not XML, not in a known encoding, damaged below, or without end is a BadInput. Elements pile up unless they
    are cleared at their end.
    """
    parser: ElementTree.XMLPullParser[Any] = ElementTree.XMLPullParser(("start", "end"))
    depth = since = 0
    try:
        while block := stream.read(BLOCK >> 2):
            parser.feed(block)
            since += len(block)
            for event, element in _events(parser):
                since = 0
                depth += 1 if event == "start" else -1
                if depth > MAX_DEPTH:
                    raise BadInput(path, f"not XML that can be read: elements nested more than {MAX_DEPTH:,} deep")
                yield event, element
            if since > MAX_ELEMENT:
                raise BadInput(path, f"not XML that can be read: {MAX_ELEMENT >> 20} MB without a tag")
        parser.close()
        yield from _events(parser)
    except ElementTree.ParseError as error:
        raise BadInput(path, f"not XML: {error.msg.partition(':')[0]}", line=error.position[0]) from None
    except (LookupError, ValueError) as error:  # an unknown encoding, or one that cannot be read as a stream
        raise BadInput(path, f"not XML that can be read: {shortened(str(error))}") from None
    except (EOFError, OSError, zlib.error, zipfile.BadZipFile) as error:
        raise BadInput(path, f"damaged: {shortened(str(error))}", remedy="Copy or download it again.") from None


def _events(parser: ElementTree.XMLPullParser[Any]) -> Iterator[tuple[str, ElementTree.Element]]:
    return cast(Iterator[tuple[str, ElementTree.Element]], parser.read_events())


# Zip files

ZIP_ERRORS = (zipfile.BadZipFile, OSError, ValueError, EOFError, LookupError, OverflowError, zlib.error)
# a compression or an encryption that Python has not; a damaged LZMA member
ZIP_UNKNOWN = (NotImplementedError, RuntimeError)


def open_zip(path: Path) -> zipfile.ZipFile:
    """A zip file for reading."""
    try:
        return zipfile.ZipFile(path)
    except FileNotFoundError:
        raise BadInput(path, "no such file") from None
    except (*ZIP_ERRORS, *ZIP_UNKNOWN) as error:
        problem = shortened(str(error)) or "damaged"
        raise BadInput(path, f"not a zip file that can be read: {problem}") from None


def open_member(archive: zipfile.ZipFile, name: str, path: Path) -> IO[bytes]:
    """A member of a zip file for reading; what is wrong with its header is said with its name."""
    try:
        size = archive.getinfo(name).file_size
        if size > MAX_MEMBER:
            raise BadInput(path, f"{name}: larger than {MAX_MEMBER >> 30} GB")
        return archive.open(name)
    except (*ZIP_ERRORS, *ZIP_UNKNOWN) as error:
        raise BadInput(path, f"{name}: cannot be read: {shortened(str(error))}") from None
