"""Files in, a file of alignments out: what `anaphora align` does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.align.agreement import Agreement, agreement
from anaphora.align.aligner import Aligner
from anaphora.align.alignment import Alignment, check_alignment, format_alignment, parse_alignment
from anaphora.align.backend import Progress
from anaphora.align.tokenise import tokenise
from anaphora.files import atomic_writer, read_parallel

Texts = tuple[list[list[str]], list[list[str]]]


@dataclass(frozen=True, slots=True)
class Aligned:
    """What was aligned, and how.

    empty: pairs with an empty side; unaligned: others without any link
    trained_on: pairs with words on both sides, the aligned ones among them; None: nothing was learned
    """

    output: Path
    pairs: int
    points: int
    empty: int
    unaligned: int
    aligner: Aligner
    agreement: Agreement | None = None

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
            "tokenize": settings.tokenize,
            "lowercase": settings.lowercase,
            "seed": settings.seed,
            "trained_on": self.aligner.trained_on,
            "reproducible": backend.reproducible,
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
    """Align two files line by line; an aligner that has learned already is applied, another is trained.

    tokens: files for the words that the numbers of the output count
    gold: alignments to compare with
    """
    texts = _read(aligner, source, target)
    given = None if gold is None else _gold(gold, source, target, texts)  # before the long work, not after it
    with atomic_writer(output) as out:  # opened before the long work: what cannot be written is known at once
        if aligner.trained_on is None:
            corpus = [pair for paths in corpora for pair in zip(*_read(aligner, *paths), strict=True)]
            found = aligner.train(*texts, corpus=corpus, progress=progress)
        else:
            found = aligner.align(*texts)
        out.writelines(_lines(map(format_alignment, found)))
    if tokens is not None:
        for path, side in zip(tokens, texts, strict=True):
            with atomic_writer(path) as out:
                out.writelines(_lines(map(" ".join, side)))
    empty = sum(not (one and other) for one, other in zip(*texts, strict=True))
    return Aligned(
        output,
        pairs=len(found),
        points=sum(map(len, found)),
        empty=empty,
        unaligned=sum(not points for points in found) - empty,
        aligner=aligner,
        agreement=None if given is None else agreement(found, given),
    )


def _read(aligner: Aligner, source: Path, target: Path) -> Texts:
    lines = read_parallel(source, target)
    how = aligner.settings.tokenize
    one, other = (tokenise(*side) for side in zip(lines, (how, how), aligner.settings.languages, strict=True))
    return one, other


def _gold(path: Path, source: Path, target: Path, texts: Texts) -> list[Alignment]:
    given = []
    lines = read_parallel(source, target, path)[-1]
    for number, (line, one, other) in enumerate(zip(lines, *texts, strict=True), start=1):
        given.append(parse_alignment(line, path, number))
        check_alignment(given[-1], len(one), len(other), path, number)
    return given


def _lines(texts: Iterable[str]) -> Iterator[bytes]:
    return (f"{text}\n".encode() for text in texts)
