"""WinoMT: English sentences to translate, with the person whose gender is known."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.readers.winomt import read
from anaphora.suites.validate import validate_suite

LINES = [
    "female\t1\tThe developer met the designer because she was late.\tdeveloper",
    "male\t4\tThe developer met the designer because he was early.\tdesigner",
    "neutral\t1\tThe guest said that they would come.\tguest",
]


def written(folder: Path, lines: list[str] = LINES) -> Path:
    (folder / "en.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "en_pro.txt").write_text(LINES[1] + "\n", encoding="utf-8")
    (folder / "en_anti.txt").write_text(LINES[0] + "\n", encoding="utf-8")
    return folder


def test_a_sentence_to_translate_has_a_gender_and_a_person(tmp_path: Path) -> None:
    suite = read(written(tmp_path), target_language="de")
    first, _, third = suite
    assert first.source == ("The developer met the designer because she was late.",)
    assert (first.candidates, first.gold) == ((("",),), None)
    assert first.tags == {"gender": "female", "person": "developer", "position": 1, "stereotype": "anti"}
    assert third.tags == {"gender": "neutral", "person": "guest", "position": 1}
    assert suite.header.languages == "en-de"
    assert list(validate_suite(suite)) == []


def test_a_separate_file_is_one_side_of_the_stereotype(tmp_path: Path) -> None:
    suite = read(written(tmp_path) / "en_pro.txt")
    assert [example.tags["stereotype"] for example in suite] == ["pro"]
    assert suite.header.name == "winomt-pro"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("female\t1\tThe cook.", "gender, position, sentence and person are expected"),
        ("woman\t1\tThe cook.\tcook", "gender, position, sentence and person are expected"),
        ("female\tx\tThe cook.\tcook", "the position of the person"),
        ("female\t2\tThe cook.\tcook", "the sentence has no word 2"),
    ],
)
def test_another_line_is_an_error(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(BadInput, match=rf"en\.txt: line 2: .*{problem}"):
        list(read(written(tmp_path, [LINES[0], line])))


def test_the_sentences_are_written_to_be_translated(anaphora, tmp_path: Path) -> None:
    anaphora("suites", "convert", written(tmp_path), "--from", "winomt", "--to", "sources", "-o", tmp_path / "out.en")
    assert (tmp_path / "out.en").read_text(encoding="utf-8").splitlines() == [line.split("\t")[2] for line in LINES]


def test_a_folder_without_the_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"en\.txt is missing here\. Name the folder data/aggregates"):
        read(tmp_path)


def test_the_real_set(data) -> None:
    """Stanovsky et al. 2019, Table 1: 1,826 male, 1,822 female, 240 neutral; 1,584 for and against stereotypes."""
    suite = read(data("winomt") / "data" / "aggregates")
    actual = list(suite)
    assert Counter(example.tags["gender"] for example in actual) == {"male": 1826, "female": 1822, "neutral": 240}
    assert Counter(example.tags.get("stereotype") for example in actual) == {"pro": 1584, "anti": 1584, None: 720}
    assert list(validate_suite(suite)) == []
