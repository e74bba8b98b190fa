"""The pronouns of a source text, with the words that a candidate and a reference translation align to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anaphora.align.alignment import Alignment, parse_alignment
from anaphora.core.errors import BadInput
from anaphora.languages.pronouns import normalize_word


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A source pronoun and what the candidate and the reference have for it."""

    sentence: int  # from 0
    pronoun: str  # in lower case
    candidate: tuple[str, ...]
    reference: tuple[str, ...]

    @property
    def matches(self) -> int:
        """Clipped counts: each word as often as both have it."""
        return (Counter(self.candidate) & Counter(self.reference)).total()


@dataclass(frozen=True, slots=True)
class Aligned:
    """A tokenised translation, and its alignment with the source.

    outside: sentences whose alignment names words past the end of the source; those points are of no word
    """

    text: list[str]
    alignments: list[Alignment]
    outside: int = 0


def aligned_text(source: Sequence[str], text: list[str], lines: Sequence[str], path: Path) -> Aligned:
    """The alignments in the lines of a Pharaoh file. A point outside the translation is an error.

    One past the end of the source is not: decoders write them where they have split a source word further (37
    sentences in the example data of the original AutoPRF program, which passes over them).
    """
    alignments, outside = [], 0
    for number, (src, target, line) in enumerate(zip(source, text, lines, strict=True), start=1):
        alignment = parse_alignment(line, path, number)
        words, source_words = len(target.split()), len(src.split())
        for i, j in alignment:
            if j >= words:
                problem = f"point {i}-{j} is outside the translation of {words:,} words"
                remedy = "Align the very texts that are scored, tokenised as they are."
                raise BadInput(path, problem, line=number, remedy=remedy)
        outside += any(i >= source_words for i, _ in alignment)
        alignments.append(alignment)
    return Aligned(text, alignments, outside)


def occurrences(
    source: Sequence[str],
    candidate: Aligned,
    reference: Aligned,
    pronouns: Iterable[str],
    *,
    lowercase: bool = False,
) -> Iterator[Occurrence]:
    """The source pronouns of a tokenised text, whatever their case, with the words aligned to them.

    lowercase: also the target words are compared without regard to case; the original compares them as they are
    """
    wanted = {normalize_word(pronoun) for pronoun in pronouns}
    for number, sentence in enumerate(source):
        words = [word.lower() for word in sentence.split()]
        for place, word in enumerate(words):
            if word in wanted:
                both = (_words_for(place, text, number, lowercase) for text in (candidate, reference))
                yield Occurrence(number, word, *both)


def _words_for(place: int, text: Aligned, number: int, lowercase: bool) -> tuple[str, ...]:
    linked = sorted({j for i, j in text.alignments[number] if i == place})
    line = text.text[number].lower() if lowercase else text.text[number]
    words = line.split() if linked else []
    return tuple(words[j] for j in linked)
