"""The examples of a report, packed for its browser: texts once, candidates as what differs, scores, outcomes.

Columns instead of records, small numbers instead of repeated words, then gzip: 12,000 examples of three systems take
about two megabytes of the page.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anaphora.evaluation.compare import zip_runs
from anaphora.evaluation.decision import decide
from anaphora.evaluation.result import Settings
from anaphora.languages.highlight import Span, differences, merged, occurrences
from anaphora.reports.page.texts import Texts
from anaphora.runs import Run
from anaphora.suites.example import Example

ANTECEDENTS = ("source_antecedent", "target_antecedent")  # tags whose words are marked in the texts
Columns = dict[str, Any]


def packed(suites: Sequence[Columns]) -> str:
    """The examples of all suites as text that a script in the page unpacks."""
    data = json.dumps(suites, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def columns(runs: Mapping[str, Run], texts: Texts, filters: Sequence[str], settings: Settings) -> Columns:
    """The examples of one suite that every run has.

    runs: by the name of the system; filters: tags that the reader can choose by
    """
    header = next(iter(runs.values())).header
    packed: Columns = {"suite": header.suite, "systems": list(runs), "languages": list(texts.languages)}
    packed |= {"ids": [], "gold": [], "scores": [], "chosen": [], "right": []}
    packed |= {"source": [], "target": [], "others": [], "differences": [], "pronoun": []}
    packed["antecedents"] = {name: [] for name in ANTECEDENTS}
    tags = {name: Coded() for name in filters}
    for row in zip_runs(list(runs.values())):
        item = row[0]
        packed["ids"].append(item.id)
        packed["gold"].append(item.gold)
        packed["scores"].append([[round(score, 2) for score in answer.scores] for answer in row])
        decisions = [decide(answer, minimize=settings.minimize, normalize=settings.normalize) for answer in row]
        packed["chosen"].append([decision.chosen for decision in decisions])
        packed["right"].append([int(decision.correct) for decision in decisions] if item.gold is not None else None)
        for name, coded in tags.items():
            coded.add(item.tags.get(name))
        _add_text(packed, texts.examples[item.id])
    packed["tags"] = {name: coded.to_dict() for name, coded in tags.items() if len(coded.values) > 1}
    return packed


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


def _add_text(packed: Columns, example: Example) -> None:
    """A passage is one string, its sentences on lines of their own; a candidate is what it has between the two ends."""
    gold = example.gold or 0
    right = "\n".join(example.candidates[gold])
    packed["source"].append("\n".join(example.source))
    packed["target"].append(right)
    others = [candidate for k, candidate in enumerate(example.candidates) if k != gold]
    packed["others"].append([between(right, "\n".join(candidate)) for candidate in others])
    packed["differences"].append([flat(spans) for spans in highlights(example)])
    packed["pronoun"].append(flat(source_pronouns(example)))
    for name, column in packed["antecedents"].items():
        value = example.tags.get(name)
        column.append(value if isinstance(value, str) else "")


def highlights(example: Example) -> list[list[Span]]:
    """Of each candidate's current sentence, the words in which it differs from the right one, which has all of them."""
    gold = example.gold or 0
    right = example.candidates[gold][-1]
    found: list[list[Span]] = []
    of_right: set[Span] = set()
    for k, candidate in enumerate(example.candidates):
        here, there = differences(right, candidate[-1]) if k != gold else ((), ())
        of_right.update(here)
        found.append(list(there))
    found[gold] = merged(of_right)
    return found


def source_pronouns(example: Example) -> list[Span]:
    """Where the pronoun that the suite names is in the current source sentence; several: it does not say which."""
    pronoun = example.tags.get("source_pronoun")
    return occurrences(pronoun, example.source[-1]) if isinstance(pronoun, str) and pronoun else []


def flat(spans: Iterable[Span]) -> list[int]:
    return [bound for span in spans for bound in span]


def between(text: str, other: str) -> list[Any]:
    """Where another text differs: how much of the beginning and of the end they share, and what it has between."""
    short = min(len(text), len(other))
    start = next((k for k in range(short) if text[k] != other[k]), short)
    end = next((k for k in range(short - start) if text[-1 - k] != other[-1 - k]), short - start)
    return [start, end, other[start : len(other) - end]]
