"""SCAT (Yin et al. 2021): EN-FR pronouns with the context that translators marked as helping them to decide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from anaphora.core.documents import parallel_lines
from anaphora.core.files import require
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Tag
from anaphora.suites.readers import lopes
from anaphora.suites.readers.text import differing_pronoun
from anaphora.suites.suite import Header, Suite, suite_of

OTHER_GENDER = {"il": "elle", "elle": "il", "ils": "elles", "elles": "ils"}
# A highlight was put in with one space around it, so that inside a word it reads "dep <hon>uis<hoff> "; but some were
# put in without: next to a marked pronoun a single space is the text's own.
MARK = re.compile(r"(?:^|(?<!</p>) )?<hon>|<hoff>(?: (?!<p>)|$)?|</?p>")
CUT_MARK = re.compile(r"\s*<\s*h\s*o\s*(?:n|f\s*f)\s*>\s*")
PRONOUN = re.compile(r"\b(il|elle|ils|elles)\b", re.IGNORECASE)


def read(path: Path, *, split: str = "test", contrast_from: Path | None = None) -> Suite:
    """One split of the release, with the highlighted spans as tags.

    The five sentences of context are one line in the release and cannot be told apart: they are one sentence here.
    SCAT has no wrong translations. They come from Lopes' set (--contrast-from), from which SCAT was annotated (its
    text is then taken, too, as some marks in `train` have swallowed spaces), or else by giving the marked pronoun the
    other gender, which leaves participles and adjectives as they were.
    Lines without the pronoun (15 of train: blanked out, "______ sont jolies", or run into a word) are left out.
    """
    names = ("context.en", "context.fr", "en", "fr")
    files = [require(path, f"highlighted.{split}.{name}", "Choose --split train, valid or test.") for name in names]

    def examples() -> Iterator[Example]:
        items = _items(contrast_from) if contrast_from is not None else {}
        for number, row in enumerate(parallel_lines(*files)):
            example = _example(number, row, items)
            if example is not None:
                yield example

    breakdowns = ("reference_pronoun", "contrast")
    header = Header(f"scat-{split}", "en", "fr", breakdowns, citation=citation("scat"), licence="not stated")
    return suite_of(header, examples, path)


def _example(number: int, row: tuple[str, ...], items: dict[str, tuple[str, str, str]]) -> Example | None:
    lines = [unmark(line) for line in row]
    texts = [line.text for line in lines]
    item = items.get(_squeezed(texts[2], texts[3]))
    if item is not None:
        lines[2:] = [line.respaced(text) for line, text in zip(lines[2:], item, strict=False)]
        texts = [line.text for line in lines]
    # every occurrence of the letters is marked, also within a word (dé·il·ler): keep whole pronouns
    pronouns = list(PRONOUN.finditer(texts[3]))
    whole_pronouns = [
        m for m in pronouns if m.span() in lines[3].pronouns
    ] or pronouns  # a few lines have lost their marks
    if not whole_pronouns:
        return None
    contrast = _swapped(texts[3], whole_pronouns) if item is None else item[2]
    swapped = differing_pronoun(texts[3], contrast, OTHER_GENDER) if item is not None else None
    tags: dict[str, Tag] = {
        "reference_pronoun": swapped or whole_pronouns[0][0].lower(),
        "contrast": "pronoun" if item is None else "agreement",
        "highlights": [
            {"side": ("source", "target")[n % 2], "sentence": n // 2, "start": a, "end": b, "text": line.text[a:b]}
            for n, line in enumerate(lines)
            for a, b in line.highlights
        ],
    }
    if not all(line.whole for line in lines):
        tags["highlights_broken"] = True
    return Example(
        id=str(number),
        source=(texts[0], texts[2]),
        candidates=((texts[1], texts[3]), (texts[1], contrast)),
        gold=0,
        tags=tags,
    )


class Unmarked(NamedTuple):
    """A line without its marks; the spans highlighted and marked as the pronoun; whether the marks were whole."""

    text: str
    highlights: list[tuple[int, int]]
    pronouns: set[tuple[int, int]]
    whole: bool

    def respaced(self, text: str) -> Unmarked:
        """The same spans over the same letters with other spaces between them."""
        positions = [i for i, c in enumerate(text) if not c.isspace()]
        letters = [i for i, c in enumerate(self.text) if not c.isspace()]
        if len(positions) != len(letters):
            return self
        position_of = dict(zip(letters, positions, strict=True))

        def moved(a: int, b: int) -> tuple[int, int]:
            inside = [position_of[i] for i in range(a, b) if i in position_of]
            return (inside[0], inside[-1] + 1) if inside else (0, 0)

        spans = [moved(a, b) for a, b in self.highlights]
        return Unmarked(text, [s for s in spans if s[1]], {moved(a, b) for a, b in self.pronouns}, self.whole)


def unmark(line: str) -> Unmarked:
    """Take the marks out of a line.

    Where a second annotation cut through the marks of the first ("mère <hon> <hof<hoff> f>"), the text is recovered
    by taking marks out until none is left, and the spans of the line are dropped.
    """
    text, position, whole = "", 0, True
    spans: dict[str, list[tuple[int, int]]] = {"highlight": [], "pronoun": []}
    opened: dict[str, int] = {}
    for mark in MARK.finditer(line):
        text += line[position : mark.start()]
        position = mark.end()
        kind = "highlight" if "h" in mark[0] else "pronoun"
        if "<hon>" in mark[0] or mark[0] == "<p>":
            whole &= kind not in opened
            opened[kind] = len(text)
        else:
            whole &= kind in opened
            spans[kind].append((opened.pop(kind, 0), len(text)))
    text += line[position:]
    if whole and not opened and not CUT_MARK.search(text):
        return Unmarked(text, [(a, b) for a, b in spans["highlight"] if b > a], set(spans["pronoun"]), True)
    while (cleaned := MARK.sub("", CUT_MARK.sub(" ", text))) != text:
        text = cleaned
    return Unmarked(re.sub(r" {2,}", " ", text), [], set(), False)


def _swapped(target: str, pronouns: list[re.Match[str]]) -> str:
    for pronoun in reversed(pronouns):
        other = OTHER_GENDER[pronoun[0].lower()]
        other = other.capitalize() if pronoun[0][0].isupper() else other
        target = target[: pronoun.start()] + other + target[pronoun.end() :]
    return target


def _items(path: Path) -> dict[str, tuple[str, str, str]]:
    """Lopes' items (source, right, wrong) by the letters of source and right translation."""
    suite = lopes.read(path, context=0)
    items = ((e.source[-1], e.candidates[0][-1], e.candidates[1][-1]) for e in suite)
    return {_squeezed(source, right): (source, right, wrong) for source, right, wrong in items}


def _squeezed(*texts: str) -> str:
    return "\t".join("".join(text.split()) for text in texts)
