"""OPUS in XML: an alignment file (cesAlign) and the documents of each language in a folder or a zip, as downloaded.

The sentences of a link become one line. A sentence without a translation (a 1–0 link) stays as context, with an empty
line on the other side; nothing is mined from it.
"""

from __future__ import annotations

import gzip
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, cast

from anaphora.build.mine.shards import Pair
from anaphora.core.errors import BadInput
from anaphora.core.files import open_binary
from anaphora.core.parsing import open_member, open_zip, xml_events

Named = tuple[str, Pair]  # the name of a document, and one of its pairs

MAX_DOCUMENT = 1 << 29  # bytes of XML
MAX_SENTENCES = 500_000  # of one document
MAX_TEXT = 1 << 25  # characters of one document, or of the links between two
MAX_LINE = 1 << 20  # characters of the sentences of one link
MAX_WORDS = 100_000  # elements of one sentence
MAX_LINKS = 1_000_000  # between two documents
SMALLER = "Documents of this size are read from OPUS's plain text (Moses) files."
AGAIN = "Download it again from OPUS, or name another file."


def read_opus(links: Path, source: Path, target: Path) -> Iterator[Named]:
    """Yield the pairs of an alignment file; `line` is the number of the link in the file."""
    documents = Documents(source), Documents(target)
    number = 0
    for one, other, group in _groups(links):
        sentences = [documents[k].sentences(name) for k, name in enumerate((one, other))]
        name = pair_name(one, other)
        for link in group:
            number += 1
            first, _, second = link.partition(";")
            line = _joined(first.split(), sentences[0], source, one)
            yield name, Pair(number, line, _joined(second.split(), sentences[1], target, other))


def _groups(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield pairs of documents with the sentence ids of each link: "2 3;2"."""
    root: ElementTree.Element | None = None
    links: list[str] = []
    elements = size = 0
    with open_binary(path) as stream:
        for event, element in xml_events(cast(IO[bytes], _Limited(stream, path)), path):
            root = element if root is None else root
            if event == "start":
                elements += 1
            elif element.tag == "link":
                targets = element.get("xtargets", "")
                if ";" not in targets:
                    raise BadInput(path, f"a link without xtargets of two sides: {targets[:100]!r}", remedy=AGAIN)
                links.append(targets)
                size += len(targets)
                element.clear()
            elif element.tag == "linkGrp":
                yield _name(element, "fromDoc", path), _name(element, "toDoc", path), links
                links, elements, size = [], 0, 0
                root.clear()  # so that memory does not grow with the file
            if elements > MAX_LINKS or size > MAX_TEXT:
                problem = f"more than {MAX_LINKS:,} links or {MAX_TEXT:,} characters between two documents"
                raise BadInput(path, problem, remedy=SMALLER)
    if root is None or root.tag != "cesAlign":
        raise BadInput(path, "not an OPUS alignment file: no <cesAlign>", remedy=AGAIN)


def _name(group: ElementTree.Element, side: str, path: Path) -> str:
    """Return the path of a document, which must be inside the folder or zip."""
    name = group.get(side)
    if not name:
        raise BadInput(path, f"a <linkGrp> without fromDoc or toDoc: {side} is missing", remedy=AGAIN)
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or any(sign in name for sign in "\\:\0"):
        problem = f"{side} is {name[:100]!r}, which leads outside the folder of the documents"
        raise BadInput(path, problem, remedy=AGAIN)
    return name


def _joined(ids: list[str], sentences: dict[str, str], path: Path, document: str) -> str:
    try:
        texts = [sentences[identifier] for identifier in ids]
    except KeyError as error:
        problem = f"{document} has no sentence {str(error)[:100]}, which the alignment file links"
        raise BadInput(path, problem, remedy="Take both from the same release of OPUS.") from None
    if sum(map(len, texts)) > MAX_LINE:
        raise BadInput(path, f"{document}: a link of more than {MAX_LINE:,} characters", remedy=AGAIN)
    return " ".join(texts)


class _Limited:
    """A stream of XML that may not be longer than any document."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path, self._left = stream, path, MAX_DOCUMENT

    def read(self, size: int) -> bytes:
        block = self._stream.read(size)
        self._left -= len(block)
        if self._left < 0:
            raise BadInput(self._path, f"more than {MAX_DOCUMENT >> 20} MB of XML", remedy=SMALLER)
        return block


class Documents:
    """The documents of one language, in a folder or a zip, possibly below other folders."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip: zipfile.ZipFile | None = None
        self._starts = [""]  # folders of the zip that documents were found below
        if path.is_dir():
            return
        if not path.exists():
            raise BadInput(path, "no such file or folder")
        try:
            self._zip = open_zip(path)
        except BadInput as error:
            problem = f"neither a folder nor a zip: {error.problem}"
            raise BadInput(path, problem, remedy="Name the folder or zip of OPUS's XML files.") from None

    @lru_cache(maxsize=2)  # noqa: B019  (as long as the file is read)
    def sentences(self, name: str) -> dict[str, str]:
        """Return the sentences of a document by their ids."""
        sentences: dict[str, str] = {}
        parents: list[ElementTree.Element] = []
        current: ElementTree.Element | None = None  # the sentence that is being read
        size = words = 0
        path = self.path / name
        with self._open(name) as stream:
            for event, element in xml_events(cast(IO[bytes], _Limited(stream, path)), path):
                if event == "start":
                    parents.append(element)
                    current = element if current is None and element.tag == "s" else current
                    words += 1
                    if words > MAX_WORDS:
                        raise BadInput(path, f"a sentence of more than {MAX_WORDS:,} words", remedy=AGAIN)
                    continue
                parents.pop()
                if element is current:
                    sentences[element.get("id", "")] = text = text_of(element)
                    size += len(text)
                    current = None
                    if len(sentences) > MAX_SENTENCES or size > MAX_TEXT:
                        problem = f"more than {MAX_SENTENCES:,} sentences or {MAX_TEXT:,} characters"
                        raise BadInput(path, problem, remedy=SMALLER)
                if current is None:
                    words = 0
                    if parents:
                        parents[-1].clear()  # so that memory does not grow with the file
        return sentences

    def _open(self, name: str) -> IO[bytes]:
        """Open a document by its name in the alignment file (en/1999/1/11.xml.gz), whether or not it is gzipped."""
        plain = name.removesuffix(".gz")
        if self._zip is not None and (member := self._member(self._zip, plain)) is not None:
            raw = open_member(self._zip, member, self.path)
            return cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if member.endswith(".gz") else raw
        variants = [
            plain,
            f"xml/{plain}",
            f"raw/{plain}",
            plain.partition("/")[2],
        ]  # last: a language's folder
        for variant in variants if self._zip is None else ():
            for end in (".gz", ""):
                if (path := self.path / f"{variant}{end}").is_file():
                    return open_binary(path)
        remedy = "Name the folder or zip that has it, as the alignment file calls it."
        raise BadInput(self.path, f"{name} is not in it", remedy=remedy)

    def _member(self, archive: zipfile.ZipFile, plain: str) -> str | None:
        """Return the path in the zip: below a folder of earlier documents, or else anywhere."""
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
    """Return the text of a sentence, detokenized if it consists of words."""
    words = [(word.text or "").strip() for word in element.iter("w")]
    return detokenized([word for word in words if word]) if words else " ".join("".join(element.itertext()).split())


CLOSING = re.compile(r"^(?:[.,;:!?…%)\]}»”]+|'(?:s|m|d|re|ve|ll|t)|’(?:s|m|d|re|ve|ll|t)|n['’]t)$", re.IGNORECASE)
OPENING = re.compile(r"^[(\[{«„“¿¡]$")


def detokenized(words: list[str]) -> str:
    """Join words to a line; straight quotation marks open and close in turn."""
    line = ""
    glued, quoted = True, False
    for word in words:
        closes = bool(CLOSING.match(word)) or (word == '"' and quoted)
        line += word if glued or closes else f" {word}"
        glued = bool(OPENING.match(word)) or (word == '"' and not quoted)
        if word == '"':
            quoted = not quoted
    return line


def pair_name(source: str, target: str) -> str:
    """Return a name for a pair of OPUS documents: 2001/5/7=9 for en/2001/5/7.xml.gz and de/2001/5/9.xml.gz.

    It contains the target, since a film can be in the corpus with several subtitles.
    """
    one, other = (_stem(name) for name in (source, target))
    parts, others = one.split("/"), other.split("/")
    same = 0
    while same < min(len(parts), len(others)) and parts[same] == others[same]:
        same += 1
    rest = "/".join(others[same:])
    return f"{one}={rest}" if rest else one


def _stem(name: str) -> str:
    """Return the name without the language's folder and without the suffixes."""
    stem = name.strip().removesuffix(".gz").removesuffix(".xml")
    return stem.partition("/")[2] or stem
