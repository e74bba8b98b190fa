"""What an APT variant is given and what it hands back: texts with their alignments, triples with their cases."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from anaphora.align.aligner import align_systems
from anaphora.align.alignment import Alignment, check_alignment, parse_alignment
from anaphora.align.backend import Settings
from anaphora.align.tokenize import Split, Text, Tokenization, Treatment
from anaphora.core.documents import read_parallel
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronouns import PronounLists

NONE = "NONE"  # in a confusion matrix: no translation was found
Words = list[str]


class Side(NamedTuple):
    """One side of a triple: words and their positions, both empty where nothing was found.

    rescued: found by its neighbors and not by a link; it comes last in a side of several words
    """

    positions: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    rescued: bool = False


class Triple(NamedTuple):
    """A source pronoun with its translations (APT §2.2); the sentence and positions count from 0."""

    sentence: int
    source: Side
    reference: Side
    candidate: Side
    case: int


@dataclass(frozen=True, slots=True)
class Translation:
    """A translation of the source: its sentences, the source's alignment with them, perhaps a tag for each word."""

    name: str
    sentences: Sequence[Words]
    alignments: Sequence[Alignment]
    tags: Sequence[Words] | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """The input of a variant.

    pronouns: those to evaluate, normalized; empty: the ones that the lists name
    pronoun_tags: the tags that pronouns have in texts with tags
    aligned_by: where the alignments come from, for the signature
    texts: what was done to each text before its words were counted; normalized: whether signs were made one
    """

    source: Sequence[Words]
    reference: Translation
    systems: Sequence[Translation]
    lists: PronounLists
    pronouns: tuple[str, ...] = ()
    rescue: bool = True
    source_tags: Sequence[Words] | None = None
    pronoun_tags: frozenset[str] = frozenset()
    aligned_by: str = "given"
    texts: Mapping[str, Treatment] = field(default_factory=dict)
    normalized: bool = False


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often the reference's pronoun (row) became the candidate's (column)."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a variant found for one system.

    groups: of each triple, the pronoun under which it is broken down
    unaligned: reference pronouns that are left out, in the variant that has them
    """

    name: str
    triples: Sequence[Triple]
    groups: Sequence[str]
    confusion: Confusion
    unaligned: int | None = field(default=None)


def confusion_of(pairs: Counter[tuple[str, str]]) -> Confusion:
    """A matrix from counts of (reference, candidate); the most often right label first, NONE last."""
    labels = {label for pair in pairs for label in pair}
    total: Counter[str] = Counter()
    for (row, column), n in pairs.items():
        total[row] += n
        total[column] += n
    ordered = sorted(labels, key=lambda label: (label == NONE, -pairs[label, label], -total[label], label))
    return Confusion(tuple(ordered), tuple(tuple(pairs[row, column] for column in ordered) for row in ordered))


# The six cases of APT and the score made of them (APT §2.4).

SAME, EQUIVALENT, DIFFERENT, NO_CANDIDATE, NO_REFERENCE, NEITHER = CASES = (1, 2, 3, 4, 5, 6)
TITLES = ("same", "equivalent", "different", "no candidate", "no reference", "neither")
DEFAULT_WEIGHTS = (1.0, 0.5, 0.0, 0.0, 0.0, 0.0)  # the best of the paper's Table 4 with its alignment heuristics
WEIGHTS_ARE = "six numbers from 0 to 1, one per case, such as 1,0.5,0,0,0,0"


@dataclass(frozen=True, slots=True)
class Weighting:
    """How much each case is worth, and which cases are left out of the score altogether."""

    weights: tuple[float, ...] = DEFAULT_WEIGHTS
    discarded: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.weights) != len(CASES) or not all(0 <= w <= 1 for w in self.weights):  # a nan is in no range
            raise AnaphoraError(f"not weights: {','.join(f'{w:g}' for w in self.weights)}. They are {WEIGHTS_ARE}")
        unknown = set(self.discarded) - set(CASES)
        if unknown or set(self.discarded) == set(CASES):
            what = f"no case {min(unknown)}" if unknown else "nothing would be left"
            raise AnaphoraError(f"cannot discard {','.join(map(str, self.discarded))}: {what}. The cases are 1 to 6")
        object.__setattr__(self, "discarded", tuple(sorted(set(self.discarded))))

    def credit(self, case: int) -> float | None:
        """What one pronoun of a case adds to the score; None where the case is discarded."""
        return None if case in self.discarded else self.weights[case - 1]

    def score(self, counts: Sequence[int]) -> float | None:
        """APT: the weighted share of the pronouns that are right; None where none is counted."""
        kept = [case for case in CASES if case not in self.discarded]
        total = sum(counts[case - 1] for case in kept)
        if not total:
            return None
        return math.fsum(self.weights[case - 1] * counts[case - 1] for case in kept) / total


def parse_weights(text: str) -> tuple[float, ...]:
    """`1,0.5,0,0,0,0` as it is written after --weights."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise AnaphoraError(f"not weights: {text!r}. They are {WEIGHTS_ARE}") from None


def parse_cases(text: str) -> tuple[int, ...]:
    """`5,6` as it is written after --discard."""
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise AnaphoraError(f"not cases: {text!r}. They are numbers from 1 to 6, such as 5,6") from None


def case_of(reference: str | None, candidate: str | None, lists: PronounLists) -> int:
    """Which case a pair of translations of a source pronoun is; None: not found."""
    if reference is None:
        return NEITHER if candidate is None else NO_REFERENCE
    if candidate is None:
        return NO_CANDIDATE
    if lists.canonical(reference) == lists.canonical(candidate):
        return SAME
    return EQUIVALENT if lists.are_equivalent(reference, candidate) else DIFFERENT


def count_cases(cases: Iterable[int]) -> tuple[int, ...]:
    """How many of each case there are, from the first to the sixth."""
    counts = [0] * len(CASES)
    for case in cases:
        counts[case - 1] += 1
    return tuple(counts)


# The files of an APT evaluation: read in step, checked, and put together as a task.

PLAIN = re.compile("(?:[0-9]{1,9}-[0-9]{1,9} )*[0-9]{1,9}-[0-9]{1,9}")  # a Pharaoh line without anything unusual


@dataclass(frozen=True, slots=True)
class Files:
    """The texts, line by line in step, and what belongs to them. Missing alignments are made."""

    source: Path
    reference: Path
    hypotheses: tuple[Path, ...]
    reference_alignment: Path | None = None
    hypothesis_alignments: tuple[Path, ...] = ()
    source_tags: Path | None = None
    reference_tags: Path | None = None
    hypothesis_tags: tuple[Path, ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        several = {
            "alignment file (--translation-alignments)": self.hypothesis_alignments,
            "tag file (--hyp-tags)": self.hypothesis_tags,
            "name (--name)": self.names,
        }
        if not self.hypotheses:
            raise AnaphoraError("no translation to evaluate: give at least one (-t)")
        for what, given in several.items():
            if given and len(given) != len(self.hypotheses):
                counts = f"{len(self.hypotheses)} translations, but {len(given)}"
                raise AnaphoraError(f"one {what} is needed for each translation, in their order: {counts} given")
        if (self.reference_tags is None) != (not self.hypothesis_tags):
            raise AnaphoraError("tags are needed for the reference (--ref-tags) and every translation (--hyp-tags)")
        if len(set(self.systems)) != len(self.systems):
            raise AnaphoraError("two translations have the same name: tell them apart with --name, once for each")

    @property
    def systems(self) -> tuple[str, ...]:
        return self.names or tuple(map(str, self.hypotheses))

    @property
    def count_words(self) -> bool:
        """Whether files are given that count words: then the words are those of the texts as they are."""
        tags = self.source_tags, self.reference_tags
        return any(tags) or self.reference_alignment is not None or bool(self.hypothesis_alignments)

    def tokenization(self, tokenize: str, normalize: bool, languages: tuple[str, str]) -> Tokenization:
        """How these texts are divided into words, if `auto` is what was asked for."""
        return Tokenization("none" if tokenize == "auto" and self.count_words else tokenize, normalize, languages)


def read_task(
    files: Files,
    words: Tokenization | Split,
    lists: PronounLists,
    *,
    pronouns: tuple[str, ...] = (),
    rescue: bool = True,
    pronoun_tags: frozenset[str] = frozenset(),
    aligner: Settings | None = None,
    corpora: Sequence[tuple[Path, Path]] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Task:
    """The task of a variant.

    words: how texts are tokenized, or a function that divides lines and changes nothing
    aligner, corpora, progress: how texts without an alignment file are aligned, and together with which other texts
    """
    read = _read_together(files)
    divided = words if isinstance(words, Tokenization) else Tokenization("none", normalize=False, split=words)
    source_text = divided.source(read[files.source])
    source = source_text.sentences
    texts = [
        _Text(name, divided.target(read[path]), alignment, tags)
        for name, path, alignment, tags in zip(
            ("reference", *files.systems),
            (files.reference, *files.hypotheses),
            (files.reference_alignment, *(files.hypothesis_alignments or [None] * len(files.hypotheses))),
            (files.reference_tags, *(files.hypothesis_tags or [None] * len(files.hypotheses))),
            strict=True,
        )
    ]
    given = {
        number: _alignments(text.alignment, source, text.sentences, read)
        for number, text in enumerate(texts)
        if text.alignment is not None
    }
    missing = {str(k): text.sentences for k, text in enumerate(texts) if k and k not in given}
    alignments, aligned_by = given, "given"
    if missing or 0 not in given:
        from anaphora.evaluation.generative import alignment_label

        settings = aligner or Settings()
        corpus = [pair for paths in corpora for pair in divided.pairs(*read_parallel(*paths))]
        made = align_systems(
            source,
            texts[0].sentences,
            missing,
            corpus=corpus,
            settings=settings,
            given=given.get(0),
            progress=progress,
        )
        alignments = {0: made.reference, **{int(k): found for k, found in made.systems.items()}} | given
        aligned_by = f"given+{alignment_label(settings, corpus)}" if given else alignment_label(settings, corpus)
    reference, *systems = (
        Translation(
            text.name,
            text.sentences,
            alignments[number],
            None if text.tags is None else _tags(text.tags, text.sentences, read),
        )
        for number, text in enumerate(texts)
    )
    return Task(
        source,
        reference,
        systems,
        lists,
        pronouns,
        rescue,
        source_tags=None if files.source_tags is None else _tags(files.source_tags, source, read),
        pronoun_tags=pronoun_tags,
        aligned_by=aligned_by,
        texts={"source": source_text.treatment, **{text.name: text.words.treatment for text in texts}},
        normalized=divided.normalize,
    )


class _Text(NamedTuple):
    """A translation before its alignment is read or made."""

    name: str
    words: Text
    alignment: Path | None
    tags: Path | None

    @property
    def sentences(self) -> list[Words]:
        return self.words.sentences


def _read_together(files: Files) -> dict[Path, list[str]]:
    """The lines of every file; they are in step, or it is an error."""
    optional = (files.reference_alignment, *files.hypothesis_alignments, files.source_tags, files.reference_tags)
    wanted = [files.source, files.reference, *files.hypotheses, *optional, *files.hypothesis_tags]
    paths = list(dict.fromkeys(path for path in wanted if path is not None))
    return dict(zip(paths, read_parallel(*paths), strict=True))


def _alignments(
    path: Path, source: Sequence[Words], target: Sequence[Words], read: dict[Path, list[str]]
) -> list[Alignment]:
    found = []
    for number, (line, one, other) in enumerate(zip(read[path], source, target, strict=True), start=1):
        if PLAIN.fullmatch(line):  # half a million points in a test set of five systems: as few steps as possible
            numbers = list(map(int, line.replace("-", " ").split()))
            alignment = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        else:
            alignment = parse_alignment(line, path, number)
        check_alignment(alignment, len(one), len(other), path, number)
        found.append(alignment)
    return found


def _tags(path: Path, sentences: Sequence[Words], read: dict[Path, list[str]]) -> list[Words]:
    tags = [line.split() for line in read[path]]
    for number, (line, words) in enumerate(zip(tags, sentences, strict=True), start=1):
        if len(line) != len(words):
            problem = f"{len(line):,} tags for {len(words):,} words"
            raise BadInput(path, problem, line=number, remedy="A line has a tag for each word of the sentence.")
    return tags
