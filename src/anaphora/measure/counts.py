"""How many pairs there are, by language and year: Tables 2 and 3 of Jwalapuram et al. 2019."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from anaphora.suites.suite import Suite
from anaphora.table import Row, Table


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
