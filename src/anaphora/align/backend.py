"""The protocol of alignment backends, their registry and their settings. A backend is imported when it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from anaphora.align.alignment import Alignment, check_alignment, read_alignments
from anaphora.align.tokenize import DEFAULT as DEFAULT_TOKENIZATION
from anaphora.core.errors import AnaphoraError, BadInput, check_name
from anaphora.core.openmp import check_threads
from anaphora.core.registry import Registry

Words = Sequence[str]
Pair = tuple[Words, Words]  # the words of a sentence and of its translation
Directions = tuple[Alignment, Alignment]  # forward and backward, both as (source, target) points
Progress = Callable[[int, int], None]  # steps done, steps in all

# backend → its class, the extra that installs its dependencies, and a description
KINDS = {
    "thot": ("anaphora.align.thot:Thot", "align", "sil-thot: IBM models 1 to 4, HMM, fast_align, eflomal"),
    "builtin": ("anaphora.align.fast_align:Builtin", None, "fast_align in NumPy: fast, with nothing to install"),
    "pharaoh": ("anaphora.align.backend:PharaohFiles", None, "alignments of another program"),
}
BACKENDS = Registry(
    "alignment backend",
    {name: target for name, (target, _, _) in KINDS.items()},
    {name: extra for name, (_, extra, _) in KINDS.items() if extra},
    ". Or use the built-in aligner, which needs nothing else: --aligner builtin",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of an aligner.

    model: the model of the backend; None for the backend's default
    symmetrize: one of `anaphora.align.alignment.HEURISTICS`; None for grow-diag-final
    lowercase: whether words that differ only in case are the same word to the model
    seed: the seed of models that sample
    threads: the number of threads; None for as many as give reproducible results
    forward, backward: the files that the backend `pharaoh` reads
    tokenize, normalize, languages: how text becomes words (see `anaphora.align.tokenize`); saved with a model, so that
        it is applied to text that is processed in the same way
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

    def __post_init__(self) -> None:
        check_threads(self.threads)


class Backend(Protocol):
    """Finds word links in both directions. Created from `Settings`."""

    model: str
    reproducible: bool  # whether the same input always gives the same links
    learns: bool  # whether it is trained and saved; others also receive pairs with an empty side

    def version(self) -> str:
        """The name and version of its library, such as `sil-thot 3.5.3`."""
        ...

    def train(
        self, corpus: Sequence[Pair], pairs: Sequence[Pair], progress: Progress | None = None
    ) -> list[Directions]:
        """Train on corpus and pairs together, and align the pairs."""
        ...

    def align(self, pairs: Sequence[Pair]) -> list[Directions]:
        """Align pairs with the trained model."""
        ...

    def save(self, folder: Path) -> None:
        """Write the trained model to files of this folder."""
        ...

    def load(self, folder: Path) -> None:
        """Read the files that `save` wrote. Their checksums have been verified."""
        ...


def both_directions(sources: Iterable[Sequence[int]], targets: Iterable[Sequence[int]], first: int) -> list[Directions]:
    """Return the points of both directions.

    sources: for each target word of a sentence its source word; targets: for each source word its target word
    first: the number of the first word of a sentence; a smaller one means that a word has no link
    """
    return [
        (
            tuple([(source - first, target) for target, source in enumerate(forward) if source >= first]),
            tuple([(source, target - first) for source, target in enumerate(backward) if target >= first]),
        )
        for forward, backward in zip(sources, targets, strict=True)
    ]


def load_backend(settings: Settings) -> Backend:
    """Load the backend that the settings name."""
    backend: Backend = BACKENDS.load(settings.backend)(settings)
    return backend


def choose_model(settings: Settings, models: Mapping[str, Any], default: str) -> str:
    """The model that the settings name; an error if the backend does not have it."""
    name = settings.model or default
    check_name("model", name, models, of=f"backend {settings.backend!r}")
    return name


# The backend `pharaoh`: alignments of another program, one file per direction or one merged file.


class PharaohFiles:
    """Reads alignments from files; each line must fit the sentence pair with the same number."""

    reproducible = True
    learns = False

    def __init__(self, settings: Settings) -> None:
        self.model = choose_model(settings, {"files": None}, "files")
        if settings.forward is None:
            raise AnaphoraError("backend 'pharaoh' reads alignments: name the file (--forward, and --backward)")
        # a single file is merged already: merging it with itself changes nothing
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
        raise AnaphoraError("backend 'pharaoh' has no model to save")

    def load(self, folder: Path) -> None:
        raise AnaphoraError("backend 'pharaoh' has no models to apply")


def _read(path: Path, pairs: Sequence[Pair]) -> list[Alignment]:
    alignments = list(read_alignments(path))
    while len(alignments) > len(pairs) and not alignments[-1]:  # additional empty lines at the end are common
        alignments.pop()
    if len(alignments) != len(pairs):
        raise BadInput(path, f"{len(alignments):,} lines, but there are {len(pairs):,} sentence pairs")
    for number, (alignment, (source, target)) in enumerate(zip(alignments, pairs, strict=True), start=1):
        check_alignment(alignment, len(source), len(target), path, number)
    return alignments
