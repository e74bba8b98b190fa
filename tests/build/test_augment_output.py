"""Line files to fine-tune on, and everything as JSON Lines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from anaphora.build.augment import Augmented, Statistics
from anaphora.build.augment_output import statistics_document, write_augmented

# The example of ContraCAT, §7.
RED = Augmented(
    document="7",
    sentence=3,
    line=40,
    source=("I told you before.", "It is red."),
    target=("Ich habe dir schonmal gesagt.", "Es ist rot."),
    pronoun="Es",
    case="Nom",
    antecedent="the car",
    distance=2,
    confidence=0.51239,
    targets={
        "Masc": ("Ich habe dir schonmal gesagt.", "Er ist rot."),
        "Fem": ("Ich habe dir schonmal gesagt.", "Sie ist rot."),
    },
)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_the_files(tmp_path: Path) -> None:
    paths = write_augmented([RED], tmp_path / "out")
    names = ["candidates.en", "candidates.de", "augmented.en", "augmented.de", "augmented.jsonl"]
    assert [path.name for path in paths] == names
    assert lines(paths[0]) == ["I told you before. <SEP> It is red."]
    assert lines(paths[1]) == ["Ich habe dir schonmal gesagt. <SEP> Es ist rot."]
    assert lines(paths[2]) == ["I told you before. <SEP> It is red."] * 3
    assert lines(paths[3]) == [
        "Ich habe dir schonmal gesagt. <SEP> Es ist rot.",
        "Ich habe dir schonmal gesagt. <SEP> Er ist rot.",
        "Ich habe dir schonmal gesagt. <SEP> Sie ist rot.",
    ]
    (record,) = map(json.loads, lines(paths[4]))
    assert record == {
        "document": "7",
        "sentence": 3,
        "line": 40,
        "source": ["I told you before.", "It is red."],
        "target": ["Ich habe dir schonmal gesagt.", "Es ist rot."],
        "pronoun": "Es",
        "case": "Nom",
        "antecedent": "the car",
        "distance": 2,
        "confidence": 0.5124,
        "targets": {
            "Masc": ["Ich habe dir schonmal gesagt.", "Er ist rot."],
            "Fem": ["Ich habe dir schonmal gesagt.", "Sie ist rot."],
        },
    }


def test_equal_new_targets_are_written_once(tmp_path: Path) -> None:
    """`ihr` becomes `ihm` for two genders."""
    same = {"Masc": ("x", "mit ihm"), "Neut": ("x", "mit ihm")}
    paths = write_augmented([replace(RED, target=("x", "mit ihr"), targets=same)], tmp_path, separator="|")
    assert lines(paths[3]) == ["x|mit ihr", "x|mit ihm"]
    assert len(lines(paths[2])) == 2


def test_nothing_is_left_of_an_interrupted_run(tmp_path: Path) -> None:
    def broken() -> object:
        yield RED
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_augmented(broken(), tmp_path / "out")  # type: ignore[arg-type]
    assert list((tmp_path / "out").iterdir()) == []


def test_statistics() -> None:
    statistics = Statistics(documents=2, sentences=9, new=4)
    statistics.outcomes.update(["candidate", "candidate", "event"])
    statistics.pronouns.update(["es", "er"])
    assert statistics_document(statistics, files=["x"]) == {
        "documents": 2,
        "sentences": 9,
        "pronouns": 3,
        "candidates": 2,
        "new_examples": 4,
        "outcomes": {"candidate": 2, "event": 1},
        "german_pronouns": {"es": 1, "er": 1},
        "files": ["x"],
    }
