"""Translate documents with any system that translates: context as in scoring, in batches, resumed when interrupted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from anaphora import __version__
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import Appender, atomic_writer, byte_lines, json_line, open_binary, write_atomic
from anaphora.core.lock import lock_output
from anaphora.core.parsing import expecting, is_a, json_record, parse_json_line
from anaphora.runs import whole_lines
from anaphora.systems import DocumentTranslator, System, Translator
from anaphora.systems.context import Context
from anaphora.systems.documents import Sentence, read_documents

CHUNK = 256  # sentences between two writes
IN_ORDER = 16  # times as many, where a sentence waits for the one before it: so that many documents go on together

Record = tuple[str, int, list[tuple[str, float]]]  # a translation, separators too many or too few, n-best with scores


@dataclass(frozen=True, slots=True)
class Translated:
    """What a translation came to.

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

    beams: as many as the system takes by itself unless told otherwise
    n_best: so many translations of each sentence with their scores, in a file of their own (`nmt:` systems)
    context_from: translations of the input by another system, which a model that reads target context is given
    """
    if not isinstance(system, Translator):
        raise AnaphoraError(f"{spec} only scores, it does not translate")
    sentences = list(read_documents(source, docids=docids))
    settings: dict[str, Any] = {"beams": max(beams or 4, n_best) if n_best else beams, "max_tokens": max_tokens}
    translate: Chunk
    if isinstance(system, DocumentTranslator):
        given = _given(context_from, docids, sentences, source) if context_from else None
        translate = _Documents(system, given, n_best, **settings)
    elif n_best or context_from:
        raise AnaphoraError(f"{spec} has no n-best lists and takes no translations as context: nmt: systems do")
    else:
        translate = _Texts(system, context, check_separator(context), **settings)
    extra = [n_best, _digest(context_from) if context_from else None] if n_best or context_from else []
    header = _header(spec, system, source, context, docids, *settings.values(), *extra)
    part = output.with_name(output.name + ".part")
    with lock_output(output):
        done = _begin(output, part, header, resume, overwrite)
        finished = output.exists() and _is_written(output, sentences, done)
        if output.exists() and not finished:
            raise AnaphoraError(f"{output} already exists. Choose another output, or pass --overwrite")
        with Appender(part) as out:
            while len(done) < len(sentences):
                found = translate(sentences, done)
                rows = (json.dumps(record[: 3 if n_best else 2], ensure_ascii=False) for record in found)
                out.write("".join(f"{row}\n" for row in rows).encode())
                out.sync()
                done += found
                if progress is not None:
                    progress(len(done), len(sentences))
        if output.exists() and not finished:
            raise AnaphoraError(
                f"{output} was written by another program meanwhile. Move it away, then use --resume: the translations "
                f"by {spec} are kept in {part}"
            )
        if not finished:
            _write(output, sentences, done)
        part.unlink()
    return Translated(len(done), sum(s < 0 for _, s, _ in done), sum(s > 0 for _, s, _ in done))


Chunk = Callable[[Sequence[Sentence], Sequence[Record]], list[Record]]  # what follows what is done, some of it


@dataclass(frozen=True)
class _Texts:
    """The next sentences through a system that is given text: context is joined to it, and cut off again."""

    system: Translator
    context: Context
    splits: bool
    beams: int | None
    max_tokens: int

    def __call__(self, sentences: Sequence[Sentence], done: Sequence[Record]) -> list[Record]:
        context = self.context
        passages = [_passage(sentence, context) for sentence in sentences[len(done) : len(done) + CHUNK]]
        texts = self.system.translate([context.join(p) for p in passages], beams=self.beams, max_tokens=self.max_tokens)
        found: list[Record] = []
        for passage, text in zip(passages, texts, strict=True):
            kept, surplus = last_sentence(text, context, len(passage)) if self.splits else (text, 0)
            found.append((" ".join(kept.split()), surplus, []))
        return found


@dataclass(frozen=True)
class _Documents:
    """The next sentences through a system that knows what context it reads."""

    system: DocumentTranslator
    given: Sequence[Sentence] | None
    n_best: int
    beams: int | None
    max_tokens: int

    def __call__(self, sentences: Sequence[Sentence], done: Sequence[Record]) -> list[Record]:
        start = len(done)
        end = start + CHUNK * (IN_ORDER if self.system.in_order and self.given is None else 1)
        before = len(sentences[start].before)  # of its document; these are translated already
        found = self.system.translate_sentences(
            sentences[start:end],
            known=tuple(text for text, *_ in done[start - before : start]),
            given=self.given and self.given[start:end],
            beams=self.beams,
            max_tokens=self.max_tokens,
        )
        return [(one.text, one.surplus, list(one.nbest[: self.n_best])) for one in found]


def _given(path: Path, docids: bool, sentences: Sequence[Sentence], source: Path) -> list[Sentence]:
    """Another system's translations, which belong to the sentences one for one."""
    found = list(read_documents(path, docids=docids))
    if [len(one.before) for one in found] != [len(one.before) for one in sentences]:
        remedy = f"It belongs to {source} line by line, blank lines included."
        raise BadInput(path, f"{len(found):,} translations in other documents than the input's", remedy=remedy)
    return found


def _write(output: Path, sentences: Sequence[Sentence], done: Sequence[Record]) -> None:
    """Translations laid out as the input; n-best lists, where there are any, beside them in Moses' format."""
    if any(found for _, _, found in done):
        with atomic_writer(output.with_name(output.name + ".nbest")) as out:
            for number, (_, _, found) in enumerate(done):
                for text, score in found:
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
    """What follows the last separator, and how many separators there are too many (or, negative, too few).

    Without any separator the whole text is kept, as Bawden et al. 2018 do: it may be the current sentence alone.
    """
    parts = text.split(context.separator.strip() or context.separator)
    return parts[-1].strip(), len(parts) - sentences


def _passage(sentence: Sentence, context: Context) -> tuple[str, ...]:
    before = sentence.before[-context.sentences :] if context.sentences else ()
    return (*before, sentence.text)


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


def _begin(output: Path, part: Path, header: dict[str, Any], resume: bool, overwrite: bool) -> list[Record]:
    """What is translated already; the unfinished file is there afterwards, with its header."""
    if overwrite:
        part.unlink(missing_ok=True)
        output.unlink(missing_ok=True)
    if output.exists() and not (resume and part.exists()):
        raise AnaphoraError(f"{output} already exists. Choose another output, or pass --overwrite")
    if part.exists():
        if not resume:
            raise AnaphoraError(f"an unfinished translation is at {part}. Go on with --resume, or use --overwrite")
        return _resumed(part, header)
    write_atomic(part, json_line(header))
    return []


def _resumed(part: Path, header: dict[str, Any]) -> list[Record]:
    data = part.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    with part.open("r+b") as stream:
        stream.truncate(len(whole))  # a line that was being written is cut off
    lines: Sequence[bytes] = whole.split(b"\n")[:-1]
    found = json_record(lines[0], part, 1) if lines else {}
    for key, value in json.loads(json_line(header)).items():
        if found.get(key) != value:
            raise AnaphoraError(
                f"{part} was created with different settings ({key}: {found.get(key)!r}, now {value!r})"
            )
    return [_record(line, part, number) for number, line in enumerate(islice(lines, 1, None), start=2)]


def _record(line: bytes, part: Path, number: int) -> Record:
    """A line of an unfinished translation."""
    row = parse_json_line(line, part, number)
    with expecting(part, "a line of an unfinished translation", number, "Start again with --overwrite."):
        text, surplus, *lists = row
        nbest = [(str(other), float(score)) for one in lists for other, score in one]
        if type(text) is not str or not is_a(surplus, int):
            raise TypeError("a text and a number are expected")
    return text, surplus, nbest


def kept(output: Path) -> str:
    """Describe what an interrupted `translate` has kept for --resume; empty where there is nothing."""
    part = output.with_name(f"{output.name}.part")
    return f"{whole_lines(part):,} translations are kept in {part}" if part.is_file() else ""
