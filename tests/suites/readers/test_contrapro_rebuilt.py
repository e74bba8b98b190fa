"""ContraPro rebuilt from the ContraCAT release: the 12,000 items in their order with one sentence of context, and for
4,272 of them the original record (data/contrapro/README.md)."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.example import Example
from anaphora.suites.readers import contrapro
from anaphora.suites.readers.contrapro import read_rebuilt as read

NAME = "contrapro_reconstructed.jsonl"


def item(**changes: Any) -> dict[str, Any]:
    return {
        "id": 17,
        "src": "it is old.",
        "ref": "Sie ist alt.",
        "contrastive": ["Er ist alt.", "Es ist alt."],
        "contrastive_pronoun": ["er", "es"],
        "src_context": "look at that lamp.",
        "ref_context": "sieh die Lampe.",
        "ref_pronoun": "sie",
    } | changes


def written(folder: Path, *items: Any) -> Path:
    path = folder / NAME
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in items), encoding="utf-8")
    return path


def test_an_item_without_a_record(tmp_path: Path) -> None:
    assert list(read(written(tmp_path, item()))) == [
        Example(
            id="17",
            source=("look at that lamp.", "it is old."),
            candidates=(
                ("sieh die Lampe.", "Sie ist alt."),
                ("sieh die Lampe.", "Er ist alt."),
                ("sieh die Lampe.", "Es ist alt."),
            ),
            gold=0,
            tags={
                "source_pronoun": "it",
                "reference_pronoun": "sie",
                "pronoun_pair": "it:sie",
                "candidate_pronouns": ["sie", "er", "es"],
            },
        )
    ]


def test_an_item_with_its_original_record(tmp_path: Path) -> None:
    record = {
        "src pronoun": "It",
        "ref pronoun": "Sie",
        "ante distance": 1,
        "intrasegmental": False,
        "document id": "1999_1_2.de",
        "segment id": 4,
        "ref ante head gender": "Fem",
        "src ante head gender": None,
    }
    (example,) = read(written(tmp_path, item(contrapro=record)))
    assert example.tags == {
        "source_pronoun": "it",
        "reference_pronoun": "sie",
        "pronoun_pair": "it:sie",
        "candidate_pronouns": ["sie", "er", "es"],
        "distance": 1,
        "location": "external",
        "document": "1999_1_2.de",
        "sentence": 4,
        "target_antecedent_head_gender": "Fem",
    }


def test_no_context_is_an_empty_sentence(tmp_path: Path) -> None:
    (example,) = read(written(tmp_path, item(src_context="", ref_context="")))
    assert example.source == ("", "it is old.")
    assert example.candidates[0] == ("", "Sie ist alt.")


def test_four_candidates_and_an_unknown_pronoun(tmp_path: Path) -> None:
    four = item(contrastive=["a", "b", "c"], contrastive_pronoun=["er", "es", None])
    (example,) = read(written(tmp_path, four))
    assert len(example.candidates) == 4
    assert example.tags["candidate_pronouns"] == ["sie", "er", "es", None]


@pytest.mark.parametrize("name", [NAME, f"{NAME}.gz"])
def test_the_folder_will_do_with_the_file_plain_or_gzipped(tmp_path: Path, name: str) -> None:
    content = written(tmp_path, item()).read_bytes()
    (tmp_path / NAME).unlink()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert [example.id for example in read(tmp_path)] == ["17"]


def test_a_folder_without_the_file_says_its_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"contrapro_reconstructed\.jsonl \(or .*\) is missing here"):
        list(read(tmp_path))


def test_the_header_says_that_this_is_not_the_original() -> None:
    header = read(Path("x")).header
    assert (header.name, header.languages) == ("contrapro-rebuilt", "en-de")
    assert header.breakdowns == contrapro.BREAKDOWNS
    assert "rebuilt" in header.licence


@pytest.mark.parametrize(
    "bad",
    ["{", "[]", "5", json.dumps({"id": 1}), json.dumps(item(contrastive=None)), json.dumps(item(contrapro={"x": 1}))],
)
def test_an_invalid_record_is_located_by_its_number(tmp_path: Path, bad: str) -> None:
    path = written(tmp_path, item())
    with path.open("a", encoding="utf-8") as out:
        out.write(f"{bad}\n")
    suite = iter(read(path))
    assert next(suite).id == "17"
    with pytest.raises(BadInput, match=rf"{NAME}: line 2: not a record of the rebuilt ContraPro"):
        next(suite)


# the real file; the figures are those of data/contrapro/README.md


@pytest.fixture(scope="module")
def examples(data) -> list[Example]:
    return list(read(data("contrapro")))


def test_there_are_12000_items_in_their_order(examples: list[Example]) -> None:
    assert [example.id for example in examples] == [str(number) for number in range(12_000)]


def test_there_are_36031_candidates(examples: list[Example]) -> None:
    assert Counter(len(example.candidates) for example in examples) == {3: 11_969, 4: 31}
    assert sum(len(example.candidates) for example in examples) == 36_031


def test_each_pronoun_is_the_reference_4000_times(examples: list[Example]) -> None:
    for tag, values in (
        ("reference_pronoun", ("er", "sie", "es")),
        ("pronoun_pair", ("it:er", "it:sie", "it:es")),
    ):
        assert Counter(example.tags[tag] for example in examples) == dict.fromkeys(values, 4_000)


def test_4272_items_know_the_distance_of_their_antecedent(examples: list[Example]) -> None:
    known = [example for example in examples if "distance" in example.tags]
    assert Counter(example.tags["distance"] for example in known) == {1: 3_210, 0: 1_062}
    assert Counter(example.tags["location"] for example in known) == {"external": 3_210, "intrasegmental": 1_062}
    assert {example.tags["reference_pronoun"] for example in known} == {"er", "sie"}


def test_six_items_have_no_context(examples: list[Example]) -> None:
    assert all(example.context_size == 1 for example in examples)
    empty = [example for example in examples if example.source[0] == ""]
    assert len(empty) == 6
    assert all(candidate[0] == "" for example in empty for candidate in example.candidates)


def test_the_text_is_that_of_the_file(examples: list[Example], data) -> None:
    with gzip.open(data("contrapro") / f"{NAME}.gz", "rt", encoding="utf-8") as stream:
        for example, line in zip(examples, stream, strict=True):
            row = json.loads(line)
            assert example.source == (row["src_context"], row["src"])
            assert example.candidates == tuple((row["ref_context"], t) for t in [row["ref"], *row["contrastive"]])


def test_the_gold_is_the_reference_always(examples: list[Example]) -> None:
    assert {example.gold for example in examples} == {0}


def test_texts_that_occur_twice_are_two_items(examples: list[Example]) -> None:
    """304 (source, reference) texts occur in more than one item: a key made from the text would lose items."""
    texts = Counter((e.source[-1].lower(), e.candidates[0][-1].lower()) for e in examples)
    assert sum(count > 1 for count in texts.values()) == 304
