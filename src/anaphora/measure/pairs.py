"""Pairs of a reference and something worse, from the output of real systems (Jwalapuram et al. 2019, §3).

A noisy pair is the reference and the reference with one pronoun of a system's; a system pair is the reference and the
system's translation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, cast

from anaphora.align.backend import Progress
from anaphora.align.tokenize import sign_name
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import write_atomic
from anaphora.languages.pair_list import PairJudgments, errors_of
from anaphora.languages.pronouns import Readings, load_readings
from anaphora.measure.texts import Line, Word, pronoun_indices, read_lines, replace_pronoun, words_of
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Passage, Tag
from anaphora.suites.suite import Header, Suite, suite_of

# Aligning two translations into the same language. They share most of their words, so that the edit distance aligns
# them well: equal words are linked, and so is a pronoun to the pronoun that stands in its place.

SAME, PRONOUNS, OTHERS, GAP = 0.0, 0.7, 1.1, 0.6  # costs: equal words, two pronouns, two other words, a word alone

Links = Collection[tuple[int, int]]


def match(one: Sequence[str], other: Sequence[str], pronouns: frozenset[str]) -> list[tuple[int, int]]:
    """Return the links of the cheapest monotone alignment: equal words, and words that replace each other.

    Replacing a pronoun by another pronoun is cheaper than any other replacement, and cheaper than leaving both alone.
    Ties go to the link, then to the word that is only in the first text.
    """
    begin, stop_one, stop_other = 0, len(one), len(other)
    while begin < min(stop_one, stop_other) and one[begin] == other[begin]:
        begin += 1
    while stop_one > begin and stop_other > begin and one[stop_one - 1] == other[stop_other - 1]:
        stop_one, stop_other = stop_one - 1, stop_other - 1
    links = [(index, index) for index in range(begin)]
    inner = _align_inner(one[begin:stop_one], other[begin:stop_other], pronouns)
    links += [(begin + i, begin + j) for i, j in inner]
    links += [(stop_one + k, stop_other + k) for k in range(len(one) - stop_one)]
    return links


def _align_inner(one: Sequence[str], other: Sequence[str], pronouns: frozenset[str]) -> list[tuple[int, int]]:
    """Align what differs, by dynamic programming over (len(one) + 1) × (len(other) + 1) costs."""

    def cost(word: str, against: str) -> float:
        return SAME if word == against else PRONOUNS if word in pronouns and against in pronouns else OTHERS

    rows = [[GAP * j for j in range(len(other) + 1)]]
    for i, word in enumerate(one):
        above, row = rows[-1], [GAP * (i + 1)]
        for j, against in enumerate(other):
            row.append(min(above[j] + cost(word, against), above[j + 1] + GAP, row[j] + GAP))
        rows.append(row)
    links = []
    i, j = len(one), len(other)
    while i and j:
        here = rows[i][j]
        if abs(rows[i - 1][j - 1] + cost(one[i - 1], other[j - 1]) - here) < 1e-9:
            links.append((i - 1, j - 1))
            i, j = i - 1, j - 1
        elif abs(rows[i - 1][j] + GAP - here) < 1e-9:
            i -= 1
        else:
            j -= 1
    return links[::-1]


class Difference(NamedTuple):
    """A pronoun of the reference and the one that a system has instead: their word positions and forms."""

    position: int
    system_position: int
    reference: str
    system: str

    @property
    def pair(self) -> str:
        """`reference:system`."""
        return f"{self.reference}:{self.system}"


def differences(
    reference: Sequence[Word], system: Sequence[Word], pronouns: frozenset[str], rescue: Links = ()
) -> list[Difference]:
    """Return the pronouns in which two translations differ, found by edit distance.

    A difference counts if both pronouns have the same word before or behind them, or if another alignment links them
    as well (rescue). About half of the other differences are chance.
    """
    one, other = [word.normal for word in reference], [word.normal for word in system]
    if [one[i] for i in pronoun_indices(reference, pronouns)] == [other[j] for j in pronoun_indices(system, pronouns)]:
        return []
    candidates = linked_differences(match(one, other, pronouns), reference, system, pronouns)
    rescued = frozenset(rescue)
    return [d for d in candidates if (d.position, d.system_position) in rescued or _same_neighbor(d, reference, system)]


def linked_differences(
    links: Links, reference: Sequence[Word], system: Sequence[Word], pronouns: frozenset[str]
) -> list[Difference]:
    """Return the pronouns that an alignment links to a different pronoun, and to no other word."""
    partners: dict[int, list[int]] = {}
    for i, j in links:
        partners.setdefault(i, []).append(j)
    pronoun_differences = []
    for i, (j, *more) in sorted(partners.items()):
        one, other = reference[i].normal, system[j].normal
        if not more and one != other and one in pronouns and other in pronouns:
            pronoun_differences.append(Difference(i, j, one, other))
    return pronoun_differences


def _same_neighbor(difference: Difference, reference: Sequence[Word], system: Sequence[Word]) -> bool:
    """Return whether both have the same word as a neighbor; a sign is too common to count."""
    for step in (-1, 1):
        i, j = difference.position + step, difference.system_position + step
        if 0 <= i < len(reference) and 0 <= j < len(system):
            one, other = reference[i], system[j]
            if one.normal == other.normal and one.text[0].isalnum():
                return True
    return False


# Pairs of all lines.

KINDS = ("noisy", "system", "both")
ALIGNERS = ("edit", "rescued", "statistical")


@dataclass(frozen=True)
class Settings:
    """Which pairs are made.

    judged: annotators' judgments of pronoun pairs; only pairs with enough agreement are kept (§5.1), None keeps all
    own_context: the system's translation follows its own previous sentences, else the reference's
    aligner: "edit" distance; "rescued", which adds links that a statistical alignment has as well; or "statistical"
        alone, as in the paper (with fast_align)
    """

    kind: str = "both"
    aligner: str = "edit"
    judged: Mapping[str, PairJudgments] | None = None
    threshold: float = 0.8
    own_context: bool = True
    year: str | None = None

    def __post_init__(self) -> None:
        for what, value, known in (("kind of pairs", self.kind, KINDS), ("aligner", self.aligner, ALIGNERS)):
            if value not in known:
                raise AnaphoraError(f"unknown {what} {value!r}. Known: {', '.join(known)}")


@dataclass
class Statistics:
    """Counts of sentences, of differing pronouns, of those left out, and of pairs of each kind."""

    lines: int = 0
    translations: int = 0
    differing: int = 0
    left_out: int = 0
    duplicates: Counter[str] = field(default_factory=Counter)
    pairs: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    pronouns: Counter[str] = field(default_factory=Counter)
    signs: dict[str, Counter[str]] = field(default_factory=dict)  # by file, those that were normalized

    def to_dict(self) -> dict[str, object]:
        return {
            "lines": self.lines,
            "translations": self.translations,
            "differing_pronouns": self.differing,
            "left_out_by_pair_list": self.left_out,
            "duplicates": {kind: self.duplicates[kind] for kind in sorted(self.pairs)},
            "pairs": dict(sorted(self.pairs.items())),
            "errors": dict(self.errors.most_common()),
            "pronoun_pairs": dict(self.pronouns.most_common()),
            "normalized": {file: {sign_name(s): n for s, n in count.items()} for file, count in self.signs.items()},
        }


class PairMaker:
    """Makes the pairs of lines, each only once: a pair that several systems give has all their names."""

    def __init__(
        self, readings: Readings, systems: Sequence[str], settings: Settings, links: Sequence[Sequence[Links]] = ()
    ) -> None:
        """links: those of a statistical aligner, for each system and line."""
        self.readings, self.systems, self.settings = readings, tuple(systems), settings
        self.statistics = Statistics()
        self._links = links
        self._errors = None if settings.judged is None else errors_of(settings.judged, settings.threshold)
        self._seen: set[tuple[str | Passage, ...]] = set()

    def pairs(self, lines: Iterable[Line]) -> Iterator[Example]:
        """Yield the pairs of all lines in order."""
        for number, line in enumerate(lines):
            self.statistics.lines += 1
            yield from self._line(line, number)

    def _line(self, line: Line, number: int) -> Iterator[Example]:
        reference = words_of(line.reference[-1], self.readings)
        examples: dict[tuple[str, Passage], Example] = {}
        for k, (name, passage) in enumerate(zip(self.systems, line.systems, strict=True)):
            self.statistics.translations += 1
            links = self._links[k][number] if self._links else ()
            words, pronouns = words_of(passage[-1], self.readings), self.readings.pronouns
            if self.settings.aligner == "statistical":
                here = linked_differences(links, reference, words, pronouns)
            else:
                here = differences(reference, words, pronouns, links)
            self.statistics.differing += len(here)
            kept = [d for d in here if self._errors is None or d.pair in self._errors]
            self.statistics.left_out += len(here) - len(kept)
            for example in self._examples(line, passage, reference, kept, name):
                self._add(example, name, examples)
        yield from examples.values()

    def _examples(
        self, line: Line, passage: Passage, reference: Sequence[Word], kept: Sequence[Difference], name: str
    ) -> Iterator[Example]:
        if not kept:
            return
        if self.settings.kind in ("noisy", "both"):
            for difference in kept:
                text = replace_pronoun(
                    line.reference[-1], reference, difference.position, difference.system, self.readings
                )
                wrong = (*line.reference[:-1], text)
                label = f"{difference.position}-{difference.reference}-{difference.system}"
                yield self._example(line, wrong, "noisy", label, [difference], name)
        if self.settings.kind in ("system", "both"):
            wrong = passage if self.settings.own_context else (*line.reference[:-1], passage[-1])
            yield self._example(line, wrong, "system", name, kept, name)

    def _example(
        self, line: Line, wrong: Passage, kind: str, label: str, kept: Sequence[Difference], name: str
    ) -> Example:
        errors = [self.readings.error_class(d.reference, d.system) for d in kept]
        tags: dict[str, Tag] = {"kind": kind, "document": line.document, "sentence": line.number}
        if self.settings.year is not None:
            tags["year"] = self.settings.year
        if len(kept) == 1:
            only = kept[0]
            tags |= {"reference_pronoun": only.reference, "system_pronoun": only.system, "pronoun_pair": only.pair}
            tags |= {"error": errors[0], "differs": list(self.readings.differ_in(only.reference, only.system))}
            if judged := (self.settings.judged or {}).get(only.pair):
                tags |= judged.tags()
        else:
            tags |= {"pronoun_pairs": [d.pair for d in kept], "errors": list(errors)}
        tags["systems"] = [name]
        prefix = f"{self.settings.year}/" if self.settings.year is not None else ""
        source = line.source or ("",) * len(line.reference)
        return Example(f"{prefix}{line.number}/{kind}/{label}", source, (line.reference, wrong), 0, tags)

    def _add(self, example: Example, name: str, examples: dict[tuple[str, Passage], Example]) -> None:
        """Add an example, unless this line or an earlier one with the same text has given it already."""
        kind = str(example.tags["kind"])
        key = (kind, (example.candidates[1][-1],))
        if key in examples:
            earlier = examples[key]
            systems = [*cast(list[Tag], earlier.tags["systems"]), name]
            examples[key] = replace(earlier, tags={**earlier.tags, "systems": systems})
            self.statistics.duplicates[kind] += 1
            return
        text: tuple[str | Passage, ...] = (kind, *example.candidates)
        if text in self._seen:
            self.statistics.duplicates[kind] += 1
            return
        self._seen.add(text)
        examples[key] = example
        self.statistics.pairs[kind] += 1
        if "error" in example.tags and kind == "noisy":
            self.statistics.errors[str(example.tags["error"])] += 1
            self.statistics.pronouns[str(example.tags["pronoun_pair"])] += 1


# Suites of pairs from files.


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
            raise AnaphoraError(
                f"{len(self.systems)} systems, but names {', '.join(names)}. Give each system a different name"
            )
        return names


@dataclass(frozen=True)
class Written:
    """A suite of pairs on disk, and the counts made while it was written."""

    name: str
    sha256: str
    statistics: Statistics


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
        write_atomic(folder / name, content.replace("{folder}", str(folder)).encode())
    return [folder / name for name in EXAMPLE]
