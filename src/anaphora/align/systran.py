"""The backend `systran`: fast_align as systran-align packs it, where it is installed.

It merges both directions itself, by grow-diag-final-and, and does not give them away.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import systran_align  # type: ignore[import-not-found,import-untyped,unused-ignore]

from anaphora.align.backend import Directions, Pair, Progress, Settings, Words, choose_model
from anaphora.align.threads import openmp_threads

FILES = ("forward.probabilities", "backward.probabilities")
RESERVED = {"|||": "|||_", "<eps>": "<eps>_"}  # what lies between the sentences of a line; the empty word


class Systran:
    """The tables of both directions, and the aligner that reads them."""

    heuristics = ("grow-diag-final-and",)
    reproducible = True
    learns = True

    def __init__(self, settings: Settings) -> None:
        self.model = choose_model(settings, {"fast_align": None}, "fast_align")
        self.threads = settings.threads or 1  # with several, links differ from run to run
        if self.threads != 1:
            self.reproducible = False
        self._aligner: systran_align.Aligner | None = None
        self._tables: list[bytes] = []

    def version(self) -> str:
        return f"systran-align {version('systran-align')}"

    def train(
        self, corpus: Sequence[Pair], pairs: Sequence[Pair], progress: Progress | None = None
    ) -> list[Directions]:
        with TemporaryDirectory(prefix="anaphora-align-") as folder:
            text = Path(folder) / "text"
            with text.open("w", encoding="utf-8") as out:
                for part in (corpus, pairs):
                    out.writelines(f"{' '.join(_words(a))} ||| {' '.join(_words(b))}\n" for a, b in part)
            tables = [str(Path(folder) / name) for name in FILES]
            with openmp_threads(systran_align, self.threads):
                # as the authors of fast_align recommend: -d -o -v
                systran_align.generate_alignment_probabilities(
                    str(text), *tables, favor_diagonal=True, optimize_tension=True, variational_bayes=True
                )
            self.load(Path(folder))
        if progress is not None:
            progress(1, 1)
        return self.align(pairs)

    def align(self, pairs: Sequence[Pair]) -> list[Directions]:
        assert self._aligner is not None
        sources, targets = [list(_words(a)) for a, _ in pairs], [list(_words(b)) for _, b in pairs]
        with openmp_threads(systran_align, self.threads):
            found = self._aligner.align_batch(sources, targets)
        merged = [tuple(map(tuple, one["alignments"])) for one in found]
        return [(points, points) for points in merged]  # merging what is merged changes nothing

    def save(self, folder: Path) -> None:
        for name, table in zip(FILES, self._tables, strict=True):
            (folder / name).write_bytes(table)

    def load(self, folder: Path) -> None:
        paths = [folder / name for name in FILES]
        self._aligner = systran_align.Aligner(*map(str, paths))
        self._tables = [path.read_bytes() for path in paths]


def _words(sentence: Words) -> Words:
    return sentence if RESERVED.keys().isdisjoint(sentence) else [RESERVED.get(word, word) for word in sentence]
