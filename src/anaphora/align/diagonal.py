"""fast_align (Dyer et al. 2013) in NumPy: IBM model 2 with a diagonal of its own, by variational Bayes.

Each word f at place j of n is explained by a word e at place i of m, or by none:

    p(f, i | j, m, n) = (1 − p₀) · exp(−λ |i/m − j/n|) / Z · θ(f | e),   or   p₀ · θ(f | none)

All words of a block of sentences are rows of one long array of cells, so that a step of EM is a handful of operations
on whole arrays. λ takes a Newton step after each iteration.

Computed in double precision: e^ψ(0.01), of a pair of words that explains nothing, is 10⁻⁴⁴, beyond single precision.
With α = 0.01 and λ ≤ 14 no quotient below leaves the range of doubles, whatever the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anaphora.core.errors import BadInput
from anaphora.core.finite import all_finite, no_overflow

Floats = NDArray[np.float64]
Single = NDArray[np.float32]  # what is kept of it
Numbers = NDArray[np.integer]
Sentence = Numbers  # of words
SentencePair = tuple[Sentence, Sentence]  # what explains, and what is explained

NONE = 0.08  # p₀
PRIOR = 0.01  # α of the Dirichlet prior on θ: small, so that few words explain each
TENSION = 4.0  # λ at the start
TENSIONS = (0.1, 14.0)
LEAST = 1e-7  # θ is never smaller: of words that were never seen together
CELLS = 250_000  # of a block, about: what is computed with them stays in the processor's cache


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
    """Sentence pairs in blocks of at least so many cells; size: number of words that can be explained."""
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
    places = np.arange(len(words)) - np.repeat(np.cumsum(high) - high, high)  # j, from 0
    first = np.repeat(np.cumsum(wide) - wide, high)  # where the explaining sentence of a row begins
    within = np.arange(int(widths.sum())) - np.repeat(starts, widths)  # i, from 0
    cells = explaining[within + np.repeat(first, widths)] * size + np.repeat(words, widths)
    across = (places + 1) / np.repeat(high, high)
    along = (within + 1) / np.repeat(widths, widths)
    away = np.abs(along - np.repeat(across, widths)).astype(np.float32)
    return Block(cells, starts, widths, words, away)


@dataclass
class Direction:
    """What was learned about words that explain others.

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
        """EM; yields after each iteration, for progress."""
        held: list[tuple[Block, Numbers]] = []
        union = Union()
        for block in blocks(pairs, self.size, CELLS):
            keys: Numbers
            keys, places = np.unique(block.cells, return_inverse=True)
            held.append((block._replace(cells=places.astype(np.int32)), keys))
            union.add(keys)
        seen = union.all()
        # a cell knows its pair of words by its number among those of its block, and these by theirs among all
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
        kept = self.theta > LEAST
        self.keys, self.theta = self.keys[kept], self.theta[kept].astype(np.float32)
        self.alone = np.maximum(self.alone, LEAST).astype(np.float32)
        self.check("the word alignment model")

    def fits(self, folder: Path, remedy: str) -> None:
        """The arrays of a saved model must belong together."""
        sizes = [array.shape for array in (self.keys, self.theta, self.alone)]
        kinds = [array.dtype.kind for array in (self.keys, self.theta, self.alone)]
        if sizes != [(self.keys.size,), (self.keys.size,), (self.size,)] or kinds != ["i", "f", "f"]:
            raise BadInput(folder, "the arrays of the model do not belong together", remedy=remedy)

    def check(self, what: str, remedy: str = "") -> None:
        """Every figure of the model must be a finite number."""
        for values in (self.theta, self.alone, np.array([self.tension])):
            all_finite(values, what, remedy)

    def _iterate(self, parts: Sequence[tuple[Block, Numbers]], owners: Numbers) -> None:
        counts, alone = np.zeros(len(self.keys)), np.zeros(self.size)
        slope = bend = 0.0
        for block, places in parts:
            found = self._expected(block, self.theta[places].take(block.cells))
            counts[places] += np.bincount(block.cells, found.posterior, minlength=len(places))
            alone += np.bincount(block.words, found.alone, minlength=self.size)
            slope += found.slope
            bend += found.bend
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
        """Of each cell, with p₀ taken off; and its share of its row."""
        shares = np.exp(away * -self.tension)
        shares *= np.repeat(1 / np.add.reduceat(shares, block.starts), block.widths)
        return shares * (1 - NONE), shares

    def best(self, pairs: Sequence[SentencePair]) -> list[Numbers]:
        """For each word of each explained sentence the place of the word that explains it best, or −1.

        A word that was not there in training has the number −1.
        """
        found: list[Numbers] = []
        for block in blocks(pairs, self.size, CELLS):
            unknown = np.repeat(block.words < 0, block.widths) | (block.cells < 0)
            places = np.searchsorted(self.keys, block.cells)
            places[places == len(self.keys)] = 0
            theta = np.full(len(places), LEAST)
            if len(self.keys):
                hit = (self.keys[places] == block.cells) & ~unknown
                theta[hit] = self.theta[places[hit]]
            weights = self._prior(block, block.away.astype(np.float64))[0] * theta
            highest = np.maximum.reduceat(weights, block.starts)
            within = np.arange(len(weights)) - np.repeat(block.starts, block.widths)
            within[weights < np.repeat(highest, block.widths)] = np.iinfo(np.int64).max
            chosen = np.minimum.reduceat(within, block.starts)  # the first, where several are as good
            alone = np.where(block.words < 0, LEAST, self.alone[np.maximum(block.words, 0)])
            found.append(np.where(NONE * alone > highest, -1, chosen))
        rows = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
        return np.split(rows, np.cumsum([len(f) for _, f in pairs])[:-1]) if pairs else []


class Union:
    """Sorted numbers of many sorted arrays, put together now and then: each time as much again as there is."""

    def __init__(self) -> None:
        self._whole = np.zeros(0, dtype=np.int64)
        self._waiting: list[Numbers] = []

    def add(self, numbers: Numbers) -> None:
        self._waiting.append(numbers)
        if sum(map(len, self._waiting)) > len(self._whole):
            self.all()

    def all(self) -> Numbers:
        found = np.sort(np.concatenate([self._whole, *self._waiting]), kind="stable")  # quick where parts are sorted
        self._whole = found[np.append(True, found[1:] != found[:-1])] if len(found) else found
        self._waiting = []
        return self._whole


class Expected(NamedTuple):
    """posterior of each cell; of no word, for each row; first and (negative) second derivative by λ."""

    posterior: Floats
    alone: Floats
    slope: float
    bend: float


def _updated(counts: Floats, owners: Numbers) -> Floats:
    """θ of pairs of words by variational Bayes; owners: the explaining word of each."""
    kinds = np.bincount(owners)
    totals = np.bincount(owners, counts) + PRIOR * kinds
    below = exp_digamma(totals)
    theta = np.empty(len(counts))
    for start in range(0, len(counts), CELLS):  # in parts, as what is computed on the way takes several times as much
        part = slice(start, start + CELLS)
        theta[part] = exp_digamma(counts[part] + PRIOR) / below[owners[part]]
    return theta


def exp_digamma(x: Floats) -> Floats:
    """e^ψ(x) of positive numbers, within 1e-5 of it: ψ(x) = ψ(x + 4) − Σ 1/(x + k), and the series of ψ(x + 4)."""
    inverse = 1 / (x + 4)
    square = inverse * inverse
    product = x * (x + 3)
    sum_ = (2 * x + 3) * (2 * product + 2) / (product * (product + 2))  # 1/x + 1/(x + 1) + 1/(x + 2) + 1/(x + 3)
    return np.exp(-inverse / 2 - square / 12 + square * square / 120 - sum_) / inverse
