"""The backend `builtin`: fast_align in both directions, with nothing to install.

It takes 20 to 40 % of the time of the fast_align of sil-thot (`python benchmarks/run.py align`), which matters where
a corpus is aligned rather than a test set.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.align.aligner import AGAIN
from anaphora.align.alignment import Alignment
from anaphora.align.backend import Directions, Pair, Progress, Settings, Words, choose_model
from anaphora.align.diagonal import Direction, Numbers, SentencePair
from anaphora.core.errors import BadInput
from anaphora.core.files import read_text
from anaphora.core.parsing import STATE, expecting, read_json_object, shortened

ITERATIONS = 5
FORMAT = 1  # of the files; another one is another version
SIDES = ("source", "target")
DIRECTIONS = ("forward", "backward")
ARRAYS = ("keys", "theta", "alone")


class Builtin:
    """Two directions over the words of two languages."""

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
        self._numbers = tuple(_numbered(pair[side] for pair in texts) for side in (0, 1))
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
            raise BadInput(folder, "a word is twice in the list of words", remedy=AGAIN)
        with expecting(folder, "a saved model of the built-in aligner"):
            self._directions = [
                Direction(
                    len(words),
                    float(tensions[name]),
                    *(_saved(folder / f"{name}.{array}.npy") for array in ARRAYS),
                )
                for name, words in zip(DIRECTIONS, reversed(self._numbers), strict=True)
            ]
        for direction in self._directions:
            direction.fits(folder, AGAIN)
        for name, direction in zip(DIRECTIONS, self._directions, strict=True):  # version 0.1.0 could save an overflow
            direction.check(f"{folder}: the {name} direction", AGAIN)

    def _in_numbers(self, pairs: Sequence[Pair]) -> list[SentencePair]:
        source, target = self._numbers
        return [(_array(one, source), _array(other, target)) for one, other in pairs]

    def _aligned(self, pairs: Sequence[SentencePair]) -> list[Directions]:
        forward, backward = (one.best(texts) for one, texts in zip(self._directions, _both(pairs), strict=True))
        return [(_points(one), _swapped(other)) for one, other in zip(forward, backward, strict=True)]


def _saved(path: Path) -> Any:
    """An array of a saved model."""
    try:
        return np.load(path, allow_pickle=False)
    except Exception as error:  # of NumPy, of the tokenizer that it reads headers with, for lack of memory
        raise BadInput(path, f"not an array that can be read: {shortened(str(error))}", remedy=AGAIN) from None


def _numbered(sentences: Iterable[Words]) -> dict[str, int]:
    """Words in the order in which they come."""
    return {word: k for k, word in enumerate(dict.fromkeys(word for sentence in sentences for word in sentence))}


def _array(words: Words, numbers: Mapping[str, int]) -> Numbers:
    """−1: a word that was not there in training."""
    return np.array([numbers.get(word, -1) for word in words], dtype=np.int64)


def _both(pairs: Sequence[SentencePair]) -> tuple[Sequence[SentencePair], Sequence[SentencePair]]:
    """What explains, and what is explained: in the forward direction source words explain those of the target."""
    return pairs, [(target, source) for source, target in pairs]


def _points(sources: Numbers) -> Alignment:
    return tuple([(source, target) for target, source in enumerate(sources.tolist()) if source >= 0])


def _swapped(targets: Numbers) -> Alignment:
    return tuple([(source, target) for source, target in enumerate(targets.tolist()) if target >= 0])
