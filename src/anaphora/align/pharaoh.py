"""The backend `pharaoh`: alignments that another program wrote: a file per direction, or one that is merged already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anaphora.align.alignment import Alignment, check_alignment, read_alignments
from anaphora.align.backend import Directions, Pair, Progress, Settings, choose_model
from anaphora.align.symmetrize import HEURISTICS
from anaphora.core.errors import AnaphoraError, BadInput


class PharaohFiles:
    """Nothing is learned: each line belongs to the pair of the same number, and must fit it."""

    heuristics = HEURISTICS
    reproducible = True
    learns = False

    def __init__(self, settings: Settings) -> None:
        self.model = choose_model(settings, {"files": None}, "files")
        if settings.forward is None:
            raise AnaphoraError("backend 'pharaoh' reads alignments: name the file (--forward, and --backward)")
        # one file is taken as merged: merging it with itself changes nothing
        self.paths = (settings.forward, settings.backward or settings.forward)

    def version(self) -> str:
        return "pharaoh files"

    def train(
        self, corpus: Sequence[Pair], pairs: Sequence[Pair], progress: Progress | None = None
    ) -> list[Directions]:
        return self.align(pairs)

    def align(self, pairs: Sequence[Pair]) -> list[Directions]:
        forward, backward = (_read(path, pairs) for path in self.paths)
        return list(zip(forward, backward, strict=True))

    def save(self, folder: Path) -> None:
        raise AnaphoraError("backend 'pharaoh' learns nothing that could be saved")

    def load(self, folder: Path) -> None:
        raise AnaphoraError("backend 'pharaoh' has no models to apply")


def _read(path: Path, pairs: Sequence[Pair]) -> list[Alignment]:
    found = list(read_alignments(path))
    while len(found) > len(pairs) and not found[-1]:  # an empty line too many at the end is common
        found.pop()
    if len(found) != len(pairs):
        raise BadInput(path, f"{len(found):,} lines, but there are {len(pairs):,} sentence pairs")
    for number, (alignment, (source, target)) in enumerate(zip(found, pairs, strict=True), start=1):
        check_alignment(alignment, len(source), len(target), path, number)
    return found
