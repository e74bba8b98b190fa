"""AutoPRF of files: texts and alignments are read in step, systems are compared on the same sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anaphora import __version__
from anaphora.align import align_systems
from anaphora.errors import AnaphoraError
from anaphora.files import read_parallel
from anaphora.metrics.aligned_pronouns import Aligned, aligned_text, occurrences
from anaphora.metrics.apt.input import Files
from anaphora.metrics.autoprf.metric import AutoPRF, autoprf
from anaphora.metrics.sums import PairedTest, Resampling, paired_tests

PRONOUNS = ("it", "they")  # those of Hardmeier and Federico's program
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class AutoPRFResult:
    """All systems, and every pair of them by precision, recall and F. outside: see `Aligned`, by system."""

    systems: Mapping[str, AutoPRF]
    pairs: Mapping[str, tuple[PairedTest, ...]]
    outside: Mapping[str, int]
    resampling: Resampling
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """The first system at the top (the contract's object), all of them under `systems`."""
        systems = {name: {"system": name, **result.to_dict()} for name, result in self.systems.items()}
        pairs = [{"figure": figure, **pair.to_dict()} for figure, pairs in self.pairs.items() for pair in pairs]
        return {**next(iter(systems.values())), "systems": systems, "pairs": pairs, "outside": dict(self.outside)}


def autoprf_of_files(
    files: Files,
    *,
    pronouns: Sequence[str] = PRONOUNS,
    clip: str = "occurrence",
    lowercase: bool = False,
    resampling: Resampling | None = None,
    progress: Progress | None = None,
) -> AutoPRFResult:
    """AutoPRF of one or more systems. Texts without alignment files are aligned (progress is of that)."""
    resampling = resampling or Resampling(10_000)
    source, reference, systems = _read(files, progress)
    case = "lc" if lowercase else "mixed"
    given = "given" if files.reference_alignment else "made"
    settings = f"pron:{','.join(pronouns)}|case:{case}|align:{given}|v:{__version__}"
    found = {}
    for name, text in systems.items():
        words = occurrences(source, text, reference, pronouns, lowercase=lowercase)
        found[name] = autoprf(words, len(source), clip=clip, resampling=resampling, settings=settings)
    if not next(iter(found.values())).score.occurrences:
        raise AnaphoraError(f"{files.source}: has none of the pronouns {', '.join(pronouns)}")
    return AutoPRFResult(
        systems=found,
        pairs=paired_tests({name: result.sums for name, result in found.items()}, resampling),
        outside={name: text.outside for name, text in {"reference": reference, **systems}.items() if text.outside},
        resampling=resampling,
        signature=next(iter(found.values())).signature,
    )


def _read(files: Files, progress: Progress | None) -> tuple[list[str], Aligned, dict[str, Aligned]]:
    if (files.reference_alignment is None) != (not files.hypothesis_alignments):
        raise AnaphoraError("give both --ref-align and --hyp-align, or neither: then the texts are aligned")
    texts = (files.source, files.reference, *files.hypotheses)
    if files.reference_alignment is None:
        source, reference, *hypotheses = read_parallel(*texts)
        return source, *_align(source, reference, dict(zip(files.systems, hypotheses, strict=True)), progress)
    alignments = (files.reference_alignment, *files.hypothesis_alignments)
    source, *read = read_parallel(*texts, *alignments)
    translations, lines = read[: len(alignments)], read[len(alignments) :]
    aligned = [
        aligned_text(source, text, points, path)
        for text, points, path in zip(translations, lines, alignments, strict=True)
    ]
    return source, aligned[0], dict(zip(files.systems, aligned[1:], strict=True))


def _align(
    source: list[str], reference: list[str], systems: dict[str, list[str]], progress: Progress | None
) -> tuple[Aligned, dict[str, Aligned]]:
    words = {name: [line.split() for line in text] for name, text in systems.items()}
    found = align_systems(
        [line.split() for line in source], [line.split() for line in reference], words, progress=progress
    )
    aligned = {name: Aligned(text, found.systems[name]) for name, text in systems.items()}
    return Aligned(reference, found.reference), aligned
