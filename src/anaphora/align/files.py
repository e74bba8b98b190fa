"""Align two files and write a file of alignments: `anaphora align`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora import __version__
from anaphora.align.aligner import Aligner
from anaphora.align.alignment import Agreement, Alignment, agreement, check_alignment, format_alignment, parse_alignment
from anaphora.align.backend import Progress
from anaphora.align.tokenize import Text, Tokenization, Treatment, signature
from anaphora.core.documents import read_parallel
from anaphora.core.files import atomic_writer

Texts = tuple[Text, Text]


@dataclass(frozen=True, slots=True)
class Aligned:
    """The result of aligning two files.

    empty: pairs with an empty side; unaligned: other pairs without links
    texts: how source and target were processed
    """

    output: Path
    pairs: int
    points: int
    empty: int
    unaligned: int
    aligner: Aligner
    texts: Mapping[str, Treatment]
    agreement: Agreement | None = None

    @property
    def signature(self) -> str:
        """The signature of the alignment, in the style of sacreBLEU."""
        settings = self.aligner.settings
        parts = (
            "align",
            f"by:{self.aligner.name}",
            *signature(self.texts.values(), normalize=settings.normalize),
            f"case:{'lc' if settings.lowercase else 'mixed'}",
            f"seed:{settings.seed}",
            f"v:{__version__}",
        )
        return "|".join(parts)

    def to_dict(self) -> dict[str, Any]:
        settings, backend = self.aligner.settings, self.aligner.backend
        document = {
            "output": str(self.output),
            "pairs": self.pairs,
            "points": self.points,
            "empty": self.empty,
            "unaligned": self.unaligned,
            "backend": settings.backend,
            "model": backend.model,
            "library": backend.version(),
            "symmetrize": self.aligner.symmetrize,
            "tokenize": signature(self.texts.values(), normalize=True)[0].removeprefix("tok:"),
            "texts": {name: treatment.to_dict() for name, treatment in self.texts.items()},
            "lowercase": settings.lowercase,
            "seed": settings.seed,
            "trained_on": self.aligner.trained_on,
            "reproducible": backend.reproducible,
            "signature": self.signature,
        }
        return document if self.agreement is None else document | {"agreement": self.agreement.to_dict()}


def align_files(
    aligner: Aligner,
    source: Path,
    target: Path,
    output: Path,
    *,
    corpora: Sequence[tuple[Path, Path]] = (),
    tokens: tuple[Path, Path] | None = None,
    gold: Path | None = None,
    progress: Progress | None = None,
) -> Aligned:
    """Align two files line by line. A trained aligner is applied; another one is trained.

    tokens: output files for the words to which the indices refer
    gold: alignments to compare with
    """
    counted = gold is not None or not aligner.backend.learns  # given alignments refer to the words of the files
    texts = _read(aligner, source, target, counted=counted)
    given = None if gold is None else _gold(gold, source, target, texts)  # errors are found before training
    sentences = [side.sentences for side in texts]
    with atomic_writer(output) as out:  # opened before training, so that write errors are found early
        if aligner.trained_on is None:
            corpus = [
                pair
                for paths in corpora
                for pair in zip(*(side.sentences for side in _read(aligner, *paths)), strict=True)
            ]
            alignments = aligner.train(*sentences, corpus=corpus, progress=progress)
        else:
            alignments = aligner.align(*sentences)
        out.writelines(f"{format_alignment(alignment)}\n".encode() for alignment in alignments)
    if tokens is not None:
        for path, side in zip(tokens, sentences, strict=True):
            with atomic_writer(path) as out:
                out.writelines(f"{' '.join(words)}\n".encode() for words in side)
    empty = sum(not (one and other) for one, other in zip(*sentences, strict=True))
    return Aligned(
        output,
        pairs=len(alignments),
        points=sum(map(len, alignments)),
        empty=empty,
        unaligned=sum(not points for points in alignments) - empty,
        aligner=aligner,
        texts={str(path): side.treatment for path, side in zip((source, target), texts, strict=True)},
        agreement=None if given is None else agreement(alignments, given),
    )


def _read(aligner: Aligner, source: Path, target: Path, *, counted: bool = False) -> Texts:
    """Both texts as words. counted: given alignments refer to the words of the files."""
    one, other = read_parallel(source, target)
    settings = aligner.settings
    how = "none" if counted and settings.tokenize == "auto" else settings.tokenize
    words = Tokenization(how, settings.normalize, settings.languages)
    return words.source(one), words.target(other)


def _gold(path: Path, source: Path, target: Path, texts: Texts) -> list[Alignment]:
    given = []
    lines = read_parallel(source, target, path)[-1]
    for number, (line, one, other) in enumerate(zip(lines, *(side.sentences for side in texts), strict=True), start=1):
        given.append(parse_alignment(line, path, number))
        check_alignment(given[-1], len(one), len(other), path, number)
    return given
