"""What a backend of word alignment is, which there are, and what they are told. Each is imported when it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from anaphora.align.alignment import DEFAULT, Alignment, check_alignment, check_heuristic, read_alignments
from anaphora.align.tokenize import DEFAULT as DEFAULT_TOKENIZATION
from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.registry import Registry

Words = Sequence[str]
Pair = tuple[Words, Words]  # the words of a sentence and of its translation
Directions = tuple[Alignment, Alignment]  # forward and backward, both as (source, target) points
Progress = Callable[[int, int], None]  # steps done, steps in all

# backend → where it is, the extra that installs what it needs, and what it is
KINDS = {
    "thot": ("anaphora.align.thot:Thot", "align", "sil-thot: IBM models 1 to 4, HMM, fast_align, eflomal"),
    "builtin": ("anaphora.align.builtin:Builtin", None, "fast_align in NumPy: quick, and nothing to install"),
    "pharaoh": ("anaphora.align.backend:PharaohFiles", None, "alignments that another program wrote"),
}
BACKENDS = Registry(
    "alignment backend",
    {name: target for name, (target, _, _) in KINDS.items()},
    {name: extra for name, (_, extra, _) in KINDS.items() if extra},
    ". Or use the built-in aligner, which needs nothing else: --aligner builtin",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """How sentences are aligned.

    model: of the backend; None is the one it recommends
    symmetrize: how both directions are merged, one of `anaphora.align.alignment.HEURISTICS`; None is
        grow-diag-final, or what the backend has
    lowercase: words that differ in case only are the same word to the model
    seed: of models that sample
    threads: of backends that use several; None is as many as give the same result every time
    forward, backward: files to read, for the backend `pharaoh`
    tokenize, normalize, languages: what words are here (see `anaphora.align.tokenize`); noted in a saved model, so
        that it is applied to the like
    """

    backend: str = "thot"
    model: str | None = None
    symmetrize: str | None = None
    lowercase: bool = True
    seed: int = 12345
    threads: int | None = None
    forward: Path | None = None
    backward: Path | None = None
    tokenize: str = DEFAULT_TOKENIZATION
    normalize: bool = True
    languages: tuple[str, str] = ("", "")


class Backend(Protocol):
    """Finds the links of words in both directions. Made from `Settings`."""

    model: str
    reproducible: bool  # whether the same input gives the same links every time
    learns: bool  # whether there is anything to train and save; one that does not is given pairs with empty sides, too

    def version(self) -> str:
        """The library behind it and its version, such as `sil-thot 3.5.3`."""
        ...

    def train(
        self, corpus: Sequence[Pair], pairs: Sequence[Pair], progress: Progress | None = None
    ) -> list[Directions]:
        """Learn from corpus and pairs together, and align the pairs."""
        ...

    def align(self, pairs: Sequence[Pair]) -> list[Directions]:
        """Align pairs by what was learned before."""
        ...

    def save(self, folder: Path) -> None:
        """Write what was learned as files of this folder."""
        ...

    def load(self, folder: Path) -> None:
        """Read what `save` wrote. The files are known to be whole."""
        ...


def load_backend(settings: Settings) -> Backend:
    """The backend that the settings name."""
    backend: Backend = BACKENDS.load(settings.backend)(settings)
    return backend


def choose_heuristic(settings: Settings) -> str:
    """The symmetrization heuristic that the settings name, or the default."""
    if settings.symmetrize is None:
        return DEFAULT
    check_heuristic(settings.symmetrize)
    return settings.symmetrize


def choose_model(settings: Settings, models: Mapping[str, Any], default: str) -> str:
    """The model that the settings name, which must be one of the backend's."""
    name = settings.model or default
    if name not in models:
        known = ", ".join(models)
        raise AnaphoraError(
            f"unknown model {name!r} of backend {settings.backend!r}{did_you_mean(name, models)}. Known: {known}"
        )
    return name


# The backend `pharaoh`: alignments that another program wrote: a file per direction, or one that is merged already.


class PharaohFiles:
    """Nothing is learned: each line belongs to the pair of the same number, and must fit it."""

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
