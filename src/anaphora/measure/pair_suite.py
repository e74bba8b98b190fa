"""Suites of pairs: made from files, sampled from a reference, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.align.backend import Progress
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import atomic_writer
from anaphora.languages.pronouns import Readings, load_readings
from anaphora.measure.pairs import Links, PairMaker, Settings, Statistics
from anaphora.measure.texts import Line, pronoun_indices, read_lines, replace_pronoun, words_of
from anaphora.suites.catalogue import citation
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, Suite, suite_of


@dataclass(frozen=True)
class Files:
    """The files that pairs are made from: the reference, translations by systems, and the source, if there is one."""

    reference: Path
    systems: Sequence[Path]
    source: Path | None = None
    names: Sequence[str] = ()
    pronouns: Path | None = None
    docids: bool = False
    context: int = 2

    def system_names(self) -> list[str]:
        """Return the given names of the systems, by default their files' names."""
        names = list(self.names) or [path.name for path in self.systems]
        if len(names) != len(self.systems) or len(set(names)) != len(names):
            raise AnaphoraError(f"{len(self.systems)} systems, but names {', '.join(names)}: give each one of its own")
        return names


@dataclass
class Written:
    """A suite of pairs on disk, and the counts made while it was written."""

    name: str
    sha256: str
    statistics: Statistics = field(default_factory=Statistics)


def write_pairs(
    files: Files, languages: str, output: Path, settings: Settings | None = None, progress: Progress | None = None
) -> Written:
    """Write the pairs as a suite; with sources it is a test suite for translation systems (§3.2)."""
    settings = settings or Settings()
    readings = load_readings(target_language(languages), files.pronouns)
    names = files.system_names()
    signs: dict[str, Counter[str]] = {}
    lines = list(
        read_lines(
            files.reference, files.systems, files.source, context=files.context, docids=files.docids, signs=signs
        )
    )
    links = [] if settings.aligner == "edit" else statistical_links(lines, len(names), readings, progress)
    maker = PairMaker(readings, names, settings, links)
    maker.statistics.signs = signs
    header = _header(languages, settings.year)
    sha256 = suite_of(header, lambda: maker.pairs(lines)).write(output)
    return Written(header.name, sha256, maker.statistics)


def write_sampled_pairs(
    files: Files,
    languages: str,
    confused: Suite,
    output: Path,
    *,
    seed: int = 12345,
    share: float = 1.0,
    year: str | None = None,
    equal: bool = False,
) -> Written:
    """Write noisy pairs from the reference alone, sampled by the confusion of pronouns in other pairs.

    confused: the pairs that the confusion is counted in
    equal: keep as many pairs of each two pronouns in one direction as in the other
    """
    readings = load_readings(target_language(languages), files.pronouns)
    lines = list(read_lines(files.reference, (), files.source, context=files.context, docids=files.docids))
    confusion = count_confusion(confused)
    statistics = Statistics(lines=len(lines))

    def examples() -> Iterator[Example]:
        sampled = sampled_pairs(lines, readings, confusion, seed=seed, share=share, year=year)
        for example in balanced(sampled) if equal else sampled:
            statistics.pairs["noisy"] += 1
            statistics.errors[str(example.tags["error"])] += 1
            statistics.pronouns[str(example.tags["pronoun_pair"])] += 1
            yield example

    header = _header(languages, year)
    return Written(header.name, suite_of(header, examples).write(output), statistics)


def target_language(languages: str) -> str:
    """Return the target language of a pair such as de-en."""
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
    """Align the reference with each system by fast_align, trained on all of them and on identical sentences (§3)."""
    from anaphora.align import Settings as AlignSettings
    from anaphora.align import align

    reference = [[word.normal for word in words_of(line.reference[-1], readings)] for line in lines]
    translations = [
        [word.normal for word in words_of(line.systems[k][-1], readings)] for k in range(systems) for line in lines
    ]
    settings = AlignSettings(model="fast_align", symmetrize="intersection")
    identical = [(words, words) for words in reference]
    links = align(reference * systems, translations, corpus=identical, settings=settings, progress=progress)
    return [list(links[k * len(lines) : (k + 1) * len(lines)]) for k in range(systems)]


# Noisy pairs without a system: pronouns replaced as systems were seen to confuse them.

SAMPLED = "drawn"  # the name of the "system" in ids and tags of such pairs


@dataclass(frozen=True)
class Confusion:
    """How often each pronoun was replaced by each other one."""

    counts: Mapping[str, Mapping[str, int]]

    @property
    def most(self) -> int:
        """How often the pronoun that is confused most often was."""
        return max(sum(others.values()) for others in self.counts.values())


def count_confusion(examples: Iterable[Example]) -> Confusion:
    """Count the confusion of pronouns in noisy pairs; a pair that several systems made counts for each."""
    counts: dict[str, Counter[str]] = {}
    for example in examples:
        tags = example.tags
        if tags.get("kind", "noisy") != "noisy" or not {"reference_pronoun", "system_pronoun"} <= set(tags):
            continue
        systems = tags.get("systems")
        times = len(systems) if isinstance(systems, list) else 1
        counts.setdefault(str(tags["reference_pronoun"]), Counter())[str(tags["system_pronoun"])] += times
    if not counts:
        raise AnaphoraError("no noisy pairs to count the confusion of pronouns in: make some with --kind noisy")
    return Confusion(counts)


def sampled_pairs(
    lines: Iterable[Line],
    readings: Readings,
    confusion: Confusion,
    *,
    seed: int = 12345,
    share: float = 1.0,
    year: str | None = None,
) -> Iterator[Example]:
    """Yield at most one pair per sentence: one of its pronouns, chosen and replaced as systems confuse them.

    A pronoun is chosen with a probability in proportion to how often it is confused; share: how many of the sentences
    that have such pronouns give a pair.
    """
    random = np.random.default_rng(seed)
    known = {  # pronouns of the list, as others may be in the pairs
        old: {new: times for new, times in sorted(others.items()) if times and new in readings.pronouns}
        for old, others in confusion.counts.items()
    }
    for line in lines:
        text = line.reference[-1]
        words = words_of(text, readings)
        confusable = [n for n in pronoun_indices(words, readings.pronouns) if known.get(words[n].normal)]
        if not confusable or random.random() >= share:
            continue
        weights = [sum(confusion.counts[words[n].normal].values()) for n in confusable]
        index = int(random.choice(confusable, p=_shares(weights)))
        old = words[index].normal
        new = str(random.choice(list(known[old]), p=_shares(list(known[old].values()))))
        wrong = (*line.reference[:-1], replace_pronoun(text, words, index, new, readings))
        tags: dict[str, Tag] = {"kind": "noisy", "document": line.document, "sentence": line.number}
        tags |= {"reference_pronoun": old, "system_pronoun": new, "pronoun_pair": f"{old}:{new}"}
        tags |= {"error": readings.error_class(old, new), "systems": [SAMPLED]}
        if year is not None:
            tags["year"] = year
        prefix = f"{year}/" if year is not None else ""
        source = line.source or ("",) * len(line.reference)
        yield Example(f"{prefix}{line.number}/{SAMPLED}/{index}-{old}-{new}", source, (line.reference, wrong), 0, tags)


def balanced(examples: Iterable[Example]) -> list[Example]:
    """Keep as many pairs he:it as it:he, and so for every two pronouns; the first ones of each, in their order.

    A measure trained on these cannot learn that one pronoun is more often right than another, which differs from
    system to system: it has to read the text.
    """
    listed = list(examples)
    counts = Counter(_direction(example) for example in listed)
    left = {(a, b): min(counts[(a, b)], counts[(b, a)]) for a, b in counts}
    kept = []
    for example in listed:
        pair = _direction(example)
        if left[pair]:
            left[pair] -= 1
            kept.append(example)
    return kept


def _direction(example: Example) -> tuple[str, str]:
    return str(example.tags.get("reference_pronoun")), str(example.tags.get("system_pronoun"))


def _shares(counts: list[int]) -> list[float]:
    total = sum(counts)
    return [count / total for count in counts]


# The number of pairs by language and year: Tables 2 and 3 of Jwalapuram et al. 2019.


@dataclass
class Counts:
    """The years, different contexts, and different pairs of each kind of one language pair."""

    years: set[str] = field(default_factory=set)
    contexts: set[int] = field(default_factory=set)  # hashes: texts are long, and only their number is needed
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
    """Count pairs by language pair, or by language pair and year (`de-en 2013`).

    A context is the source passage, if there is one, else that of the reference.
    """
    all_counts: dict[str, Counts] = {}
    for suite in suites:
        for example in suite:
            year = example.tags.get("year")
            name = f"{suite.header.languages} {year}" if by_year and year is not None else suite.header.languages
            counts = all_counts.setdefault(name, Counts())
            if year is not None:
                counts.years.add(str(year))
            counts.contexts.add(hash(example.source if any(example.source) else example.candidates[0]))
            kind = counts.system if example.tags.get("kind") == "system" else counts.noisy
            kind.add(hash(example.candidates))
    return dict(sorted(all_counts.items()))


# Made-up files to try the measure with: a reference, two systems, annotators' judgments, and a config.

EXAMPLE = ("reference.en", "first.en", "second.en", "annotators.json", "measure.toml")


def write_example(folder: Path) -> list[Path]:
    """Write the example files into a folder."""
    for name in EXAMPLE:
        content = (resources.files("anaphora.measure") / "example" / name).read_text("utf-8")
        with atomic_writer(folder / name) as out:
            out.write(content.replace("{folder}", str(folder)).encode())
    return [folder / name for name in EXAMPLE]
