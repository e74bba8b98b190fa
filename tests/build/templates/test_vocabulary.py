"""Vocabularies: a folder with a file per word class, ours or ContraCAT's."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from anaphora.build.templates.vocabulary import Entry, WordClass, is_released, read_classes, slug
from anaphora.core.errors import BadInput

PAIR = ("en", "de")


def tsv(folder: Path, name: str, *lines: str) -> Path:
    path = folder / f"{name}.tsv"
    path.write_text("".join(line.replace("|", "\t") + "\n" for line in lines), encoding="utf-8")
    return path


def released(folder: Path, name: str, document: Any) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return path


def entries(word_class: WordClass) -> list[tuple[str, str, str, str | None]]:
    return [(e.id, e.source, e.target, e.gender) for e in word_class.entries]


def test_a_table_names_its_columns(tmp_path: Path) -> None:
    tsv(tmp_path, "animal", "# pets", "en|de|gender", "dog|Hund|m", "", "guinea pig|Meerschweinchen|n")
    (animal,) = read_classes(tmp_path, PAIR).values()
    assert animal.name == "animal"
    assert animal.entries == (
        Entry("dog", "dog", "Hund", "m", "m", {}, line=3),
        Entry("guinea-pig", "guinea pig", "Meerschweinchen", "n", "n", {}, line=5),
    )


def test_other_columns_are_forms(tmp_path: Path) -> None:
    tsv(tmp_path, "adverb", "en|de|before|after", "a lot|viel|viel|-", "slowly|langsam||langsam", "well|gut")
    adverb = read_classes(tmp_path, PAIR)["adverb"]
    assert adverb.columns == {"before", "after"}
    assert [entry.forms for entry in adverb.entries] == [
        {"before": "viel", "after": ""},  # "-" is a form that is empty
        {"after": "langsam"},  # an empty cell is no form: rules decide
        {},
    ]


def test_ids_and_agreement_can_be_given(tmp_path: Path) -> None:
    tsv(tmp_path, "human", "id|en|de|gender", "doctor-m|doctor|Arzt|m", "doctor-f|doctor|Ärztin|f")
    tsv(tmp_path, "person", "en|de|agreement", "I|ich|1sg")
    classes = read_classes(tmp_path, PAIR)
    assert entries(classes["human"]) == [("doctor-m", "doctor", "Arzt", "m"), ("doctor-f", "doctor", "Ärztin", "f")]
    assert [(e.gender, e.agreement) for e in classes["person"].entries] == [(None, "1sg")]


def test_the_format_of_the_release(tmp_path: Path) -> None:
    released(tmp_path, "animal", {"bear": {"de": "Bär", "gender": "m"}, "cat": {"de": "Katze", "gender": "f"}})
    released(tmp_path, "human", {"doctor": {"f": "Ärztin", "m": "Arzt"}, "actor": {"m": "Schauspieler"}})
    released(tmp_path, "size", {"big": "groß"})
    released(tmp_path, "person", {"I": "ich habe", "you": ["du hast", "ihr habt"]})
    classes = read_classes(tmp_path, PAIR)
    assert entries(classes["animal"]) == [("bear", "bear", "Bär", "m"), ("cat", "cat", "Katze", "f")]
    assert entries(classes["human"]) == [
        ("doctor-f", "doctor", "Ärztin", "f"),
        ("doctor-m", "doctor", "Arzt", "m"),
        ("actor-m", "actor", "Schauspieler", "m"),
    ]
    assert entries(classes["size"]) == [("big", "big", "groß", None)]
    assert entries(classes["person"]) == [
        ("i", "I", "ich habe", None),
        ("you", "you", "du hast", None),
        ("you-2", "you", "ihr habt", None),
    ]
    assert is_released(tmp_path)


def test_a_table_is_not_in_the_format_of_the_release(tmp_path: Path) -> None:
    tsv(tmp_path, "animal", "en|de", "dog|Hund")
    assert not is_released(tmp_path)
    assert not is_released(tmp_path / "nowhere")


def test_files_may_be_gzipped(tmp_path: Path) -> None:
    (tmp_path / "animal.tsv.gz").write_bytes(gzip.compress(b"en\tde\tgender\ndog\tHund\tm\n"))
    (tmp_path / "size.json.gz").write_bytes(gzip.compress(b'{"big": "gro\\u00df"}'))
    classes = read_classes(tmp_path, PAIR)
    assert [entries(classes[name])[0][2] for name in ("animal", "size")] == ["Hund", "groß"]
    assert is_released(tmp_path)


@pytest.mark.parametrize(("gender", "has"), [("", "no gender"), ("x", "gender 'x'")])
def test_an_entry_without_gender_is_named_with_its_line(tmp_path: Path, gender: str, has: str) -> None:
    tsv(tmp_path, "animal", "en|de|gender", "dog|Hund|m", f"cat|Katze|{gender}")
    animal = read_classes(tmp_path, PAIR)["animal"]
    with pytest.raises(BadInput, match=rf"animal\.tsv: line 3: 'cat' has {has}\. Give it one of m, f, n\."):
        animal.require_genders(("m", "f", "n"))


def test_and_so_it_is_in_the_format_of_the_release(tmp_path: Path) -> None:
    released(tmp_path, "animal", {"bear": {"de": "Bär", "gender": "m"}, "cat": {"de": "Katze"}})
    animal = read_classes(tmp_path, PAIR)["animal"]
    with pytest.raises(BadInput, match=r"animal\.json: line 6: 'cat' has no gender\."):
        animal.require_genders(("m", "f", "n"))


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            ["english|de", "dog|Hund"],
            r"line 1: no column 'en'\. The first line names the columns",
        ),
        (["en|de", "dog|Hund|m"], r"line 2: 3 cells, but the first line names 2 columns"),
        (["en|de", "dog|"], r"line 2: the column 'de' is empty"),
        (["en|de", "dog|Hund", "Dog|Hündin"], r"line 3: two entries have the id 'dog'\. Drop one, or tell them apart"),
        (["en|de"], r"animal\.tsv: the file has no words"),
        ([], r"line 1: no column 'en'"),
    ],
)
def test_a_table_that_is_none_says_where(tmp_path: Path, lines: list[str], problem: str) -> None:
    tsv(tmp_path, "animal", *lines)
    with pytest.raises(BadInput, match=problem):
        read_classes(tmp_path, PAIR)


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (["dog"], r"animal\.json: not an object of words"),
        ({"dog": {}}, r"animal\.json: line 2: 'dog' has no translation"),
        ({"dog": 3}, r"'dog' has no translation"),
        ({"dog": {"de": ""}}, r"'dog' has no translation"),
        ({}, r"animal\.json: the file has no words"),
    ],
)
def test_a_json_file_that_is_none_says_where(tmp_path: Path, document: Any, problem: str) -> None:
    released(tmp_path, "animal", document)
    with pytest.raises(BadInput, match=problem):
        read_classes(tmp_path, PAIR)


def test_a_class_is_in_one_file(tmp_path: Path) -> None:
    tsv(tmp_path, "animal", "en|de", "dog|Hund")
    released(tmp_path, "animal", {"dog": "Hund"})
    with pytest.raises(BadInput, match=r"the class 'animal' is also in animal\.json"):
        read_classes(tmp_path, PAIR)


def test_a_folder_without_words_says_what_belongs_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"the folder has no \.tsv or \.json file"):
        read_classes(tmp_path, PAIR)
    with pytest.raises(BadInput, match=r"no such folder\. A vocabulary is a folder with"):
        read_classes(tmp_path / "nowhere", PAIR)


def test_words_as_parts_of_ids() -> None:
    assert [slug(word) for word in ("hot dog", "I", "T-shirt", "bird's nest", "café")] == [
        *("hot-dog", "i", "t-shirt", "bird-s-nest", "café"),
    ]
