"""ContraPro as its authors released it (Müller et al. 2018): records in `contrapro.json`, context of any size from the
OpenSubtitles documents. The original file cannot be had here: small ones are made up after its schema, and a large one
is put together from the 4,272 original records that the rebuilt file holds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.readers.contrapro import BREAKDOWNS, read

ENGLISH = ["Look at that lamp.", "What a lamp!", "I bought it.", "It is old.", "It shines.", "Good night."]
GERMAN = ["Sieh die Lampe.", "Was für eine Lampe!", "Ich kaufte sie.", "Sie ist alt.", "Sie leuchtet.", "Gute Nacht."]


def record(segment: int = 4, **changes: Any) -> dict[str, Any]:
    """The record of a line of the document above; further keys as they are in the released file."""
    german = GERMAN[segment - 1]
    row: dict[str, Any] = {
        "src pronoun": "It",
        "ref pronoun": "Sie",
        "src segment": ENGLISH[segment - 1],
        "ref segment": german,
        "errors": [
            {
                "contrastive": german.replace("Sie", "Er"),
                "replacement": "Er",
                "replacement gender": "Masc",
                "type": "pronominal coreference",
            },
            {
                "contrastive": german.replace("Sie", "Es"),
                "replacement": "Es",
                "replacement gender": "Neut",
                "type": "pronominal coreference",
            },
        ],
        "ante distance": segment - 1,
        "intrasegmental": False,
        "corpus": "opensubs1999-ende",
        "document id": "1999_123_456.de",
        "segment id": segment,
        "src ante phrase": "that lamp",
        "ref ante phrase": "die Lampe",
    }
    for side, head, gender, morpho in (("src", "lamp", None, None), ("ref", "Lampe", "Fem", "Fem|Acc|Sg")):
        row |= {
            f"{side} ante head": head,
            f"{side} ante head gender": gender,
            f"{side} ante head id": 4,
            f"{side} ante head lemma": head,
            f"{side} ante head morpho": morpho,
            f"{side} ante head pos": "NN",
        }
    return row | changes


def released(folder: Path, *records: Any) -> Path:
    path = folder / "contrapro.json"
    path.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """documents/<year>/<year>_<movie>_<subtitle>.{en,de}"""
    folder = tmp_path / "documents"
    (folder / "1999").mkdir(parents=True)
    (folder / "1999" / "1999_123_456.en").write_text("\n".join(ENGLISH) + "\n", encoding="utf-8")
    (folder / "1999" / "1999_123_456.de").write_text("\n".join(GERMAN) + "\n", encoding="utf-8")
    return folder


def test_without_documents_there_is_no_context(tmp_path: Path) -> None:
    suite = read(released(tmp_path, record()))
    assert (suite.header.name, suite.header.languages, suite.header.breakdowns) == ("contrapro", "en-de", BREAKDOWNS)
    (example,) = suite
    assert example.source == ("It is old.",)
    assert example.candidates == (("Sie ist alt.",), ("Er ist alt.",), ("Es ist alt.",))
    assert example.gold == 0


def test_ids_are_positions_as_texts_may_repeat(tmp_path: Path) -> None:
    assert [example.id for example in read(released(tmp_path, record(), record(), record(5)))] == ["0", "1", "2"]


def test_all_that_the_record_says_is_kept_as_tags(tmp_path: Path) -> None:
    (example,) = read(released(tmp_path, record()))
    assert example.tags == {
        "source_pronoun": "it",
        "reference_pronoun": "sie",
        "pronoun_pair": "it:sie",
        "candidate_pronouns": ["sie", "er", "es"],
        "distance": 3,
        "location": "external",
        "document": "1999_123_456.de",
        "sentence": 4,
        "corpus": "opensubs1999-ende",
        "source_antecedent": "that lamp",
        "target_antecedent": "die Lampe",
        "source_antecedent_head": "lamp",
        "source_antecedent_head_id": 4,
        "source_antecedent_head_lemma": "lamp",
        "source_antecedent_head_pos": "NN",
        "target_antecedent_head": "Lampe",
        "target_antecedent_head_gender": "Fem",
        "target_antecedent_head_id": 4,
        "target_antecedent_head_lemma": "Lampe",
        "target_antecedent_head_morpho": "Fem|Acc|Sg",
        "target_antecedent_head_pos": "NN",
    }


def test_pronouns_are_lowercased_as_the_original_categories_are(tmp_path: Path) -> None:
    shouted = record(**{"src pronoun": "IT", "ref pronoun": "SIE"})
    quiet = record(**{"src pronoun": "it", "ref pronoun": "sie"})
    pairs = [example.tags["pronoun_pair"] for example in read(released(tmp_path, shouted, quiet, record()))]
    assert pairs == ["it:sie"] * 3


@pytest.mark.parametrize(("value", "location"), [(True, "intrasegmental"), (False, "external")])
def test_the_location_is_what_the_record_says(tmp_path: Path, value: bool, location: str) -> None:
    (example,) = read(released(tmp_path, record(intrasegmental=value)))
    assert example.tags["location"] == location


def test_a_location_that_is_not_known_is_not_a_tag(tmp_path: Path) -> None:
    (example,) = read(released(tmp_path, record(intrasegmental=None)))
    assert "location" not in example.tags


@pytest.mark.parametrize("distance", [0, 3, 4, 27])
def test_distances_are_kept_as_they_are(tmp_path: Path, distance: int) -> None:
    """The breakdown merges those above 3 (`distance>3`), not the reader; 0 is a distance, not an absence."""
    (example,) = read(released(tmp_path, record(**{"ante distance": distance})))
    assert example.tags["distance"] == distance


def test_an_item_may_have_four_candidates(tmp_path: Path) -> None:
    """31 of ContraPro have."""
    errors = [
        {"contrastive": f"{word} ist alt.", "replacement": word, "replacement gender": "Masc", "type": "x"}
        for word in ("Er", "Es", "Ihn")
    ]
    (example,) = read(released(tmp_path, record(errors=errors)))
    assert example.candidates == (("Sie ist alt.",), ("Er ist alt.",), ("Es ist alt.",), ("Ihn ist alt.",))
    assert example.tags["candidate_pronouns"] == ["sie", "er", "es", "ihn"]


# context


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_context_comes_from_the_document_and_is_empty_before_it(tmp_path: Path, documents: Path, size: int) -> None:
    (example,) = read(released(tmp_path, record(4)), context_from=documents, context=size)
    # segment 4 has three sentences before it, the nearest last
    assert example.source == (*["", "", "", *ENGLISH[:3]][6 - size :], "It is old.")
    before = ["", "", "", *GERMAN[:3]][6 - size :]
    assert example.candidates == (
        (*before, "Sie ist alt."),
        (*before, "Er ist alt."),
        (*before, "Es ist alt."),
    )


def test_context_is_one_sentence_by_default(tmp_path: Path, documents: Path) -> None:
    (example,) = read(released(tmp_path, record(5)), context_from=documents)
    assert example.source == ("It is old.", "It shines.")


def test_the_first_segment_of_a_document_has_empty_context(tmp_path: Path, documents: Path) -> None:
    """Where the original script wrote "null", and lines from the end of the document."""
    first = record(1, **{"src pronoun": "that"})
    (example,) = read(released(tmp_path, first), context_from=documents, context=2)
    assert example.source == ("", "", "Look at that lamp.")
    assert example.candidates[0] == ("", "", "Sieh die Lampe.")


def test_the_last_segment_of_a_document_is_within_it(tmp_path: Path, documents: Path) -> None:
    (example,) = read(released(tmp_path, record(6)), context_from=documents)
    assert example.source == ("It shines.", "Good night.")


def test_each_record_has_the_context_of_its_own_document(tmp_path: Path, documents: Path) -> None:
    (documents / "2001").mkdir()
    (documents / "2001" / "2001_9_8.en").write_text("A hat.\nIt is old.\n", encoding="utf-8")
    (documents / "2001" / "2001_9_8.de").write_text("Ein Hut.\nEr ist alt.\n", encoding="utf-8")
    other = record(4, **{"document id": "2001_9_8.de", "segment id": 2})
    examples = read(released(tmp_path, record(4), other, record(5)), context_from=documents)
    assert [example.source[0] for example in examples] == ["I bought it.", "A hat.", "It is old."]


def test_documents_may_be_gzipped(tmp_path: Path, documents: Path) -> None:
    for file in sorted((documents / "1999").iterdir()):
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    (example,) = read(released(tmp_path, record(2)), context_from=documents)
    assert example.source == ("Look at that lamp.", "What a lamp!")


def test_spaces_do_not_count_when_the_source_is_compared(tmp_path: Path, documents: Path) -> None:
    spaced = record(4, **{"src segment": "It  is old ."})
    (example,) = read(released(tmp_path, spaced), context_from=documents)
    assert example.source == ("I bought it.", "It  is old .")


def test_context_without_documents_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"this format has no context, but 3 .* --context-from documents/"):
        read(released(tmp_path, record()), context=3)
    assert len(list(read(released(tmp_path, record()), context=0))) == 1


def test_a_document_that_is_missing_is_named(tmp_path: Path, documents: Path) -> None:
    (documents / "1999" / "1999_123_456.de").unlink()
    with pytest.raises(BadInput, match=r"1999_123_456\.de \(or .*\) is missing here.*1999/1999_123_456\.en and \.de"):
        list(read(released(tmp_path, record()), context_from=documents))
    gone = record(**{"document id": "1950_1_1.de"})
    with pytest.raises(BadInput, match="1950: no such directory"):
        list(read(released(tmp_path, gone), context_from=documents))


def test_documents_with_different_line_counts_are_an_error(tmp_path: Path, documents: Path) -> None:
    with (documents / "1999" / "1999_123_456.de").open("a", encoding="utf-8") as german:
        german.write("Noch eine Zeile.\n")
    with pytest.raises(BadInput, match=r"document 1999_123_456: 6 lines of en, 7 of de"):
        list(read(released(tmp_path, record()), context_from=documents))


@pytest.mark.parametrize("segment", [0, -1, 3, 7])
def test_a_line_that_differs_from_the_source_is_an_error(tmp_path: Path, documents: Path, segment: int) -> None:
    """Another release of OpenSubtitles has other lines: context from it would be wrong without a word."""
    moved = record(4, **{"segment id": segment})
    with pytest.raises(BadInput, match=rf"document 1999_123_456\.de: line {segment} is not the source of its record"):
        list(read(released(tmp_path, moved), context_from=documents, context=0))


# what is not ContraPro


def test_a_missing_file_is_an_error_when_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"contrapro\.json: no such file"):
        list(read(tmp_path / "contrapro.json"))


def test_another_json_document_is_not_taken_for_contrapro(tmp_path: Path) -> None:
    path = tmp_path / "contrapro.json"
    path.write_text('{"1": {}}', encoding="utf-8")
    with pytest.raises(BadInput, match=r"a JSON list of records is expected\. Is this contrapro\.json\?"):
        list(read(path))


@pytest.mark.parametrize(
    "key", ["src pronoun", "ref pronoun", "src segment", "ref segment", "errors", "intrasegmental"]
)
def test_a_record_without_a_key_is_found_by_its_position(tmp_path: Path, key: str) -> None:
    poor = {name: value for name, value in record().items() if name != key}
    suite = iter(read(released(tmp_path, record(), poor)))
    assert next(suite).id == "0"
    with pytest.raises(BadInput, match=rf"record 1: not a record of ContraPro \('{key}' is missing\)"):
        next(suite)


@pytest.mark.parametrize(
    "bad", ["text", 5, None, record(errors=None), record(errors=["Er"]), record(**{"ref pronoun": None})]
)
def test_a_record_of_another_shape_is_found_by_its_position(tmp_path: Path, bad: Any) -> None:
    with pytest.raises(BadInput, match=r"contrapro\.json: record 0: not a record of ContraPro"):
        list(read(released(tmp_path, bad)))


# the real records


@pytest.fixture(scope="module")
def rows(data) -> list[dict[str, Any]]:
    """The items of the rebuilt file that hold their original record."""
    with gzip.open(data("contrapro") / "contrapro_reconstructed.jsonl.gz", "rt", encoding="utf-8") as stream:
        actual = [row for row in map(json.loads, stream) if row.get("contrapro")]
    assert len(actual) == 4_272  # data/contrapro/README.md
    return actual


def test_the_original_records_are_read(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    whole = [row for row in rows if "errors" in row["contrapro"]]
    assert len(whole) == 3_848
    path = released(tmp_path, *(row["contrapro"] for row in whole))
    examples = list(read(path))
    assert len(examples) == 3_848
    for row, example in zip(whole, examples, strict=True):
        original = row["contrapro"]
        assert example.source == (original["src segment"],)
        assert [candidate for (candidate,) in example.candidates] == [
            original["ref segment"],
            *(error["contrastive"] for error in original["errors"]),
        ]
        assert example.tags["reference_pronoun"] == row["ref_pronoun"]
        assert example.tags["candidate_pronouns"] == [row["ref_pronoun"], *row["contrastive_pronoun"]]
        assert example.tags["distance"] == original["ante distance"]
        assert example.tags["location"] == ("intrasegmental" if original["intrasegmental"] else "external")
        assert (example.tags["document"], example.tags["sentence"]) == (
            original["document id"],
            original["segment id"],
        )


def test_a_record_without_its_contrastives_is_an_error(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    """424 of the records have lost theirs in the release they come from."""
    poor = [row["contrapro"] for row in rows if "errors" not in row["contrapro"]]
    assert len(poor) == 424
    with pytest.raises(BadInput, match=r"record 0: not a record of ContraPro \('errors' is missing"):
        list(read(released(tmp_path, *poor)))


def test_the_original_records_with_documents(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    """Documents made of the rebuilt file's own context: the line before each segment, and the segment."""
    chosen: dict[str, dict[str, Any]] = {}
    for row in rows:
        if "errors" in row["contrapro"] and row["contrapro"]["segment id"] > 1:
            chosen.setdefault(row["contrapro"]["document id"], row)
    chosen = dict(list(chosen.items())[:200])
    for name, row in chosen.items():
        original = row["contrapro"]
        folder = tmp_path / "documents" / name[:4]
        folder.mkdir(parents=True, exist_ok=True)
        for language, before, now in (("en", "src_context", "src segment"), ("de", "ref_context", "ref segment")):
            lines = [""] * (original["segment id"] - 2) + [row[before], original[now], "The end."]
            (folder / f"{name[:-3]}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = released(tmp_path, *(row["contrapro"] for row in chosen.values()))
    examples = list(read(path, context_from=tmp_path / "documents", context=1))
    assert len(examples) == 200
    assert [example.source[0] for example in examples] == [row["src_context"] for row in chosen.values()]
    assert [example.candidates[2][0] for example in examples] == [row["ref_context"] for row in chosen.values()]
