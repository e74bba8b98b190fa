"""Training data: the corpus, and batches of token ids."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from anaphora.core.documents import document_lines
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.nmt.config import Config, DataConfig, is_word
from anaphora.nmt.layout import ContextLayout, inputs_of, target_of
from anaphora.nmt.text import SEPARATOR_PIECE, TEXT_FILES, Text, copy_text, learn_text, load_text
from anaphora.scoring.batching import Padded, pad
from anaphora.scoring.encoded import Ids
from anaphora.suites.example import Example

# Batches


@dataclass(frozen=True, slots=True)
class Batch:
    """Training examples: what the encoders read, what the decoder reads, and what it predicts.

    inputs: the main input and one for each further encoder
    read: (b, t), the start and the target without its end; predict: (b, t), the target with its end
    weights: (b, t), by which the loss of each predicted token is multiplied, 0 for padding; None: 1 for every token
    """

    inputs: tuple[Padded, ...]
    read: Padded
    predict: Padded
    weights: Tensor | None = None

    @property
    def tokens(self) -> int:
        """Target tokens that are predicted."""
        return int(self.predict.lengths.sum())

    def to(self, device: torch.device | str) -> Batch:
        weights = None if self.weights is None else self.weights.to(device)
        return Batch(tuple(x.to(device) for x in self.inputs), self.read.to(device), self.predict.to(device), weights)


def make_batch(inputs: Sequence[tuple[Ids, ...]], targets: Sequence[Ids], start: int, padding: int) -> Batch:
    """Return examples as a batch: each has an input per encoder, and a target that ends with the end token."""
    columns = tuple(pad(column, padding) for column in zip(*inputs, strict=True))
    return Batch(columns, pad([(start, *target[:-1]) for target in targets], padding), pad(targets, padding))


class TranslationModel(Protocol):
    """The interface of every architecture: an encoder–decoder with one or more encoders.

    Memory and state are the model's own; both are trees of tensors whose first dimension is the batch, so that
    `select_rows` can pick, repeat and reorder rows of either (branches of a prefix tree, hypotheses of a beam).
    """

    def forward(self, batch: Batch) -> Tensor:
        """(b, t, vocabulary), logits of what follows each token that the decoder reads (teacher forcing)."""
        ...

    def encode(self, inputs: tuple[Padded, ...]) -> Any:
        """Return the memory: everything that decoding needs of the inputs, computed once."""
        ...

    def start(self, memory: Any) -> Any:
        """Return the decoder's state before it has read anything."""
        ...

    def step(self, memory: Any, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        """Read tokens (b,); give the decoder's output (b, size) before the vocabulary, and the next state."""
        ...

    def project(self, output: Tensor) -> Tensor:
        """(…, vocabulary), logits from the decoder's output (…, size)."""
        ...


# The order of examples, which depends only on the seed and the epoch

Ints = npt.NDArray[np.int64]
POOL = 100  # batches that are sorted by length together; more save padding, fewer mix better


@dataclass(frozen=True, slots=True)
class Position:
    """The position in the data: the epoch, and the number of batches taken of it."""

    epoch: int = 0
    batch: int = 0


def batches_of_epoch(lengths: Ints, tokens: int, seed: int, epoch: int, sentences: int = 0) -> list[Ints]:
    """Return the numbers of the examples in each batch of an epoch.

    lengths: (n, 2), the lengths of the longest input and of the target of every example
    tokens: at most this many on the padded longer side of a batch; a longer example is a batch of its own
    sentences: at most this many examples in a batch; 0: any number
    """
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(lengths))
    longest = lengths.max(axis=1) if len(lengths) else np.empty(0, np.int64)
    mean = max(1.0, float(longest.mean())) if len(longest) else 1.0
    size = max(1, min(int(POOL * tokens / mean), POOL * sentences or len(order)))
    batches: list[Ints] = []
    for start in range(0, len(order), size):
        pool = order[start : start + size]
        pool = pool[np.lexsort((lengths[pool, 1], longest[pool]))]  # by the longer side, then by the target
        batches += _cut(pool, longest, tokens, sentences)
    return [batches[number] for number in rng.permutation(len(batches))]


def in_order(lengths: Ints, tokens: int) -> list[Ints]:
    """Return batches of examples of similar length, shortest first, for validation."""
    longest = lengths.max(axis=1) if len(lengths) else np.empty(0, np.int64)
    return _cut(np.lexsort((lengths[:, 1], longest)), longest, tokens)


def updates(
    lengths: Ints, tokens: int, seed: int, together: int, start: Position, sentences: int = 0
) -> Iterator[tuple[list[Ints], Position]]:
    """Yield the batches of each update (`together` of them) and the position after them, without end.

    The last update of an epoch has the remaining batches.
    """
    epoch, taken = start.epoch, start.batch
    while True:
        batches = batches_of_epoch(lengths, tokens, seed, epoch, sentences)
        while taken < len(batches):
            part = batches[taken : taken + together]
            taken += len(part)
            yield part, Position(epoch, taken)
        epoch, taken = epoch + 1, 0


def _cut(order: Ints, longest: Ints, tokens: int, sentences: int = 0) -> list[Ints]:
    """Cut sorted examples into batches within the limits."""
    batches = []
    start = 0
    for end in range(1, len(order) + 1):
        size = end + 1 - start  # with the next example
        full = end == len(order) or int(longest[order[end]]) * size > tokens
        if full or 0 < sentences < size:
            batches.append(order[start:end])
            start = end
    return batches


# Parallel documents in token ids: every sentence is encoded once, and examples are built when needed.


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and its translation, with the number of their document.

    context: whether the pair is only context of others and not trained on
    repeat: how often it is trained on in an epoch
    """

    source: str
    target: str
    document: int
    context: bool = False
    repeat: int = 1


def read_pairs(
    config: DataConfig, sources: Sequence[Path], targets: Sequence[Path], repeat: Sequence[int] = ()
) -> Iterator[Pair]:
    """Yield the sentence pairs of parallel files; a document ends with its file at the latest.

    repeat: how often the pairs of each file are trained on in an epoch; once by default

    A line whose sentences are joined with `<SEP>`, as `build augment` writes them, is a passage of its own: the last
    sentence is trained on, those before it are its context.
    """
    document = 0
    format = "docids" if config.docids else "tags" if config.boundary else "lines"
    for source, target, times in zip(sources, targets, repeat or [1] * len(sources), strict=True):
        last: str | None = None
        for line in document_lines(source, target, format=format, boundary=config.boundary):
            one, other = line.texts
            document += line.document != last
            last = line.document
            passage = _passage(one, other, source, line.number)
            own = SEPARATOR_PIECE in one
            document += own
            for position, (sentence, translation) in enumerate(passage, start=1):
                yield Pair(sentence, translation, document, position < len(passage), times)
            document += own


def _passage(one: str, other: str, source: Path, number: int) -> list[tuple[str, str]]:
    """Return the sentence pairs of a line: one, or several joined with the separator; empty context is dropped."""
    sides = [[sentence.strip() for sentence in line.split(SEPARATOR_PIECE)] for line in (one, other)]
    if len(sides[0]) != len(sides[1]):
        problem = f"{len(sides[0])} sentences joined with {SEPARATOR_PIECE} here, {len(sides[1])} in the translation"
        raise BadInput(source, problem, line=number, remedy="Join the same sentences on both sides.")
    pairs = list(zip(*sides, strict=True))
    return [pair for pair in pairs[:-1] if any(pair)] + pairs[-1:]


class Sentences:
    """Encoded sentences, one after the other in one array."""

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
        ids: list[int] = self.ids[self.ends[number] : self.ends[number + 1]].tolist()
        return ids


@dataclass(frozen=True, slots=True)
class Dropped:
    """Numbers of pairs that are not trained on: an empty side, too long with context, or too different in length."""

    empty: int = 0
    long: int = 0
    unlike: int = 0

    def __str__(self) -> str:
        return f"{self.empty:,} with an empty side, {self.long:,} too long, {self.unlike:,} of unlike lengths"


class TokenWeights:
    """Weights of the loss on target tokens: for decoded context, and for chosen words.

    Context discounting (Lupo et al. 2022): with `context` below 1 a concatenation model learns more from the current
    sentence than from the previous ones, which are trained on as current sentences anyway.
    """

    def __init__(self, pieces: Sequence[str], context: float = 1.0, words: Sequence[str] = (), word: float = 1.0):
        """pieces: the text of each piece by its id, with ▁ at the beginning of a word (`Text.target_pieces`)."""
        self.context, self.word = context, word
        self._pieces = pieces
        longest_first = sorted(words, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE) if words else None

    def chosen(self, sentence: Sequence[int]) -> list[bool]:
        """For each piece of a sentence whether it belongs to one of the chosen words, in upper or lower case."""
        chosen = [False] * len(sentence)
        if self._pattern is None:
            return chosen
        pieces = [self._pieces[number] for number in sentence]
        text = "".join(pieces)
        spans = [match.span() for match in self._pattern.finditer(text)]
        spans = [(a, b) for a, b in spans if not is_word(text[a - 1 : a]) and not is_word(text[b : b + 1])]
        ends = list(accumulate(map(len, pieces))) if spans else []
        for start, end in spans:
            for number in range(bisect_right(ends, start), bisect_left(ends, end) + 1):
                chosen[number] = True
        return chosen

    def of_target(self, chosen: Sequence[bool], length: int) -> list[float]:
        """Return the weight of each token of a target: context, the current sentence, the end.

        chosen: for each piece of the current sentence whether it has the weight of words
        length: tokens of the whole target
        """
        before = length - len(chosen) - 1
        return [self.context] * before + [self.word if one else 1.0 for one in chosen] + [1.0]


class Corpus:
    """Examples of parallel documents with a context layout. Dropped sentences still are context of others.

    weights: weights of the loss on target tokens; None: all are 1
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        text: Text,
        layout: ContextLayout,
        config: DataConfig,
        weights: TokenWeights | None = None,
    ) -> None:
        self.source = Sentences(text.encode_source(pair.source) for pair in pairs)
        self.target = Sentences(text.encode_target(pair.target) for pair in pairs)
        self.documents = np.array([pair.document for pair in pairs], np.int64)
        self._context = [pair.context for pair in pairs]
        self._repeat = np.array([pair.repeat for pair in pairs], np.int64)
        self._weights = weights
        self._chosen = None if weights is None else self._choose(weights)
        self.layout, self.special = layout, text.special
        self._first = np.zeros(len(pairs), np.int64)  # the number of the first sentence of each one's document
        for number, (before, here) in enumerate(pairwise(self.documents.tolist()), start=1):
            self._first[number] = self._first[number - 1] if before == here else number
        self.numbers, self.lengths, self.dropped = self._kept(config)
        self.loss_weights = self._loss_weights()

    def __len__(self) -> int:
        return len(self.numbers)

    def example(self, number: int) -> tuple[tuple[Ids, ...], Ids]:
        """Return the inputs and the target of an example."""
        return self._example(int(self.numbers[number]))

    def batch(self, numbers: Sequence[int] | Ints) -> Batch:
        """Return some of the examples as a batch."""
        examples = [self.example(int(number)) for number in numbers]
        inputs, targets = [i for i, _ in examples], [t for _, t in examples]
        batch = make_batch(inputs, targets, self.special.start, self.special.padding)
        if self._weights is None:
            return batch
        weights = [
            torch.tensor(self._token_weights(int(self.numbers[p]), len(t)))
            for p, t in zip(numbers, targets, strict=True)
        ]
        return replace(batch, weights=pad_sequence(weights, batch_first=True))

    def _example(self, number: int) -> tuple[tuple[Ids, ...], Ids]:
        start = max(int(self._first[number]), number - self.layout.reach)
        source = [self.source[n] for n in range(start, number + 1)]
        target = [self.target[n] for n in range(start, number + 1)]
        inputs = inputs_of(self.layout, self.special, source, target[:-1])
        return inputs, target_of(self.layout, self.special, target)

    def _kept(self, config: DataConfig) -> tuple[Ints, Ints, Dropped]:
        """Return the examples to train on, the lengths of their longest input and target, and what is dropped."""
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
        kept, sizes_kept = np.array(numbers, np.int64), np.array(lengths, np.int64).reshape(-1, 2)
        times = self._repeat[kept]
        return np.repeat(kept, times), np.repeat(sizes_kept, times, axis=0), Dropped(empty, long, unlike)

    def _choose(self, weights: TokenWeights) -> npt.NDArray[np.bool_]:
        """For each token of the target text whether it belongs to a chosen word."""
        chosen = np.zeros(len(self.target.ids), np.bool_)
        for number in range(len(self.target)):
            chosen[self.target.ends[number] : self.target.ends[number + 1]] = weights.chosen(self.target[number])
        return chosen

    def _token_weights(self, number: int, length: int) -> list[float]:
        assert self._weights is not None
        assert self._chosen is not None
        chosen = self._chosen[self.target.ends[number] : self.target.ends[number + 1]]
        return self._weights.of_target(chosen.tolist(), length)

    def _loss_weights(self) -> npt.NDArray[np.float64]:
        """(n,), the sum of the weights of each example's target tokens; without weights their number."""
        tokens = self.lengths[:, 1].astype(np.float64)
        if self._weights is None:
            return tokens
        sums = (
            sum(self._token_weights(n, t))
            for n, t in zip(self.numbers.tolist(), tokens.astype(int).tolist(), strict=True)
        )
        return np.fromiter(sums, np.float64, len(tokens))


# What training starts from


@dataclass(frozen=True)
class TrainingData:
    """What training needs besides a config: encoded text, and suites for validation."""

    text: Text
    training: Corpus
    validation: Corpus | None = None
    suites: tuple[tuple[str, tuple[Example, ...]], ...] = ()


def prepare(config: Config, folder: Path, suites: Iterable[tuple[str, tuple[Example, ...]]] = ()) -> TrainingData:
    """Read and encode the text of a config. The vocabulary is learned, or loaded, or copied from `start_from`."""
    data = config.data
    if not data.source:
        raise AnaphoraError(
            "There is no training text. Name files in [data] source and target, or pass --set data.source=FILE."
        )
    pairs = _pairs(data, data.source, data.target, data.repeat)
    if not pairs:
        raise AnaphoraError(f"{data.source[0]}: no sentences to train on")
    text = _text(config, folder, pairs)
    layout = config.model.layout
    training = Corpus(pairs, text, layout, data, _weights(config, text))
    if not len(training):
        raise AnaphoraError(f"{data.source[0]}: all sentences were dropped ({training.dropped}). See data.max_length.")
    validation = None
    if data.validation_source:
        held_out = _pairs(data, (data.validation_source,), (data.validation_target,))
        validation = Corpus(held_out, text, layout, data)
    elif (
        config.validation.patience > 0
        or config.training.schedule == "plateau"
        or (config.training.average > 0 and config.training.average_of == "best")
    ):
        raise AnaphoraError(
            "Early stopping, the plateau schedule and a mean of the best checkpoints need data.validation_source and "
            "data.validation_target."
        )
    return TrainingData(text, training, validation, tuple(suites))


def _pairs(
    config: DataConfig, sources: Iterable[str], targets: Iterable[str], repeat: Sequence[int] = ()
) -> list[Pair]:
    return list(read_pairs(config, [Path(s) for s in sources], [Path(t) for t in targets], repeat))


def _weights(config: Config, text: Text) -> TokenWeights | None:
    """Return the weights of a config; None if all tokens have the same."""
    training = config.training
    if training.context_weight == 1 and not training.weighted_words:
        return None
    words, word_weight = training.weighted_words, training.word_weight
    return TokenWeights(text.target_pieces(), training.context_weight, words, word_weight)


def _text(config: Config, folder: Path, pairs: list[Pair]) -> Text:
    if all((folder / name).is_file() for name in TEXT_FILES):
        return load_text(folder)
    if config.training.start_from:
        return copy_text(Path(config.training.start_from), folder)
    source, target = [pair.source for pair in pairs], [pair.target for pair in pairs]
    return learn_text(config.vocabulary, config.data.languages, source, target, folder)
