"""The sources of a suite to be translated, and the translations of its current sentences when they come back.

Two layouts: a line per example, or a document per example with a blank line between documents, as `anaphora translate`
and other document-level systems take it. The translations have the layout of what was translated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer, text_lines
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite


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
    lines = list(text_lines(path))
    examples = list(suite)
    if len(lines) == len(examples):
        return lines
    for context in range(max((example.context_size for example in examples), default=0) + 1):
        ends = list(_ends(examples, context))
        if len(lines) == ends[-1] + 1 and not any(lines[end + 1] for end in ends[:-1]):
            return [lines[end] for end in ends]
    name = suite.header.name
    remedy = (
        "A line per example in the order of the suite, empty where there is no translation, or a document per "
        f"example, as written by: anaphora suites convert {name} --to sources"
    )
    raise BadInput(path, f"{len(lines):,} lines, but {name} has {len(examples):,} examples", remedy=remedy)


def _ends(examples: Sequence[Example], context: int) -> Iterator[int]:
    """The number of the line of each current sentence, where every example is a document."""
    line = -1
    for number, example in enumerate(examples):
        line += sum(1 for sentence in example.source[-1 - context : -1] if sentence.strip()) + 1 + bool(number)
        yield line


def _sentences(example: Example, context: int | None) -> list[str]:
    """The sentences of a source that exist, the current one last."""
    source = example.source if context is None else example.source[-1 - context :]
    if any(mark in sentence for sentence in source for mark in "\n\r"):
        raise AnaphoraError(f"example {example.id}: a sentence has a line break in it and cannot be one line")
    if not source[-1].strip():
        raise AnaphoraError(f"example {example.id}: the current sentence is empty, there is nothing to translate")
    return [sentence for sentence in source if sentence.strip()]
