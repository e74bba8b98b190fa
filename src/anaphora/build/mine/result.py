"""As many finds of each class, drawn by chance, whatever their order, the shards and the workers (ContraPro §3.1).

Each find has a random number that comes from the seed and from itself; those with the smallest are taken. So a sample
is the same however the corpus was worked on, and a larger one holds the smaller.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from anaphora.build.mine.balance import Find, Place, choose, chosen_finds, parse_size, size_of
from anaphora.build.mine.output import examples, write_suite
from anaphora.build.mine.piece import unpack
from anaphora.build.mine.reading import Index
from anaphora.build.mine.settings import Output, Settings
from anaphora.build.mine.stage import Stage
from anaphora.build.mine.translations import pronoun_table
from anaphora.core.cells import tsv_line
from anaphora.core.files import write_atomic
from anaphora.normalization import sign_name
from anaphora.suites.example import Example
from anaphora.suites.suite import Header

# What a mined suite consists of: classes by the distance of the antecedent (ContraPro 2018, Table 4).

FAR = 3  # sentences; what is farther is one row


@dataclass(slots=True)
class Statistics:
    """Counts of examples: by class and distance, and by source pronoun and class."""

    distances: dict[str, Counter[str]] = field(default_factory=dict)
    classes: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)

    def watched(self, examples: Iterable[tuple[str, Example]]) -> Iterator[Example]:
        """The examples, which are counted with their classes as they pass."""
        for label, example in examples:
            self.add(label, example)
            yield example

    def add(self, label: str, example: Example) -> None:
        self.classes[label] += 1
        if isinstance(source := example.tags.get("source_pronoun"), str):
            self.sources[source] += 1
        distance = example.tags.get("distance")
        if isinstance(distance, int):
            row = str(distance) if distance <= FAR else f">{FAR}"
            self.distances.setdefault(row, Counter())[label] += 1

    def rows(self) -> list[tuple[str, dict[str, int]]]:
        """Distance → examples of each class, the nearest first."""
        order = [*map(str, range(FAR + 1)), f">{FAR}"]
        return [
            (name, {label: self.distances[name][label] for label in sorted(self.classes)})
            for name in order
            if name in self.distances
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"classes": dict(sorted(self.classes.items())), "distances": dict(self.rows())}


# How the pronouns of a corpus are translated in it (ContraPro 2018, Table 2).


# The last steps, which are quick and done each time: balance, write the suite, add up what the shards counted.

TOP = 12  # translations of a pronoun that are shown; all are in the work folder
TABLE = "pronouns.tsv"


@dataclass(frozen=True, slots=True)
class StageReport:
    """What a stage did: the shards that were there already, and the pairs of the others with the time they took."""

    name: str
    shards: int
    reused: int
    pairs: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"seconds": round(self.seconds, 2)}


@dataclass(slots=True)
class Mined:
    """The result: what was read, found and taken, what became of the other candidates, and how the stages went."""

    index: Index
    cleaned: dict[str, Counter[str]] = field(default_factory=dict)  # side → rule → sentences it has changed
    found: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    statistics: Statistics = field(default_factory=Statistics)
    table: dict[str, dict[str, Any]] = field(default_factory=dict)
    stages: list[StageReport] = field(default_factory=list)
    made: dict[str, Any] = field(default_factory=dict)
    sha256: str = ""

    def to_dict(self) -> dict[str, Any]:
        top = {
            pronoun: row | {"translations": row["translations"][:TOP], "words": len(row["translations"])}
            for pronoun, row in self.table.items()
        }
        return {
            "documents": self.index.documents,
            "pairs": self.index.pairs,
            "normalized": {
                side: {sign_name(sign): count for sign, count in counts.items()}
                for side, counts in self.index.normalized.items()
            },
            "cleaned": {side: dict(counts) for side, counts in self.cleaned.items()},
            "candidates": dict(self.counts.most_common()),
            "found": dict(sorted(self.found.items())),
            "examples": self.statistics.classes.total(),
            **self.statistics.to_dict(),
            "pronoun_table": top,
            "stages": [stage.to_dict() for stage in self.stages],
            "settings": self.made,
            "sha256": self.sha256,
        }


def finish(
    result: Mined,
    settings: Settings,
    output: Output,
    breakdowns: tuple[str, ...],
    text: Stage,
    links: Stage,
    finds: Stage,
) -> Mined:
    """Balance and write; the result grows by what is known now."""
    shards = len(result.index.shards)
    for number in range(shards):
        counts, *rows = unpack(finds.read(number))
        result.counts.update(counts)
        result.found.update(row["label"] for row in rows)
    size = size_of(parse_size(settings.per_class), result.found)
    places = choose(_finds(finds, shards), size, settings.seed)
    chosen = chosen_finds(_finds(finds, shards), places)
    header = Header(output.name, *settings.languages, breakdowns, citation=output.citation, licence=output.licence)
    result.made |= {"per_class": settings.per_class, "seed": settings.seed, "context": settings.context}
    found = result.statistics.watched(examples(chosen, text, settings.context))
    result.sha256 = write_suite(output.suite, output.contrapro, header, found, result.made)
    result.table = pronoun_table(row for number in range(shards) for row in links.first_row(number))
    write_table(output.work / TABLE, result.table)
    return result


def write_table(path: Path, table: dict[str, dict[str, Any]]) -> None:
    """Every translation of every pronoun, as tab-separated values."""
    lines = ["pronoun\tword\tfrequency\tprobability"]
    for pronoun, row in table.items():
        for t in row["translations"]:
            lines.append(tsv_line([pronoun, t["word"], str(t["frequency"]), str(t["probability"])]))
    write_atomic(path, "".join(f"{line}\n" for line in lines).encode())


def _finds(stage: Stage, shards: int) -> Iterator[tuple[Place, Find]]:
    """All that was found, in the order of the corpus."""
    for number in range(shards):
        rows = unpack(stage.read(number))
        next(rows)  # the counts
        yield from (((number, k), row) for k, row in enumerate(rows))
