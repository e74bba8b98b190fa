"""Figures from the attributions of a run: the share of the antecedent, and of what translators have highlighted.

Each figure is a mean over examples with a bootstrap interval, of all examples and of those that were answered right and
wrong at the pronoun, next to what it would be if every token had the same attribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anaphora.core.errors import BadInput
from anaphora.core.parsing import expecting, is_a
from anaphora.evaluation import decision as by
from anaphora.evaluation.attribution import HIGHLIGHTS, METHODS, SIDES
from anaphora.evaluation.result import Proportion, RunSignature, Settings
from anaphora.runs import Run, ScoredExample
from anaphora.stats.intervals import Floats, bootstrap_mean, percentile_interval
from anaphora.stats.resampling import Interval
from anaphora.table import Rendered

ALL, RIGHT, WRONG = "all", "right", "wrong"
FIGURES = ("share", "rank", "auc", "support")
BY_CHANCE = {"share": "uniform_share", "rank": "uniform_rank"}  # the keys of a record
NUMBERS = ("share", "uniform_share", "rank", "uniform_rank", "support")  # of every record with figures
REMEDY = "Attributions are written by: anaphora attribute SUITE --system SPEC -o FILE"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over examples with its interval. uniform: what it would be by chance, None where that is not known"""

    total: int
    mean: float
    interval: Interval
    uniform: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"total": self.total, "mean": self.mean, "interval": list(self.interval), "uniform": self.uniform}


Figures = Mapping[str, Mean]  # by the names of FIGURES


@dataclass(frozen=True, slots=True)
class Attributions(Rendered):
    """The result of `attribute`.

    antecedent, highlights: figures of all examples, and of those that were right and wrong; empty without any
    difference: right minus wrong, of share, rank and support of the antecedent
    breakdowns: figures of the antecedent by tags; reasons: why examples have none → how many
    rest: the mean share of the attribution on tokens that are not words of the passage
    """

    TABLES = "anaphora.reports.attribution:attribution_table"

    suite: str
    languages: str
    system: str
    method: str
    total: int
    accuracy: Proportion
    antecedent: Mapping[str, Figures]
    highlights: Mapping[str, Figures]
    difference: Mapping[str, Mean]
    reasons: Mapping[str, int]
    highlights_reasons: Mapping[str, int]
    rest: float | None
    settings: Settings
    signature: str
    breakdowns: Mapping[str, Mapping[str, Figures]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that `anaphora attribute --json` prints."""
        every = self.antecedent.get(ALL, {})
        share, rank = every.get("share"), every.get("rank")
        return {
            "suite": self.suite,
            "system": self.system,
            "languages": self.languages,
            "method": self.method,
            "total": self.total,
            "attributed": 0 if share is None else share.total,
            "antecedent_share": None if share is None else share.mean,
            "antecedent_share_interval": None if share is None else list(share.interval),
            "uniform_share": None if share is None else share.uniform,
            "antecedent_rank": None if rank is None else rank.mean,
            "antecedent_rank_interval": None if rank is None else list(rank.interval),
            "uniform_rank": None if rank is None else rank.uniform,
            "accuracy": self.accuracy.to_dict(),
            "antecedent": _documents(self.antecedent),
            "difference": {name: figure.to_dict() for name, figure in self.difference.items()},
            "breakdowns": {name: _documents(groups) for name, groups in self.breakdowns.items()},
            "highlights": _documents(self.highlights, HIGHLIGHT_NAMES) or None,
            "without_antecedent": dict(self.reasons),
            "without_highlights": dict(self.highlights_reasons),
            "rest": self.rest,
            "signature": self.signature,
        }


HIGHLIGHT_NAMES = {"share": "dot_product", "rank": "probes"}  # as Yin et al. 2021 call them


def _documents(groups: Mapping[str, Figures], names: Mapping[str, str] = {}) -> dict[str, Any]:
    return {
        group: {names.get(name, name): figure.to_dict() for name, figure in figures.items()}
        for group, figures in groups.items()
    }


def attributions_of(run: Run, *, breakdowns: Sequence[str] = (), settings: Settings | None = None) -> Attributions:
    """Return the figures of a run that was written by `attribute`."""
    settings, method = settings or Settings(), method_of(run)
    items = list(run)
    records = [attribution_of(run, item) for item in items]
    right = [record["right"] for record in records if "right" in record]
    known = [(item, record) for item, record in zip(items, records, strict=True) if "antecedent" in record]
    groups = by.grouped(breakdowns, ((item.tags, record["antecedent"]) for item, record in known))
    antecedent = _split(records, "antecedent", settings)
    header = run.header
    line = RunSignature("attr").suite(header.suite, header.sha256).measured(header.measurement)
    line.add("method", method).confidence(settings)
    line.add("n", settings.samples).add("seed", settings.seed).add("v", header.version)
    total = sum(item.gold is not None for item in items)
    return Attributions(
        header.suite,
        header.languages,
        header.system,
        method,
        len(items),
        by.proportion(sum(right), total, settings.confidence),
        antecedent,
        _split(records, HIGHLIGHTS, settings),
        _differences(records, settings),
        Counter(record["reason"] for record in records if "reason" in record),
        Counter(record["highlights_reason"] for record in records if "highlights_reason" in record),
        _rest(records),
        settings,
        str(line),
        {
            name: {group: _figures(members, settings) for group, members in of_name.items()}
            for name, of_name in groups.items()
        },
    )


def method_of(run: Run) -> str:
    """The method of the attributions in a run; an error if there are none."""
    method = run.header.settings.get("attribution")
    if method not in METHODS:
        raise BadInput(run.path, "a run without attributions", remedy=REMEDY)
    return str(method)


def attribution_of(run: Run, item: ScoredExample) -> dict[str, Any]:
    """The attribution in a record, checked; an error if it is missing or invalid."""
    record = item.extra.get("attribution")
    with expecting(run.path, "an attribution", remedy=REMEDY, item=f"example {item.id!r}"):
        if not isinstance(record, dict):
            raise ValueError("there is none")
        if {"right", "words", "antecedent", HIGHLIGHTS} & record.keys():
            _check(record)
        for name in ("reason", "highlights_reason"):
            if not isinstance(record.get(name, ""), str):
                raise ValueError(f"{name!r} must be a string")
    return record


def _check(record: Mapping[str, Any]) -> None:
    """Raise an error of `UNEXPECTED` if a record is not as `attribute` writes it."""
    if type(record["right"]) is not bool or not is_a(record["contrast"], float) or not is_a(record["rest"], float):
        raise ValueError("'right' must be true or false, 'contrast' and 'rest' numbers")
    if [type(word) for word in record["choice"]] != [str, str]:
        raise ValueError("'choice' must be two words")
    size = 0
    for side in SIDES:
        for sentence in record["words"][side]:
            for text, value in sentence:
                if type(text) is not str or not is_a(value, float):
                    raise ValueError("'words' must be words with numbers")
                size += 1
    for name in ("antecedent", HIGHLIGHTS):
        if name in record:
            figures = record[name]
            if not all(is_a(figures[key], float) for key in NUMBERS):
                raise ValueError(f"figures of {name!r} must be numbers")
            if not is_a(figures.get("auc", 0.5), float):
                raise ValueError(f"'auc' of {name!r} must be a number")
            if not all(type(at) is int and 0 <= at < size for at in figures["at"]):
                raise ValueError(f"'at' of {name!r} must be positions of words")


def _split(records: Iterable[Mapping[str, Any]], key: str, settings: Settings) -> dict[str, Figures]:
    """Figures of all records that have them, and of the right and the wrong ones."""
    groups: dict[str, list[Mapping[str, float]]] = {ALL: [], RIGHT: [], WRONG: []}
    for record in records:
        if key in record:
            groups[ALL].append(record[key])
            groups[RIGHT if record["right"] else WRONG].append(record[key])
    return {name: _figures(members, settings) for name, members in groups.items() if members}


def _figures(members: Sequence[Mapping[str, float]], settings: Settings) -> dict[str, Mean]:
    figures = {}
    for name in FIGURES:
        values = _values(members, name)
        if len(values):
            chance = BY_CHANCE.get(name)
            uniform = float(np.mean([one[chance] for one in members])) if chance else 0.5 if name == "auc" else None
            interval = percentile_interval(bootstrap_mean(values, settings.samples, settings.seed), settings.confidence)
            figures[name] = Mean(len(values), float(values.mean()), interval, uniform)
    return figures


def _values(members: Iterable[Mapping[str, float]], name: str) -> Floats:
    return np.array([one[name] for one in members if name in one], float)


def _differences(records: Sequence[Mapping[str, Any]], settings: Settings) -> dict[str, Mean]:
    """Right minus wrong, of different examples; empty unless there are both."""
    parts = [[r["antecedent"] for r in records if "antecedent" in r and r["right"] is right] for right in (True, False)]
    if not all(parts):
        return {}
    figures = {}
    for name in ("share", "rank", "support"):
        one, other = (_values(members, name) for members in parts)
        drawn = bootstrap_mean(one, settings.samples, settings.seed)
        drawn -= bootstrap_mean(other, settings.samples, settings.seed + 1)
        interval = percentile_interval(drawn, settings.confidence)
        figures[name] = Mean(len(one) + len(other), float(one.mean() - other.mean()), interval)
    return figures


def _rest(records: Iterable[Mapping[str, Any]]) -> float | None:
    shares = []
    for record in records:
        if "words" in record:
            words = sum(abs(value) for side in SIDES for sentence in record["words"][side] for _, value in sentence)
            if words + record["rest"]:
                shares.append(record["rest"] / (words + record["rest"]))
    return float(np.mean(shares)) if shares else None
