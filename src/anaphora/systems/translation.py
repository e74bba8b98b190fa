"""Translate documents with any system that translates: context as in scoring, in batches, resumed when interrupted."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from anaphora import __version__
from anaphora.core.documents import document_lines
from anaphora.core.errors import AnaphoraError, BadInput, OutputMisaligned
from anaphora.core.files import (
    Appender,
    atomic_writer,
    byte_lines,
    complete_lines,
    json_line,
    open_binary,
    rename_synced,
    sha256_of,
    write_atomic,
)
from anaphora.core.lock import lock_output
from anaphora.core.parsing import expecting, is_a, json_record, parse_json_line
from anaphora.core.special import beside
from anaphora.run_writer import whole_lines
from anaphora.suites.example import Passage
from anaphora.systems import DocumentTranslator, System, Translator
from anaphora.systems.context import Context

CHUNK = 256  # sentences between two writes
IN_ORDER = (
    16  # times as many, where a sentence waits for the one before it: so that many documents are translated together
)

Record = tuple[str, int, list[tuple[str, float]]]  # a translation, separators too many or too few, n-best with scores


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with the ones before it in its document.

    lead: what precedes it in an output with the same layout (blank lines, or its docid and a tab)
    """

    text: str
    before: Passage
    lead: str = ""


def read_documents(path: Path, *, docids: bool = False) -> Iterator[Sentence]:
    """Yield the sentences of a file in order; context never crosses from one document into the next.

    docids: the first column, up to a tab, names the document; otherwise a blank line or a line `<d>` ends one
    """
    lines = document_lines(path, format="docids" if docids else "lines")
    for _, document in groupby(lines, key=attrgetter("document")):
        before: list[str] = []
        for line in document:
            yield Sentence(line.texts[0], tuple(before), line.prefix)
            before.append(line.texts[0])


@dataclass(frozen=True, slots=True)
class Translated:
    """Counts of a finished translation.

    missing, surplus: outputs with fewer or more separators than the input had, where outputs hold the context too
    """

    sentences: int
    missing: int
    surplus: int


def translate_file(
    system: System,
    spec: str,
    source: Path,
    output: Path,
    *,
    context: Context,
    languages: str = "",
    docids: bool = False,
    beams: int | None = None,
    max_tokens: int = 256,
    n_best: int = 0,
    context_from: Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Translated:
    """Translate every sentence of a file, each with the sentences before it; the output has the input's layout.

    beams: the beam size; None is the system's default
    n_best: write the N best translations of each sentence with their scores to a second file (`nmt:` systems)
    context_from: translations of the input by another system, as the target context of models that read it
    languages: the language pair that the system was loaded for, if any: it may be part of a prompt
    overwrite: replace an existing output when the new one is complete
    """
    if not isinstance(system, Translator):
        raise AnaphoraError(f"{spec} only scores, it does not translate")
    sentences = list(read_documents(source, docids=docids))
    settings: dict[str, Any] = {"beams": max(beams or 4, n_best) if n_best else beams, "max_tokens": max_tokens}
    translate: Chunk
    if isinstance(system, DocumentTranslator):
        given = _given(context_from, docids, sentences, source) if context_from else None
        translate = _document_chunks(system, given, n_best, settings)
    elif n_best or context_from:
        raise AnaphoraError(f"{spec} supports neither --n-best nor --target-context-from. Use an nmt: system")
    else:
        translate = _text_chunks(system, context, settings)
    extra = [n_best, _digest(context_from) if context_from else None] if n_best or context_from else []
    header = _header(spec, system, source, context, docids, *settings.values(), *extra) | {"languages": languages}
    part = beside(output, "{}.part")
    with lock_output(output), _put_aside_if_misaligned(part):
        done, replaces = _begin(output, part, header, resume, overwrite)
        finished = output.exists() and _is_written(output, sentences, done)
        if not finished and _digest_of(output) not in (None, replaces):
            raise AnaphoraError(f"{output} already exists. Choose another output, or pass --overwrite")
        with Appender(part) as out:
            while len(done) < len(sentences):
                records = translate(sentences, done)
                out.write(b"".join(json_line(record[: 3 if n_best else 2]) for record in records))
                out.sync()
                done += records
                if progress is not None:
                    progress(len(done), len(sentences))
        if not finished and _digest_of(output) not in (None, replaces):
            raise AnaphoraError(
                f"{output} was written by another program meanwhile. Move it away, then use --resume: the translations "
                f"by {spec} are kept in {part}"
            )
        if not finished:
            _write(output, sentences, done)
        part.unlink()
    return Translated(len(done), sum(s < 0 for _, s, _ in done), sum(s > 0 for _, s, _ in done))


@contextlib.contextmanager
def _put_aside_if_misaligned(part: Path) -> Iterator[None]:
    """Put aside what is translated if it is in doubt, so that it is never resumed, and not lost."""
    try:
        yield
    except OutputMisaligned:
        if part.exists() and whole_lines(part):
            rename_synced(part, part.with_suffix(".in-doubt"))
        else:
            part.unlink(missing_ok=True)
        raise


Chunk = Callable[[Sequence[Sentence], Sequence[Record]], list[Record]]  # translates the first sentences not yet done


def _text_chunks(system: Translator, context: Context, settings: dict[str, Any]) -> Chunk:
    """Translate with a system that is given text: context is joined to it, and cut off again."""
    splits = check_separator(context)

    def translate(sentences: Sequence[Sentence], done: Sequence[Record]) -> list[Record]:
        passages = []
        for sentence in sentences[len(done) : len(done) + CHUNK]:
            before = sentence.before[-context.sentences :] if context.sentences else ()
            passages.append((*before, sentence.text))
        records: list[Record] = []
        texts = system.translate([context.join(passage) for passage in passages], **settings)
        for passage, text in zip(passages, texts, strict=True):
            kept, surplus = last_sentence(text, context, len(passage)) if splits else (text, 0)
            records.append((" ".join(kept.split()), surplus, []))
        return records

    return translate


def _document_chunks(
    system: DocumentTranslator, given: Sequence[Sentence] | None, n_best: int, settings: dict[str, Any]
) -> Chunk:
    """Translate with a system that knows which context it reads."""

    def translate(sentences: Sequence[Sentence], done: Sequence[Record]) -> list[Record]:
        start = len(done)
        end = start + CHUNK * (IN_ORDER if system.in_order and given is None else 1)
        before = len(sentences[start].before)  # in its document; these are translated already
        known = tuple(text for text, *_ in done[start - before : start])
        translations = system.translate_sentences(
            sentences[start:end], known=known, given=given and given[start:end], **settings
        )
        return [(one.text, one.surplus, list(one.nbest[:n_best])) for one in translations]

    return translate


def _given(path: Path, docids: bool, sentences: Sequence[Sentence], source: Path) -> list[Sentence]:
    """Read another system's translations, which are aligned with the sentences line by line."""
    translations = list(read_documents(path, docids=docids))
    if [len(one.before) for one in translations] != [len(one.before) for one in sentences]:
        remedy = f"It belongs to {source} line by line, blank lines included."
        raise BadInput(
            path, f"{len(translations):,} translations, whose documents are not those of the input", remedy=remedy
        )
    return translations


def _write(output: Path, sentences: Sequence[Sentence], done: Sequence[Record]) -> None:
    """Write translations in the layout of the input, and n-best lists, if there are any, in Moses' format."""
    if any(nbest for _, _, nbest in done):
        with atomic_writer(beside(output, "{}.nbest")) as out:
            for number, (_, _, nbest) in enumerate(done):
                for text, score in nbest:
                    out.write(f"{number} ||| {text} ||| {score:.6f}\n".encode())
    with atomic_writer(output) as final:
        final.writelines(_lines(sentences, done))


def _lines(sentences: Sequence[Sentence], done: Sequence[Record]) -> Iterator[bytes]:
    for sentence, (text, *_) in zip(sentences, done, strict=True):
        yield f"{sentence.lead}{text}\n".encode()


def _is_written(output: Path, sentences: Sequence[Sentence], done: Sequence[Record]) -> bool:
    """Whether the output holds these translations: a process was killed between writing it and removing its .part."""
    if len(done) < len(sentences):
        return False
    with open_binary(output) as stream:
        return stream.read() == b"".join(_lines(sentences, done))


def check_separator(context: Context) -> bool:
    """Whether outputs hold the context as well and are cut at the separator; one that cannot be found is an error."""
    if not context.sentences or context.target == "none":
        return False
    if not context.separator.strip() and "\n" not in context.separator:
        raise AnaphoraError(
            "the translation of a passage cannot be cut into sentences at a space. Name the separator the system "
            "was trained with (--separator), or say that it gives the last sentence only (--target-context none)"
        )
    return True


def last_sentence(text: str, context: Context, sentences: int) -> tuple[str, int]:
    """Return what follows the last separator, and how many separators there are too many (or, negative, too few).

    Without any separator the whole text is kept, as Bawden et al. 2018 do: it may be the current sentence alone.
    """
    parts = text.split(context.separator.strip() or context.separator)
    return parts[-1].strip(), len(parts) - sentences


def _header(spec: str, system: System, source: Path, context: Context, *settings: Any) -> dict[str, Any]:
    return {
        "anaphora_translation": 1,
        "version": __version__,
        "system": spec,
        "input": _digest(source),
        "context": asdict(context),
        "settings": [*settings, dict(system.settings())],
    }


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    for line in byte_lines(path):
        digest.update(line + b"\n")
    return digest.hexdigest()


def _digest_of(output: Path) -> str | None:
    return sha256_of(output) if output.exists() else None


def _begin(
    output: Path, part: Path, header: dict[str, Any], resume: bool, overwrite: bool
) -> tuple[list[Record], str | None]:
    """Return what is translated already, and the SHA-256 of the earlier output that is replaced, if any.

    The unfinished file exists afterwards, with its header.
    """
    if overwrite:
        replaces = _digest_of(output)
        write_atomic(part, json_line(header | ({"replaces": replaces} if replaces else {})))
        return [], replaces
    if output.exists() and not (resume and part.exists()):
        raise AnaphoraError(f"{output} already exists. Choose another output, or pass --overwrite")
    if part.exists():
        if not resume:
            raise AnaphoraError(
                f"{part} is an unfinished translation. Pass --resume to continue it, or --overwrite to start again"
            )
        return _resumed(part, header)
    write_atomic(part, json_line(header))
    return [], None


def _resumed(part: Path, header: dict[str, Any]) -> tuple[list[Record], str | None]:
    first, *lines = complete_lines(part) or [b"{}"]
    earlier = json_record(first, part, 1)
    for key, value in json.loads(json_line(header)).items():
        if earlier.get(key) != value:
            raise AnaphoraError(
                f"{part} was created with different settings ({key}: {earlier.get(key)!r}, now {value!r})"
            )
    records: list[Record] = []
    for number, line in enumerate(lines, start=2):
        row = parse_json_line(line, part, number)
        with expecting(part, "a line of an unfinished translation", number, "Start again with --overwrite."):
            text, surplus, *lists = row
            if type(text) is not str or not is_a(surplus, int):
                raise TypeError("a text and a number are expected")
            records.append((text, surplus, [(str(other), float(score)) for one in lists for other, score in one]))
    return records, earlier.get("replaces")


def kept(output: Path) -> str:
    """Describe what an interrupted `translate` has kept for --resume; empty where there is nothing."""
    part = beside(output, "{}.part")
    return f"{whole_lines(part):,} translations are kept in {part}" if part.is_file() else ""
