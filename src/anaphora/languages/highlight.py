"""Where two candidates differ, and where a pronoun is: what the report and the study highlight, or hide."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from anaphora.align.tokenize import APOSTROPHES
from anaphora.languages.pronouns import normalize_word

Span = tuple[int, int]  # from character, to character
# A word with its apostrophes and hyphens is one (c'est is two in French: the pronoun ends with its apostrophe).
WORD = re.compile(rf"\w+['{APOSTROPHES}]?|[^\w\s]")


def differences(one: str, other: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The stretches of words in which two sentences differ; words next to each other are one stretch.

    Where one sentence lacks words that the other has, the word that follows (or else the last one) shows the place.
    """
    words = [list(WORD.finditer(sentence)) for sentence in (one, other)]
    a, b = ([match.group() for match in found] for found in words)
    # most candidates differ in one word: what they share at both ends need not be searched
    shortest = min(len(a), len(b))
    head = next((n for n in range(shortest) if a[n] != b[n]), shortest)
    tail = next((n for n in range(shortest - head) if a[-1 - n] != b[-1 - n]), shortest - head)
    matcher = difflib.SequenceMatcher(None, a[head : len(a) - tail], b[head : len(b) - tail], autojunk=False)
    spans: tuple[list[Span], list[Span]] = ([], [])
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            continue
        for side, (start, end) in enumerate(((head + i, head + j), (head + k, head + m))):
            found = words[side]
            if not found:
                continue
            first = min(start, len(found) - 1)
            last = max(first, end - 1)
            spans[side].append((found[first].start(), found[last].end()))
    return tuple(merged(spans[0])), tuple(merged(spans[1]))


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in order; those that touch or overlap become one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def replaced_pronouns(one: str, other: str) -> tuple[str, str] | None:
    """The one word of each sentence in which they differ, in lower case; None if it is not just one."""
    marks = differences(one, other)
    if not len(marks[0]) == len(marks[1]) == 1:
        return None
    words = [normalize_word(text[slice(*found[0])]) for text, found in zip((one, other), marks, strict=True)]
    return (words[0], words[1]) if not any(" " in word for word in words) else None


def occurrences(pronoun: str, sentence: str) -> list[Span]:
    """Where a word stands in a sentence as a word of its own, whatever its case."""
    pattern = re.escape(normalize_word(pronoun)).replace("'", f"['{APOSTROPHES}]")
    start = "" if pronoun.startswith(("'", *APOSTROPHES)) else r"(?<!\w)"  # geht's
    end = "" if pronoun.endswith(("'", *APOSTROPHES)) else r"(?!\w)"  # c'est
    found = re.finditer(rf"{start}{pattern}{end}", sentence, re.IGNORECASE)
    return [match.span() for match in found]


def segments(sentence: str, spans: tuple[Span, ...]) -> list[tuple[str, bool]]:
    """A sentence in parts, each marked or not: what the page shows."""
    parts: list[tuple[str, bool]] = []
    place = 0
    for start, end in spans:
        parts += [(sentence[place:start], False), (sentence[start:end], True)]
        place = end
    parts.append((sentence[place:], False))
    return [part for part in parts if part[0]]
