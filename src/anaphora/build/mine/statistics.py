"""What a mined suite consists of: classes by the distance of the antecedent (ContraPro 2018, Table 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from anaphora.suites.example import Example

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
