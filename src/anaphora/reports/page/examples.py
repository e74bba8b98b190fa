"""The examples of a report, packed for its browser: texts once, candidates as what differs, scores, outcomes.

Columns instead of records, small numbers instead of repeated words, then gzip: 12,000 examples of three systems take
about two megabytes of the page.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anaphora.errors import BadInput
from anaphora.evaluation.decision import decide
from anaphora.evaluation.pairing import together
from anaphora.evaluation.result import Settings
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite
from anaphora.systems.run import Run
from anaphora.systems.scored import Scored

SHOWN = ("source_antecedent", "target_antecedent", "source_pronoun", "reference_pronoun")  # what is marked in texts
Columns = dict[str, Any]


def packed(suites: Sequence[Columns]) -> str:
    """The examples of all suites as text that a script in the page unpacks."""
    data = json.dumps(suites, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def columns(runs: Mapping[str, Run], suite: Suite | None, filters: Sequence[str], settings: Settings) -> Columns:
    """The examples of one suite that every run has.

    runs: by the name of the system; suite: None where its text is not at hand, then only figures are shown
    filters: tags that the reader can choose by
    """
    header = next(iter(runs.values())).header
    found: Columns = {"suite": header.suite, "systems": list(runs), "tags": {}, "ids": [], "gold": []}
    found |= {"scores": [], "chosen": [], "right": []}
    texts: Columns = {"source": [], "target": [], "others": [], "marks": {name: [] for name in SHOWN}}
    tags = {name: Coded() for name in filters}
    if suite is not None:
        found["languages"] = [suite.header.source_language, suite.header.target_language]
    usual = "it" if suite is not None and suite.header.source_language == "en" else ""
    for example, row in _rows(runs, suite):
        item = row[0]
        found["ids"].append(item.id)
        found["gold"].append(item.gold)
        found["scores"].append([[round(score, 2) for score in answer.scores] for answer in row])
        decisions = [decide(answer, minimize=settings.minimize, normalize=settings.normalize) for answer in row]
        found["chosen"].append([decision.chosen for decision in decisions])
        found["right"].append([int(decision.correct) for decision in decisions] if item.gold is not None else None)
        for name, coded in tags.items():
            coded.add(item.tags.get(name))
        if example is not None:
            _add_text(texts, example, usual)
    found["tags"] = {name: coded.to_dict() for name, coded in tags.items() if len(coded.values) > 1}
    return found | texts if suite is not None else found


class Coded:
    """The values of a tag as numbers into a list of them; −1 where there is none."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.codes: list[int] = []

    def add(self, value: object) -> None:
        if value is None or isinstance(value, list | dict):
            self.codes.append(-1)
        else:
            self.codes.append(self.values.setdefault(str(value), len(self.values)))

    def to_dict(self) -> dict[str, Any]:
        return {"values": list(self.values), "codes": self.codes}


def _rows(runs: Mapping[str, Run], suite: Suite | None) -> Iterable[tuple[Example | None, Sequence[Scored]]]:
    rows = together(list(runs.values()))
    if suite is None:
        return ((None, row) for row in rows)
    texts = {example.id: example for example in suite.examples()}
    return ((texts[row[0].id], row) for row in rows)


def _add_text(texts: Columns, example: Example, usual: str) -> None:
    """A passage is one string, its sentences on lines of their own; a candidate is what it has between the two ends.

    usual: the source pronoun where the suite does not name it, as templates do not
    """
    right = "\n".join(example.candidates[example.gold or 0])
    texts["source"].append("\n".join(example.source))
    texts["target"].append(right)
    others = []
    for k, candidate in enumerate(example.candidates):
        if k != (example.gold or 0):
            others.append(between(right, "\n".join(candidate)))
    texts["others"].append(others)
    for name, column in texts["marks"].items():
        value = example.tags.get(name)
        column.append(value if isinstance(value, str) else usual if name == "source_pronoun" else "")


def between(text: str, other: str) -> list[Any]:
    """Where another text differs: how much of the beginning and of the end they share, and what it has between."""
    short = min(len(text), len(other))
    start = next((k for k in range(short) if text[k] != other[k]), short)
    end = next((k for k in range(short - start) if text[-1 - k] != other[-1 - k]), short - start)
    return [start, end, other[start : len(other) - end]]


def check_suite(suite: Suite, runs: Iterable[Run], path: Path) -> None:
    """A suite whose text does not belong to the runs is an error: its examples would be shown with others' scores."""
    digest = suite.sha256()
    for run in runs:
        if run.header.sha256 != digest:
            problem = f"not the suite that was scored: {run.path} has {run.header.suite}@{run.header.sha256[:6]}"
            raise BadInput(path, problem, remedy="Name the file that was given to anaphora score.")
