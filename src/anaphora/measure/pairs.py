"""Pairs of a reference and something worse, from the output of real systems (Jwalapuram et al. 2019, §3).

A noisy pair is the reference and the reference with one pronoun of a system's; a system pair is the reference and the
system's translation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import Readings
from anaphora.measure.differences import Difference, Links, differences, linked_differences
from anaphora.measure.pair_list import Judged, errors_of
from anaphora.measure.texts import Line
from anaphora.measure.words import Word, exchanged, words_of
from anaphora.normalization import sign_name
from anaphora.suites.example import Example, Passage, Tag

KINDS = ("noisy", "system", "both")
ALIGNERS = ("edit", "rescued", "statistical")


@dataclass(frozen=True)
class Settings:
    """What pairs are made.

    judged: what people said of pronoun pairs; only those with enough agreement are kept (§5.1), None keeps all
    own_context: the system's translation stands behind its own previous sentences, else behind the reference's
    aligner: "edit" distance, "rescued" by a statistical alignment where that links the same words, or "statistical"
        alone, which is the paper's way (with fast_align)
    """

    kind: str = "both"
    aligner: str = "edit"
    judged: Mapping[str, Judged] | None = None
    threshold: float = 0.8
    own_context: bool = True
    year: str | None = None

    def __post_init__(self) -> None:
        for what, value, known in (("kind of pairs", self.kind, KINDS), ("aligner", self.aligner, ALIGNERS)):
            if value not in known:
                raise AnaphoraError(f"unknown {what} {value!r}. Known: {', '.join(known)}")


@dataclass
class Statistics:
    """What was seen on the way: sentences, differing pronouns, those that were left out, pairs of each kind."""

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
            "normalized": {file: {sign_name(s): n for s, n in found.items()} for file, found in self.signs.items()},
        }


class PairMaker:
    """Makes the pairs of lines, each only once: what two systems do alike is one pair with both their names."""

    def __init__(
        self, readings: Readings, systems: Sequence[str], settings: Settings, links: Sequence[Sequence[Links]] = ()
    ) -> None:
        """links: of a statistical aligner, for each system a list with those of each line."""
        self.readings, self.systems, self.settings = readings, tuple(systems), settings
        self.statistics = Statistics()
        self._links = links
        self._errors = None if settings.judged is None else errors_of(settings.judged, settings.threshold)
        self._seen: set[tuple[str | Passage, ...]] = set()

    def pairs(self, lines: Iterable[Line]) -> Iterator[Example]:
        """The pairs of all lines in their order."""
        for number, line in enumerate(lines):
            self.statistics.lines += 1
            yield from self._line(line, number)

    def _line(self, line: Line, number: int) -> Iterator[Example]:
        reference = words_of(line.reference[-1], self.readings)
        found: dict[tuple[str, Passage], Example] = {}
        for k, (name, passage) in enumerate(zip(self.systems, line.systems, strict=True)):
            self.statistics.translations += 1
            here = self._differences(reference, passage[-1], self._links[k][number] if self._links else ())
            self.statistics.differing += len(here)
            kept = [d for d in here if self._errors is None or d.pair in self._errors]
            self.statistics.left_out += len(here) - len(kept)
            for example in self._made(line, passage, reference, kept, name):
                self._add(example, name, found)
        yield from found.values()

    def _differences(self, reference: Sequence[Word], translation: str, links: Links) -> list[Difference]:
        words, pronouns = words_of(translation, self.readings), self.readings.pronouns
        if self.settings.aligner == "statistical":
            return linked_differences(links, reference, words, pronouns)
        return differences(reference, words, pronouns, links)

    def _made(
        self, line: Line, passage: Passage, reference: Sequence[Word], kept: Sequence[Difference], name: str
    ) -> Iterator[Example]:
        if not kept:
            return
        if self.settings.kind in ("noisy", "both"):
            for difference in kept:
                text = exchanged(line.reference[-1], reference, difference.place, difference.system, self.readings)
                wrong = (*line.reference[:-1], text)
                place = f"{difference.place}-{difference.reference}-{difference.system}"
                yield self._example(line, wrong, "noisy", place, [difference], name)
        if self.settings.kind in ("system", "both"):
            wrong = passage if self.settings.own_context else (*line.reference[:-1], passage[-1])
            yield self._example(line, wrong, "system", name, kept, name)

    def _example(
        self, line: Line, wrong: Passage, kind: str, place: str, kept: Sequence[Difference], name: str
    ) -> Example:
        errors = [self.readings.error_class(d.reference, d.system) for d in kept]
        tags: dict[str, Tag] = {"kind": kind, "document": line.document, "sentence": line.number}
        if self.settings.year is not None:
            tags["year"] = self.settings.year
        if len(kept) == 1:
            only = kept[0]
            tags |= {"reference_pronoun": only.reference, "system_pronoun": only.system, "pronoun_pair": only.pair}
            tags |= {"error": errors[0], "differs": list(self.readings.differ_in(only.reference, only.system))}
            tags |= self._human(only.pair)
        else:
            tags |= {"pronoun_pairs": [d.pair for d in kept], "errors": list(errors)}
        tags["systems"] = [name]
        prefix = f"{self.settings.year}/" if self.settings.year is not None else ""
        source = line.source or ("",) * len(line.reference)
        return Example(f"{prefix}{line.number}/{kind}/{place}", source, (line.reference, wrong), 0, tags)

    def _human(self, pair: str) -> dict[str, Tag]:
        judged = (self.settings.judged or {}).get(pair)
        if judged is None:
            return {}
        return {
            "human_agreement": round(judged.agreement, 4),
            "human_reference": judged.reference,
            "human_system": judged.system,
            "human_ties": judged.ties,
        }

    def _add(self, example: Example, name: str, found: dict[tuple[str, Passage], Example]) -> None:
        """Into what is found, unless it is known already: of this line, or of one with the same text before."""
        kind = str(example.tags["kind"])
        key = (kind, (example.candidates[1][-1],))
        if key in found:
            earlier = found[key]
            found[key] = replace(earlier, tags={**earlier.tags, "systems": [*_systems(earlier), name]})
            self.statistics.duplicates[kind] += 1
            return
        text: tuple[str | Passage, ...] = (kind, *example.candidates)
        if text in self._seen:
            self.statistics.duplicates[kind] += 1
            return
        self._seen.add(text)
        found[key] = example
        self.statistics.pairs[kind] += 1
        if "error" in example.tags and kind == "noisy":
            self.statistics.errors[str(example.tags["error"])] += 1
            self.statistics.pronouns[str(example.tags["pronoun_pair"])] += 1


def _systems(example: Example) -> list[Tag]:
    systems = example.tags["systems"]
    return systems if isinstance(systems, list) else [systems]
