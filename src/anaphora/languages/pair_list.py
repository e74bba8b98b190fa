"""Pronoun pairs that annotators agree on: the list that decides which differences are errors (§5.1).

The list is a pickle, as published, or the same as JSON: `{"he_it": [[agreement, {"REF": n, "SYS": n, "Tie": n}], …]}`,
with one entry per study. It may also be a table with a header line and tabs between the columns `reference`, `system`,
`agreement`, `REF`, `SYS`, `Tie`. This module writes JSON and tables for `anaphora study export --pairs` and reads all
of them. A table may also have one column `pair` (he:it or he_it) instead of the first two.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.core.columns import plain_cell
from anaphora.core.errors import BadInput
from anaphora.core.files import text_lines
from anaphora.core.parsing import expecting, read_json, table_rows
from anaphora.core.pickles import is_pickle, read_plain_pickles
from anaphora.languages.pronouns import normalize_word
from anaphora.suites.example import Tag

THRESHOLD = 0.8
COUNTS = ("REF", "SYS", "Tie")
COLUMNS = ("reference", "system", "agreement", *COUNTS)
EXAMPLE = 'Write {"he_it": [[0.9, {"REF": 9, "SYS": 1, "Tie": 0}]]}.'


@dataclass(frozen=True, slots=True)
class PairJudgments:
    """Annotators' judgments of a pronoun pair: their agreement, and how often each answer was given."""

    agreement: float
    reference: int
    system: int
    ties: int

    @property
    def counts(self) -> dict[str, int]:
        return dict(zip(COUNTS, (self.reference, self.system, self.ties), strict=True))

    def tags(self) -> dict[str, Tag]:
        """Return the judgments as tags of an example."""
        human: dict[str, Tag] = {"human_agreement": round(self.agreement, 4), "human_reference": self.reference}
        return human | {"human_system": self.system, "human_ties": self.ties}


def read_pair_list(path: Path) -> dict[str, PairJudgments]:
    """Return `reference:system` → judgments; several studies of a pair are merged, weighted by their answers."""
    studies: dict[str, list[PairJudgments]] = {}
    for pair, judged in _entries(path):
        studies.setdefault(pair, []).append(judged)
    if not studies:
        raise BadInput(path, "the list has no pronoun pairs")
    return {pair: _merged(parts) for pair, parts in studies.items()}


def pair_list_json(judged: Mapping[str, PairJudgments]) -> str:
    """Return the list in the published form, a pair per line; answers without a vote are left out.

    Agreements are rounded to 12 digits: the last ones depend on the processor, and the same answers make the same file.
    """
    lines = []
    for pair, one in judged.items():
        counts = {name: n for name, n in one.counts.items() if n}
        name = json.dumps(pair.replace(":", "_"), ensure_ascii=False)
        lines.append(f"{name}: {json.dumps([[round(one.agreement, 12), counts]])}")
    return "{" + ",\n ".join(lines) + "}\n"


def pair_list_rows(judged: Mapping[str, PairJudgments]) -> list[tuple[str, ...]]:
    """Return the rows of the table, under COLUMNS."""
    return [
        (*pair.split(":", 1), f"{one.agreement:.6f}", *map(str, one.counts.values())) for pair, one in judged.items()
    ]


def errors_of(judged: Mapping[str, PairJudgments], threshold: float = THRESHOLD) -> frozenset[str]:
    """Return the pairs that count as errors: agreement is high enough, and the reference's pronoun preferred (§5.1)."""
    return frozenset(p for p, one in judged.items() if one.agreement >= threshold and one.reference > one.system)


def _merged(parts: list[PairJudgments]) -> PairJudgments:
    answers = [sum(part.counts.values()) for part in parts]
    if not any(answers):
        answers = [1] * len(parts)
    agreement = sum(part.agreement * count for part, count in zip(parts, answers, strict=True)) / sum(answers)
    return PairJudgments(
        agreement, sum(p.reference for p in parts), sum(p.system for p in parts), sum(p.ties for p in parts)
    )


def _entries(path: Path) -> Iterable[tuple[str, PairJudgments]]:
    if is_pickle(path):
        return [entry for document in read_plain_pickles(path) for entry in _listed(document, path)]
    first = next((line for line in text_lines(path) if line.strip()), "")
    return _listed(read_json(path), path) if first.lstrip().startswith("{") else _table_entries(path)


def _listed(document: Any, path: Path) -> Iterable[tuple[str, PairJudgments]]:
    if not isinstance(document, dict):
        raise BadInput(path, "not a list of pronoun pairs", remedy=EXAMPLE)
    for pair, entries in document.items():
        several = isinstance(entries, list) and not (entries and isinstance(entries[0], int | float))
        for entry in entries if several else [entries]:
            with expecting(path, "an agreement with counts", remedy=EXAMPLE, item=str(pair)):
                agreement, counts = (entry["agreement"], entry) if isinstance(entry, dict) else entry
                judged = _judged(agreement, counts)
            yield _pair(pair, path), judged


def _table_entries(path: Path) -> Iterable[tuple[str, PairJudgments]]:
    rows = table_rows(text_lines(path), path)
    _, columns = next(rows, (1, list[str]()))
    names = set(columns)
    whole = "pair" in names
    if "agreement" not in names or not (whole or {"reference", "system"} <= names):
        remedy = f"Write JSON, or a table with a header line and the columns {', '.join(COLUMNS)}."
        raise BadInput(path, "not a list of pronoun pairs", line=1, remedy=remedy)
    for line, cells in rows:
        values = [*map(plain_cell, cells), *[""] * (len(columns) - len(cells))]
        row = dict(zip(columns, values, strict=False))
        text = row["pair"] if whole else f"{row['reference']}:{row['system']}"
        with expecting(path, "an agreement with counts", line):
            judged = _judged(row["agreement"], row)
        yield _pair(text, path), judged


def _pair(text: Any, path: Path) -> str:
    for sign in (":", "_"):
        one, separator, other = str(text).partition(sign)
        if separator and one and other:
            return f"{normalize_word(one)}:{normalize_word(other)}"
    raise BadInput(path, f"not a pronoun pair: {text!r}", remedy="Write reference and system pronoun: he_it.")


def _judged(agreement: Any, counts: Mapping[str, Any]) -> PairJudgments:
    if not isinstance(counts, Mapping):
        raise ValueError("the counts are not an object")
    value = float(agreement)
    if not -1 <= value <= 1:
        raise ValueError(f"agreement is {value}")
    reference, system, ties = (int(counts.get(name) or 0) for name in COUNTS)
    if min(reference, system, ties) < 0:
        raise ValueError("a count is negative")
    return PairJudgments(value, reference, system, ties)
