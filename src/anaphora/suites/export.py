"""Line files that any toolkit can score: one candidate per line, in the order in which scores are expected back."""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path

from anaphora.core.errors import AnaphoraError
from anaphora.core.files import atomic_writer
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
    if Path(header.name).name != header.name:
        raise AnaphoraError(f"{header.name!r} cannot be part of a file name. Give the suite another one with --name")
    if separator is not None and ("\n" in separator or "\r" in separator):
        raise AnaphoraError("a separator with a line break would make several lines of a passage")
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
            _check(example)
            for k, candidate in enumerate(example.candidates):
                candidates += 1
                lines = [f"{example.id}\t{int(k == example.gold)}"]
                pair = (example.source, candidate)
                context = [_context(example, passage, size) for passage in pair] if size else []
                texts = [
                    passage[-1] if separator is None else separator.join(filter(None, passage)) for passage in pair
                ]
                for out, text in zip(outs, [*texts, *context, *lines], strict=True):
                    out.write(text.encode() + b"\n")
    return files, candidates


def _context(example: Example, passage: Passage, size: int) -> str:
    before = passage[:-1]
    return "\n".join(("",) * (size - len(before)) + before)


def _check(example: Example) -> None:
    if any(mark in example.id for mark in "\t\n\r"):
        raise AnaphoraError(f"example {example.id!r}: an id with a tab or a line break cannot be in a groups file")
    for sentence in itertools.chain(example.source, *example.candidates):
        if "\n" in sentence or "\r" in sentence:
            raise AnaphoraError(f"example {example.id}: a sentence has a line break in it and cannot be one line")
