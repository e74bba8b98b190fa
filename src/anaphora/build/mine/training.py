"""The aligner of a corpus, trained on the corpus itself, or on a sample of it that fits in memory."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Iterable
from pathlib import Path

from anaphora.align import Aligner, Settings
from anaphora.align.backend import Progress
from anaphora.build.mine.jobs import draw
from anaphora.build.mine.piece import unpack

MODEL = "model"
PAIRS = 200_000  # trained on at most


def limit(seed: int, pairs: int, most: int) -> int | None:
    """The largest draw of a sample of so many pairs of the corpus; None: all are in it."""
    if pairs <= most:
        return None
    return heapq.nsmallest(most, (draw(seed, number) for number in range(pairs)))[-1]


def train(folder: Path, settings: Settings, sample: Iterable[bytes], progress: Progress | None = None) -> None:
    """Train an aligner on what `Sample` has taken of each shard and save it, unless it is there already."""
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
