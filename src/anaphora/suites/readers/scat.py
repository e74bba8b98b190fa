"""SCAT (Yin et al. 2021): EN-FR pronouns with the context that translators marked as helping them to decide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from anaphora.files import require
from anaphora.suites.catalogue import citation
from anaphora.suites.example import Example, Tag
from anaphora.suites.readers import lopes
from anaphora.suites.readers.lines import differing_pronoun, parallel_lines
from anaphora.suites.suite import Header, Suite, suite_of

OTHER_GENDER = {"il": "elle", "elle": "il", "ils": "elles", "elles": "ils"}
# A highlight was put in with one space around it, so that inside a word it reads "dep <hon>uis<hoff> "; but some were
# put in without: beside a marked pronoun a single space is the text's own.
MARK = re.compile(r"(?:^|(?<!</p>) )?<hon>|<hoff>(?: (?!<p>)|$)?|</?p>")
CUT_MARK = re.compile(r"\s*<\s*h\s*o\s*(?:n|f\s*f)\s*>\s*")
PRONOUN = re.compile(r"\b(il|elle|ils|elles)\b", re.IGNORECASE)


def read(path: Path, *, split: str = "test", contrast_from: Path | None = None) -> Suite:
    """One split of the release, with the highlighted spans as tags.

    The five sentences of context are one line in the release and cannot be told apart: they are one sentence here.
    SCAT has no wrong translations. They come from Lopes' set (--contrast-from), out of which SCAT was annotated, or
    else by giving the marked pronoun the other gender, which leaves participles and adjectives as they were.
    Lines without the pronoun (15 of train: blanked out, "______ sont jolies", or run into a word) are left out.
    """
    names = ("context.en", "context.fr", "en", "fr")
    files = [require(path, f"highlighted.{split}.{name}", "Choose --split train, valid or test.") for name in names]

    def examples() -> Iterator[Example]:
        wrong = _contrasts(contrast_from) if contrast_from is not None else {}
        for number, row in enumerate(parallel_lines(*files)):
            example = _example(number, row, wrong)
            if example is not None:
                yield example

    breakdowns = ("reference_pronoun", "contrast")
    header = Header(f"scat-{split}", "en", "fr", breakdowns, citation=citation("scat"), licence="not stated")
    return suite_of(header, examples, path)


def _example(number: int, row: tuple[str, ...], wrong: dict[tuple[str, str], str]) -> Example | None:
    texts: list[str] = []
    highlights: list[Tag] = []
    broken, marked = False, []
    for place, line in enumerate(row):
        text, spans, pronouns, whole = unmark(line)
        texts.append(text)
        broken |= not whole
        side, sentence = ("source", "target")[place % 2], place // 2
        highlights += [{"side": side, "sentence": sentence, "start": a, "end": b, "text": text[a:b]} for a, b in spans]
        if place == 3:
            # every occurrence of the letters is marked, also within a word (dé·il·ler): keep whole pronouns
            marked = [m for m in PRONOUN.finditer(text) if m.span() in pronouns]
    before_source, before_target, source, target = texts
    found = marked or list(PRONOUN.finditer(target))  # a few lines have lost their marks
    if not found:
        return None
    contrast = wrong.get((source, target))
    pronoun = differing_pronoun(target, contrast, OTHER_GENDER) if contrast is not None else None
    tags: dict[str, Tag] = {
        "reference_pronoun": pronoun or found[0][0].lower(),
        "contrast": "pronoun" if contrast is None else "agreement",
        "highlights": highlights,
    }
    if broken:
        tags["highlights_broken"] = True
    if contrast is None:
        contrast = _swapped(target, found)
    return Example(
        id=str(number),
        source=(before_source, source),
        candidates=((before_target, target), (before_target, contrast)),
        gold=0,
        tags=tags,
    )


def unmark(line: str) -> tuple[str, list[tuple[int, int]], set[tuple[int, int]], bool]:
    """A line without its marks; the spans highlighted; the spans marked as the pronoun; whether the marks are whole.

    Where a second annotation cut through the marks of the first ("mère <hon> <hof<hoff> f>"), the text is recovered
    by taking marks out until none is left, and the spans of the line are given up.
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
        return text, [(a, b) for a, b in spans["highlight"] if b > a], set(spans["pronoun"]), True
    while (cleaned := MARK.sub("", CUT_MARK.sub(" ", text))) != text:
        text = cleaned
    return re.sub(r" {2,}", " ", text), [], set(), False


def _swapped(target: str, pronouns: list[re.Match[str]]) -> str:
    for pronoun in reversed(pronouns):
        other = OTHER_GENDER[pronoun[0].lower()]
        other = other.capitalize() if pronoun[0][0].isupper() else other
        target = target[: pronoun.start()] + other + target[pronoun.end() :]
    return target


def _contrasts(path: Path) -> dict[tuple[str, str], str]:
    """Lopes' wrong translation of each (source, right translation)."""
    suite = lopes.read(path, context=0)
    return {(e.source[-1], e.candidates[0][-1]): e.candidates[1][-1] for e in suite}
