"""ContraCAT's attacks on ContraPro as released: the same items with a little text added that changes nothing. To see
what an attack does to a system, each item must know the original it was made from: its tag `attacked`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.example import Example
from anaphora.suites.readers.contracat_attack import read, reference_pronoun
from anaphora.suites.readers.contrapro import BREAKDOWNS

# three items, the last two with the same text; the second has four candidates
CONTEXTS = [("a lamp fell.", "eine Lampe fiel."), ("look!", "sieh!"), ("a hat fell.", "ein Hut fiel.")]
TEXTS = [
    ("it is old.", ["Sie ist alt.", "Er ist alt.", "Es ist alt."]),
    ("it is red.", ["Er ist rot.", "Sie ist rot.", "Es ist rot.", "Ihn ist rot."]),
    ("it is red.", ["Er ist rot.", "Sie ist rot.", "Es ist rot."]),
]


def write(folder: Path, english: list[str], german: list[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("en.txt", english), ("de.txt", german)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def lines(change: Any = None, items: tuple[int, ...] = (0, 1, 2)) -> tuple[list[str], list[str]]:
    """All candidates of some items as the release has them; change: what becomes of the two contexts."""
    english, german = [], []
    for number in items:
        before = CONTEXTS[number] if change is None else change(*CONTEXTS[number])
        source, targets = TEXTS[number]
        for target in targets:
            english.append(f"{before[0]} <SEP>  {source}")
            german.append(f"{before[1]} <SEP>  {target}")
    return english, german


@pytest.fixture
def attacks(tmp_path: Path) -> Path:
    folder = write(tmp_path / "attacks", *lines())
    (folder / "sentence_groups.txt").write_text("0\n3\n7\n10\n", encoding="utf-8")
    return folder


def record(item: int, **changes: Any) -> dict[str, Any]:
    """The original record of an item: not truecased, and not by the number of the item."""
    source, (reference, *others) = TEXTS[item]
    return {
        "src pronoun": "It",
        "ref pronoun": reference.split()[0],
        "src segment": source.capitalize(),
        "ref segment": reference,
        "errors": [{"contrastive": other, "replacement": other.split()[0]} for other in others],
        "ante distance": 1,
        "intrasegmental": False,
        "document id": "1999_1_2.de",
        "segment id": 7,
    } | changes


def subset(folder: Path, *records: Any) -> Path:
    (folder / "modified_contrapro_subset.json").write_text(json.dumps(records), encoding="utf-8")
    return folder


# an attack on all items


def test_an_attack_on_all_items_has_them_in_their_order(attacks: Path) -> None:
    folder = write(
        attacks / "phrase_addition" / "true_colon", *lines(lambda e, g: (f"it is true: {e}", f"es ist wahr: {g}"))
    )
    suite = read(folder)
    assert (suite.header.name, suite.header.languages) == ("contracat-phrase-addition-true_colon", "en-de")
    assert suite.header.breakdowns == BREAKDOWNS
    first, second, third = suite
    assert first == Example(
        id="phrase-addition/true_colon/0",
        source=("it is true: a lamp fell.", "it is old."),
        candidates=(
            ("es ist wahr: eine Lampe fiel.", "Sie ist alt."),
            ("es ist wahr: eine Lampe fiel.", "Er ist alt."),
            ("es ist wahr: eine Lampe fiel.", "Es ist alt."),
        ),
        gold=0,
        tags={
            "source_pronoun": "it",
            "reference_pronoun": "sie",
            "pronoun_pair": "it:sie",
            "attack": "phrase-addition/true_colon",
            "attacked": "0",
        },
    )
    assert (second.tags["attacked"], len(second.candidates)) == ("1", 4)
    assert (third.tags["attacked"], third.tags["reference_pronoun"]) == ("2", "er")


@pytest.mark.parametrize(
    ("candidates", "pronoun"),
    [
        (["Sie ist alt.", "Er ist alt.", "Es ist alt."], "sie"),
        (["Da ist er.", "Da ist sie.", "Da ist es."], "er"),
        (["Ich sah es und sie.", "Ich sah ihn und sie.", "Ich sah sie und sie."], "es"),
        (["Ich sah ihn.", "Ich sah sie.", "Ich sah es."], "er"),
        (["Er sieht ihn.", "Sie sieht ihn.", "Es sieht ihn."], "er"),
        (["Sein Licht: er mag es.", "Ihr Licht: sie mag es.", "Sein Licht: es mag es."], "er"),
        (["Nichts.", "Gar nichts hier."], None),
    ],
)
def test_the_pronoun_is_found_by_comparing_the_candidates(candidates: list[str], pronoun: str | None) -> None:
    assert reference_pronoun(candidates) == pronoun


@pytest.mark.parametrize(
    ("cut", "problem"), [(-1, "has fewer lines than the groups need"), (None, "has more lines than the groups need")]
)
def test_the_lines_must_fill_the_groups_exactly(attacks: Path, cut: int | None, problem: str) -> None:
    english, german = lines()
    if cut is None:
        english, german = [*english, english[0]], [*german, german[0]]
    folder = write(attacks / "phrase_addition" / "x", english[:cut], german[:cut])
    with pytest.raises(BadInput, match=rf"en\.txt: {problem}"):
        list(read(folder))


def test_an_attack_without_german_text_says_so(attacks: Path) -> None:
    folder = write(attacks / "phrase_addition" / "but_sure", *lines())
    (folder / "de.txt").unlink()
    with pytest.raises(BadInput, match=r"but_sure: de\.txt .* is missing here\. The release has no German text"):
        read(folder)
    with pytest.raises(BadInput, match=r"phrase_addition: en\.txt .* is missing here\. Name the folder of one attack"):
        read(folder.parent)


def test_an_attack_out_of_its_tree_says_what_is_missing(tmp_path: Path) -> None:
    folder = write(tmp_path / "somewhere" / "deep" / "below" / "phrase_addition" / "x", *lines())
    with pytest.raises(BadInput, match=r"no folder above has sentence_groups\.txt\. Keep the attack in the release"):
        read(folder)


def test_groups_that_are_no_numbers_are_an_error(attacks: Path) -> None:
    folder = write(attacks / "phrase_addition" / "x", *lines())
    (attacks / "sentence_groups.txt").write_text("0\nthree\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"sentence_groups\.txt: line 2: a line number is expected, not"):
        list(read(folder))


# an attack on a subset, whose records do not say which items they are


def test_the_original_of_a_record_is_found_by_its_text(attacks: Path) -> None:
    folder = write(attacks / "possessive_extension" / "maria", *lines(items=(0,)))
    (example,) = read(subset(folder, record(0)))
    assert example.id == "possessive-extension/maria/0"
    assert example.tags == {
        "source_pronoun": "it",
        "reference_pronoun": "sie",
        "pronoun_pair": "it:sie",
        "distance": 1,
        "location": "external",
        "document": "1999_1_2.de",
        "sentence": 7,
        "attack": "possessive-extension/maria",
        "attacked": "0",
    }


def test_among_equal_texts_the_context_decides(attacks: Path) -> None:
    """304 texts of ContraPro occur in more than one item. Here the noun of the context has got an owner."""
    for english, german in (("Maria's hat fell.", "Marias Hut fiel."), ("Maria's old hat.", "Marias alter Hut.")):
        attacked = lines(lambda *_, texts=(english, german): texts, items=(2,))
        folder = write(attacks / "possessive_extension" / "maria", *attacked)
        (example,) = read(subset(folder, record(2)))
        assert example.tags["attacked"] == "2"


def test_a_context_with_more_words_is_not_nearer_for_that(attacks: Path) -> None:
    """The item whose context has these words and others besides is not the original of the one that has just these."""
    english = ["see here, a hat <SEP> it is red."] * 3 + ["a hat <SEP> it is red."] * 3
    german = [
        f"{before} <SEP> {target}"
        for before in ("sieh hier, ein Hut", "ein Hut")
        for target in ("Er ist rot.", "Sie ist rot.", "Es ist rot.")
    ]
    write(attacks, english, german)
    (attacks / "sentence_groups.txt").write_text("0\n3\n6\n", encoding="utf-8")
    folder = write(attacks / "possessive_extension" / "maria", english[3:], german[3:])
    (example,) = read(subset(folder, record(2)))
    assert example.tags["attacked"] == "1"


def test_records_are_in_the_order_of_the_originals(attacks: Path) -> None:
    """What leaves no room for the others is not the original, even if its context is nearer."""
    write(attacks, *lines(lambda e, g: ("the same.", "dasselbe.")))
    english, german = lines(lambda e, g: ("the same.", "dasselbe."), items=(2, 2))
    folder = write(attacks / "possessive_extension" / "maria", english, german)
    assert [e.tags["attacked"] for e in read(subset(folder, record(2), record(2)))] == ["1", "2"]


def test_records_in_another_order_are_an_error(attacks: Path) -> None:
    english, german = lines(items=(2, 0))
    folder = write(attacks / "possessive_extension" / "maria", english, german)
    with pytest.raises(BadInput, match=r"subset\.json: the records are not in the order of ContraPro"):
        list(read(subset(folder, record(2), record(0))))


def test_the_synonym_attack_lists_the_old_reference_as_error(attacks: Path) -> None:
    """A synonym of another gender makes another pronoun right: the lamp is now "das Licht"."""
    english = ["a lamp fell. <SEP> it is old."] * 3
    german = [f"ein Licht fiel. <SEP> {target}" for target in ("Es ist alt.", "Sie ist alt.", "Er ist alt.")]
    folder = write(attacks / "synonyms", english, german)
    errors = [{"contrastive": text, "replacement": "x"} for text in ("Sie ist alt.", "Er ist alt.")]
    changed = record(0, **{"ref pronoun": "Es", "ref segment": "Es ist alt.", "errors": errors})
    (example,) = read(subset(folder, changed))
    assert example.id == "synonyms/0"
    assert example.candidates[0] == ("ein Licht fiel.", "Es ist alt.")
    assert example.tags["reference_pronoun"] == "es"
    assert example.tags["attacked"] == "0"


def test_a_record_that_is_not_in_contrapro_is_an_error(attacks: Path) -> None:
    folder = write(attacks / "possessive_extension" / "maria", *lines(items=(0,)))
    stranger = record(0, **{"src segment": "It is new.", "segment id": 12})
    with pytest.raises(BadInput, match=r"segment 12 of 1999_1_2\.de is not in ContraPro's text"):
        list(read(subset(folder, stranger)))


@pytest.mark.parametrize("bad", [{"errors": [{}, {}]}, {"x": 1}, "text", None])
def test_records_of_another_shape_are_an_error_of_their_file(attacks: Path, bad: Any) -> None:
    folder = write(attacks / "possessive_extension" / "maria", *lines(items=(0,)))
    with pytest.raises(BadInput, match=r"modified_contrapro_subset\.json: not a list of ContraPro's records"):
        list(read(subset(folder, bad)))


# the real attacks, held against the rebuilt ContraPro


@pytest.fixture(scope="module")
def originals(data) -> list[dict[str, Any]]:
    with gzip.open(data("contrapro") / "contrapro_reconstructed.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


@pytest.fixture(scope="module")
def attack(data):
    """The examples of an attack, read once."""
    known: dict[str, list[Example]] = {}

    def load(name: str) -> list[Example]:
        if name not in known:
            known[name] = list(read(data("contracat/attacks") / name))
        return known[name]

    return load


def same_sentence(example: Example, row: dict[str, Any]) -> bool:
    """Whether the current sentence is that of the original, in all candidates (their order may have changed)."""
    return example.source[1] == row["src"] and {c[1] for c in example.candidates} == {row["ref"], *row["contrastive"]}


def same_context(example: Example, row: dict[str, Any]) -> bool:
    return example.source[0] == row["src_context"] and {c[0] for c in example.candidates} == {row["ref_context"]}


@pytest.mark.parametrize(
    ("name", "english", "german"),
    [
        ("he_said", 'he said: "{}"', 'er sagte: "{}"'),
        ("true_colon", "it is true: {}", "es ist wahr: {}"),
    ],
)
def test_the_phrase_is_added_to_all_12000_contexts(attack, originals, name: str, english: str, german: str) -> None:
    """The phrases are those of data/contracat/README.md. Where there is no context (6 items) nothing is added."""
    examples = attack(f"phrase_addition/{name}")
    assert [example.tags["attacked"] for example in examples] == [str(number) for number in range(12_000)]
    assert sum(len(example.candidates) for example in examples) == 36_031
    for example, row in zip(examples, originals, strict=True):
        assert same_sentence(example, row)
        assert example.source[0] == (english.format(row["src_context"]) if row["src_context"] else "")
        assert example.candidates[0][0] == (german.format(row["ref_context"]) if row["ref_context"] else "")
        # the pronoun, which is found by comparing, is the one that the rebuilt file has
        assert example.tags["reference_pronoun"] == row["ref_pronoun"]


@pytest.mark.parametrize(
    ("name", "items"),
    [
        ("possessive_extension/maria", 3_848),
        ("possessive_extension/david", 3_848),
        ("possessive_extension/woman", 3_839),
        ("possessive_extension/doctor_male", 3_839),
    ],
)
def test_a_possessive_changes_only_the_antecedent_s_sentence(attack, originals, name: str, items: int) -> None:
    examples = attack(name)
    assert len({example.id for example in examples}) == len(examples) == items
    for example in examples:
        row = originals[int(example.tags["attacked"])]
        if example.tags["distance"] == 1:
            assert same_sentence(example, row)
            assert not same_context(example, row)
        else:
            assert same_context(example, row)
            assert not same_sentence(example, row)
        # the rebuilt file has the original record with the item
        assert row["contrapro"]["document id"] == example.tags["document"]
        assert row["contrapro"]["segment id"] == example.tags["sentence"]
        assert row["ref_pronoun"] == example.tags["reference_pronoun"]


def test_synonyms_change_what_is_right(attack, originals) -> None:
    examples = attack("synonyms")
    assert len({example.id for example in examples}) == len(examples) == 1_531
    other_document = 0
    for example in examples:
        row = originals[int(example.tags["attacked"])]
        assert same_sentence(example, row) or same_context(example, row)
        assert example.tags["reference_pronoun"] != row["ref_pronoun"]
        record = row["contrapro"]
        other_document += (record["document id"], record["segment id"]) != (
            example.tags["document"],
            example.tags["sentence"],
        )
    # Item 9905 has in the rebuilt file the record of item 9907, whose text is the same but for its punctuation.
    assert other_document == 1


def test_but_sure_was_released_without_german(data) -> None:
    with pytest.raises(BadInput, match=r"but_sure: de\.txt .* The release has no German text for this attack"):
        read(data("contracat/attacks") / "phrase_addition" / "but_sure")
