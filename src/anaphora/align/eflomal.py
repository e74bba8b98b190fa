"""The backend `eflomal`: the program of Östling and Tiedemann 2016, where it is installed.

It takes its seed from the operating system, so that two runs differ a little. The model `eflomal` of the backend
`thot` samples in the same way, with a seed. What it learned is kept as priors, as its authors recommend.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import eflomal  # type: ignore[import-not-found,import-untyped,unused-ignore]

from anaphora.align.alignment import HEURISTICS, Alignment, parse_alignment
from anaphora.align.backend import Directions, Pair, Progress, Settings, Words, choose_model
from anaphora.core.errors import AnaphoraError

MODELS = {"ibm1": 1, "hmm": 2, "fertility": 3}
PRIORS = "priors.tsv"


class Eflomal:
    """One run of the program gives both directions."""

    heuristics = HEURISTICS
    reproducible = False
    learns = True

    def __init__(self, settings: Settings) -> None:
        self.model = choose_model(settings, MODELS, "fertility")
        self._priors: str | None = None
        self._texts: tuple[list[str], list[str]] = ([], [])
        self._links: tuple[list[str], list[str]] = ([], [])

    def version(self) -> str:
        return f"eflomal {version('eflomal')}"

    def train(
        self, corpus: Sequence[Pair], pairs: Sequence[Pair], progress: Progress | None = None
    ) -> list[Directions]:
        self._priors = None
        self._texts = _texts([*corpus, *pairs])
        self._links = self._run(self._texts)
        if progress is not None:
            progress(1, 1)
        return _directions(*(lines[len(corpus) :] for lines in self._links))

    def align(self, pairs: Sequence[Pair]) -> list[Directions]:
        return _directions(*self._run(_texts(pairs), self._learned()))

    def save(self, folder: Path) -> None:
        (folder / PRIORS).write_text(self._learned(), encoding="utf-8")

    def load(self, folder: Path) -> None:
        self._priors = (folder / PRIORS).read_text(encoding="utf-8")

    def _learned(self) -> str:
        """The counts of the links of the training, made when they are first asked for."""
        if self._priors is None:
            out = StringIO()
            eflomal.write_priors(out, *eflomal.calculate_priors(*self._texts, *self._links))
            self._priors = out.getvalue()
        return self._priors

    def _run(self, texts: tuple[list[str], list[str]], priors: str | None = None) -> tuple[list[str], list[str]]:
        """The lines of both files of links that the program writes."""
        if not texts[0]:
            return [], []
        with TemporaryDirectory(prefix="anaphora-align-") as folder:
            forward, backward = Path(folder) / "forward", Path(folder) / "backward"
            try:
                eflomal.Aligner(model=MODELS[self.model]).align(
                    *texts,
                    links_filename_fwd=str(forward),
                    links_filename_rev=str(backward),
                    priors_input=None if priors is None else priors.splitlines(),
                )
            except (OSError, subprocess.CalledProcessError) as error:
                raise AnaphoraError(f"eflomal failed: {error}") from None
            one, other = (path.read_text(encoding="ascii").splitlines() for path in (forward, backward))
        return one, other


def _texts(pairs: Sequence[Pair]) -> tuple[list[str], list[str]]:
    return [_lower(source) for source, _ in pairs], [_lower(target) for _, target in pairs]


def _lower(sentence: Words) -> str:
    return " ".join(sentence).lower()  # the program does so itself, but its priors have to be of the same words


def _directions(forward: Iterable[str], backward: Iterable[str]) -> list[Directions]:
    return [(_links(one), _links(other)) for one, other in zip(forward, backward, strict=True)]


def _links(line: str) -> Alignment:
    return parse_alignment(line, Path("eflomal"), 0)
