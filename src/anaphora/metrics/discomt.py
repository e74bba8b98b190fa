"""The measures of the DiscoMT shared tasks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.core.columns import Record, read_columns
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronouns import OTHER, class_of
from anaphora.stats.intervals import Floats
from anaphora.stats.paired import Figures, PairedTest, SufficientStats, harmonic, paired_tests, ratio
from anaphora.stats.resampling import Interval, Resampling
from anaphora.stats.signature import Signature

# Gap-filling annotations as a table: `item`, `translation`, `accepted`, and `system` where there are several.

BAD = ("bad", "bad translation")
FORMAT = "The columns are item, translation, accepted (options separated by commas, or bad), and perhaps system."


def read_annotations(path: Path, language: str = "") -> dict[str, list[Item]]:
    """Read the items of each system, in the order of the file's first system if the items are the same.

    language: the target language, whose forms are put together into the classes of the shared tasks (ça into cela);
        everything else is OTHER. Without a language, each word is a separate class.
    """
    table = read_columns(path)
    table.require(("item", "translation", "accepted"), FORMAT)
    by_system: dict[str, dict[str, Item]] = {}
    for record in table.records:
        items = by_system.setdefault(record.cells.get("system", path.name), {})
        item = _item(record, language)
        if item.id in items:
            raise BadInput(path, f"item {item.id!r} occurs twice for the same system", line=record.line)
        items[item.id] = item
    order = next(iter(by_system.values()))
    return {
        system: [items[k] for k in order] if items.keys() == order.keys() else list(items.values())
        for system, items in by_system.items()
    }


def _item(record: Record, language: str) -> Item:
    translation, accepted = record.cells["translation"], record.cells["accepted"].lower()
    options = [option for option in map(str.strip, re.split(r"[,|;]", accepted)) if option]
    if not translation or not options:
        empty = "translation" if not translation else "accepted"
        raise BadInput(record.path, f"the column {empty!r} is empty", line=record.line, remedy=FORMAT)
    if any(option in BAD for option in options):
        if len(options) > 1:
            problem = f"a bad translation has no other options: {accepted!r}"
            raise BadInput(record.path, problem, line=record.line, remedy=FORMAT)
        options = []
    classes = frozenset(class_of(option, language) for option in options)
    return Item(record.cells["item"], class_of(translation, language), classes)


# The measures of the DiscoMT shared tasks, from gap-filling annotations (APT paper §3.1; Hardmeier et al. 2015).

OVERALL = ("accuracy", "accuracy_without_other", "precision", "recall", "f", "macro_recall")
BY_CLASS = ("precision", "recall", "strict_recall", "f")


@dataclass(frozen=True, slots=True)
class Item:
    """One pronoun: the system's translation and the options that annotators accept (none: bad translation)."""

    id: str
    translation: str
    accepted: frozenset[str]

    @property
    def correct(self) -> bool:
        return self.translation in self.accepted


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure and its interval; None where there is nothing to divide by."""

    value: float | None
    interval: Interval | None

    def to_dict(self) -> dict[str, Any]:
        return {"value": self.value, "interval": list(self.interval) if self.interval else None}


@dataclass(frozen=True, slots=True)
class SystemMeasures:
    """One system. counts: for each class how often it was produced, right, and accepted."""

    items: int
    bad: int
    overall: Mapping[str, Measure]
    classes: Mapping[str, Mapping[str, Measure]]
    counts: Mapping[str, Mapping[str, int]]

    def to_dict(self) -> dict[str, Any]:
        classes = {
            name: {**self.counts[name], **{figure: m.to_dict() for figure, m in measures.items()}}
            for name, measures in self.classes.items()
        }
        overall = {name: measure.to_dict() for name, measure in self.overall.items()}
        return {"items": self.items, "bad": self.bad, **overall, "classes": classes}


@dataclass(frozen=True, slots=True)
class DiscoMTResult:
    """All systems and their pairs, for each overall measure."""

    systems: Mapping[str, SystemMeasures]
    pairs: Mapping[str, tuple[PairedTest, ...]]
    resampling: Resampling
    classes: tuple[str, ...]

    @property
    def signature(self) -> str:
        line = Signature("discomt").add("classes", ",".join(self.classes)).add("recall", "lenient")
        return str(line.resampled(self.resampling))

    def to_dict(self) -> dict[str, Any]:
        """The first system at the top, all of them under `systems`."""
        systems = {name: measures.to_dict() for name, measures in self.systems.items()}
        first = next(iter(systems))
        pairs = [{"measure": name, **pair.to_dict()} for name, pairs in self.pairs.items() for pair in pairs]
        return {"system": first, **systems[first], "systems": systems, "pairs": pairs, "signature": self.signature}


def discomt(systems: Mapping[str, Sequence[Item]], resampling: Resampling | None = None) -> DiscoMTResult:
    """Compute the measures of systems, and compare systems that have the same items."""
    resampling = resampling or Resampling()
    if not any(systems.values()):
        raise AnaphoraError("there are no annotated pronouns")
    names = {name for items in systems.values() for item in items for name in (item.translation, *item.accepted)}
    classes = (*sorted(names - {OTHER}), OTHER)
    sums = {name: SufficientStats(_rows(items, classes), _figures(classes)) for name, items in systems.items()}
    ids = [tuple(item.id for item in items) for items in systems.values()]
    paired = paired_tests(sums, resampling) if len(set(ids)) == 1 else {}
    return DiscoMTResult(
        systems={name: _measures(systems[name], sums[name], classes, resampling) for name in systems},
        pairs={name: paired[name] for name in OVERALL if name in paired},
        resampling=resampling,
        classes=classes,
    )


def _measures(
    items: Sequence[Item], sums: SufficientStats, classes: Sequence[str], resampling: Resampling
) -> SystemMeasures:
    values, intervals = sums.values(), sums.intervals(resampling)
    counts = {
        name: {
            "translated": sum(item.translation == name for item in items),
            "correct": sum(item.translation == name and item.correct for item in items),
            "accepted": sum(name in item.accepted for item in items),
        }
        for name in classes
    }

    def measure(name: str, wholes: Iterable[int]) -> Measure:
        return Measure(values[name], intervals[name]) if all(wholes) else Measure(None, None)

    real = [counts[name] for name in classes if name != OTHER]
    translated, accepted = (sum(count[key] for count in real) for key in ("translated", "accepted"))
    # what each figure divides by
    wholes: dict[str, tuple[int, ...]] = {
        "accuracy": (len(items),),
        "accuracy_without_other": (sum(item.accepted != {OTHER} for item in items),),
        "precision": (translated,),
        "recall": (accepted,),
        "f": (translated, accepted),
        "macro_recall": (accepted + counts[OTHER]["accepted"],),
    }
    by_class = {
        name: {
            "precision": measure(f"{name} precision", [counts[name]["translated"]]),
            "recall": measure(f"{name} recall", [counts[name]["accepted"]]),
            "strict_recall": measure(f"{name} strict_recall", [counts[name]["accepted"]]),
            "f": measure(f"{name} f", [counts[name]["translated"], counts[name]["accepted"]]),
        }
        for name in classes
    }
    overall = {name: measure(name, wholes[name]) for name in OVERALL}
    return SystemMeasures(len(items), sum(not item.accepted for item in items), overall, by_class, counts)


def _rows(items: Sequence[Item], classes: Sequence[str]) -> Floats:
    """(items, 1 + 4 classes): whether there is more to choose than OTHER; then of each class four things:

    whether it is the translation, is right, is accepted, is recalled.
    """
    rows = np.zeros((len(items), 4, len(classes)))
    index = {name: k for k, name in enumerate(classes)}
    for row, item in zip(rows, items, strict=True):
        row[0, index[item.translation]] = 1
        row[1, index[item.translation]] = item.correct
        for name in item.accepted:
            row[2, index[name]] = 1
            row[3, index[name]] = item.correct
    choice = np.array([item.accepted != {OTHER} for item in items], float)
    return np.column_stack([choice, rows.reshape(len(items), -1)])


def _figures(classes: Sequence[str]) -> Figures:
    def figures(totals: Floats) -> dict[str, Floats]:
        translated, correct, accepted, recalled = np.split(totals[:, 1:], 4, axis=1)
        real = slice(0, -1)  # OTHER is the last
        precisions, recalls = ratio(correct, translated), ratio(recalled, accepted)
        precision = ratio(correct[:, real].sum(axis=1), translated[:, real].sum(axis=1))
        recall = ratio(recalled[:, real].sum(axis=1), accepted[:, real].sum(axis=1))
        values_of = {
            "accuracy": ratio(correct.sum(axis=1), translated.sum(axis=1)),
            "accuracy_without_other": ratio(correct[:, real].sum(axis=1), totals[:, 0]),
            "precision": precision,
            "recall": recall,
            "f": harmonic(precision, recall),
            "macro_recall": ratio(recalls.sum(axis=1), (accepted > 0).sum(axis=1)),
        }
        strict, fs = ratio(correct, accepted), harmonic(precisions, recalls)
        for k, name in enumerate(classes):
            of_class = {"precision": precisions, "recall": recalls, "strict_recall": strict, "f": fs}
            values_of |= {f"{name} {figure}": values[:, k] for figure, values in of_class.items()}
        return values_of

    return figures
