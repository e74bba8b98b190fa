"""Gap-filling annotations as a table: options, bad translations, classes, systems in step; and what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.metrics.discomt.file import read_annotations
from anaphora.metrics.discomt.measures import Item

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
    found = read_annotations(path)
    assert {name: [item.id for item in items] for name, items in found.items()} == {"a": ["1", "2"], "b": ["1", "2"]}
    path = write(header, "a/1/il/il", "b/2/ce/il")
    assert [item.id for item in read_annotations(path)["b"]] == ["2"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["item/translation", "1/il"], r"line 1: no column 'accepted'.*The columns are item, translation, accepted"),
        (["item/translation/accepted", "1/il/"], r"line 2: nothing in the column 'accepted'"),
        (["item/translation/accepted", "1//il"], r"line 2: nothing in the column 'translation'"),
        (["item/translation/accepted", "1/il/il, bad"], r"line 2: a bad translation has no other options"),
        (["item/translation/accepted", "1/il/il", "1/il/il"], r"line 3: item '1' a second time for the same system"),
        (["item/translation/accepted"], r"gaps\.tsv: no rows"),
    ],
)
def test_what_is_wrong(write: Write, rows: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_annotations(write(*rows))
