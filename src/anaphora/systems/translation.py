"""Translate documents with any system that translates: context as in scoring, in batches, resumed when interrupted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from anaphora import __version__
from anaphora.errors import AnaphoraError, BadInput
from anaphora.files import atomic_writer, byte_lines, decode
from anaphora.systems import System, Translator
from anaphora.systems.context import Context
from anaphora.systems.documents import Sentence, read_documents

CHUNK = 256  # sentences between two writes


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
    resume: bool = False,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Translated:
    """Translate every sentence of a file, each with the sentences before it; the output has the input's layout.

    beams: as many as the system takes by itself unless told otherwise
    """
    if not isinstance(system, Translator):
        raise AnaphoraError(f"{spec} only scores, it does not translate")
    splits = check_separator(context)
    sentences = list(read_documents(source, docids=docids))
    header = _header(spec, system, source, context, docids, beams, max_tokens)
    part = output.with_name(output.name + ".part")
    done = _begin(output, part, header, resume, overwrite)
    with part.open("ab") as out:
        for start in range(len(done), len(sentences), CHUNK):
            chunk = sentences[start : start + CHUNK]
            passages = [_passage(sentence, context) for sentence in chunk]
            texts = system.translate([context.join(p) for p in passages], beams=beams, max_tokens=max_tokens)
            for passage, text in zip(passages, texts, strict=True):
                found, surplus = last_sentence(text, context, len(passage)) if splits else (text, 0)
                done.append((" ".join(found.split()), surplus))
                out.write(json.dumps(done[-1], ensure_ascii=False).encode() + b"\n")
            out.flush()
            if progress is not None:
                progress(len(done), len(sentences))
    with atomic_writer(output) as final:
        for sentence, (text, _) in zip(sentences, done, strict=True):
            final.write(f"{sentence.lead}{text}\n".encode())
    part.unlink()
    return Translated(len(done), sum(s < 0 for _, s in done), sum(s > 0 for _, s in done))


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
    digest = hashlib.sha256()
    for line in byte_lines(source):
        digest.update(line + b"\n")
    return {
        "anaphora_translation": 1,
        "version": __version__,
        "system": spec,
        "input": digest.hexdigest(),
        "context": asdict(context),
        "settings": [*settings, dict(system.settings())],
    }


def _begin(output: Path, part: Path, header: dict[str, Any], resume: bool, overwrite: bool) -> list[tuple[str, int]]:
    """What is translated already; the unfinished file is there afterwards, with its header."""
    if overwrite:
        part.unlink(missing_ok=True)
        output.unlink(missing_ok=True)
    if output.exists():
        raise AnaphoraError(f"{output} is there already. Name another output, or use --overwrite")
    if part.exists():
        if not resume:
            raise AnaphoraError(f"an unfinished translation is at {part}. Go on with --resume, or use --overwrite")
        return _resumed(part, header)
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(json.dumps(header, ensure_ascii=False).encode() + b"\n")
    except OSError as error:
        raise BadInput(part, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    return []


def _resumed(part: Path, header: dict[str, Any]) -> list[tuple[str, int]]:
    data = part.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    with part.open("r+b") as stream:
        stream.truncate(len(whole))  # a line that was being written is cut off
    lines: Sequence[bytes] = whole.split(b"\n")[:-1]
    found = json.loads(decode(lines[0], part, 1)) if lines else {}
    for key, value in json.loads(json.dumps(header)).items():
        if found.get(key) != value:
            raise AnaphoraError(f"{part} was made in another way ({key}: {found.get(key)!r}, now {value!r})")
    return [(text, surplus) for text, surplus in map(json.loads, islice(lines, 1, None))]
