"""AutoPRF (Hardmeier and Federico 2010; APT paper §3.2): the words aligned to source pronouns, against a reference's.

For each source pronoun, C are the words that the candidate translation aligns to it, R those of the reference. A word
counts as a match as often as it occurs in both (clipped counts); precision = matches / |C|, recall = matches / |R|.

Where counts are clipped. Hardmeier and Federico clip pronoun by pronoun: a word matches only the reference's words for
the very same occurrence. The formula in the APT paper reads as if C and R were lists of the whole text, where an *il*
here makes up for one in another sentence; that is a comparison of two frequency lists, and far more lenient. The
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
from anaphora.align.tokenize import DEFAULT, Treatment, pair_of, signature
from anaphora.core.documents import read_parallel
from anaphora.core.errors import AnaphoraError, BadInput, check_name
from anaphora.languages.pronouns import normalize_word
from anaphora.metrics.apt.task import Files
from anaphora.stats.intervals import Floats
from anaphora.stats.paired import PairedTest, SufficientStats, harmonic, paired_tests, ratio
from anaphora.stats.resampling import Interval, Resampling
from anaphora.stats.signature import Signature


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A source pronoun and its translations in the candidate and the reference."""

    sentence: int  # from 0
    pronoun: str  # in lower case
    candidate: tuple[str, ...]
    reference: tuple[str, ...]

    @property
    def matches(self) -> int:
        """Return the clipped count: each word counts at most as often as both sides contain it."""
        return (Counter(self.candidate) & Counter(self.reference)).total()


@dataclass(frozen=True, slots=True)
class Aligned:
    """A tokenized translation, and its alignment with the source.

    outside: sentences whose alignment names words past the end of the source; those points have no word
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
                remedy = "Align exactly the texts that are scored, with the same tokenization."
                raise BadInput(path, problem, line=number, remedy=remedy)
        outside += any(i >= source_words for i, _ in alignment)
        alignments.append(alignment)
    return Aligned(text, alignments, outside)


def find_occurrences(
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
        for position, word in enumerate(words):
            if word in wanted:
                both = []
                for text in (candidate, reference):
                    linked = sorted({j for i, j in text.alignments[number] if i == position})
                    line = text.text[number].lower() if lowercase else text.text[number]
                    both.append(tuple([line.split()[j] for j in linked]))
                yield Occurrence(number, word, *both)


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
    """The scores of one system, overall and by source pronoun."""

    score: Score
    by_pronoun: dict[str, Score]
    sums: SufficientStats  # for comparisons with other systems
    signature: str

    def to_dict(self) -> dict[str, Any]:
        by_pronoun = {pronoun: score.to_dict() for pronoun, score in self.by_pronoun.items()}
        return {**self.score.to_dict(), "by_pronoun": by_pronoun, "signature": self.signature}


def autoprf(
    occurrences: Iterable[Occurrence],
    sentences: int,
    *,
    clip: str = "occurrence",
    resampling: Resampling | None = None,
    settings: Sequence[str] = (),
) -> AutoPRF:
    """Compute precision, recall and F of the occurrences of a text, resampling sentences.

    settings: what else the signature says, for example the case of words
    """
    check_name("clipping", clip, CLIPS)
    resampling = resampling or Resampling()
    occurrences = list(occurrences)
    pronouns = sorted({one.pronoun for one in occurrences})
    sums = _sums(occurrences, sentences, clip)
    parts = {p: [one for one in occurrences if one.pronoun == p] for p in pronouns}
    line = Signature("autoprf").add("clip", clip).extend(settings).resampled(resampling)
    return AutoPRF(
        score=_score(occurrences, clip, sums, resampling),
        by_pronoun={p: _score(part, clip, _sums(part, sentences, clip), resampling) for p, part in parts.items()},
        sums=sums,
        signature=str(line),
    )


def _score(occurrences: Sequence[Occurrence], clip: str, sums: SufficientStats, resampling: Resampling) -> Score:
    if clip == "occurrence":
        matches = sum(one.matches for one in occurrences)
    else:
        candidate, reference = (
            Counter(word for one in occurrences for word in getattr(one, side)) for side in ("candidate", "reference")
        )
        matches = (candidate & reference).total()
    return Score(
        occurrences=len(occurrences),
        matches=matches,
        candidate=sum(len(one.candidate) for one in occurrences),
        reference=sum(len(one.reference) for one in occurrences),
        intervals=sums.intervals(resampling) if occurrences else {},
    )


def _sums(occurrences: Sequence[Occurrence], sentences: int, clip: str) -> SufficientStats:
    """Return the three figures as functions of sums over sentences.

    by occurrence: (sentences, 4): |C|, |R|, and matches as what C and what R have of them
    by corpus: (sentences, 2 + 2 words): |C|, |R|, then how often each word is in C, and in R. Only words of R can
        match: the others need no column. So the columns are the same for all systems.
    """
    words = sorted({word for one in occurrences for word in one.reference}) if clip == "corpus" else [""]
    index = {word: k for k, word in enumerate(words)}
    rows = np.zeros((sentences, 2 + 2 * len(words)))
    for one in occurrences:
        for side, side_words in enumerate((one.candidate, one.reference)):
            rows[one.sentence, side] += len(side_words)
            counted = Counter(side_words) if clip == "corpus" else {"": one.matches}
            for word, n in counted.items():
                if word in index:
                    rows[one.sentence, 2 + side * len(words) + index[word]] += n
    return SufficientStats(rows, _figures)


def _figures(totals: Floats) -> dict[str, Floats]:
    candidate, reference = totals[:, 0], totals[:, 1]
    in_candidate, in_reference = np.split(totals[:, 2:], 2, axis=1)
    matches = np.minimum(in_candidate, in_reference).sum(axis=1)
    precision, recall = ratio(matches, candidate), ratio(matches, reference)
    return {"precision": precision, "recall": recall, "f": harmonic(precision, recall)}


# AutoPRF of files: texts and alignments are read line by line, systems are compared on the same sentences.

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
    if (files.reference_alignment is None) != (not files.hypothesis_alignments):
        raise AnaphoraError(
            "pass both --reference-alignments and --translation-alignments, or neither to align the texts"
        )
    words = files.tokenization(tokenize, normalize, pair_of(languages, files.source, files.reference))
    paths = (files.source, files.reference, *files.hypotheses)
    given = (files.reference_alignment, *files.hypothesis_alignments) if files.reference_alignment else ()
    lines = read_parallel(*paths, *given)  # all of them are parallel
    texts = [words.source(lines[0]), *map(words.target, lines[1 : len(paths)])]
    treatments = {name: t.treatment for name, t in zip(("source", "reference", *files.systems), texts, strict=True)}
    source, *targets = ([" ".join(sentence) for sentence in text.sentences] for text in texts)
    if given:
        rest = zip(targets, lines[len(paths) :], given, strict=True)
        reference, *others = (aligned_text(source, text, points, path) for text, points, path in rest)
    else:
        translations = {name: text.sentences for name, text in zip(files.systems, texts[2:], strict=True)}
        made = align_systems(texts[0].sentences, texts[1].sentences, translations, progress=progress)
        reference, *others = map(Aligned, targets, [made.reference, *(made.systems[name] for name in files.systems)])
    systems = dict(zip(files.systems, others, strict=True))
    case = "lc" if lowercase else "mixed"
    aligned_by = "given" if given else Aligner().name
    line = Signature().add("pron", ",".join(pronouns)).add("case", case)
    line.extend(signature(treatments.values(), normalize=normalize))
    line.add("align", aligned_by).add("v", __version__)
    scores = {}
    for name, text in systems.items():
        occurrences = find_occurrences(source, text, reference, pronouns, lowercase=lowercase)
        scores[name] = autoprf(occurrences, len(source), clip=clip, resampling=resampling, settings=[str(line)])
    if not next(iter(scores.values())).score.occurrences:
        raise AnaphoraError(f"{files.source}: has none of the pronouns {', '.join(pronouns)}")
    return AutoPRFResult(
        systems=scores,
        pairs=paired_tests({name: result.sums for name, result in scores.items()}, resampling),
        outside={name: text.outside for name, text in {"reference": reference, **systems}.items() if text.outside},
        resampling=resampling,
        signature=next(iter(scores.values())).signature,
        texts=treatments,
    )
