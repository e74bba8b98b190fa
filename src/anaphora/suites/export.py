"""Line files that any toolkit can score: one candidate per line, in the order in which scores are expected back."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Sequence
from pathlib import Path

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer, text_lines
from anaphora.core.parsing import check_text, shown
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Suite


def write_text(suite: Suite, folder: Path, *, separator: str | None = None) -> tuple[list[Path], int]:
    """Write a suite as line files; returns them and the number of candidates.

    NAME.text.{SRC,TGT}: the current sentences; NAME.context.{SRC,TGT}: n lines per candidate, oldest first, empty
    where there is none (ContraPro's layout); NAME.groups: `id⇥1` for the right candidate, `id⇥0` for the others.
    With a separator, text files hold whole passages joined by it, as concatenating models read them.
    """
    header = suite.header
    languages = (header.source_language, header.target_language)
    for part in (header.name, *languages):  # they become names of files, and may not lead out of the folder
        if Path(part).name != part or not part.isprintable() or len(part) > 100:
            raise AnaphoraError(f"{shown(part)} cannot be part of a file name. Rename the suite with --suite-name")
    _check_separator(separator)
    if languages[0] == languages[1]:
        raise AnaphoraError(f"{header.name}: source and target are both {languages[0]!r}, the files would be the same")
    size = 0 if separator is not None else max((example.context_size for example in suite), default=0)
    names = [f"{header.name}.text.{language}" for language in languages]
    names += [f"{header.name}.context.{language}" for language in languages] if size else []
    names.append(f"{header.name}.groups")
    files = [folder / name for name in names]
    candidates = 0
    with contextlib.ExitStack() as stack:
        outs = [stack.enter_context(atomic_writer(file)) for file in files]
        for example in suite:
            if any(mark in example.id for mark in "\t\n\r"):
                problem = "an id with a tab or a line break cannot be in a groups file"
                raise AnaphoraError(f"example {example.id!r}: {problem}")
            _check_lines(example, example.source, *example.candidates)
            for k, candidate in enumerate(example.candidates):
                candidates += 1
                lines = [f"{example.id}\t{int(k == example.gold)}"]
                pair = (example.source, candidate)
                context = ["\n".join((("",) * size + passage[:-1])[-size:]) for passage in pair] if size else []
                texts = [
                    passage[-1] if separator is None else separator.join(filter(None, passage)) for passage in pair
                ]
                for out, text in zip(outs, [*texts, *context, *lines], strict=True):
                    out.write(text.encode() + b"\n")
    return files, candidates


# The sources of a suite to be translated, and the translations of its current sentences when they come back.


def write_sources(
    suite: Suite, path: Path, *, separator: str | None = None, documents: bool = False, context: int | None = None
) -> int:
    """Write the source of every example; returns how many there are.

    separator: join the sentences of a passage by it; without one, and without documents, lines are current sentences
    documents: a line per sentence, and a blank line between examples
    context: at most this many sentences before the current one; None: all that the suite has
    """
    if documents and separator is not None:
        raise AnaphoraError(
            "a separator joins the sentences of a line: leave it out where each has its own (documents)"
        )
    _check_separator(separator)
    joined = "\n" if documents else separator
    count = 0
    with atomic_writer(path) as out:
        for example in suite:
            sentences = _sentences(example, context if joined is not None else 0)
            text = sentences[-1] if joined is None else joined.join(sentences)
            out.write(f"{chr(10) if documents and count else ''}{text}\n".encode())
            count += 1
    return count


def current_translations(path: Path, suite: Suite) -> list[str]:
    """The translations of the current sentences, one for each example, from a file in either layout."""
    return [passage[-1] for passage in translated_passages(path, suite)]


def translated_passages(path: Path, suite: Suite) -> list[Passage]:
    """The translated passages, one for each example, from a file in either layout.

    They hold the current sentence alone, or as many sentences as were translated with it, "" where the source has none.
    """
    lines = list(text_lines(path))
    examples = list(suite)
    if len(lines) == len(examples):
        return [(line,) for line in lines]
    for context in range(max((example.context_size for example in examples), default=0) + 1):
        ends: list[int] = []  # the line of each current sentence, where every example is a document
        for example in examples:
            before = sum(1 for sentence in example.source[-1 - context : -1] if sentence.strip())
            ends.append((ends[-1] + 2 if ends else 0) + before)
        if len(lines) == ends[-1] + 1 and not any(lines[end + 1] for end in ends[:-1]):
            starts = [0, *(end + 2 for end in ends[:-1])]
            return [
                _in_shape(example.source[-1 - context :], lines[start : end + 1])
                for example, start, end in zip(examples, starts, ends, strict=True)
            ]
    raise _misfit(path, lines, suite, examples)


def _misfit(path: Path, lines: Sequence[str], suite: Suite, examples: Sequence[Example]) -> BadInput:
    """The error for translations that fit neither layout; in documents, it names the first that does not fit."""
    name = suite.header.name
    where = shlex.quote(str(suite.path or name))
    remedy = (
        "A line per example in the order of the suite, empty where there is no translation, or a document per "
        f"example, as written by: anaphora suites convert {where} --to sources"
    )
    starts = [0, *(number + 1 for number, line in enumerate(lines) if not line)]
    if len(starts) == 1:
        return BadInput(path, f"{len(lines):,} lines, but {name} has {len(examples):,} examples", remedy=remedy)
    ends = [*(start - 1 for start in starts[1:]), len(lines)]
    if len(starts) == len(examples):
        for example, start, end in zip(examples, starts, ends, strict=True):
            size = sum(1 for sentence in example.source if sentence.strip())
            if end - start != size:
                problem = f"a document of {end - start} lines, but example {shown(example.id)} has {size} sentences"
                return BadInput(path, problem, line=start + 1, remedy=f"{remedy} --documents")
    problem = f"{len(starts):,} documents ({len(lines):,} lines), but {name} has {len(examples):,} examples"
    return BadInput(path, problem, remedy=f"{remedy} --documents")


def _in_shape(source: Passage, translated: list[str]) -> Passage:
    """The translated sentences in the places of those of the source that exist."""
    sentences = iter(translated[:-1])
    return (*(next(sentences) if sentence.strip() else "" for sentence in source[:-1]), translated[-1])


def _sentences(example: Example, context: int | None) -> list[str]:
    """The sentences of a source that exist, the current one last."""
    source = example.source if context is None else example.source[-1 - context :]
    _check_lines(example, source)
    if not source[-1].strip():
        raise AnaphoraError(f"example {example.id}: the current sentence is empty, there is nothing to translate")
    return [sentence for sentence in source if sentence.strip()]


def _check_separator(separator: str | None) -> None:
    if separator is not None and ("\n" in separator or "\r" in separator):
        raise AnaphoraError("a separator with a line break would make several lines of a passage")
    check_text(separator or "", "the separator")


def _check_lines(example: Example, *passages: Passage) -> None:
    if any(mark in sentence for passage in passages for sentence in passage for mark in "\n\r"):
        raise AnaphoraError(f"example {example.id}: a sentence has a line break in it and cannot be one line")
