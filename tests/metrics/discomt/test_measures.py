"""The DiscoMT measures: counted by hand, and as plain classification where each item has one option."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.metrics.discomt.measures import BY_CLASS, OVERALL, Item, discomt
from anaphora.stats.intervals import Resampling

FEW = Resampling(200)


def items(*rows: tuple[str, str]) -> list[Item]:
    """Translations and what is accepted, in words; nothing is a bad translation."""
    return [Item(str(k), translation, frozenset(accepted.split())) for k, (translation, accepted) in enumerate(rows)]


TEN = items(
    ("il", "il"),
    ("il", "il ce"),  # either will do
    ("il", "elle"),
    ("ce", "il ce"),
    ("ce", ""),  # a bad translation
    ("elle", "elle"),
    ("other", "other"),
    ("other", "il"),
    ("il", "other"),
    ("other", "other elle"),
)


def test_by_hand() -> None:
    result = discomt({"a": TEN}, FEW).systems["a"]
    assert (result.items, result.bad) == (10, 1)
    found = {name: measure.value for name, measure in result.overall.items()}
    assert found == pytest.approx(
        {
            # right: il, il, ce, elle, other, other
            "accuracy": 6 / 10,
            # without those for which only OTHER is accepted: 2; the last one, OTHER for elle, is wrong
            "accuracy_without_other": 4 / 8,
            # il 2 of 4, ce 1 of 2, elle 1 of 1
            "precision": 4 / 7,
            # il accepted 4 times, recalled 3 (once as ce); ce 2 of 2; elle 2 of 3 (once as OTHER, which was accepted)
            "recall": 7 / 9,
            "f": 2 * (4 / 7) * (7 / 9) / (4 / 7 + 7 / 9),
            # il 3/4, ce 1, elle 2/3, OTHER 2 of 3
            "macro_recall": (3 / 4 + 1 + 2 / 3 + 2 / 3) / 4,
        }
    )
    il = {name: measure.value for name, measure in result.classes["il"].items()}
    assert il == pytest.approx({"precision": 2 / 4, "recall": 3 / 4, "strict_recall": 2 / 4, "f": 0.6})
    assert result.counts["il"] == {"translated": 4, "correct": 2, "accepted": 4}
    assert result.counts["other"] == {"translated": 3, "correct": 2, "accepted": 3}


def test_what_does_not_occur_has_no_figure() -> None:
    result = discomt({"a": items(("other", "other"), ("other", "il"))}, FEW).systems["a"]
    assert result.overall["precision"].value is None
    assert result.overall["f"].interval is None
    assert result.overall["recall"].value == 0
    assert result.classes["il"]["precision"].value is None
    assert result.overall["accuracy"].value == 0.5


def test_systems_with_the_same_items_are_compared() -> None:
    better = [Item(item.id, min(item.accepted, default="il"), item.accepted) for item in TEN]
    result = discomt({"a": TEN, "b": better}, Resampling(5_000))
    assert set(result.pairs) == set(OVERALL)
    (pair,) = result.pairs["accuracy"]
    assert pair.delta == pytest.approx(3 / 10)
    # three items differ, all one way: two of eight exchanges are as extreme
    assert pair.tests["randomisation"] == pytest.approx(2 / 8, abs=0.03)
    assert discomt({"a": TEN, "b": better[:-1]}, FEW).pairs == {}


def test_json() -> None:
    document = discomt({"a": TEN, "b": TEN}, FEW).to_dict()
    assert document["system"] == "a"
    assert set(OVERALL) < set(document)
    assert document["accuracy"]["value"] == 0.6
    low, high = document["accuracy"]["interval"]
    assert low < 0.6 < high
    assert set(document["classes"]) == {"ce", "elle", "il", "other"}
    assert set(document["classes"]["il"]) == {"translated", "correct", "accepted", *BY_CLASS}
    assert set(document["systems"]) == {"a", "b"}
    assert {pair["measure"] for pair in document["pairs"]} == set(OVERALL)
    assert document["signature"] == "discomt|classes:ce,elle,il,other|recall:lenient|ci:bs200|seed:12345"


def test_nothing_to_measure() -> None:
    with pytest.raises(AnaphoraError, match="no annotated pronouns"):
        discomt({"a": []})


CLASSES = ["il", "elle", "ce", "other"]
SINGLE = st.lists(st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES)), min_size=1, max_size=30)


@settings(derandomize=True, deadline=None)
@given(SINGLE)
def test_with_one_option_each_this_is_plain_classification(rows: Sequence[tuple[str, str]]) -> None:
    """As in the prediction tasks: accuracy, recall by class, and its mean over the classes of the gold standard."""
    result = discomt({"a": items(*rows)}, Resampling(100)).systems["a"]
    gold = [accepted for _, accepted in rows]
    recalls = {name: sum(t == name == g for t, g in rows) / gold.count(name) for name in CLASSES if gold.count(name)}
    assert result.overall["macro_recall"].value == pytest.approx(sum(recalls.values()) / len(recalls))
    assert result.overall["accuracy"].value == pytest.approx(sum(t == g for t, g in rows) / len(rows))
    for name, recall in recalls.items():
        assert result.classes[name]["recall"].value == pytest.approx(recall)
        assert result.classes[name]["strict_recall"].value == pytest.approx(recall)


OPTIONS = st.lists(st.sampled_from(CLASSES), max_size=3).map(" ".join)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(CLASSES), OPTIONS), min_size=1, max_size=30))
def test_lenient_recall_is_never_lower(rows: Sequence[tuple[str, str]]) -> None:
    for measures in discomt({"a": items(*rows)}, Resampling(100)).systems["a"].classes.values():
        lenient, strict = measures["recall"].value, measures["strict_recall"].value
        assert (lenient is None) == (strict is None)
        assert (lenient or 0) >= (strict or 0)
