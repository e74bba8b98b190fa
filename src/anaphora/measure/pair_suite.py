"""From files to a suite of pairs: reading, alignment where it is asked for, the suite with its header."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.align.backend import Progress
from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import Readings, load_readings
from anaphora.measure.differences import Links
from anaphora.measure.pairs import PairMaker, Settings, Statistics
from anaphora.measure.texts import Line, read_texts
from anaphora.measure.words import exchanged, places, words_of
from anaphora.suites.catalogue import citation
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, Suite, suite_of
from anaphora.table import Row, Table


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


# Noisy pairs without a system: pronouns exchanged as systems were seen to exchange them.

SAMPLE = "drawn"


@dataclass(frozen=True)
class Confusion:
    """For each pronoun how often it became each other one."""

    counts: Mapping[str, Mapping[str, int]]

    @property
    def most(self) -> int:
        """How often the pronoun that is confused most often was."""
        return max(sum(others.values()) for others in self.counts.values())


def measured(examples: Iterable[Example]) -> Confusion:
    """The confusion of pronouns in noisy pairs; a pair that several systems made counts for each."""
    counts: dict[str, Counter[str]] = {}
    for example in examples:
        tags = example.tags
        if tags.get("kind", "noisy") != "noisy" or not {"reference_pronoun", "system_pronoun"} <= set(tags):
            continue
        systems = tags.get("systems")
        times = len(systems) if isinstance(systems, list) else 1
        counts.setdefault(str(tags["reference_pronoun"]), Counter())[str(tags["system_pronoun"])] += times
    if not counts:
        raise AnaphoraError("no noisy pairs to measure the confusion of pronouns on: make some with --kind noisy")
    return Confusion(counts)


def draw_pairs(
    lines: Iterable[Line],
    readings: Readings,
    confusion: Confusion,
    *,
    seed: int = 12345,
    share: float = 1.0,
    year: str | None = None,
) -> Iterator[Example]:
    """One pair per sentence at most: one of its pronouns, chosen and replaced as systems confuse them.

    The chance of a pronoun to be the one is in proportion to how often it is confused; share: of the sentences that
    have such pronouns, how many give a pair.
    """
    random = np.random.default_rng(seed)
    known = {  # pronouns of the list, as others may be in the pairs
        old: {new: times for new, times in sorted(others.items()) if times and new in readings.pronouns}
        for old, others in confusion.counts.items()
    }
    for line in lines:
        text = line.reference[-1]
        words = words_of(text, readings)
        able = [place for place in places(words, readings.pronouns) if known.get(words[place].normal)]
        if not able or random.random() >= share:
            continue
        place = int(random.choice(able, p=_shares([sum(confusion.counts[words[n].normal].values()) for n in able])))
        old = words[place].normal
        new = str(random.choice(list(known[old]), p=_shares(list(known[old].values()))))
        wrong = (*line.reference[:-1], exchanged(text, words, place, new, readings))
        tags: dict[str, Tag] = {"kind": "noisy", "document": line.document, "sentence": line.number}
        tags |= {"reference_pronoun": old, "system_pronoun": new, "pronoun_pair": f"{old}:{new}"}
        tags |= {"error": readings.error_class(old, new), "systems": [SAMPLE]}
        if year is not None:
            tags["year"] = year
        prefix = f"{year}/" if year is not None else ""
        source = line.source or ("",) * len(line.reference)
        yield Example(f"{prefix}{line.number}/{SAMPLE}/{place}-{old}-{new}", source, (line.reference, wrong), 0, tags)


def balanced(examples: Iterable[Example]) -> list[Example]:
    """As many pairs he:it as it:he, and so for every two pronouns; the first ones of each, in their order.

    A measure that learns from these cannot learn that one pronoun is more often the right one than another, which
    differs from system to system: it has to read the text.
    """
    listed = list(examples)
    counts = Counter(_direction(example) for example in listed)
    left = {(a, b): min(counts[(a, b)], counts[(b, a)]) for a, b in counts}
    found = []
    for example in listed:
        pair = _direction(example)
        if left[pair]:
            left[pair] -= 1
            found.append(example)
    return found


def _direction(example: Example) -> tuple[str, str]:
    return str(example.tags.get("reference_pronoun")), str(example.tags.get("system_pronoun"))


def _shares(counts: list[int]) -> list[float]:
    total = sum(counts)
    return [count / total for count in counts]


# How many pairs there are, by language and year: Tables 2 and 3 of Jwalapuram et al. 2019.


@dataclass
class Counts:
    """Of one language pair: years, different contexts, and different pairs of each kind."""

    years: set[str] = field(default_factory=set)
    contexts: set[int] = field(default_factory=set)  # hashes: texts are long, and only their number is wanted
    noisy: set[int] = field(default_factory=set)
    system: set[int] = field(default_factory=set)

    def to_dict(self) -> dict[str, Any]:
        return {
            "years": sorted(self.years),
            "contexts": len(self.contexts),
            "noisy": len(self.noisy),
            "system": len(self.system),
        }


def count_pairs(suites: Iterable[Suite], *, by_year: bool = False) -> dict[str, Counts]:
    """Counts by language pair, or by language pair and year (`de-en 2013`).

    A context is the source passage, where there is one, else that of the reference.
    """
    found: dict[str, Counts] = {}
    for suite in suites:
        for example in suite:
            year = example.tags.get("year")
            name = f"{suite.header.languages} {year}" if by_year and year is not None else suite.header.languages
            counts = found.setdefault(name, Counts())
            if year is not None:
                counts.years.add(str(year))
            counts.contexts.add(hash(example.source if any(example.source) else example.candidates[0]))
            kind = counts.system if example.tags.get("kind") == "system" else counts.noisy
            kind.add(hash(example.candidates))
    return dict(sorted(found.items()))


def counts_table(counts: dict[str, Counts]) -> Table:
    """A row per language (and year), and their sum."""
    rows = [
        Row((name, ", ".join(sorted(c.years)) or "–", *(f"{len(s):,}" for s in (c.contexts, c.system, c.noisy))))
        for name, c in counts.items()
    ]
    total = [len(set().union(*(getattr(c, kind) for c in counts.values()))) for kind in ("contexts", "system", "noisy")]
    rows.append(Row(("all", "", *(f"{n:,}" for n in total))))
    columns = ("", "years", "source contexts", "reference–system pairs", "noisy pairs")
    return Table("Pronoun pairs (unique)", columns, tuple(rows))
