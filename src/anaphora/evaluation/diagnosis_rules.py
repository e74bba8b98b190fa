"""The rules of a diagnosis, read from diagnosis.toml: what each looks at, its thresholds, and what it says when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from anaphora.core.parsing import read_toml

FILE = Path(__file__).with_name("diagnosis.toml")
SEVERITIES = ("failure", "weakness", "note", "strength")
# the order of the table: the pipeline of §3, then what colours it
STEPS = (
    "markable detection",
    "coreference resolution",
    "language translation",
    "priors",
    "test sets",
    "robustness",
)
PIPELINE = STEPS[:3]

Says = Mapping[str, tuple[str, str]]  # verdict → severity, sentence with fields to fill in


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where verdicts change; docs/diagnosis.md explains each."""

    known: float
    two_nouns: float
    majority: float
    gap: float
    loss: float
    negligible: float
    p: float
    minimum: int


@dataclass(frozen=True, slots=True)
class Rule:
    """One question to the figures.

    kind: how the figure is made (`diagnosis_figures`); templates: whose items it looks at, none: those of test sets
    chance: what an accuracy is held against, "two nouns" or "candidates"
    tag, first, second: two groups of items that are set against each other; tags: groups of which best and worst are
    attacks: the kinds of attack that it is about, none: all others
    says: nothing is said of a verdict that is not in it; shown: a verdict in the words of the table
    advice: names of advice for a verdict, or for a verdict and what it is about ("prefers neuter")
    """

    id: str
    kind: str
    step: str
    name: str
    says: Says
    templates: tuple[str, ...] = ()
    chance: str = ""
    tag: str = ""
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    attacks: tuple[str, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    advice: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules.

    conclusions: what is said of the verdicts of several rules
    advice: by its name a command, what it is good for, and the language pairs that it knows, if not all
    """

    thresholds: Thresholds
    rules: tuple[Rule, ...]
    conclusions: Mapping[str, Says]
    advice: Mapping[str, tuple[str, ...]]


@cache
def load_rules() -> Rules:
    """The rules that are built in."""
    document = read_toml(FILE)
    return Rules(
        thresholds=Thresholds(**document["thresholds"]),
        rules=tuple(_rule(row) for row in document["rule"]),
        conclusions={row["id"]: _says(row["says"]) for row in document["conclusion"]},
        advice={name: tuple(words) for name, words in document["advice"].items()},
    )


def _rule(row: dict[str, Any]) -> Rule:
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    advice = {verdict: tuple(names) for verdict, names in row.get("advice", {}).items()}
    return Rule(**{**plain, "says": _says(row["says"]), "advice": advice})


def _says(rows: dict[str, list[str]]) -> Says:
    return {verdict: (severity, text) for verdict, (severity, text) in rows.items()}
