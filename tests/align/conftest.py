"""What the tests of word alignment share: a made-up language pair whose true links are known."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from anaphora.align.alignment import Alignment


class Toy(NamedTuple):
    """Sentences of a made-up language pair, word for word, and their true links."""

    source: list[list[str]]
    target: list[list[str]]
    truth: list[Alignment]


def toy_text(pairs: int, seed: int = 1) -> Toy:
    """Every word has one translation; neighbors sometimes change places."""
    rng = random.Random(seed)
    toy = Toy([], [], [])
    for _ in range(pairs):
        words = rng.sample(range(12), rng.randint(2, 6))
        order = list(range(len(words)))
        if rng.random() < 0.5:
            k = rng.randrange(len(words) - 1)
            order[k], order[k + 1] = order[k + 1], order[k]
        toy.source.append([f"s{n}" for n in words])
        toy.target.append([f"t{words[k]}" for k in order])
        toy.truth.append(tuple(sorted((s, t) for t, s in enumerate(order))))
    return toy


@pytest.fixture(scope="session")
def toy() -> Toy:
    return toy_text(40)
