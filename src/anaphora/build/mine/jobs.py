"""The jobs of the stages: bytes of a shard in, bytes out, in this process, in another one, or on a cluster.

A job is a small object that can be sent to a worker. What takes long to load is cached there.
"""

from __future__ import annotations

import heapq
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anaphora.align import Aligner, Settings
from anaphora.align.alignment import Alignment
from anaphora.align.backend import Progress
from anaphora.annotate import Annotator, load_annotator
from anaphora.annotate.document import Document, Sentence
from anaphora.build.mine.corpus import Cleaner
from anaphora.build.mine.phenomenon import AnnotatedPair, Phenomenon, load_phenomenon
from anaphora.build.mine.result import translations
from anaphora.build.mine.shards import (
    Count,
    Piece,
    Stage,
    pack,
    pack_alignments,
    pack_documents,
    pack_pieces,
    unpack,
    unpack_alignments,
    unpack_documents,
    unpack_pieces,
    unpack_words,
)
from anaphora.core.errors import AnaphoraError

LONGEST = 40  # words: longer lines (one in fourteen in TED talks) take a third of the training time and add little
Inputs = Sequence[bytes]


class StageJob(ABC):
    """A job on one shard. The same input always gives the same output."""

    @abstractmethod
    def __call__(self, inputs: Inputs) -> bytes: ...

    def for_transport(self) -> StageJob:
        """Return the same job with the files that it needs on another machine."""
        return self


@dataclass(frozen=True)
class Clean(StageJob):
    """Text → clean text, preceded by the number of changes on each side. Repeated sentences count once."""

    kind: str

    def __call__(self, inputs: Inputs) -> bytes:
        spare = Cleaner(self.kind)
        cleaners = {side: Cleaner(self.kind) for side in ("source", "target")}

        def cleaned(piece: Piece, side: str) -> tuple[str, ...]:
            clean = cleaners[side]
            return tuple((spare if k < piece.first else clean)(line) for k, line in enumerate(piece.side(side)))

        pieces = [
            replace(piece, source=cleaned(piece, "source"), target=cleaned(piece, "target"))
            for piece in unpack_pieces(inputs[0])
        ]
        return pack_pieces(pieces, {"cleaned": {side: dict(clean.counts) for side, clean in cleaners.items()}})


@dataclass(frozen=True)
class Annotate(StageJob):
    """Text → annotation of one side."""

    spec: str
    language: str
    side: str

    def __call__(self, inputs: Inputs) -> bytes:
        pieces = list(unpack_pieces(inputs[0]))
        annotator = annotator_of(self.spec, self.language)
        return pack_documents(annotator.annotate(piece.side(self.side) for piece in pieces))


@dataclass(frozen=True)
class Sample(StageJob):
    """Text, annotation of both sides → the sentence pairs on which an aligner is trained.

    seed, largest: a pair is used if its random number is at most `largest`; None uses all
    """

    seed: int
    largest: int | None

    def __call__(self, inputs: Inputs) -> bytes:
        text, source, target = inputs
        rows = []
        for piece, ones, others in zip(unpack_pieces(text), unpack_words(source), unpack_words(target), strict=True):
            for k in range(piece.first, len(piece.source)):
                if self.largest is not None and draw(self.seed, piece.number + k) > self.largest:
                    continue
                one, other = ones[k].texts, others[k].texts
                if 0 < len(one) <= LONGEST and 0 < len(other) <= LONGEST:
                    rows.append([lowercase(one), lowercase(other)])
        return pack(rows)


def draw(seed: int, number: int) -> int:
    """Return the random number of a sentence pair, which does not depend on its shard."""
    return int.from_bytes(blake2b(f"{seed} {number}".encode(), digest_size=8).digest(), "big")


@dataclass(frozen=True)
class Align(StageJob):
    """Text, annotation of both sides → word links, preceded by the translations of pronouns.

    model: the folder of a trained aligner; None if the corpus has word alignments
    files: the model's files, for a machine without the folder
    """

    model: str | None
    fingerprint: str
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def __call__(self, inputs: Inputs) -> bytes:
        text, source, target = inputs
        pieces, sources, targets = list(unpack_pieces(text)), list(unpack_words(source)), list(unpack_words(target))
        links: Iterable[Sequence[Alignment]]
        if self.model is None:
            documents = zip(pieces, unpack_documents(source), unpack_documents(target), strict=True)
            links = (token_links(piece, one, other) for piece, one, other in documents)
        else:
            sides = (
                [lowercase(sentence.texts) for document in side for sentence in document] for side in (sources, targets)
            )
            alignments = iter(_aligner(self).align(*sides))
            links = ([next(alignments) for _ in piece.source] for piece in pieces)
        counts: Counter[tuple[str, str]] = Counter()
        rows = []
        for piece, one, other, points in zip(pieces, sources, targets, links, strict=True):
            rows.append(pack_alignments(points))
            translations(one[piece.first :], other[piece.first :], points[piece.first :], counts)
        return pack([[[*key, number] for key, number in sorted(counts.items())], *rows])

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def for_transport(self) -> Align:
        if self.model is None:
            return self
        files = {path.name: path.read_bytes() for path in sorted(Path(self.model).iterdir())}
        return replace(self, files=files)


@dataclass(frozen=True)
class Extract(StageJob):
    """Text, annotation of both sides, links → the examples of a phenomenon, preceded by counts of rejections."""

    phenomenon: str
    languages: tuple[str, str]
    options: tuple[tuple[str, Any], ...] = ()

    def __call__(self, inputs: Inputs) -> bytes:
        phenomenon = phenomenon_of(self.phenomenon, self.languages, self.options)
        counts: Counter[str] = Counter()
        finds = []
        text, source, target, links = inputs
        alignments = unpack(links)
        next(alignments)  # the table of pronouns
        shard = zip(unpack_pieces(text), unpack_documents(source), unpack_documents(target), alignments, strict=True)
        for number, (piece, one, other, points) in enumerate(shard):
            pair = AnnotatedPair(piece.document, one, other, unpack_alignments(points), piece.first)
            alike: Counter[tuple[int, str]] = Counter()  # examples of one class in one sentence
            for mined in phenomenon.extract(pair, counts):
                if mined.sentence < piece.first:
                    continue
                alike[mined.sentence, mined.label] += 1
                row = {
                    "piece": number,
                    "sentence": mined.sentence,
                    "label": mined.label,
                    "number": alike[mined.sentence, mined.label],
                    "right": mined.right,
                    "wrong": mined.wrong,
                    "tags": {
                        **mined.tags,
                        "document": piece.document,
                        "sentence": piece.start + mined.sentence + 1,  # from 1, as ContraPro's segment id
                    },
                }
                finds.append(row)
        return pack([dict(sorted(counts.items())), *finds])


def lowercase(words: Sequence[str]) -> list[str]:
    """Return the words in lowercase and without spaces, which words of a treebank may contain."""
    lowercased = " ".join(words).lower().split(" ")
    if len(lowercased) == len(words) and " ".join(lowercased).split() == lowercased:
        return lowercased
    return ["_".join(word.lower().split()) or "_" for word in words]


@lru_cache(maxsize=2)
def annotator_of(spec: str, language: str) -> Annotator:
    return load_annotator(spec, language)


@lru_cache(maxsize=1)
def phenomenon_of(name: str, languages: tuple[str, str], options: tuple[tuple[str, Any], ...]) -> Phenomenon:
    return load_phenomenon(name, languages, dict(options))


@lru_cache(maxsize=1)
def _aligner(job: Align) -> Aligner:
    if not job.files:
        return Aligner.load(str(job.model), threads=1)
    with TemporaryDirectory() as folder:
        for name, content in job.files.items():
            (Path(folder) / name).write_bytes(content)
        return Aligner.load(folder, threads=1)


# Precomputed annotation, one file for the whole corpus, is read along with the text, in order, by one process.


def annotate_in_order(
    stage: Stage, text: Stage, annotator: Annotator, side: str, sizes: list[int], count: Count | None = None
) -> None:
    """Annotate all shards, unless all are finished.

    Sentences that a piece repeats from the previous one keep their annotation; chains do not extend across pieces.
    """
    if len(stage.finished(len(sizes))) == len(sizes):
        return
    pieces = (piece for number in range(len(sizes)) for piece in unpack_pieces(text.read(number)))
    annotated = annotator.annotate(piece.side(side)[piece.first :] for piece in pieces)
    before: tuple[Sentence, ...] = ()
    done = 0
    for number, size in enumerate(sizes):
        documents = []
        for piece in unpack_pieces(text.read(number)):
            context = before[len(before) - piece.first :] if piece.first else ()
            documents.append(next(annotated).preceded_by(context))
            before = documents[-1].sentences
        stage.write(number, pack_documents(documents))
        done += size
        if count is not None:
            count(done, sum(sizes))
    next(annotated, None)  # raises an error if the annotation has more documents than the corpus


# The aligner, trained on the corpus itself or on a sample of it that fits in memory.

MODEL = "model"
PAIRS = 200_000  # most pairs that an aligner is trained on


def sample_limit(seed: int, pairs: int, most: int) -> int | None:
    """Return the largest random number in a sample of `most` pairs, or None if the sample is the whole corpus."""
    if pairs <= most:
        return None
    return heapq.nsmallest(most, (draw(seed, number) for number in range(pairs)))[-1]


def train(folder: Path, settings: Settings, sample: Iterable[bytes], progress: Progress | None = None) -> None:
    """Train an aligner on the output of `Sample` for each shard and save it, unless it exists."""
    if (folder / MODEL).is_dir():
        return
    corpus = [
        ([sys.intern(word) for word in source], [sys.intern(word) for word in target])
        for shard in sample
        for source, target in unpack(shard)
    ]
    aligner = Aligner(settings)
    aligner.train([], [], corpus=corpus, progress=progress)
    aligner.save(folder / MODEL)


# Given alignments: links between the words of lines become links between the tokens of their annotation.


def token_links(piece: Piece, source: Document, target: Document) -> list[Alignment]:
    """Return the links of a piece. Those of a word with several tokens (`it's`) hold for all but punctuation."""
    links = []
    for k, points in enumerate(piece.alignments or ()):
        one = _tokens(source.sentences[k], piece.source[k], piece, k)
        other = _tokens(target.sentences[k], piece.target[k], piece, k)
        links.append(tuple(sorted({(i, j) for word, words in points for i in one[word] for j in other[words]})))
    return links


def _tokens(sentence: Sentence, line: str, piece: Piece, k: int) -> list[list[int]]:
    """Return the tokens of each word."""
    tokens_of_word: list[list[int]] = [[] for _ in line.split()]
    if sentence.words and sentence.words[-1] + 1 != len(tokens_of_word):
        where = f"sentence {piece.start + k + 1:,} of document {piece.document}"
        problem = f"its annotation has {sentence.words[-1] + 1:,} words, but the line has {len(tokens_of_word):,}"
        raise AnaphoraError(f"{where}: {problem}. Alignments index whitespace-separated words: annotate the same lines")
    for index, word in enumerate(sentence.words):
        tokens_of_word[word].append(index)
    return [[i for i in tokens if sentence[i].upos != "PUNCT"] or tokens for tokens in tokens_of_word]
