"""The figures of an evaluation: precision, recall, what is right in what was mined, by confidence and by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.build.mine.evaluate import Evaluation, JudgedItem
from anaphora.stats.intervals import wilson
from anaphora.table import Row, Table

STEPS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Shares:
    """How much of what was mined is right. Gold: how much there was to find.

    pairs: pronouns that stand for the same thing, a noun; right: with the right antecedents on both sides
    near: and these are as many sentences away as they should be
    """

    confidence: float
    items: int
    gold: int
    pairs: int
    right: int
    near: int
    labels: Mapping[str, int]

    @property
    def precision(self) -> float:
        return self.right / self.items if self.items else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 0.0

    @property
    def f(self) -> float:
        return 2 * self.right / (self.items + self.gold) if self.items + self.gold else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f": self.f,
            "pair_precision": self.pairs / self.items if self.items else 0.0,
            "antecedent_accuracy": self.right / self.pairs if self.pairs else 0.0,
            "distance_accuracy": self.near / self.right if self.right else 0.0,
            "items": self.items,
            "right": self.right,
            "gold": self.gold,
            "intervals": {
                "precision": wilson(self.right, self.items),
                "recall": wilson(self.right, self.gold),
                "antecedent_accuracy": wilson(self.right, self.pairs),
            },
        }


def share(items: Sequence[JudgedItem], gold: int, confidence: float = 0.0) -> Shares:
    """The figures of the items that are at least so sure."""
    chosen = [item for item in items if item.confidence >= confidence]
    return Shares(
        confidence=confidence,
        items=len(chosen),
        gold=gold,
        pairs=sum(item.pair for item in chosen),
        right=sum(item.antecedent for item in chosen),
        near=sum(item.distance for item in chosen),
        labels=Counter(item.label for item in chosen),
    )


def curve(evaluation: Evaluation, steps: Sequence[float] = STEPS) -> list[Shares]:
    """Precision against yield: the surer, the fewer."""
    return [share(evaluation.items, evaluation.gold, step) for step in steps]


def shares(evaluation: Evaluation, confidence: float = 0.0) -> dict[str, Shares]:
    """By class; how many of a class there were to find is not known, as that is the miner's own word."""
    labels = sorted({item.label for item in evaluation.items})
    return {label: share([item for item in evaluation.items if item.label == label], 0, confidence) for label in labels}


def document_of(evaluation: Evaluation, confidence: float, about: Mapping[str, Any]) -> dict[str, Any]:
    """All figures as one JSON document."""
    rejected = {name: count for name, count in evaluation.counts.most_common() if name not in ("pronouns", "items")}
    return {
        **share(evaluation.items, evaluation.gold, confidence).to_dict(),
        "pronouns": evaluation.counts["pronouns"],
        "documents": evaluation.documents,
        "labels": {
            label: {"items": found.items, "right": found.right, "precision": found.precision}
            for label, found in shares(evaluation, confidence).items()
        },
        "rejections": rejected,
        "curve": [
            {"confidence": row.confidence, "items": row.items, "precision": row.precision, "recall": row.recall}
            for row in curve(evaluation)
        ],
        **about,
    }


def table_of(document: Mapping[str, Any]) -> Table:
    """What people read."""
    rows = [
        Row(("pronoun pair right", _share(document["pair_precision"]), "")),
        Row(("and antecedents right (precision)", _share(document["precision"]), _interval(document, "precision"))),
        Row(("antecedents right where the pair is", _share(document["antecedent_accuracy"]), "")),
        Row(("distance right where these are", _share(document["distance_accuracy"]), "")),
        Row(("recall", _share(document["recall"]), _interval(document, "recall"))),
        Row(("F", _share(document["f"]), "")),
        Row(("class",), section=True),
    ]
    rows += [
        Row((label, _share(found["precision"]), f"{found['right']:,} of {found['items']:,}"), indent=1)
        for label, found in document["labels"].items()
    ]
    if len({row["items"] for row in document["curve"]}) > 1:
        rows.append(Row(("confidence",), section=True))
        rows += [
            Row((f"≥ {row['confidence']:.1f}", _share(row["precision"]), f"{row['items']:,} items"), indent=1)
            for row in document["curve"]
        ]
    rows.append(Row(("not mined",), section=True))
    rows += [Row((reason, f"{count:,}", ""), indent=1) for reason, count in document["rejections"].items()]
    title = (
        f"{document['languages']} · {document['chains']} chains · {_counted(document['documents'], 'document')} · "
        f"{document['items']:,} items of {document['pronouns']:,} pronouns · {document['gold']:,} in the gold"
    )
    return Table(title, ("", "", "95 % interval"), tuple(rows))


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _share(value: float) -> str:
    return f"{value:.3f}"


def _interval(document: Mapping[str, Any], name: str) -> str:
    low, high = document["intervals"][name]
    return f"[{low:.3f}, {high:.3f}]"
