"""CTXPRO: passages that need their context, and the word that a right translation has."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.readers.ctxpro import read
from anaphora.suites.validate import validate_suite

RECORDS = [
    {
        "src pronoun": "it",
        "expected": "sie",
        "ante distance": 1,
        "ref segment": "Sie ist kaputt.",
        "src segment": "It broke.",
        "document id": "de-en/2017/1_2_3",
        "rule": "NOM.FEM.SING",
    },
    {
        "src verb": "did",
        "expected": "ging",
        "ref segment": "Er ging.",
        "src segment": "He did.",
        "document id": "de-en/2017/1_2_3",
        "rule": "DO.ELL",
    },
]
LINES = ["Look.<eos> The lamp fell.<eos> It broke.", "He did."]


def written(folder: Path, records: Any = RECORDS, lines: list[str] = LINES) -> Path:
    path = folder / "gender.opensubtitles.en-de.test"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / f"{path.name}.json").write_text(json.dumps(records), encoding="utf-8")
    return path


def test_a_passage_has_its_reference_and_the_expected_word(tmp_path: Path) -> None:
    suite = read(written(tmp_path))
    example = next(iter(suite))
    assert example.source == ("Look.", "The lamp fell.", "It broke.")
    assert example.candidates == (("", "", "Sie ist kaputt."),)
    assert example.gold is None  # there is no wrong translation to choose
    assert example.tags == {
        "expected": "sie",
        "rule": "NOM.FEM.SING",
        "document": "de-en/2017/1_2_3",
        "source_pronoun": "it",
        "distance": 1,
    }
    assert (suite.header.name, suite.header.languages) == ("ctxpro-gender-opensubtitles-en-de-test", "en-de")
    assert list(validate_suite(suite)) == []


def test_a_short_passage_is_filled_up(tmp_path: Path) -> None:
    assert list(read(written(tmp_path)))[1].source == ("", "", "He did.")


def test_fewer_sentences_of_context(tmp_path: Path) -> None:
    sources = [example.source for example in read(written(tmp_path), context=1)]
    assert sources == [("The lamp fell.", "It broke."), ("", "He did.")]
    assert [example.source for example in read(tmp_path / "gender.opensubtitles.en-de.test", context=0)] == [
        ("It broke.",),
        ("He did.",),
    ]


def test_the_json_file_names_the_set_as_well(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert list(read(path.with_name(f"{path.name}.json"))) == list(read(path))


def test_a_record_of_another_line_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"en-de\.test: line 1: the last sentence is not that of record 1: 'He did\.'"):
        list(read(written(tmp_path, RECORDS[::-1])))


def test_more_lines_than_records_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"2 lines, but gender\.opensubtitles\.en-de\.test\.json has 1 records"):
        list(read(written(tmp_path, RECORDS[:1])))


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ({}, "a JSON list of records"),
        ([1, 2], "record 1 is not an object"),
        ([RECORDS[0] | {"expected": None}, RECORDS[1]], "'expected' must be"),
        ([{k: v for k, v in RECORDS[0].items() if k != "rule"}, RECORDS[1]], "'rule' is missing"),
    ],
)
def test_records_of_another_shape_are_an_error(tmp_path: Path, records: Any, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        list(read(written(tmp_path, records)))


def test_a_set_without_records_is_an_error(tmp_path: Path) -> None:
    """The records of the large sets are not in every copy."""
    path = written(tmp_path)
    path.with_name(f"{path.name}.json").unlink()
    with pytest.raises(BadInput, match=r"en-de\.test\.json: is missing\. A set is a file such as"):
        read(path)


def test_a_name_without_languages_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the file name does not contain the languages"):
        read(tmp_path / "subtitles.txt")


# the real sets that have records (data/ctxpro/README.md)


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("auxiliary.opensubtitles.en-de.test", {"DO.ELL": 2823, "WILL.ELL": 257, "WOULD.ELL": 100}),
        ("auxiliary.opensubtitles.en-fr.test", {"DO.ELL": 5000, "WILL.ELL": 2591, "WOULD.ELL": 731}),
        (
            "mini.formality.opensubtitles.en-de.test",
            {f"{c}.{f}": 1200 for c in ("NOM", "ACC", "DAT") for f in ("FORM+PLUR", "INFORM.PLUR", "INFORM.SING")},
        ),
    ],
)
def test_the_real_sets(data, name: str, rules: dict[str, int]) -> None:
    """The rules as grep counts them in the JSON files."""
    suite = read(data("ctxpro") / f"{name}.gz")
    actual = list(suite)
    assert Counter(example.tags["rule"] for example in actual) == rules
    assert {len(example.source) for example in actual} == {5}
    assert list(validate_suite(suite)) == []


def test_generative_looks_for_the_expected_word(anaphora, data, tmp_path: Path) -> None:
    """`generative` on DeepL's own translations: as many as a plain search for the word finds."""
    position, name = data("ctxpro"), "auxiliary.opensubtitles.en-de.test"
    suite = tmp_path / "suite.jsonl"
    anaphora("suites", "convert", position / f"{name}.gz", "--from", "ctxpro", "--limit", "300", "-o", suite)
    with gzip.open(position / f"deepl.{name}.sentences.gz", "rt", encoding="utf-8") as lines:
        translations = [next(lines) for _ in range(300)]
    (tmp_path / "deepl.de").write_text("".join(translations), encoding="utf-8")
    done = anaphora("generative", suite, "-t", tmp_path / "deepl.de", "--aligner", "builtin", "--json")
    figures = json.loads(done.stdout)["systems"]
    (system,) = figures.values()
    expected = [example.tags["expected"] for example in read(position / f"{name}.gz")][:300]
    words = [{word.strip('.,!?-"…:;').lower() for word in line.split()} for line in translations]
    searched = sum(str(word).lower() in line for word, line in zip(expected, words, strict=True))
    assert abs(system["correct"] - searched) <= 2  # words that end in other punctuation
    assert system["wrong"] == 0
    assert system["total"] == 300
