"""From files to a suite of pairs: reading, alignment where it is asked for, the suite with its header."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anaphora.align.backend import Progress
from anaphora.core.errors import AnaphoraError
from anaphora.languages.readings import Readings, load_readings
from anaphora.measure.differences import Links
from anaphora.measure.drawn import balanced, draw_pairs, measured
from anaphora.measure.pairs import PairMaker, Settings, Statistics
from anaphora.measure.texts import Line, read_texts
from anaphora.measure.words import words_of
from anaphora.suites.catalogue import citation
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of


@dataclass(frozen=True)
class Files:
    """What pairs are made of: the reference, translations by systems, and the source, where it is known."""

    reference: Path
    systems: Sequence[Path]
    source: Path | None = None
    names: Sequence[str] = ()
    pronouns: Path | None = None
    docids: bool = False
    context: int = 2

    def system_names(self) -> list[str]:
        names = list(self.names) or [path.name for path in self.systems]
        if len(names) != len(self.systems) or len(set(names)) != len(names):
            raise AnaphoraError(f"{len(self.systems)} systems, but names {', '.join(names)}: give each one of its own")
        return names


@dataclass
class Written:
    """A suite of pairs on disk, and what was counted while it was made."""

    name: str
    sha256: str
    statistics: Statistics = field(default_factory=Statistics)


def write_pairs(
    files: Files, languages: str, output: Path, settings: Settings | None = None, progress: Progress | None = None
) -> Written:
    """Make the pairs and write them as a suite (§3.2: with sources it is a test suite for translation systems)."""
    settings = settings or Settings()
    readings = load_readings(target_language(languages), files.pronouns)
    names = files.system_names()
    signs: dict[str, Counter[str]] = {}
    lines = list(
        read_texts(
            files.reference, files.systems, files.source, context=files.context, docids=files.docids, signs=signs
        )
    )
    links = [] if settings.aligner == "edit" else statistical_links(lines, len(names), readings, progress)
    maker = PairMaker(readings, names, settings, links)
    maker.statistics.signs = signs

    def examples() -> Iterator[Example]:
        return maker.pairs(lines)

    header = _header(languages, settings.year)
    return Written(header.name, suite_of(header, examples).write(output), maker.statistics)


def write_drawn(
    files: Files,
    languages: str,
    measured_on: Suite,
    output: Path,
    *,
    seed: int = 12345,
    share: float = 1.0,
    year: str | None = None,
    equal: bool = False,
) -> Written:
    """Noisy pairs from the reference alone, drawn by the confusion of pronouns in other pairs.

    equal: as many of each two pronouns in both directions
    """
    readings = load_readings(target_language(languages), files.pronouns)
    lines = list(read_texts(files.reference, (), files.source, context=files.context, docids=files.docids))
    confusion = measured(measured_on)
    statistics = Statistics(lines=len(lines))

    def examples() -> Iterator[Example]:
        drawn = draw_pairs(lines, readings, confusion, seed=seed, share=share, year=year)
        for example in balanced(drawn) if equal else drawn:
            statistics.pairs["noisy"] += 1
            statistics.errors[str(example.tags["error"])] += 1
            statistics.pronouns[str(example.tags["pronoun_pair"])] += 1
            yield example

    header = _header(languages, year)
    return Written(header.name, suite_of(header, examples).write(output), statistics)


def target_language(languages: str) -> str:
    source, dash, target = languages.partition("-")
    if not (dash and source and target):
        raise AnaphoraError(f"not a language pair: {languages!r}. Write source and target, such as de-en")
    return target


def _header(languages: str, year: str | None) -> Header:
    name = f"pairs-{languages}" + (f"-{year}" if year else "")
    source, _, target = languages.partition("-")
    about = citation("eval-anaphora")
    return Header(name, source, target, ("reference_pronoun", "error"), citation=about, licence="as the texts")


def statistical_links(
    lines: Sequence[Line], systems: int, readings: Readings, progress: Progress | None = None
) -> list[list[Links]]:
    """fast_align between the reference and each system, learned from all of them and from identical sentences (§3)."""
    from anaphora.align import Settings as AlignSettings
    from anaphora.align import align

    reference = [[word.normal for word in words_of(line.reference[-1], readings)] for line in lines]
    texts = [
        [[word.normal for word in words_of(line.systems[k][-1], readings)] for line in lines] for k in range(systems)
    ]
    settings = AlignSettings(model="fast_align", symmetrize="intersection")
    identical = [(words, words) for words in reference]
    every = [words for text in texts for words in text]
    found = align(reference * systems, every, corpus=identical, settings=settings, progress=progress)
    return [list(found[k * len(lines) : (k + 1) * len(lines)]) for k in range(systems)]
