"""The arrays of fast_align do what the loops of its definition do."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from anaphora.align import diagonal
from anaphora.align.diagonal import LEAST, NONE, PRIOR, TENSION, TENSIONS, Direction, SentencePair, blocks, exp_digamma

SIZE = 5  # words of each language
sentences = st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=5).map(
    lambda words: np.array(words, dtype=np.int64)
)
corpora = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=6)


def trained(pairs: list[SentencePair], iterations: int) -> Direction:
    direction = Direction(SIZE)
    assert list(direction.train(pairs, iterations)) == list(range(1, iterations + 1))
    return direction


class Loops:
    """The definition, word by word, in double precision."""

    def __init__(self) -> None:
        self.tension = TENSION
        self.theta: dict[tuple[int | None, int], float] = defaultdict(lambda: 1.0)

    def prior(self, j: int, m: int, n: int) -> list[float]:
        weights = [math.exp(-self.tension * abs((i + 1) / m - (j + 1) / n)) for i in range(m)]
        return [(1 - NONE) * w / sum(weights) for w in weights]

    def iterate(self, pairs: list[SentencePair]) -> None:
        counts: dict[tuple[int | None, int], float] = defaultdict(float)
        slope = bend = 0.0
        for explaining, explained in pairs:
            m, n = len(explaining), len(explained)
            for j, f in enumerate(explained.tolist()):
                prior = self.prior(j, m, n)
                away = [abs((i + 1) / m - (j + 1) / n) for i in range(m)]
                scores = [p * self.theta[e, f] for p, e in zip(prior, explaining.tolist(), strict=True)]
                none = NONE * self.theta[None, f]
                total = sum(scores) + none
                for i, e in enumerate(explaining.tolist()):
                    counts[e, f] += scores[i] / total
                counts[None, f] += none / total
                mass = sum(scores) / total
                mean = sum(p * d for p, d in zip(prior, away, strict=True)) / (1 - NONE)
                square = sum(p * d * d for p, d in zip(prior, away, strict=True)) / (1 - NONE)
                slope += mass * mean - sum(s * d for s, d in zip(scores, away, strict=True)) / total
                bend += mass * (square - mean * mean)
        for f in range(SIZE):
            counts[None, f] += 0.0  # every word may stand alone
        for e in {e for e, _ in counts}:
            row = {f: count for (other, f), count in counts.items() if other == e}
            whole = sum(row.values()) + PRIOR * len(row)
            for f, count in row.items():
                self.theta[e, f] = math.exp(digamma(count + PRIOR) - digamma(whole))
        self.tension = min(max(self.tension + slope / max(bend, 1e-9), TENSIONS[0]), TENSIONS[1])


@settings(deadline=None)
@given(corpora, st.integers(1, 8))
def test_em_is_that_of_the_definition(pairs: list[SentencePair], iterations: int) -> None:
    direction, loops = trained(pairs, iterations), Loops()
    for _ in range(iterations):
        loops.iterate(pairs)
    found = {(int(k) // SIZE, int(k) % SIZE): float(v) for k, v in zip(direction.keys, direction.theta, strict=True)}
    for (e, f), theta in loops.theta.items():
        if e is None:
            assert direction.alone[f] == pytest.approx(max(theta, LEAST), rel=1e-2)
        else:
            assert found.get((e, f), LEAST) == pytest.approx(max(theta, LEAST), rel=1e-2, abs=1e-6)
    assert direction.tension == pytest.approx(loops.tension, rel=1e-2, abs=1e-2)


@settings(deadline=None)
@given(corpora, corpora)
def test_the_best_is_that_of_the_definition(pairs: list[SentencePair], others: list[SentencePair]) -> None:
    direction, loops = trained(pairs, 2), Loops()
    loops.tension = direction.tension
    known = {(int(k) // SIZE, int(k) % SIZE): float(v) for k, v in zip(direction.keys, direction.theta, strict=True)}
    for (explaining, explained), best in zip(others, direction.best(others), strict=True):
        for j, (f, place) in enumerate(zip(explained.tolist(), best.tolist(), strict=True)):
            prior = loops.prior(j, len(explaining), len(explained))
            scores = [p * known.get((e, f), LEAST) for p, e in zip(prior, explaining.tolist(), strict=True)]
            none = NONE * float(direction.alone[f])
            chosen = none if place < 0 else scores[place]
            assert chosen == pytest.approx(max(none, *scores), rel=1e-4)


@given(corpora, st.integers(1, 40))
def test_blocks_hold_every_cell_once(pairs: list[SentencePair], cells: int) -> None:
    expected = [
        (e * SIZE + f, abs((i + 1) / len(one) - (j + 1) / len(other)))
        for one, other in pairs
        for j, f in enumerate(other.tolist())
        for i, e in enumerate(one.tolist())
    ]
    found = list(blocks(pairs, SIZE, cells))
    assert [int(c) for block in found for c in block.cells] == [key for key, _ in expected]
    assert [float(d) for block in found for d in block.away] == pytest.approx([d for _, d in expected], abs=1e-6)
    assert [int(w) for block in found for w in block.words] == [f for _, other in pairs for f in other.tolist()]
    assert all(len(block.cells) >= cells for block in found[:-1])
    for block in found:
        assert (np.diff(np.append(block.starts, len(block.cells))) == block.widths).all()


@settings(deadline=None)
@given(pairs=corpora)
def test_the_size_of_blocks_changes_nothing(pairs: list[SentencePair]) -> None:
    whole = trained(pairs, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diagonal, "CELLS", 1)
        parts = trained(pairs, 2)
        assert parts.keys.tolist() == whole.keys.tolist()
        assert parts.theta.tolist() == pytest.approx(whole.theta.tolist(), rel=1e-4)
        assert parts.alone.tolist() == pytest.approx(whole.alone.tolist(), rel=1e-4)
        small = [row.tolist() for row in whole.best(pairs)]
    assert [row.tolist() for row in whole.best(pairs)] == small


def test_words_that_were_never_seen_follow_the_diagonal() -> None:
    direction = trained([(np.array([0, 1]), np.array([0, 1]))] * 4, 3)
    unknown = np.array([-1] * 3)
    assert direction.best([(unknown, unknown)])[0].tolist() == [0, 1, 2]
    assert direction.best([]) == []


def test_e_to_the_digamma() -> None:
    x = np.array([PRIOR, 0.0101, 0.011, 0.02, 0.1, 0.5, 1, 1.5, 3, 10, 1e3, 1e6, 1e12])
    assert (1 / exp_digamma(x)).tolist() == pytest.approx(np.exp(-digamma(x)).tolist(), rel=1e-5)
