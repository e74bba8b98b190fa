"""Voita et al. 2019: EN-RU sets of four sentences for deixis, lexical cohesion and ellipsis. What must be consistent
may be in any of the four, so candidates differ in any of their sentences."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.example import Example
from anaphora.suites.readers.voita import read

ITEM = {
    "src": "You came . _eos Sit down . _eos Tea ? _eos You like it .",
    "dst": [
        "Ты пришёл . _eos Сядь . _eos Чаю ? _eos Ты любишь .",
        "Ты пришёл . _eos Сядь . _eos Чаю ? _eos Вы любите .",
        "Вы пришли . _eos Сядьте . _eos Чаю ? _eos Ты любишь .",
    ],
    "true_ind": 0,
    "ctx_dist": 3,
}


def written(folder: Path, *items: Any, name: str = "deixis_dev.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(items), encoding="utf-8")
    return path


def test_sentences_are_split_at_the_mark_and_may_differ_anywhere(tmp_path: Path) -> None:
    suite = read(written(tmp_path, ITEM))
    assert (suite.header.name, suite.header.languages) == ("voita-deixis-dev", "en-ru")
    assert suite.header.breakdowns == ("phenomenon", "distance", "phenomenon×distance")
    assert list(suite) == [
        Example(
            "deixis_dev/0",
            ("You came .", "Sit down .", "Tea ?", "You like it ."),
            (
                ("Ты пришёл .", "Сядь .", "Чаю ?", "Ты любишь ."),
                ("Ты пришёл .", "Сядь .", "Чаю ?", "Вы любите ."),
                ("Вы пришли .", "Сядьте .", "Чаю ?", "Ты любишь ."),  # in two sentences, not in the last
            ),
            0,
            {"phenomenon": "deixis", "distance": 3},
        )
    ]


def test_the_right_candidate_is_where_the_item_says(tmp_path: Path) -> None:
    examples = read(written(tmp_path, ITEM | {"true_ind": 2}, ITEM | {"true_ind": 1}))
    assert [(example.id, example.gold) for example in examples] == [("deixis_dev/0", 2), ("deixis_dev/1", 1)]


@pytest.mark.parametrize(
    ("name", "phenomenon"),
    [
        ("deixis_test.json", "deixis"),
        ("lex_cohesion_dev.json", "lexical cohesion"),
        ("ellipsis_infl.json", "ellipsis (inflection)"),
        ("ellipsis_vp.json.gz", "ellipsis (verb phrase)"),
    ],
)
def test_the_phenomenon_is_in_the_name_of_the_file(tmp_path: Path, name: str, phenomenon: str) -> None:
    (example,) = read(written(tmp_path, ITEM, name=name))
    assert example.tags["phenomenon"] == phenomenon


def test_a_folder_is_all_its_sets_and_nothing_else(tmp_path: Path) -> None:
    written(tmp_path, ITEM, ITEM, name="lex_cohesion_dev.json")
    written(tmp_path, ITEM, name="deixis_dev.json")
    (tmp_path / "README.md").write_text("Read me.", encoding="utf-8")
    suite = read(tmp_path)
    assert suite.header.name == "voita"
    assert [example.id for example in suite] == ["deixis_dev/0", "lex_cohesion_dev/0", "lex_cohesion_dev/1"]


def test_candidates_that_are_the_same_are_kept_as_published(tmp_path: Path) -> None:
    same = ITEM | {"dst": [ITEM["dst"][0], ITEM["dst"][0]]}
    (example,) = read(written(tmp_path, same))
    assert example.candidates[0] == example.candidates[1]


def test_a_file_of_another_name_says_what_names_are_known(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"not one of the published sets\. File names begin with deixis, lex_cohesion, "):
        read(written(tmp_path, ITEM, name="other.json"))
    with pytest.raises(BadInput, match="not one of the published sets"):
        read(tmp_path)


@pytest.mark.parametrize(
    "bad", [{"src": "a"}, ITEM | {"dst": None}, ITEM | {"src": ["a", "b"]}, ITEM | {"dst": [1, 2]}, "text", None]
)
def test_an_item_of_another_shape_is_found_by_its_position(tmp_path: Path, bad: Any) -> None:
    suite = iter(read(written(tmp_path, ITEM, bad)))
    assert next(suite).id == "deixis_dev/0"
    with pytest.raises(BadInput, match=r"deixis_dev\.json: item 1: not an item with src"):
        next(suite)


# the real sets: 500 items each (data/voita-en-ru/README.md)


@pytest.mark.parametrize("name", ["deixis_dev", "lex_cohesion_dev", "ellipsis_infl"])
def test_the_real_sets_are_read_as_they_are(data, name: str) -> None:
    path = data("voita-en-ru") / f"{name}.json.gz"
    items = json.loads(gzip.decompress(path.read_bytes()))
    examples = list(read(path))
    assert len(examples) == 500
    for item, example in zip(items, examples, strict=True):
        assert " _eos ".join(example.source) == item["src"]
        assert [" _eos ".join(candidate) for candidate in example.candidates] == item["dst"]
        assert example.gold == item["true_ind"]
        assert example.tags["distance"] == item["ctx_dist"]
        assert {len(example.source), *map(len, example.candidates)} == {4}


def test_the_folder_holds_all_three(data) -> None:
    examples = list(read(data("voita-en-ru")))
    assert Counter(example.tags["phenomenon"] for example in examples) == {
        "deixis": 500,
        "lexical cohesion": 500,
        "ellipsis (inflection)": 500,
    }
    assert len({example.id for example in examples}) == 1_500


def test_thirteen_items_with_equal_candidates_are_kept(data) -> None:
    examples = list(read(data("voita-en-ru/ellipsis_infl.json.gz")))
    doubled = [example for example in examples if len(set(example.candidates)) < len(example.candidates)]
    assert len(doubled) == 13
    assert sum(len(set(example.candidates)) == 1 for example in doubled) == 1  # one in which all are equal
