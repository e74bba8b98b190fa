"""JSON of other commands in a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.reports.chapters import Chapter
from anaphora.reports.charts import Group, assign_styles, dots
from anaphora.reports.results import lines_by_suite, other_chapters, read_results

STYLES = assign_styles(["x", "one", "two"])


def chapters_of(paths: list[Path]) -> list[Chapter]:
    return other_chapters(read_results(paths), {"nmt:x": "x", "one": "one", "two": "two"}, STYLES)


APT = {
    "apt": 0.5,
    "cases": [1, 2, 3, 4, 5, 6],
    "systems": {
        "one": {
            "apt": 0.5,
            "interval": [0.4, 0.6],
            "cases": [10, 2, 3, 4, 5, 6],
            "signature": "apt|x",
            "languages": "en-fr",
        },
        "two": {"apt": 0.25, "interval": [0.2, 0.3], "cases": [1, 2, 3, 4, 5, 6], "signature": "apt|x"},
    },
}
GENERATIVE = {
    "systems": {
        "one": {
            "suite": "small",
            "system": "one",
            "total": 4,
            "accuracy": 0.75,
            "interval": [0.3, 0.95],
            "found_by": {"link": 4},
            "gap": {"contrastive_accuracy": 1.0},
            "signature": "gen|x",
        }
    }
}
OWN = {
    "systems": {
        "one": {
            "suite": "small",
            "system": "one",
            "antecedent": "own",
            **{"total": 10, "agrees": 6, "disagrees": 2, "not_found": 1, "unclear": 1, "decided": 8},
            **{"agreement": 0.75, "interval": [0.4, 0.93], "accuracy_by_reference": 0.5, "signature": "gen|ante:own"},
        }
    }
}
USAGE = {
    "suite": "small",
    "system": "nmt:x",
    "conditions": {
        "none": {"sentences": 0, "total": 4, "accuracy": 0.25, "interval": [0.1, 0.6]},
        "1 sentence": {"sentences": 1, "total": 4, "accuracy": 0.75, "interval": [0.4, 0.9]},
        "random": {"sentences": 1, "total": 4, "accuracy": 0.3, "interval": [0.1, 0.6]},
    },
}


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(name: str, document: Any) -> Path:
        path = tmp_path / name
        path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return path

    return write


def test_each_kind_is_a_chapter(written: Any) -> None:
    paths = [written("apt.json", APT), written("usage.json", USAGE), written("gen.json", GENERATIVE)]
    chapters = {chapter.title: chapter.parts for chapter in chapters_of(paths)}
    assert list(chapters) == ["Reference-based accuracy", "Context", "Own translations"]
    for (part,) in chapters.values():
        assert part.svg
        assert part.table
    rows = [row.cells for row in chapters["Reference-based accuracy"][0].table.rows]  # type: ignore[union-attr]
    assert rows[0] == ("one", "10", "2", "3", "4", "5", "6", "0.500", "[0.400, 0.600]")
    assert "random context" in str(chapters["Context"][0].svg)
    assert "one writes the right word in 75.0 %, prefers it in 100.0 %" in str(chapters["Own translations"][0].svg)


def test_own_antecedents_are_a_chapter(written: Any) -> None:
    (chapter,) = chapters_of([written("own.json", OWN)])
    assert chapter.title == "Own antecedents"
    assert "one: 75.0 % of 8 agree" in str(chapter.parts[0].svg)
    (row,) = chapter.parts[0].table.rows  # type: ignore[union-attr]
    assert row.cells == ("one", "10", "6", "2", "1", "1", "0.750", "[0.400, 0.930]", "0.500")
    (sentence,) = chapter.summary
    assert "agrees with its own antecedent in 75.0 % of the 8 decided cases" in sentence
    undecided = {**OWN["systems"]["one"], "agreement": None, "decided": 0, "accuracy_by_reference": None}
    (chapter,) = chapters_of([written("own.json", {"systems": {"one": undecided}})])
    assert chapter.summary == ()


def test_each_result_has_a_word_in_the_summary(written: Any) -> None:
    paths = [written("apt.json", APT), written("usage.json", USAGE), written("gen.json", GENERATIVE)]
    assert [word for chapter in chapters_of(paths) for word in chapter.summary] == [
        "By APT, pronouns compared with the reference translation (en→fr), one has 0.500 [0.400, 0.600] and "
        "two has 0.250 [0.200, 0.300].",
        "x is right in 25.0 % of small without context, in 75.0 % with 1 sentence of context, with random context in "
        "30.0 %.",
        "In its own translations of small (4 examples) one writes the right word in 75.0 %, prefers it in 100.0 %.",
    ]


def test_systems_have_one_color_in_all_charts(written: Any) -> None:
    paths = [written("apt.json", APT), written("gen.json", GENERATIVE)]
    apt, generative = (str(chapter.parts[0].svg) for chapter in chapters_of(paths))
    one, two = (STYLES[name].color for name in ("one", "two"))
    assert one in apt
    assert two in apt
    assert one in generative
    assert two not in generative


def test_two_of_a_kind_share_a_chapter(written: Any) -> None:
    (chapter,) = chapters_of([written("a.json", APT), written("b.json", APT)])
    assert [part.name for part in chapter.parts] == ["apt-a", "apt-b"]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ('{"a":\n', "not JSON"),
        ("[1]", "a JSON object is expected"),
        ({"accuracy": 0.5}, "an unknown kind of result"),
        ({**APT, "systems": {"one": {"apt": 0.5}}}, "not as expected"),
        ({**USAGE, "conditions": 3}, "not as expected"),
        ({**USAGE, "conditions": {"0": {"sentences": 0, "accuracy": 0.5, "interval": [0.4, None]}}}, "not as expected"),
    ],
)
def test_bad_results_are_named(written: Any, document: Any, problem: str) -> None:
    with pytest.raises(BadInput, match=problem) as error:
        chapters_of([written("bad.json", document)])
    assert "bad.json" in str(error.value)


BASELINE = {"accuracy": 0.5, "interval": [0.4, 0.6], "total": 10}
BASELINES = {
    **{"suite": "small", "sha256": "5" * 64, "languages": "en-de", "confidence": 0.95, "signature": "base|x"},
    **{"majority": {**BASELINE, "choice": "er"}, "length": {**BASELINE, "choice": "shortest"}},
    "context_blind": {**BASELINE, "accuracy": 0.9, "repeated": 3},
    "bag_of_words": {"current": BASELINE, "source_context": None, "target_context": {**BASELINE, "accuracy": 0.625}},
    "several_words": {"share": 0.5, "interval": [0.4, 0.6], "count": 5, "total": 10},
    **{"priors": 1, "notes": ["source_context: the suite has no words there"]},
}


def test_baselines_are_a_table_and_lines_of_their_suite(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(json.dumps(BASELINES))
    (chapter,) = chapters_of([path])
    (part,) = chapter.parts
    best = "the baseline “bag of words: target context”"
    assert chapter.summary == (f"Without understanding, {best} gets 62.5 % of small right.",)
    assert part.table is not None
    assert [row.cells[2] for row in part.table.rows] == ["0.500", "0.500", "0.900", "0.500", "0.625"]
    lines = lines_by_suite(read_results([path]))["5" * 64]
    assert lines["bag of words: target context"] == 0.625
    assert "context-blind bound" not in lines, "an upper bound is no baseline"
    figure = Group("small", "n = 10", {}, baselines=lines)
    assert "bag of words: target context 62.5 %" in dots("Accuracy", [figure], STYLES)


def test_incomplete_baselines_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(json.dumps({**BASELINES, "bag_of_words": {"current": BASELINE}}))
    with pytest.raises(BadInput, match="not as expected"):
        read_results([path])
