"""The backend `builtin`: fast_align (Dyer et al. 2013) in NumPy, a diagonal IBM model 2 by variational Bayes.

Each word f at position j of n is explained by a word e at position i of m, or by none:

    p(f, i | j, m, n) = (1 − p₀) · exp(−λ |i/m − j/n|) / Z · θ(f | e),   or   p₀ · θ(f | none)

All words of a block of sentences are rows of one long array of cells, so that a step of EM is a handful of operations
on whole arrays. λ takes a Newton step after each iteration. Training and aligning take 20 to 40 % of the time of
sil-thot's fast_align (`python benchmarks/run.py align`).

The computation is in double precision: e^ψ(0.01), for a pair of words that explains nothing, is 10⁻⁴⁴, beyond single
precision. With α = 0.01 and λ ≤ 14 no quotient below leaves the range of doubles, whatever the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anaphora.align.aligner import RETRAIN
from anaphora.align.backend import Directions, Pair, Progress, Settings, Words, both_directions, choose_model
from anaphora.core.errors import BadInput
from anaphora.core.files import read_text
from anaphora.core.finite import all_finite, no_overflow
from anaphora.core.parsing import STATE, expecting, read_json_object, shortened

Floats = NDArray[np.float64]
Single = NDArray[np.float32]  # trained parameters
Numbers = NDArray[np.integer]
Sentence = Numbers  # of words
SentencePair = tuple[Sentence, Sentence]  # what explains, and what is explained

NONE = 0.08  # p₀
PRIOR = 0.01  # α of the Dirichlet prior on θ: small, so that few words explain each
TENSION = 4.0  # λ at the start
TENSIONS = (0.1, 14.0)
LEAST = 1e-7  # the smallest θ, that of words never seen together
CELLS = 250_000  # approximate size of a block, so that its arrays stay in the processor's cache


class Block(NamedTuple):
    """Sentence pairs as rows of cells: one row for each explained word, one cell for each word that may explain it.

    cells: which pair of words each is, e · size + f; in training its number among those of the block  [cells]
    starts, widths, words: where each row begins, its length, and the word that is explained  [rows]
    away: |i/m − j/n|; in single precision, as the blocks of a corpus are all held  [cells]
    """

    cells: Numbers
    starts: Numbers
    widths: Numbers
    words: Numbers
    away: Single


def blocks(pairs: Iterable[SentencePair], size: int, cells: int) -> Iterator[Block]:
    """Sentence pairs in blocks of at least `cells` cells; size: the number of words that can be explained."""
    held: list[SentencePair] = []
    room = 0
    for pair in pairs:
        held.append(pair)
        room += len(pair[0]) * len(pair[1])
        if room >= cells:
            yield _block(held, size)
            held, room = [], 0
    if held:
        yield _block(held, size)


def _block(pairs: Sequence[SentencePair], size: int) -> Block:
    explaining = np.concatenate([e for e, _ in pairs])
    words = np.concatenate([f for _, f in pairs])
    wide = np.array([len(e) for e, _ in pairs])
    high = np.array([len(f) for _, f in pairs])
    widths = np.repeat(wide, high)
    starts = np.cumsum(widths) - widths
    positions = np.arange(len(words)) - np.repeat(np.cumsum(high) - high, high)  # j, from 0
    first = np.repeat(np.cumsum(wide) - wide, high)  # where the explaining sentence of a row begins
    within = np.arange(int(widths.sum())) - np.repeat(starts, widths)  # i, from 0
    cells = explaining[within + np.repeat(first, widths)] * size + np.repeat(words, widths)
    across = (positions + 1) / np.repeat(high, high)
    along = (within + 1) / np.repeat(widths, widths)
    away = np.abs(along - np.repeat(across, widths)).astype(np.float32)
    return Block(cells, starts, widths, words, away)


@dataclass
class Direction:
    """The parameters of one direction.

    size: number of words that can be explained
    keys, theta: pairs of words, e · size + f in order, and θ of each; others have the least θ
    alone: θ of words that no word explains  [size]

    θ is in single precision once it is learned, as in a saved model: all of it lies between `LEAST` and 1.
    """

    size: int
    tension: float = TENSION
    keys: Numbers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    theta: Floats | Single = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    alone: Floats | Single = field(default_factory=lambda: np.zeros(0, dtype=np.float32))

    def train(self, pairs: Sequence[SentencePair], iterations: int) -> Iterator[int]:
        """Run EM; yields the number of iterations done, for progress."""
        held: list[tuple[Block, Numbers]] = []
        union = Union()
        for block in blocks(pairs, self.size, CELLS):
            keys: Numbers
            keys, indices = np.unique(block.cells, return_inverse=True)
            held.append((block._replace(cells=indices.astype(np.int32)), keys))
            union.add(keys)
        seen = union.all()
        # a cell refers to its pair of words by its index in the block, and the block's pairs by their index among all
        parts = [(block, np.searchsorted(seen, keys)) for block, keys in held]
        del held
        self.keys = seen
        self.theta = np.ones(len(seen))
        self.alone = np.ones(self.size)
        explaining = seen // self.size
        owners = np.concatenate(([0], np.cumsum(explaining[1:] != explaining[:-1])))
        for number in range(iterations):
            with no_overflow(f"word alignment, iteration {number + 1} on {len(pairs):,} sentence pairs"):
                self._iterate(parts, owners)
            yield number + 1
        used = self.theta > LEAST
        self.keys, self.theta = self.keys[used], self.theta[used].astype(np.float32)
        self.alone = np.maximum(self.alone, LEAST).astype(np.float32)
        self.check("the word alignment model")

    def fits(self, folder: Path, remedy: str) -> None:
        """Raise BadInput unless the arrays of a saved model fit together."""
        sizes = [array.shape for array in (self.keys, self.theta, self.alone)]
        kinds = [array.dtype.kind for array in (self.keys, self.theta, self.alone)]
        if sizes != [(self.keys.size,), (self.keys.size,), (self.size,)] or kinds != ["i", "f", "f"]:
            raise BadInput(folder, "the arrays of the model are inconsistent", remedy=remedy)

    def check(self, what: str, remedy: str = "") -> None:
        """Raise an error unless every parameter is finite."""
        for values in (self.theta, self.alone, np.array([self.tension])):
            all_finite(values, what, remedy)

    def _iterate(self, parts: Sequence[tuple[Block, Numbers]], owners: Numbers) -> None:
        counts, alone = np.zeros(len(self.keys)), np.zeros(self.size)
        slope = bend = 0.0
        for block, indices in parts:
            expected = self._expected(block, self.theta[indices].take(block.cells))
            counts[indices] += np.bincount(block.cells, expected.posterior, minlength=len(indices))
            alone += np.bincount(block.words, expected.alone, minlength=self.size)
            slope += expected.slope
            bend += expected.bend
        self.theta = _updated(counts, owners)
        self.alone = _updated(alone, np.zeros(self.size, dtype=np.int64))
        self.tension = float(np.clip(self.tension + slope / max(bend, 1e-9), *TENSIONS))

    def _expected(self, block: Block, theta: Floats | Single) -> Expected:
        away = block.away.astype(np.float64)
        prior, shares = self._prior(block, away)
        posterior = prior * theta
        none = NONE * self.alone[block.words]
        scale = 1 / (np.add.reduceat(posterior, block.starts) + none)
        posterior *= np.repeat(scale, block.widths)
        mass = np.add.reduceat(posterior, block.starts)
        # the derivatives by λ of the expected logarithm of the prior
        weighted = shares * away
        mean = np.add.reduceat(weighted, block.starts)
        weighted *= away
        spread = np.add.reduceat(weighted, block.starts) - mean * mean
        slope = float(mass @ mean) - float(posterior @ away)
        return Expected(posterior, none * scale, slope, float(mass @ spread))

    def _prior(self, block: Block, away: Floats) -> tuple[Floats, Floats]:
        """The prior of each cell, times 1 − p₀; and its share of its row."""
        shares = np.exp(away * -self.tension)
        shares *= np.repeat(1 / np.add.reduceat(shares, block.starts), block.widths)
        return shares * (1 - NONE), shares

    def best(self, pairs: Sequence[SentencePair]) -> list[Numbers]:
        """The position of the word that best explains each word of each explained sentence, or −1.

        A word that was not in the training data has the index −1.
        """
        positions: list[Numbers] = []
        for block in blocks(pairs, self.size, CELLS):
            unknown = np.repeat(block.words < 0, block.widths) | (block.cells < 0)
            indices = np.searchsorted(self.keys, block.cells)
            indices[indices == len(self.keys)] = 0
            theta = np.full(len(indices), LEAST)
            if len(self.keys):
                hit = (self.keys[indices] == block.cells) & ~unknown
                theta[hit] = self.theta[indices[hit]]
            weights = self._prior(block, block.away.astype(np.float64))[0] * theta
            highest = np.maximum.reduceat(weights, block.starts)
            within = np.arange(len(weights)) - np.repeat(block.starts, block.widths)
            within[weights < np.repeat(highest, block.widths)] = np.iinfo(np.int64).max
            chosen = np.minimum.reduceat(within, block.starts)  # the first, where several are as good
            alone = np.where(block.words < 0, LEAST, self.alone[np.maximum(block.words, 0)])
            positions.append(np.where(NONE * alone > highest, -1, chosen))
        rows = np.concatenate(positions) if positions else np.zeros(0, dtype=np.int64)
        return np.split(rows, np.cumsum([len(f) for _, f in pairs])[:-1]) if pairs else []


class Union:
    """Sorted numbers of many sorted arrays, merged whenever as many were added as there are."""

    def __init__(self) -> None:
        self._whole = np.zeros(0, dtype=np.int64)
        self._waiting: list[Numbers] = []

    def add(self, numbers: Numbers) -> None:
        self._waiting.append(numbers)
        if sum(map(len, self._waiting)) > len(self._whole):
            self.all()

    def all(self) -> Numbers:
        merged = np.sort(np.concatenate([self._whole, *self._waiting]), kind="stable")  # quick where parts are sorted
        self._whole = merged[np.append(True, merged[1:] != merged[:-1])] if len(merged) else merged
        self._waiting = []
        return self._whole


class Expected(NamedTuple):
    """The posterior of each cell and, for no word, of each row; the first and (negative) second derivative by λ."""

    posterior: Floats
    alone: Floats
    slope: float
    bend: float


def _updated(counts: Floats, owners: Numbers) -> Floats:
    """θ of word pairs by variational Bayes; owners: the explaining word of each pair."""
    kinds = np.bincount(owners)
    totals = np.bincount(owners, counts) + PRIOR * kinds
    below = exp_digamma(totals)
    theta = np.empty(len(counts))
    for start in range(0, len(counts), CELLS):  # in parts, because intermediate results take several times the memory
        part = slice(start, start + CELLS)
        theta[part] = exp_digamma(counts[part] + PRIOR) / below[owners[part]]
    return theta


def exp_digamma(x: Floats) -> Floats:
    """e^ψ(x) of positive numbers, error below 1e-5: ψ(x) = ψ(x + 4) − Σ 1/(x + k), and the series of ψ(x + 4)."""
    inverse = 1 / (x + 4)
    square = inverse * inverse
    product = x * (x + 3)
    sum_ = (2 * x + 3) * (2 * product + 2) / (product * (product + 2))  # 1/x + 1/(x + 1) + 1/(x + 2) + 1/(x + 3)
    return np.exp(-inverse / 2 - square / 12 + square * square / 120 - sum_) / inverse


# The backend: two directions over the words of two languages

ITERATIONS = 5
FORMAT = 1  # version of the saved files
SIDES = ("source", "target")
DIRECTIONS = ("forward", "backward")
ARRAYS = ("keys", "theta", "alone")


class Builtin:
    """fast_align in both directions, with nothing to install."""

    reproducible = True
    learns = True

    def __init__(self, settings: Settings) -> None:
        self.model = choose_model(settings, {"fast_align": None}, "fast_align")
        self._numbers: tuple[dict[str, int], ...] = ({}, {})
        self._directions: list[Direction] = []

    def version(self) -> str:
        return f"builtin {FORMAT}"

    def train(
        self, corpus: Sequence[Pair], pairs: Sequence[Pair], progress: Progress | None = None
    ) -> list[Directions]:
        texts = [*corpus, *pairs]
        vocabularies = (dict.fromkeys(word for pair in texts for word in pair[side]) for side in (0, 1))
        self._numbers = tuple({word: k for k, word in enumerate(words)} for words in vocabularies)
        numbers = self._in_numbers(texts)
        self._directions = []
        for k, (sentences, words) in enumerate(zip(_both(numbers), reversed(self._numbers), strict=True)):
            direction = Direction(len(words))
            for done in direction.train(sentences, ITERATIONS):
                if progress is not None:
                    progress(k * ITERATIONS + done, 2 * ITERATIONS)
            self._directions.append(direction)
        return self._aligned(numbers[len(corpus) :])

    def align(self, pairs: Sequence[Pair]) -> list[Directions]:
        return self._aligned(self._in_numbers(pairs))

    def save(self, folder: Path) -> None:
        for side, words in zip(SIDES, self._numbers, strict=True):
            (folder / f"{side}.words").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
        for name, direction in zip(DIRECTIONS, self._directions, strict=True):
            for array in ARRAYS:
                np.save(folder / f"{name}.{array}.npy", getattr(direction, array), allow_pickle=False)
        tensions = {name: one.tension for name, one in zip(DIRECTIONS, self._directions, strict=True)}
        (folder / "tensions.json").write_text(json.dumps(tensions), encoding="utf-8")

    def load(self, folder: Path) -> None:
        tensions = read_json_object(folder / "tensions.json", decoder=STATE)
        texts = [read_text(folder / f"{side}.words") for side in SIDES]
        self._numbers = tuple({word: k for k, word in enumerate(text.split("\n")[:-1])} for text in texts)
        if any(len(numbers) != text.count("\n") for numbers, text in zip(self._numbers, texts, strict=True)):
            raise BadInput(folder, "a word occurs twice in the vocabulary", remedy=RETRAIN)
        with expecting(folder, "a saved model of the built-in aligner"):
            self._directions = [
                Direction(
                    len(words),
                    float(tensions[name]),
                    *(_saved(folder / f"{name}.{array}.npy") for array in ARRAYS),
                )
                for name, words in zip(DIRECTIONS, reversed(self._numbers), strict=True)
            ]
        for name, direction in zip(DIRECTIONS, self._directions, strict=True):
            direction.fits(folder, RETRAIN)
            direction.check(f"{folder}: the {name} direction", RETRAIN)  # version 0.1.0 could save overflows

    def _in_numbers(self, pairs: Sequence[Pair]) -> list[SentencePair]:
        """Return the indices of the words; −1 for a word that was not in the training data."""

        def array(words: Words, numbers: Mapping[str, int]) -> Numbers:
            return np.array([numbers.get(word, -1) for word in words], dtype=np.int64)

        source, target = self._numbers
        return [(array(one, source), array(other, target)) for one, other in pairs]

    def _aligned(self, pairs: Sequence[SentencePair]) -> list[Directions]:
        forward, backward = (
            [row.tolist() for row in direction.best(texts)]
            for direction, texts in zip(self._directions, _both(pairs), strict=True)
        )
        return both_directions(forward, backward, first=0)


def _saved(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except Exception as error:  # NumPy's errors, those of its header parser, lack of memory
        raise BadInput(path, f"cannot be read as an array: {shortened(str(error))}", remedy=RETRAIN) from None


def _both(pairs: Sequence[SentencePair]) -> tuple[Sequence[SentencePair], Sequence[SentencePair]]:
    """The pairs of both directions as (explaining, explained); forward, source words explain target words."""
    return pairs, [(target, source) for source, target in pairs]
