"""Plain line files, and functions that all readers of line files share: groups of lines, and words that differ."""

from __future__ import annotations

import glob
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

from anaphora.core.documents import SAME_LENGTH, parallel_lines
from anaphora.core.errors import BadInput
from anaphora.core.files import existing, require, text_lines
from anaphora.suites.example import Example, Passage, split_words
from anaphora.suites.suite import Header, Suite, suite_of


def groups_of(rows: Iterable[tuple[str, ...]], size: int, path: Path) -> Iterator[list[tuple[str, ...]]]:
    """Rows in groups of a fixed size; a rest is an error."""
    group: list[tuple[str, ...]] = []
    number = 0
    for row in rows:
        number += 1
        group.append(row)
        if len(group) == size:
            yield group
            group = []
    if group:
        raise BadInput(path, f"{number:,} lines are not a multiple of {size}", line=number)


def differing_words(one: str, other: str) -> list[tuple[str, str]]:
    """The words, lowercased, in which two sentences of the same number of words differ; else none."""
    a, b = split_words(one.lower()), split_words(other.lower())
    return [(x, y) for x, y in zip(a, b, strict=True) if x != y] if len(a) == len(b) else []


def differing_pronoun(one: str, other: str, pronouns: Iterable[str]) -> str | None:
    """The pronoun of the first sentence that the other replaces (agreement may make other words differ, too)."""
    words = set(pronouns)
    return next((x for x, y in differing_words(one, other) if x in words and y in words), None)


# Plain line files: one candidate per line, context next to it, group ids that say which candidates belong together.


def read(path: Path, *, source_language: str | None = None, target_language: str | None = None) -> Suite:
    """A folder with NAME.text.{SRC,TGT}, NAME.groups and, with context, NAME.context.{SRC,TGT}.

    This is ContraPro's layout, and what `anaphora suites convert … --to text` writes. NAME.groups has a line per
    candidate: the id of its example, and after a tab 1 for the right candidate and 0 for the others (a prior has
    only 0). Without the second column the first candidate of a group is the right one. A context file has n lines
    per candidate, oldest first, empty where there is no sentence.
    """
    groups = next(iter(sorted(path.glob("*.groups*"))), None) if path.is_dir() else None
    if groups is None:
        raise BadInput(path, "no folder with a NAME.groups file", remedy="It has one line per candidate: an id.")
    name = groups.name.split(".groups")[0]
    source, target = _languages(path, name, source_language, target_language)
    texts = [require(path, f"{name}.text.{language}") for language in (source, target)]
    contexts = [file for language in (source, target) if (file := existing(path, f"{name}.context.{language}"))]
    if len(contexts) == 1:
        raise BadInput(contexts[0], "context is given for one language only", remedy="Give both, or neither.")

    def examples() -> Iterator[Example]:
        size = _context_size(groups, contexts)
        befores = _contexts(contexts, size)
        rows = enumerate(zip(parallel_lines(groups, *texts), befores, strict=False), start=1)
        for identifier, group in itertools.groupby(rows, key=lambda row: row[1][0][0].split("\t")[0]):
            yield _example(identifier, list(group), groups, texts[0])

    return suite_of(Header(name, source, target), examples, path)


Row = tuple[int, tuple[tuple[str, ...], tuple[Passage, Passage]]]


def _example(identifier: str, rows: list[Row], groups: Path, sources: Path) -> Example:
    marks = [line.split("\t")[1:] for _, ((line, *_), _) in rows]
    for (number, _), mark in zip(rows, marks, strict=True):
        if mark not in ([], ["0"], ["1"]) or bool(mark) is not bool(marks[0]):
            raise BadInput(groups, "an id is expected, or an id, a tab and 0 or 1", line=number)
    right = [k for k, mark in enumerate(marks) if mark == ["1"]] if marks[0] else [0]
    if len(right) > 1:
        raise BadInput(groups, f"group {identifier!r} has {len(right)} right candidates", line=rows[0][0])
    passages = [((*before[0], source), (*before[1], target)) for _, ((_, source, target), before) in rows]
    if len({source for source, _ in passages}) > 1:
        raise BadInput(sources, f"group {identifier!r} has more than one source", line=rows[0][0])
    gold = right[0] if right else None
    return Example(identifier, passages[0][0], tuple(target for _, target in passages), gold)


def _contexts(files: list[Path], size: int) -> Iterator[tuple[Passage, Passage]]:
    if not size:
        yield from itertools.repeat(((), ()))
    lines = parallel_lines(*files)
    while rows := list(itertools.islice(lines, size)):
        yield tuple(row[0] for row in rows), tuple(row[1] for row in rows)


def _context_size(groups: Path, contexts: list[Path]) -> int:
    if not contexts:
        return 0
    candidates, lines, others = (sum(1 for _ in text_lines(file)) for file in (groups, *contexts))
    if not candidates or lines % candidates:
        problem = f"{lines:,} lines of context for {candidates:,} candidates"
        raise BadInput(contexts[0], problem, remedy="Each candidate needs the same number of context lines.")
    if lines != others:
        problem = f"{others:,} lines of context, but {contexts[0].name} has {lines:,}"
        raise BadInput(contexts[1], problem, remedy=SAME_LENGTH)
    return lines // candidates


def _languages(path: Path, name: str, source: str | None, target: str | None) -> tuple[str, str]:
    """The languages as given, else from the names of the text files; the source is the one with more repeated lines."""
    files = sorted(path.glob(f"{glob.escape(name)}.text.*"))
    endings = [file.name.removesuffix(".gz").rsplit(".", 1)[-1] for file in files]
    known = [language for language in (source, target) if language]
    rest = [language for language in endings if language not in known]
    if source and target:
        return source, target
    if len(endings) != 2 or len(rest) != 2 - len(known):
        raise BadInput(
            path, f"{name}.text.SRC and .TGT are expected", remedy="Pass --source-language and --target-language."
        )
    if source or target:
        return (source, rest[0]) if source else (rest[0], target or "")
    repeats = [sum(a == b for a, b in itertools.pairwise(text_lines(file))) for file in files]
    return (endings[0], endings[1]) if repeats[0] >= repeats[1] else (endings[1], endings[0])
