"""Parallel documents as ids: every sentence encoded once, examples put together from them as they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from anaphora.core.errors import BadInput
from anaphora.core.files import text_lines
from anaphora.nmt.arrangement import Arrangement, Ids, inputs_of, target_of
from anaphora.nmt.batch import Batch, make_batch
from anaphora.nmt.config import DataConfig
from anaphora.nmt.text import SEPARATOR_PIECE, Text

Ints = npt.NDArray[np.int64]
REMEDY = "The two sides belong together line by line, blank lines included."


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and its translation, the number of their document, and whether they are nothing but context."""

    source: str
    target: str
    document: int
    context: bool = False


def read_pairs(config: DataConfig, sources: Sequence[Path], targets: Sequence[Path]) -> Iterator[Pair]:
    """Sentence pairs of files; a file ends a document, and so does a blank line, a boundary or another docid.

    A line whose sentences are joined with `<SEP>`, as `anaphora augment` writes them, is a passage of its own: the
    last sentence is trained on, those before it are its context.
    """
    document = 0
    for source, target in zip(sources, targets, strict=True):
        document += 1
        last: str | None = None
        for number, (one, other) in enumerate(_lines(source, target), start=1):
            if config.docids:
                docid, one, other = _without_docid(one, other, source, target, number)
                document += last is not None and docid != last
                last = docid
            elif _ends(one, config) or _ends(other, config):
                if _ends(one, config) != _ends(other, config):
                    problem = "a document ends here on one side only"
                    raise BadInput(source, problem, line=number, remedy=REMEDY)
                document += 1
                continue
            passage = _passage(one, other, source, number)
            own = SEPARATOR_PIECE in one
            document += own
            for place, (sentence, translation) in enumerate(passage, start=1):
                yield Pair(sentence, translation, document, context=place < len(passage))
            document += own


def _passage(one: str, other: str, source: Path, number: int) -> list[tuple[str, str]]:
    """The sentence pairs that a line holds: one, or several joined with the separator; empty context is none."""
    sides = [[sentence.strip() for sentence in line.split(SEPARATOR_PIECE)] for line in (one, other)]
    if len(sides[0]) != len(sides[1]):
        problem = f"{len(sides[0])} sentences joined with {SEPARATOR_PIECE} here, {len(sides[1])} in the translation"
        raise BadInput(source, problem, line=number, remedy="Join the same sentences on both sides.")
    pairs = list(zip(*sides, strict=True))
    return [pair for pair in pairs[:-1] if any(pair)] + pairs[-1:]


def _ends(line: str, config: DataConfig) -> bool:
    return not line.strip() if not config.boundary else line.strip() == config.boundary


def _lines(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    ours, theirs = text_lines(source), text_lines(target)
    number = 0
    for number, line in enumerate(ours, start=1):
        other = next(theirs, None)
        if other is None:
            raise BadInput(target, f"ends after {number - 1:,} lines, but {source} goes on", line=number, remedy=REMEDY)
        yield line, other
    if next(theirs, None) is not None:
        raise BadInput(source, f"ends after {number:,} lines, but {target} goes on", line=number + 1, remedy=REMEDY)


def _without_docid(one: str, other: str, source: Path, target: Path, number: int) -> tuple[str, str, str]:
    docid, tab, sentence = one.partition("\t")
    if not tab:
        raise BadInput(source, "no tab between docid and sentence", line=number, remedy="Write docid⇥sentence.")
    theirs, tab, translation = other.partition("\t")
    if not tab:
        docid_there, translation = docid, other  # a docid on the source side is enough
    else:
        docid_there = theirs
    if docid_there != docid:
        raise BadInput(target, f"docid {docid_there!r}, but {docid!r} in {source}", line=number, remedy=REMEDY)
    return docid, sentence, translation


class Sentences:
    """Encoded sentences behind each other in one array: a few bytes for each token, whatever their number."""

    def __init__(self, sentences: Iterator[Sequence[int]]) -> None:
        flat: list[npt.NDArray[np.int32]] = []
        ends = [0]
        for sentence in sentences:
            flat.append(np.asarray(sentence, np.int32))
            ends.append(ends[-1] + len(sentence))
        self.ids = np.concatenate(flat) if flat else np.empty(0, np.int32)
        self.ends = np.array(ends, np.int64)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, number: int) -> list[int]:
        found: list[int] = self.ids[self.ends[number] : self.ends[number + 1]].tolist()
        return found


@dataclass(frozen=True, slots=True)
class Dropped:
    """Pairs that are not trained on: one side empty, too long with what is joined to it, or of unlike lengths."""

    empty: int = 0
    long: int = 0
    unlike: int = 0

    def __str__(self) -> str:
        return f"{self.empty:,} with an empty side, {self.long:,} too long, {self.unlike:,} of unlike lengths"


class Corpus:
    """Examples of parallel documents under an arrangement. Sentences that are dropped still are context of others."""

    def __init__(self, pairs: Sequence[Pair], text: Text, arrangement: Arrangement, config: DataConfig) -> None:
        self.source = Sentences(text.encode_source(pair.source) for pair in pairs)
        self.target = Sentences(text.encode_target(pair.target) for pair in pairs)
        self.documents = np.array([pair.document for pair in pairs], np.int64)
        self._context = [pair.context for pair in pairs]
        self.arrangement, self.marks = arrangement, text.marks
        self._first = _first_of_document(self.documents)
        self.numbers, self.lengths, self.dropped = self._kept(config)

    def __len__(self) -> int:
        return len(self.numbers)

    def example(self, place: int) -> tuple[tuple[Ids, ...], Ids]:
        """The inputs and the target of one of the examples that are kept."""
        return self._example(int(self.numbers[place]))

    def batch(self, places: Sequence[int] | Ints) -> Batch:
        """Some of the examples side by side."""
        examples = [self.example(int(place)) for place in places]
        inputs, targets = [i for i, _ in examples], [t for _, t in examples]
        return make_batch(inputs, targets, self.marks.start, self.marks.padding)

    def _example(self, number: int) -> tuple[tuple[Ids, ...], Ids]:
        start = max(int(self._first[number]), number - self.arrangement.reach)
        source = [self.source[n] for n in range(start, number + 1)]
        target = [self.target[n] for n in range(start, number + 1)]
        inputs = inputs_of(self.arrangement, self.marks, source, target[:-1])
        return inputs, target_of(self.arrangement, self.marks, target)

    def _kept(self, config: DataConfig) -> tuple[Ints, Ints, Dropped]:
        """The examples that are trained on, (n, 2) their longest input and their target, and what is dropped."""
        numbers, lengths = [], []
        empty = long = unlike = 0
        for number in range(len(self.source)):
            if self._context[number]:
                continue
            sizes = (len(self.source[number]), len(self.target[number]))
            inputs, target = self._example(number)
            longest = max(map(len, inputs))
            joined = max(longest, len(target)) - 1  # the end is no token of the text
            if not all(sizes):
                empty += 1
            elif joined > config.max_length or max(sizes) > (config.max_sentence or joined):
                long += 1
            elif config.max_ratio and max(sizes) > config.max_ratio * min(sizes):
                unlike += 1
            else:
                numbers.append(number)
                lengths.append((longest, len(target)))
        kept = np.array(lengths, np.int64).reshape(-1, 2)
        return np.array(numbers, np.int64), kept, Dropped(empty, long, unlike)


def _first_of_document(documents: Ints) -> Ints:
    """For each sentence the number of its document's first."""
    first = np.zeros(len(documents), np.int64)
    for number, (before, here) in enumerate(pairwise(documents.tolist()), start=1):
        first[number] = first[number - 1] if before == here else number
    return first
