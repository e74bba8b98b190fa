"""The words in which candidates differ, and positions of pronouns, which the report and the study highlight or hide."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence

from anaphora.align.tokenize import APOSTROPHES
from anaphora.languages.pronouns import normalize_word

Span = tuple[int, int]  # from character, to character
# A word with its apostrophes and hyphens is one (c'est is two in French: the pronoun ends with its apostrophe).
WORD = re.compile(rf"\w+['{APOSTROPHES}]?|[^\w\s]")
MAX_SEARCHED = 2_000  # characters that differ
STRAIGHT = str.maketrans(dict.fromkeys(APOSTROPHES, "'"))


def differences(one: str, other: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The stretches of words in which two sentences differ; words next to each other are one stretch.

    Where one sentence lacks words that the other has, the word that follows (or else the last one) marks the place.
    """
    words = [list(WORD.finditer(sentence)) for sentence in (one, other)]
    a, b = ([match.group() for match in matches] for matches in words)
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
            matches = words[side]
            if not matches:
                continue
            first = min(start, len(matches) - 1)
            last = max(first, end - 1)
            spans[side].append((matches[first].start(), matches[last].end()))
    return tuple(merged(spans[0])), tuple(merged(spans[1]))


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in order; those that touch or overlap become one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def replaced_pronouns(one: str, other: str) -> tuple[str, str] | None:
    """The one word of each sentence in which they differ, in lower case; None if it is not just one."""
    marks = differences(one, other)
    if not len(marks[0]) == len(marks[1]) == 1:
        return None
    words = [normalize_word(text[slice(*spans[0])]) for text, spans in zip((one, other), marks, strict=True)]
    return (words[0], words[1]) if not any(" " in word for word in words) else None


def occurrences(pronoun: str, sentence: str) -> list[Span]:
    """The spans of a word in a sentence, as a separate word in any case."""
    pattern = re.escape(normalize_word(pronoun)).replace("'", f"['{APOSTROPHES}]")
    start = "" if pronoun.startswith(("'", *APOSTROPHES)) else r"(?<!\w)"  # geht's
    end = "" if pronoun.endswith(("'", *APOSTROPHES)) else r"(?!\w)"  # c'est
    matches = re.finditer(rf"{start}{pattern}{end}", sentence, re.IGNORECASE)
    return [match.span() for match in matches]


def find_word(shown: str, words: Sequence[str], number: int, offset: int, length: int) -> Span | None:
    """Return where some characters of a word are in the detokenized sentence; None if it does not have them."""
    positions = [index for index, sign in enumerate(shown) if not sign.isspace()]
    ours = "".join(words).translate(STRAIGHT)
    theirs = "".join(shown[index] for index in positions).translate(STRAIGHT)
    start = sum(map(len, words[:number])) + offset
    if ours == theirs and length:
        return positions[start], positions[start + length - 1] + 1
    for a, b, size in matching_blocks(ours, theirs):
        if a <= start and start + length <= a + size:
            first = b + start - a
            return positions[first], positions[first + length - 1] + 1
    return None


def matching_blocks(one: str, other: str) -> Iterator[tuple[int, int, int]]:
    """Yield what two texts share, in order: its start in the one, its start in the other, its length.

    The search takes quadratic time, so it is limited to what lies between their common beginning and end; if that is
    very long, it counts as different throughout.
    """
    head = _same(one, other)
    tail = _same(one[head:][::-1], other[head:][::-1])
    a, b = one[head : len(one) - tail], other[head : len(other) - tail]
    if head:
        yield 0, 0, head
    if min(len(a), len(b)) <= MAX_SEARCHED:
        for match in difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
            if match.size:
                yield head + match.a, head + match.b, match.size
    if tail:
        yield len(one) - tail, len(other) - tail, tail


def _same(one: str, other: str) -> int:
    """The length of the common beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def segments(sentence: str, spans: tuple[Span, ...]) -> list[tuple[str, bool]]:
    """A sentence in parts, each marked or not: what the page shows."""
    parts: list[tuple[str, bool]] = []
    end_of_last = 0
    for start, end in spans:
        parts += [(sentence[end_of_last:start], False), (sentence[start:end], True)]
        end_of_last = end
    parts.append((sentence[end_of_last:], False))
    return [part for part in parts if part[0]]
