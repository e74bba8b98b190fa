"""AutoPRF (Hardmeier and Federico 2010; APT paper §3.2): the words aligned to source pronouns, against a reference's.

For each source pronoun, C are the words that the candidate translation aligns to it, R those of the reference. A word
counts as a match as often as it occurs in both (clipped counts); precision = matches / |C|, recall = matches / |R|.

Where counts are clipped. Hardmeier and Federico clip pronoun by pronoun: a word matches only the reference's words for
the very same occurrence. The formula in the APT paper reads as if C and R were lists of the whole text, where an *il*
here pays for an *il* in another sentence; that is a comparison of two frequency lists, and far more lenient. The
original program clips by occurrence, and so do we; `clip="corpus"` is the formula as printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anaphora import __version__
from anaphora.align import Aligner, align_systems
from anaphora.align.alignment import Alignment, parse_alignment
from anaphora.align.tokenize import DEFAULT, Tokenization, Treatment, pair_of, signature
from anaphora.core.documents import read_parallel
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronouns import normalize_word
from anaphora.metrics.apt.task import Files
from anaphora.stats.intervals import Floats
from anaphora.stats.paired import PairedTest, SufficientStats, harmonic, paired_tests, ratio
from anaphora.stats.resampling import Interval, Resampling
from anaphora.stats.signature import Signature


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
    """A tokenized translation, and its alignment with the source.

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
                remedy = "Align the very texts that are scored, tokenized as they are."
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
    """The source pronouns of a tokenized text, whatever their case, with the words aligned to them.

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


# The figures: clipped matches over the words aligned to source pronouns.

CLIPS = ("occurrence", "corpus")


@dataclass(frozen=True, slots=True)
class Score:
    """Counts and the three figures with their intervals; a figure is None where there is nothing to divide by."""

    occurrences: int
    matches: int
    candidate: int
    reference: int
    intervals: dict[str, Interval]

    @property
    def precision(self) -> float | None:
        return self.matches / self.candidate if self.candidate else None

    @property
    def recall(self) -> float | None:
        return self.matches / self.reference if self.reference else None

    @property
    def f(self) -> float | None:
        """2PR / (P + R), which is 2 matches / (|C| + |R|)."""
        return 2 * self.matches / (self.candidate + self.reference) if self.candidate and self.reference else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f": self.f,
            "intervals": {name: list(interval) for name, interval in self.intervals.items()},
            "matches": self.matches,
            "candidate": self.candidate,
            "reference": self.reference,
            "occurrences": self.occurrences,
        }


@dataclass(frozen=True, slots=True)
class AutoPRF:
    """What the metric says of one system, in all and by source pronoun."""

    score: Score
    by_pronoun: dict[str, Score]
    sums: SufficientStats  # for comparisons with other systems
    signature: str

    def to_dict(self) -> dict[str, Any]:
        by_pronoun = {pronoun: score.to_dict() for pronoun, score in self.by_pronoun.items()}
        return {**self.score.to_dict(), "by_pronoun": by_pronoun, "signature": self.signature}


def autoprf(
    found: Iterable[Occurrence],
    sentences: int,
    *,
    clip: str = "occurrence",
    resampling: Resampling | None = None,
    settings: Sequence[str] = (),
) -> AutoPRF:
    """Precision, recall and F of the occurrences of a text; its sentences are resampled.

    settings: what else the signature says, for example the case of words
    """
    if clip not in CLIPS:
        raise AnaphoraError(f"unknown clipping {clip!r}. Known: {', '.join(CLIPS)}")
    resampling = resampling or Resampling()
    found = list(found)
    pronouns = sorted({one.pronoun for one in found})
    sums = _sums(found, sentences, clip)
    parts = {p: [one for one in found if one.pronoun == p] for p in pronouns}
    line = Signature("autoprf").add("clip", clip).extend(settings).resampled(resampling)
    return AutoPRF(
        score=_score(found, clip, sums, resampling),
        by_pronoun={p: _score(part, clip, _sums(part, sentences, clip), resampling) for p, part in parts.items()},
        sums=sums,
        signature=str(line),
    )


def _score(found: Sequence[Occurrence], clip: str, sums: SufficientStats, resampling: Resampling) -> Score:
    if clip == "occurrence":
        matches = sum(one.matches for one in found)
    else:
        matches = (_words(one.candidate for one in found) & _words(one.reference for one in found)).total()
    return Score(
        occurrences=len(found),
        matches=matches,
        candidate=sum(len(one.candidate) for one in found),
        reference=sum(len(one.reference) for one in found),
        intervals=sums.intervals(resampling) if found else {},
    )


def _sums(found: Sequence[Occurrence], sentences: int, clip: str) -> SufficientStats:
    """The three figures as functions of sums over sentences."""
    rows = _rows_by_occurrence(found, sentences) if clip == "occurrence" else _rows_by_word(found, sentences)
    return SufficientStats(rows, _figures)


def _rows_by_occurrence(found: Sequence[Occurrence], sentences: int) -> Floats:
    """(sentences, 4): |C|, |R|, and matches as what C and what R have of them."""
    rows = np.zeros((sentences, 4))
    for one in found:
        rows[one.sentence] += (len(one.candidate), len(one.reference), one.matches, one.matches)
    return rows


def _rows_by_word(found: Sequence[Occurrence], sentences: int) -> Floats:
    """(sentences, 2 + 2 words): |C|, |R|, then how often each word is in C, and in R.

    Only words of R can match: the others need no column. So the columns are the same for all systems.
    """
    index = {word: k for k, word in enumerate(sorted(_words(one.reference for one in found)))}
    rows = np.zeros((sentences, 2 + 2 * len(index)))
    for one in found:
        for side, words in enumerate((one.candidate, one.reference)):
            rows[one.sentence, side] += len(words)
            for word in words:
                if word in index:
                    rows[one.sentence, 2 + side * len(index) + index[word]] += 1
    return rows


def _figures(totals: Floats) -> dict[str, Floats]:
    candidate, reference = totals[:, 0], totals[:, 1]
    in_candidate, in_reference = np.split(totals[:, 2:], 2, axis=1)
    matches = np.minimum(in_candidate, in_reference).sum(axis=1)
    precision, recall = ratio(matches, candidate), ratio(matches, reference)
    return {"precision": precision, "recall": recall, "f": harmonic(precision, recall)}


def _words(lists: Iterable[tuple[str, ...]]) -> Counter[str]:
    return Counter(word for words in lists for word in words)


# AutoPRF of files: texts and alignments are read in step, systems are compared on the same sentences.

PRONOUNS = ("it", "they")  # those of Hardmeier and Federico's program
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class AutoPRFResult:
    """All systems, and every pair of them by precision, recall and F.

    outside: see `Aligned`, by system; texts: what was done to each text before its words were counted
    """

    systems: Mapping[str, AutoPRF]
    pairs: Mapping[str, tuple[PairedTest, ...]]
    outside: Mapping[str, int]
    resampling: Resampling
    signature: str
    texts: Mapping[str, Treatment] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The first system at the top (the contract's object), all of them under `systems`."""
        systems = {name: {"system": name, **result.to_dict()} for name, result in self.systems.items()}
        pairs = [{"figure": figure, **pair.to_dict()} for figure, pairs in self.pairs.items() for pair in pairs]
        texts = {name: treatment.to_dict() for name, treatment in self.texts.items()}
        rest = {"systems": systems, "pairs": pairs, "outside": dict(self.outside), "texts": texts}
        return {**next(iter(systems.values())), **rest}


def autoprf_of_files(
    files: Files,
    *,
    pronouns: Sequence[str] = PRONOUNS,
    clip: str = "occurrence",
    lowercase: bool = False,
    tokenize: str = DEFAULT,
    normalize: bool = True,
    languages: str = "",
    resampling: Resampling | None = None,
    progress: Progress | None = None,
) -> AutoPRFResult:
    """AutoPRF of one or more systems. Texts without alignment files are aligned (progress is of that).

    tokenize, normalize: see `anaphora.align.tokenize`; languages: of source and target, such as en-fr
    """
    resampling = resampling or Resampling()
    pair = pair_of(languages, files.source, files.reference)
    texts = _Texts.read(files, files.tokenization(tokenize, normalize, pair))
    source = texts.source
    reference, systems = texts.given(files) if files.reference_alignment else texts.aligned(progress)
    case = "lc" if lowercase else "mixed"
    aligned_by = "given" if files.reference_alignment else Aligner().name
    line = Signature().add("pron", ",".join(pronouns)).add("case", case)
    line.extend(signature(texts.treatments.values(), normalize=normalize))
    line.add("align", aligned_by).add("v", __version__)
    found = {}
    for name, text in systems.items():
        words = occurrences(source, text, reference, pronouns, lowercase=lowercase)
        found[name] = autoprf(words, len(source), clip=clip, resampling=resampling, settings=[str(line)])
    if not next(iter(found.values())).score.occurrences:
        raise AnaphoraError(f"{files.source}: has none of the pronouns {', '.join(pronouns)}")
    return AutoPRFResult(
        systems=found,
        pairs=paired_tests({name: result.sums for name, result in found.items()}, resampling),
        outside={name: text.outside for name, text in {"reference": reference, **systems}.items() if text.outside},
        resampling=resampling,
        signature=next(iter(found.values())).signature,
        texts=texts.treatments,
    )


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts with single spaces between their words, and what was done to each."""

    source: list[str]
    reference: list[str]
    systems: dict[str, list[str]]
    treatments: dict[str, Treatment]

    @classmethod
    def read(cls, files: Files, words: Tokenization) -> _Texts:
        if (files.reference_alignment is None) != (not files.hypothesis_alignments):
            raise AnaphoraError(
                "pass both --reference-alignments and --translation-alignments, or neither to align the texts"
            )
        alignments = [files.reference_alignment, *files.hypothesis_alignments] if files.reference_alignment else []
        paths = (files.source, files.reference, *files.hypotheses)
        lines = read_parallel(*paths, *filter(None, alignments))[: len(paths)]  # all of them are in step
        names = ("source", "reference", *files.systems)
        divided = [words.source(lines[0]), *map(words.target, lines[1:])]
        source, reference, *systems = ([" ".join(sentence) for sentence in text.sentences] for text in divided)
        treatments = {name: text.treatment for name, text in zip(names, divided, strict=True)}
        return cls(source, reference, dict(zip(files.systems, systems, strict=True)), treatments)

    def given(self, files: Files) -> tuple[Aligned, dict[str, Aligned]]:
        """With the alignments of files."""
        assert files.reference_alignment is not None
        paths = (files.reference_alignment, *files.hypothesis_alignments)
        lines = read_parallel(files.source, *paths)[1:]
        reference, *systems = (
            aligned_text(self.source, text, points, path)
            for text, points, path in zip((self.reference, *self.systems.values()), lines, paths, strict=True)
        )
        return reference, dict(zip(self.systems, systems, strict=True))

    def aligned(self, progress: Progress | None) -> tuple[Aligned, dict[str, Aligned]]:
        """With alignments that are made."""
        words = {name: [line.split() for line in text] for name, text in self.systems.items()}
        source, reference = ([line.split() for line in text] for text in (self.source, self.reference))
        found = align_systems(source, reference, words, progress=progress)
        systems = {name: Aligned(text, found.systems[name]) for name, text in self.systems.items()}
        return Aligned(self.reference, found.reference), systems
