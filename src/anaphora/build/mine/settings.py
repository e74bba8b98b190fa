"""All that the result of mining depends on, and nothing else: not who does the work, nor where."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anaphora.align import Settings as AlignSettings
from anaphora.build.mine.documents import Corpus
from anaphora.build.mine.reading import Sizes
from anaphora.build.mine.training import PAIRS

# fast_align, as in the paper; eflomal is better, and its training alone would take several times as long as all else
ALIGN = AlignSettings("builtin", symmetrize="grow-diag-final-and")


@dataclass(frozen=True, slots=True)
class Settings:
    """What is mined from, how, and how much of it is kept.

    annotate: specs of the annotators of both sides
    clean: `none` or `subtitles`
    align, align_train: the aligner, and how many pairs it is trained on at most
    options: of the phenomenon
    per_class: a number, `all` or `even`; context: sentences before the current one in an example
    """

    corpus: Corpus
    languages: tuple[str, str]
    annotate: tuple[str, str]
    phenomenon: str = "pronouns"
    options: tuple[tuple[str, Any], ...] = ()
    clean: str = "none"
    align: AlignSettings = ALIGN
    align_train: int = PAIRS
    per_class: str = "4000"
    context: int = 5
    seed: int = 1
    sizes: Sizes = field(default_factory=Sizes)


@dataclass(frozen=True, slots=True)
class Output:
    """Where the result goes: a suite, ContraPro's JSON, or both."""

    suite: Path | None
    contrapro: Path | None
    work: Path
    name: str
    citation: str = ""
    licence: str = ""
