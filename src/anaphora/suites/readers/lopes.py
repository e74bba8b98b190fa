"""Lopes et al. 2020: 14,000 EN-FR items from OpenSubtitles, two lines each, the right one first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from anaphora.core.documents import parallel_lines
from anaphora.core.errors import BadInput
from anaphora.core.files import require
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Passage, Tag
from anaphora.suites.readers.text import differing_pronoun, groups_of
from anaphora.suites.suite import Header, Suite, suite_of

PRONOUNS = {
    "il": "it",
    "elle": "it",
    "ils": "they",
    "elles": "they",
}  # French pronoun → the English one that it translates


def read(path: Path, *, context: int | None = None) -> Suite:
    """The folder of extracted files, with the largest context in it or the one asked for (c1, c3, …; 0 for none)."""
    current = next(iter(sorted(path.glob("*.current.src*"))), None)
    if current is None:
        raise BadInput(path, "*.current.src is missing here", remedy="Name the folder of the extracted files.")
    prefix = current.name.split(".current.src")[0]
    contexts = re.compile(rf"{re.escape(prefix)}\.c(\d+)\.context\.src")
    sizes = sorted({int(match[1]) for file in path.iterdir() if (match := contexts.match(file.name))})
    size = context if context is not None else (sizes[-1] if sizes else 0)
    if size and size not in sizes:
        available = ", ".join(map(str, sizes)) or "none"
        raise BadInput(
            path, f"no files with {size} sentences of context (found: {available})", remedy="Choose --context."
        )
    sides = [require(path, f"{prefix}.current.{side}") for side in ("src", "trg")]
    befores = [require(path, f"{prefix}.c{size}.context.{side}") for side in ("src", "trg")] if size else []

    def examples() -> Iterator[Example]:
        lines = _passages(sides, befores, size)
        for number, (source, right) in enumerate(lines):
            again, wrong = next(lines, (None, None))
            if again is None or wrong is None:
                raise BadInput(sides[0], "an odd number of lines: the last item has no contrastive line")
            if source != again:
                raise BadInput(sides[0], "the two lines of an item must have the same source", line=2 * number + 1)
            pronoun = differing_pronoun(right[-1], wrong[-1], PRONOUNS)
            tags: dict[str, Tag] = {}
            if pronoun is not None:
                english = PRONOUNS[pronoun]
                tags = {"source_pronoun": english, "reference_pronoun": pronoun, "pronoun_pair": f"{english}:{pronoun}"}
            yield Example(str(number), source, (right, wrong), 0, tags)

    header = Header(
        f"lopes-en-fr-{size}",
        "en",
        "fr",
        ("reference_pronoun", "source_pronoun"),
        citation=citation("lopes"),
        licence="MIT",
    )
    return suite_of(header, examples, path)


def _passages(sides: list[Path], befores: list[Path], size: int) -> Iterator[tuple[Passage, Passage]]:
    """Source and target passage of each line; the context files have `size` lines for each."""
    contexts = groups_of(parallel_lines(*befores), size, befores[0]) if befores else None
    for number, (source, target) in enumerate(parallel_lines(*sides), start=1):
        before: list[tuple[str, ...]] = []
        if contexts is not None:
            rows = next(contexts, None)
            if rows is None:
                raise BadInput(befores[0], f"ends before line {number:,} of {sides[0].name}", remedy="Is it complete?")
            before = rows
        yield (*(b[0] for b in before), source), (*(b[1] for b in before), target)
    if contexts is not None and next(contexts, None) is not None:
        raise BadInput(befores[0], f"has more than {size} lines for each line of {sides[0].name}")
