"""OPUS in XML: an alignment file (cesAlign) and the documents of each language in a folder or a zip, as downloaded.

A link of several sentences makes one line of them. Where a sentence has no translation (a 1–0 link), it stays as
context with an empty line on the other side, from which nothing is mined.
"""

from __future__ import annotations

import gzip
import re
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO, cast

from anaphora.build.augment_documents import Pair
from anaphora.build.mine.documents import Named, pair_name
from anaphora.core.errors import BadInput
from anaphora.core.files import open_binary

DAMAGED = (ElementTree.ParseError, EOFError, OSError, zlib.error, zipfile.BadZipFile)
AGAIN = "Download it again from OPUS, or name another file."


def read_opus(links: Path, source: Path, target: Path) -> Iterator[Named]:
    """The pairs of an alignment file; `line` of a pair is the number of its link in the file."""
    documents = Documents(source), Documents(target)
    number = 0
    for one, other, group in _groups(links):
        sentences = [documents[k].sentences(name) for k, name in enumerate((one, other))]
        name = pair_name(one, other)
        for identifiers in group:
            number += 1
            first = _joined(identifiers[0], sentences[0], source, one)
            yield name, Pair(number, first, _joined(identifiers[1], sentences[1], target, other))


def _groups(path: Path) -> Iterator[tuple[str, str, list[tuple[list[str], list[str]]]]]:
    """The documents that belong together, with the ids of the sentences of each link."""
    root: ElementTree.Element | None = None
    try:
        with open_binary(path) as stream:
            for event, element in ElementTree.iterparse(stream, ("start", "end")):
                root = element if root is None else root
                if event == "end" and element.tag == "linkGrp":
                    yield _group(element, path)
                    root.clear()  # so that memory does not grow with the file
    except DAMAGED as error:
        raise BadInput(path, f"not XML that can be read: {error}", remedy=AGAIN) from None
    if root is None or root.tag != "cesAlign":
        raise BadInput(path, "no alignment file of OPUS: no <cesAlign>", remedy=AGAIN)


def _group(element: ElementTree.Element, path: Path) -> tuple[str, str, list[tuple[list[str], list[str]]]]:
    one, other = element.get("fromDoc"), element.get("toDoc")
    if not one or not other:
        raise BadInput(path, "a <linkGrp> without fromDoc or toDoc", remedy=AGAIN)
    links = []
    for link in element.iter("link"):
        source, sign, target = link.get("xtargets", "").partition(";")
        if not sign:
            problem = f"{one}: a link without xtargets of two sides: {link.get('xtargets', '')!r}"
            raise BadInput(path, problem, remedy=AGAIN)
        links.append((source.split(), target.split()))
    return one, other, links


def _joined(ids: list[str], sentences: dict[str, str], path: Path, document: str) -> str:
    try:
        return " ".join(sentences[identifier] for identifier in ids)
    except KeyError as error:
        problem = f"{document} has no sentence {error}, which the alignment file links"
        raise BadInput(path, problem, remedy="Take both from the same release of OPUS.") from None


class Documents:
    """The documents of one language: in a folder, or in a zip, below whatever folders a download has."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip: zipfile.ZipFile | None = None
        self._starts = [""]  # folders of the zip that documents were found below
        if path.is_dir():
            return
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise BadInput(path, "no such file or folder") from None
        except (zipfile.BadZipFile, OSError) as error:
            problem = f"neither a folder nor a zip: {error}"
            raise BadInput(path, problem, remedy="Name the folder or zip of OPUS's XML files.") from None

    @lru_cache(maxsize=2)  # noqa: B019  (as long as the file is read)
    def sentences(self, name: str) -> dict[str, str]:
        """The sentences of a document by their ids."""
        stream = self._open(name)
        found = {}
        try:
            with stream:
                for _, element in ElementTree.iterparse(stream):
                    if element.tag == "s":
                        found[element.get("id", "")] = text_of(element)
                        element.clear()
        except DAMAGED as error:
            raise BadInput(self.path, f"{name}: not XML that can be read: {error}", remedy=AGAIN) from None
        return found

    def _open(self, name: str) -> IO[bytes]:
        """A document as the alignment file calls it, en/1999/1/11.xml.gz, whether or not it is gzipped here."""
        plain = name.removesuffix(".gz")
        if self._zip is not None and (member := self._member(self._zip, plain)) is not None:
            raw = self._zip.open(member)
            return cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if member.endswith(".gz") else raw
        places = [plain, f"xml/{plain}", f"raw/{plain}", plain.partition("/")[2]]  # the last: the folder of a language
        for place in places if self._zip is None else ():
            for end in (".gz", ""):
                if (path := self.path / f"{place}{end}").is_file():
                    return open_binary(path)
        remedy = "Name the folder or zip that has it, as the alignment file calls it."
        raise BadInput(self.path, f"{name} is not in it", remedy=remedy)

    def _member(self, archive: zipfile.ZipFile, plain: str) -> str | None:
        """The path in the zip: below a folder that is known, or else wherever it is."""
        for start in self._starts:
            for end in ("", ".gz"):
                if f"{start}{plain}{end}" in archive.NameToInfo:
                    return f"{start}{plain}{end}"
        for member in archive.namelist():
            if member.removesuffix(".gz").endswith(f"/{plain}"):
                self._starts.append(member.removesuffix(".gz").removesuffix(plain))
                return member
        return None


def text_of(element: ElementTree.Element) -> str:
    """The text of a sentence: as it is, or put together from its words."""
    words = [(word.text or "").strip() for word in element.iter("w")]
    return detokenised([word for word in words if word]) if words else " ".join("".join(element.itertext()).split())


CLOSING = re.compile(r"^(?:[.,;:!?…%)\]}»”]+|'(?:s|m|d|re|ve|ll|t)|’(?:s|m|d|re|ve|ll|t)|n['’]t)$", re.IGNORECASE)
OPENING = re.compile(r"^[(\[{«„“¿¡]$")


def detokenised(words: list[str]) -> str:
    """Words as a line, with signs where people write them; straight quotes open and close in turn."""
    line = ""
    glued, quoted = True, False
    for word in words:
        closes = bool(CLOSING.match(word)) or (word == '"' and quoted)
        line += word if glued or closes else f" {word}"
        glued = bool(OPENING.match(word)) or (word == '"' and not quoted)
        if word == '"':
            quoted = not quoted
    return line
