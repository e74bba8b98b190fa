"""The pronoun classes of the shared tasks: forms of one class, and everything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages import names_with
from anaphora.languages.pronouns import class_of, pronoun_classes
from anaphora.metrics.discomt import BY_CLASS, OVERALL, Item, discomt, read_annotations
from anaphora.stats.resampling import Resampling


@pytest.mark.parametrize(
    ("word", "language", "expected"),
    [
        ("Ils", "fr", "ils"),
        ("c'", "fr", "ce"),
        ("C’", "fr", "ce"),
        ("c&apos;", "fr", "ce"),
        ("ça", "fr", "cela"),
        ("ça/cela", "fr", "cela"),
        ("lui", "fr", "other"),
        ("OTHER", "fr", "other"),
        ("sie", "de", "sie"),
        ("ihn", "de", "other"),
        ("that", "en", "this"),
        ("Ono", "cs", "ono"),
        ("Other", "", "other"),
    ],
)
def test_classes(word: str, language: str, expected: str) -> None:
    assert class_of(word, language) == expected


def test_no_form_is_of_two_classes() -> None:
    for classes in map(pronoun_classes, names_with("classes")):
        forms = [form for group in classes.values() for form in group]
        assert len(forms) == len(set(forms))
        assert all(name in group for name, group in classes.items())


# Gap-filling annotations as a table: options, bad translations, classes, systems in step; and what is wrong.

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def table(*rows: str) -> Path:
        path = tmp_path / "gaps.tsv"
        path.write_text("".join("\t".join(row.split("/")) + "\n" for row in rows), encoding="utf-8")
        return path

    return table


def test_one_system(write: Write) -> None:
    path = write("item/translation/accepted", "1/Il/il, ce", "2/c'/Bad translation", "3/lui/other", "4/ça/cela|ce")
    assert read_annotations(path, "fr") == {
        "gaps.tsv": [
            Item("1", "il", frozenset({"il", "ce"})),
            Item("2", "ce", frozenset()),
            Item("3", "other", frozenset({"other"})),
            Item("4", "cela", frozenset({"cela", "ce"})),
        ]
    }
    assert read_annotations(path)["gaps.tsv"][2].translation == "lui"


def test_several_systems_are_put_in_step(write: Write) -> None:
    header = "system/item/accepted/translation"
    path = write(header, "a/1/il/il", "b/2/ce/il", "a/2/il/ce", "b/1/il/il")
    annotations = read_annotations(path)
    assert {name: [item.id for item in items] for name, items in annotations.items()} == {
        "a": ["1", "2"],
        "b": ["1", "2"],
    }
    path = write(header, "a/1/il/il", "b/2/ce/il")
    assert [item.id for item in read_annotations(path)["b"]] == ["2"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["item/translation", "1/il"], r"line 1: no column 'accepted'.*The columns are item, translation, accepted"),
        (["item/translation/accepted", "1/il/"], r"line 2: the column 'accepted' is empty"),
        (["item/translation/accepted", "1//il"], r"line 2: the column 'translation' is empty"),
        (["item/translation/accepted", "1/il/il, bad"], r"line 2: a bad translation has no other options"),
        (["item/translation/accepted", "1/il/il", "1/il/il"], r"line 3: item '1' occurs twice for the same system"),
        (["item/translation/accepted"], r"gaps\.tsv: no rows"),
    ],
)
def test_what_is_wrong(write: Write, rows: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_annotations(write(*rows))


# The DiscoMT measures: counted by hand, and as plain classification where each item has one option.

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
    actual = {name: measure.value for name, measure in result.overall.items()}
    assert actual == pytest.approx(
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
    assert pair.tests["randomization"] == pytest.approx(2 / 8, abs=0.03)
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


CLASSES_MEASURES = ["il", "elle", "ce", "other"]
SINGLE = st.lists(
    st.tuples(st.sampled_from(CLASSES_MEASURES), st.sampled_from(CLASSES_MEASURES)), min_size=1, max_size=30
)


@settings(derandomize=True)
@given(SINGLE)
def test_with_one_option_each_this_is_plain_classification(rows: Sequence[tuple[str, str]]) -> None:
    """As in the prediction tasks: accuracy, recall by class, and its mean over the classes of the gold standard."""
    result = discomt({"a": items(*rows)}, Resampling(100)).systems["a"]
    gold = [accepted for _, accepted in rows]
    recalls = {
        name: sum(t == name == g for t, g in rows) / gold.count(name) for name in CLASSES_MEASURES if gold.count(name)
    }
    assert result.overall["macro_recall"].value == pytest.approx(sum(recalls.values()) / len(recalls))
    assert result.overall["accuracy"].value == pytest.approx(sum(t == g for t, g in rows) / len(rows))
    for name, recall in recalls.items():
        assert result.classes[name]["recall"].value == pytest.approx(recall)
        assert result.classes[name]["strict_recall"].value == pytest.approx(recall)


OPTIONS = st.lists(st.sampled_from(CLASSES_MEASURES), max_size=3).map(" ".join)


@settings(derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(CLASSES_MEASURES), OPTIONS), min_size=1, max_size=30))
def test_lenient_recall_is_never_lower(rows: Sequence[tuple[str, str]]) -> None:
    for measures in discomt({"a": items(*rows)}, Resampling(100)).systems["a"].classes.values():
        lenient, strict = measures["recall"].value, measures["strict_recall"].value
        assert (lenient is None) == (strict is None)
        assert (lenient or 0) >= (strict or 0)
