"""The input and output of an APT variant: texts with their alignments, and triples with their cases."""

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
from anaphora.align.tokenize import Split, Tokenization, Treatment
from anaphora.core.documents import read_parallel
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronouns import PronounLists
from anaphora.metrics import check_one_each, system_names

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


class Occurrence(NamedTuple):
    """A source pronoun and where it is."""

    sentence: int
    position: int
    pronoun: str


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
    """A confusion matrix: counts of the reference's pronoun (row) and the candidate's (column)."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The triples of one system by some variant.

    groups: of each triple, the pronoun under which it is broken down
    unaligned: reference pronouns that are left out, in the variant that has them
    verdicts: of each triple, what annotators say of the candidate's pronoun, "" where the case decides; empty if they
        were not asked
    """

    name: str
    triples: Sequence[Triple]
    groups: Sequence[str]
    confusion: Confusion
    unaligned: int | None = field(default=None)
    verdicts: Sequence[str] = ()

    @property
    def judged(self) -> list[tuple[Triple, str]]:
        """The triples with the annotators' verdicts."""
        return list(zip(self.triples, self.verdicts or [""] * len(self.triples), strict=True))


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
    """The weight of each case, and the cases that are left out of the score."""

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
        """The credit of a pronoun of this case; None where the case is discarded."""
        return None if case in self.discarded else self.weights[case - 1]

    def score(self, counts: Sequence[int], right: int = 0, judged: int = 0) -> float | None:
        """APT: the weighted share of the pronouns that are right; None where none is counted.

        right: how many of those judged by annotators are right, in addition to the cases
        """
        counted = [case for case in CASES if case not in self.discarded]
        total = sum(counts[case - 1] for case in counted) + judged
        if not total:
            return None
        return (math.fsum(self.weights[case - 1] * counts[case - 1] for case in counted) + right) / total


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
    """The case of a pair of translations of a source pronoun; None: not found."""
    if reference is None:
        return NEITHER if candidate is None else NO_REFERENCE
    if candidate is None:
        return NO_CANDIDATE
    if lists.canonical(reference) == lists.canonical(candidate):
        return SAME
    return EQUIVALENT if lists.are_equivalent(reference, candidate) else DIFFERENT


def count_cases(cases: Iterable[int]) -> tuple[int, ...]:
    """The number of each case, from the first to the sixth."""
    counts = [0] * len(CASES)
    for case in cases:
        counts[case - 1] += 1
    return tuple(counts)


# The files of an APT evaluation: read line by line, checked, and combined into a task.

PLAIN = re.compile("(?:[0-9]{1,9}-[0-9]{1,9} )*[0-9]{1,9}-[0-9]{1,9}")  # a Pharaoh line without anything unusual


@dataclass(frozen=True, slots=True)
class Files:
    """The texts, which are aligned line by line, and their further files. Missing alignments are computed."""

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
        if not self.hypotheses:
            raise AnaphoraError("no translation to evaluate. Pass at least one with -t")
        check_one_each("alignment file (--translation-alignments)", self.hypothesis_alignments, self.hypotheses)
        check_one_each("tag file (--translation-tags)", self.hypothesis_tags, self.hypotheses)
        system_names(self.hypotheses, self.names)
        if (self.reference_tags is None) != (not self.hypothesis_tags):
            raise AnaphoraError("tags must be given for the reference and every translation (--translation-tags)")

    @property
    def systems(self) -> tuple[str, ...]:
        return system_names(self.hypotheses, self.names)

    def tokenization(self, tokenize: str, normalize: bool, languages: tuple[str, str]) -> Tokenization:
        """The tokenization of these texts: `auto` splits at white space if other files refer to their words."""
        counted = (self.source_tags, self.reference_tags, self.reference_alignment, *self.hypothesis_alignments)
        return Tokenization("none" if tokenize == "auto" and any(counted) else tokenize, normalize, languages)


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
    none = [None] * len(files.hypotheses)
    text_files = (files.reference, *files.hypotheses)
    alignment_files = (files.reference_alignment, *(files.hypothesis_alignments or none))
    tag_files = (files.reference_tags, *(files.hypothesis_tags or none))
    wanted = (files.source, *text_files, *alignment_files, files.source_tags, *tag_files)
    paths = list(dict.fromkeys(path for path in wanted if path is not None))
    lines = dict(zip(paths, read_parallel(*paths), strict=True))
    tokenization = words if isinstance(words, Tokenization) else Tokenization("none", normalize=False, split=words)
    source_text = tokenization.source(lines[files.source])
    source = source_text.sentences
    texts = [tokenization.target(lines[path]) for path in text_files]
    sentences = [text.sentences for text in texts]
    given = {
        k: _alignments(path, source, sentences[k], lines[path])
        for k, path in enumerate(alignment_files)
        if path is not None
    }
    missing = {str(k): text for k, text in enumerate(sentences) if k and k not in given}
    alignments, aligned_by = given, "given"
    if missing or 0 not in given:
        from anaphora.evaluation.generative import alignment_label

        settings = aligner or Settings()
        corpus = [pair for paths in corpora for pair in tokenization.pairs(*read_parallel(*paths))]
        made = align_systems(
            source, sentences[0], missing, corpus=corpus, settings=settings, given=given.get(0), progress=progress
        )
        alignments = {0: made.reference, **{int(k): links for k, links in made.systems.items()}} | given
        label = alignment_label(settings, corpus)
        aligned_by = f"given+{label}" if given else label
    names = ("reference", *files.systems)
    tags = [None if path is None else _tags(path, sentences[k], lines[path]) for k, path in enumerate(tag_files)]
    reference, *systems = (Translation(name, sentences[k], alignments[k], tags[k]) for k, name in enumerate(names))
    treatments = {name: text.treatment for name, text in zip(("source", *names), (source_text, *texts), strict=True)}
    return Task(
        source,
        reference,
        systems,
        lists,
        pronouns,
        rescue,
        source_tags=None if files.source_tags is None else _tags(files.source_tags, source, lines[files.source_tags]),
        pronoun_tags=pronoun_tags,
        aligned_by=aligned_by,
        texts=treatments,
        normalized=tokenization.normalize,
    )


def _alignments(path: Path, source: Sequence[Words], target: Sequence[Words], lines: Sequence[str]) -> list[Alignment]:
    alignments = []
    for number, (line, one, other) in enumerate(zip(lines, source, target, strict=True), start=1):
        if PLAIN.fullmatch(line):  # half a million points in a test set of five systems: as few steps as possible
            numbers = list(map(int, line.replace("-", " ").split()))
            alignment = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        else:
            alignment = parse_alignment(line, path, number)
        check_alignment(alignment, len(one), len(other), path, number)
        alignments.append(alignment)
    return alignments


def _tags(path: Path, sentences: Sequence[Words], lines: Sequence[str]) -> list[Words]:
    tags = [line.split() for line in lines]
    for number, (line, words) in enumerate(zip(tags, sentences, strict=True), start=1):
        if len(line) != len(words):
            problem = f"{len(line):,} tags for {len(words):,} words"
            raise BadInput(path, problem, line=number, remedy="A line has a tag for each word of the sentence.")
    return tags
