"""Shards on disk: pieces of documents, their annotation, and the stages of a mining run.

A stage is a folder with a file per shard and a fingerprint of everything that the files depend on. Files are written
atomically, so that a killed run leaves only finished files. If the fingerprint differs from that of the last run, the
folder is emptied. A fingerprint includes those of the stages before, so that a changed setting repeats only the stages
that depend on it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from anaphora.align.alignment import Alignment
from anaphora.annotate.document import Document, Mention, Sentence, Token
from anaphora.core.errors import BadInput
from anaphora.core.files import byte_lines, json_line, make_folder, remove_leftovers, write_atomic
from anaphora.core.parsing import expecting, json_problem, json_value, parse_json_line, read_json

WORK = "the work folder"
AGAIN = "Start again with another work folder: --work."
LEVEL = 1  # of compression: higher levels save too little for the time they take


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and its translation, with their word alignment if there is one; line: the line number in the files."""

    line: int
    source: str
    target: str
    alignment: Alignment | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive sentences of one document and their translations; most documents are one piece.

    start: the number of the first sentence in its document; number: in the corpus; both from 0
    first: the number of sentences at the beginning that are repeated from the previous piece, as context
    alignments: word alignments, if the corpus has them
    """

    document: str
    start: int
    number: int
    first: int
    source: tuple[str, ...]
    target: tuple[str, ...]
    alignments: tuple[Alignment, ...] | None = None

    @property
    def new(self) -> int:
        """The number of sentences that are not repeated."""
        return len(self.source) - self.first

    def side(self, name: str) -> tuple[str, ...]:
        return self.source if name == "source" else self.target


def pack(rows: Iterable[Any]) -> bytes:
    """Return rows as compressed JSON Lines; the same rows always give the same bytes."""
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    text = "".join(f"{line}\n" for line in lines)
    return gzip.compress(text.encode("utf-8"), LEVEL, mtime=0)


def unpack(data: bytes) -> Iterator[Any]:
    """Yield the rows of packed data."""
    try:
        lines = gzip.decompress(data).decode("utf-8").split("\n")[:-1]
    except (EOFError, OSError, zlib.error, UnicodeDecodeError) as error:
        raise BadInput(WORK, f"a file is damaged ({error})", remedy=AGAIN) from None
    for number, line in enumerate(lines, start=1):
        try:
            row = json_value(line)
        except ValueError as error:
            raise BadInput(WORK, f"a file is damaged: {json_problem(error)}", line=number, remedy=AGAIN) from None
        yield row


def pack_pieces(pieces: Iterable[Piece], about: dict[str, Any] | None = None) -> bytes:
    """Return a shard of text, preceded by `about` if given."""
    rows = [{field.name: getattr(piece, field.name) for field in fields(Piece)} for piece in pieces]
    for row in rows:
        if (alignments := row.pop("alignments")) is not None:
            row["alignments"] = pack_alignments(alignments)
    return pack(rows if about is None else [about, *rows])


def unpack_pieces(data: bytes) -> Iterator[Piece]:
    """Yield the pieces of a shard."""
    for row in unpack(data):
        if "document" not in row:  # the counts of the cleaning
            continue
        with expecting(WORK, "a piece of text", remedy=AGAIN):
            source, target, given = row.pop("source"), row.pop("target"), row.pop("alignments", None)
            alignments = None if given is None else unpack_alignments(given)
            piece = Piece(source=tuple(source), target=tuple(target), alignments=alignments, **row)
        yield piece


def pack_alignments(alignments: Iterable[Alignment]) -> list[list[int]]:
    """Return the links of each sentence as source, target, source, target …"""
    return [[number for point in alignment for number in point] for alignment in alignments]


def unpack_alignments(rows: Iterable[list[int]]) -> tuple[Alignment, ...]:
    """Return alignments from packed rows."""
    return tuple(tuple(zip(row[::2], row[1::2], strict=True)) for row in rows)


# Annotated text on disk.

# properties that many tokens share are written once per shard, and referred to by number
Kind = tuple[str, str, str, bool, str]  # part of speech, features, relation, space after, the tool's own tag


def pack_documents(documents: Iterable[Document]) -> bytes:
    """Return a shard of annotation: the kinds of tokens, then a line for each document."""
    numbers: dict[Kind, int] = {}
    rows = [_row(document, numbers) for document in documents]
    return pack([[list(kind) for kind in numbers], *rows])


def unpack_documents(data: bytes) -> Iterator[Document]:
    """Yield the documents of a shard."""
    rows = unpack(data)
    kinds = [(upos, _features(features), relation, space, xpos) for upos, features, relation, space, xpos in next(rows)]
    for row in rows:
        chains = row.get("chains")
        yield Document(
            tuple(_sentence(fields, kinds) for fields in row["sentences"]),
            None if chains is None else tuple(tuple(Mention(*mention) for mention in chain) for chain in chains),
        )


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a sentence with their parts of speech and features: what alignment needs, which is fast to read."""

    texts: Sequence[str]
    kinds: Sequence[tuple[str, Mapping[str, str]]]


def unpack_words(data: bytes) -> Iterator[list[Words]]:
    """Yield the sentences of each document as words."""
    rows = unpack(data)
    kinds = [(upos, _features(features)) for upos, features, *_ in next(rows)]
    for row in rows:
        yield [Words(fields[0], [kinds[number] for number in fields[2]]) for fields in row["sentences"]]


def _row(document: Document, numbers: dict[Kind, int]) -> dict[str, Any]:
    row: dict[str, Any] = {"sentences": [_fields(sentence, numbers) for sentence in document.sentences]}
    if document.chains is not None:
        row["chains"] = [[[m.sentence, m.start, m.end, m.head] for m in chain] for chain in document.chains]
    return row


def _fields(sentence: Sentence, numbers: dict[Kind, int]) -> list[list[Any]]:
    """Texts, lemmas, kinds and heads; -1 is the head of a root."""
    kinds = []
    for token in sentence.tokens:
        features = "|".join(f"{key}={value}" for key, value in token.features.items())
        kind = token.upos, features, token.relation, token.space_after, token.xpos
        kinds.append(numbers.setdefault(kind, len(numbers)))
    return [
        [token.text for token in sentence.tokens],
        [token.lemma for token in sentence.tokens],
        kinds,
        [-1 if token.head is None else token.head for token in sentence.tokens],
    ]


def _sentence(fields: list[list[Any]], kinds: list[Any]) -> Sentence:
    tokens = []
    for text, lemma, number, head in zip(*fields, strict=True):
        upos, features, relation, space, xpos = kinds[number]
        tokens.append(Token(text, lemma, upos, features, None if head < 0 else head, relation, space, xpos))
    return Sentence(tuple(tokens))


def _features(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in text.split("|") if part)


# Stages: a folder per stage, a file per shard.

Count = Callable[[int, int | None], None]  # called with the amount done and the total (None: unknown)

NOTE = "stage.json"
FORMAT = 1  # format version of the files; it is part of the fingerprint


@dataclass(frozen=True, slots=True)
class Stage:
    """A folder and its fingerprint."""

    folder: Path
    fingerprint: str

    def path(self, shard: int) -> Path:
        return self.folder / f"{shard:06}.jsonl.gz"

    def read(self, shard: int) -> bytes:
        try:
            return self.path(shard).read_bytes()
        except OSError as error:
            remedy = "Run the command again to resume."
            raise BadInput(self.path(shard), (error.strerror or "cannot be read").lower(), remedy=remedy) from None

    def first_row(self, shard: int) -> Any:
        """Return the first line of a file, which contains the counts of the stage."""
        path = self.path(shard)
        return parse_json_line(next(byte_lines(path), b""), path, 1)

    def write(self, shard: int, data: bytes) -> None:
        write_atomic(self.path(shard), data)

    def finished(self, shards: int) -> set[int]:
        """Return the shards whose files exist."""
        return {shard for shard in range(shards) if self.path(shard).is_file()}


def open_stage(work: Path, name: str, settings: Mapping[str, Any], before: tuple[Stage, ...] = ()) -> Stage:
    """Return the stage of this name in a work folder; its files are removed if the fingerprint differs."""
    about = {"format": FORMAT, "settings": dict(settings), "before": [stage.fingerprint for stage in before]}
    text = json_line(about, sort_keys=True).removesuffix(b"\n")
    fingerprint = hashlib.sha256(text).hexdigest()[:16]
    folder = work / name
    note = folder / NOTE
    remove_leftovers(folder)  # a run may have been killed while it wrote the note
    if _fingerprint(note) != fingerprint:
        if folder.exists() and not note.is_file() and any(folder.iterdir()):
            raise BadInput(
                folder, "already exists, and is not a work folder", remedy="Choose another folder with --work."
            )
        if folder.exists():
            _empty(folder)
        make_folder(folder)
        kept = {"fingerprint": fingerprint, **about}
        write_atomic(note, json_line(kept, indent=1))
    return Stage(folder, fingerprint)


def remove_stages(work: Path) -> None:
    """Remove the stages of a previous run, and nothing else."""
    for note in work.glob(f"*/{NOTE}"):
        _empty(note.parent)


def digest(path: Path) -> str:
    """Return a hash of a file's content, or of the names, sizes and times of a folder's XML files."""
    if not path.exists():
        raise BadInput(path, "no such file")
    if path.is_dir():
        files = sorted((str(p.relative_to(path)), p.stat().st_size, p.stat().st_mtime_ns) for p in path.rglob("*.xml*"))
        return hashlib.sha256(json.dumps(files).encode()).hexdigest()
    if not path.is_file():  # a pipe, or a device without end
        raise BadInput(path, "not a regular file", remedy="Mining reads it several times: write it to the disk.")
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fingerprint(note: Path) -> str | None:
    try:
        content = read_json(note)
    except BadInput:
        return None
    return content.get("fingerprint") if isinstance(content, dict) else None


def _empty(folder: Path) -> None:
    """Remove a stage's folder. Its note is invalidated first and removed last, so that a run that is killed here leaves
    a folder that is recognized as a stage.
    """
    write_atomic(folder / NOTE, b'{"fingerprint": null}\n')
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != NOTE:
            path.unlink()
    shutil.rmtree(folder)
