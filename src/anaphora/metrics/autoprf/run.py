"""AutoPRF of files: texts and alignments are read in step, systems are compared on the same sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anaphora import __version__
from anaphora.align import Aligner, align_systems
from anaphora.align.tokenize import DEFAULT, Tokenization, Treatment, pair_of, signature
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import read_parallel
from anaphora.metrics.aligned_pronouns import Aligned, aligned_text, occurrences
from anaphora.metrics.apt.input import Files
from anaphora.metrics.autoprf.metric import AutoPRF, autoprf
from anaphora.stats.intervals import Resampling
from anaphora.stats.paired import PairedTest, paired_tests

PRONOUNS = ("it", "they")  # those of Hardmeier and Federico's program
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class AutoPRFResult:
    """All systems, and every pair of them by precision, recall and F.

    outside: see `Aligned`, by system; texts: what was done to each text before its words were counted
    """

    systems: Mapping[str, AutoPRF]
    pairs: Mapping[str, tuple[PairedTest, ...]]
    outside: Mapping[str, int]
    resampling: Resampling
    signature: str
    texts: Mapping[str, Treatment] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The first system at the top (the contract's object), all of them under `systems`."""
        systems = {name: {"system": name, **result.to_dict()} for name, result in self.systems.items()}
        pairs = [{"figure": figure, **pair.to_dict()} for figure, pairs in self.pairs.items() for pair in pairs]
        texts = {name: treatment.to_dict() for name, treatment in self.texts.items()}
        rest = {"systems": systems, "pairs": pairs, "outside": dict(self.outside), "texts": texts}
        return {**next(iter(systems.values())), **rest}


def autoprf_of_files(
    files: Files,
    *,
    pronouns: Sequence[str] = PRONOUNS,
    clip: str = "occurrence",
    lowercase: bool = False,
    tokenize: str = DEFAULT,
    normalize: bool = True,
    languages: str = "",
    resampling: Resampling | None = None,
    progress: Progress | None = None,
) -> AutoPRFResult:
    """AutoPRF of one or more systems. Texts without alignment files are aligned (progress is of that).

    tokenize, normalize: see `anaphora.align.tokenize`; languages: of source and target, such as en-fr
    """
    resampling = resampling or Resampling(10_000)
    pair = pair_of(languages, files.source, files.reference)
    texts = _Texts.read(files, files.tokenization(tokenize, normalize, pair))
    source = texts.source
    reference, systems = texts.given(files) if files.reference_alignment else texts.aligned(progress)
    case = "lc" if lowercase else "mixed"
    divided = "|".join(signature(texts.treatments.values(), normalize=normalize))
    aligned_by = "given" if files.reference_alignment else Aligner().name
    settings = f"pron:{','.join(pronouns)}|case:{case}|{divided}|align:{aligned_by}|v:{__version__}"
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
        texts=texts.treatments,
    )


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts with single spaces between their words, and what was done to each."""

    source: list[str]
    reference: list[str]
    systems: dict[str, list[str]]
    treatments: dict[str, Treatment]

    @classmethod
    def read(cls, files: Files, words: Tokenization) -> _Texts:
        if (files.reference_alignment is None) != (not files.hypothesis_alignments):
            raise AnaphoraError("give both --ref-align and --hyp-align, or neither: then the texts are aligned")
        alignments = [files.reference_alignment, *files.hypothesis_alignments] if files.reference_alignment else []
        paths = (files.source, files.reference, *files.hypotheses)
        lines = read_parallel(*paths, *filter(None, alignments))[: len(paths)]  # all of them are in step
        names = ("source", "reference", *files.systems)
        divided = [words.source(lines[0]), *map(words.target, lines[1:])]
        source, reference, *systems = ([" ".join(sentence) for sentence in text.sentences] for text in divided)
        treatments = {name: text.treatment for name, text in zip(names, divided, strict=True)}
        return cls(source, reference, dict(zip(files.systems, systems, strict=True)), treatments)

    def given(self, files: Files) -> tuple[Aligned, dict[str, Aligned]]:
        """With the alignments of files."""
        assert files.reference_alignment is not None
        paths = (files.reference_alignment, *files.hypothesis_alignments)
        lines = read_parallel(files.source, *paths)[1:]
        reference, *systems = (
            aligned_text(self.source, text, points, path)
            for text, points, path in zip((self.reference, *self.systems.values()), lines, paths, strict=True)
        )
        return reference, dict(zip(self.systems, systems, strict=True))

    def aligned(self, progress: Progress | None) -> tuple[Aligned, dict[str, Aligned]]:
        """With alignments that are made."""
        words = {name: [line.split() for line in text] for name, text in self.systems.items()}
        source, reference = ([line.split() for line in text] for text in (self.source, self.reference))
        found = align_systems(source, reference, words, progress=progress)
        systems = {name: Aligned(text, found.systems[name]) for name, text in self.systems.items()}
        return Aligned(self.reference, found.reference), systems
