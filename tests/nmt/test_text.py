"""Sentences become ids and come back, whatever preprocessing is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("sentencepiece")
pytest.importorskip("sacremoses")

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.nmt.config import VocabularyConfig
from anaphora.nmt.text import SEPARATOR, SEPARATOR_PIECE, Moses, Text, learn_text, load_text

SOURCE = ["The lamp is old.", "It's the table, isn't it?", "I see a book."] * 5
TARGET = ["Die Lampe ist alt.", "Das ist der Tisch, nicht wahr?", "Ich sehe ein Buch."] * 5


def learned(folder: Path, **settings: object) -> Text:
    config = VocabularyConfig(size=90, **settings)  # type: ignore[arg-type]
    return learn_text(config, "en-de", SOURCE, TARGET, folder)


@pytest.mark.parametrize("settings", [{}, {"kind": "unigram"}, {"joint": False}, {"tokenize": True, "truecase": True}])
def test_there_and_back(tmp_path: Path, settings: dict[str, object]) -> None:
    text = learned(tmp_path, **settings)
    for sentence in TARGET[:3]:
        ids = text.encode_target(sentence)
        assert ids
        assert max(ids) < text.special.padding
        assert text.decode([*ids, text.special.end, 5]) == sentence
    again = load_text(tmp_path)
    assert again.encode_source(SOURCE[1]) == text.encode_source(SOURCE[1])
    assert again.special == text.special


def test_the_same_text_gives_the_same_vocabulary(tmp_path: Path) -> None:
    learned(tmp_path / "a")
    learned(tmp_path / "b")
    assert (tmp_path / "a" / "source.spm").read_bytes() == (tmp_path / "b" / "source.spm").read_bytes()


def test_the_separator_is_one_piece(tmp_path: Path) -> None:
    text = learned(tmp_path)
    ids = text.encode_target(f"alt {SEPARATOR_PIECE} Buch")
    assert ids.count(SEPARATOR) == 1
    assert SEPARATOR_PIECE in text.decode(ids)


def test_joint_vocabularies_are_one(tmp_path: Path) -> None:
    learned(tmp_path / "joint")
    learned(tmp_path / "apart", joint=False)
    assert (tmp_path / "joint" / "source.spm").read_bytes() == (tmp_path / "joint" / "target.spm").read_bytes()
    assert (tmp_path / "apart" / "source.spm").read_bytes() != (tmp_path / "apart" / "target.spm").read_bytes()


def test_lower_case(tmp_path: Path) -> None:
    text = learned(tmp_path, lowercase=True)
    assert text.encode_source("THE LAMP") == text.encode_source("the lamp")


def test_too_little_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="A vocabulary of 90 pieces cannot be learned"):
        learn_text(VocabularyConfig(size=90), "en-de", [""], [""], tmp_path)


def test_what_is_missing_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"source\.spm is missing"):
        load_text(tmp_path)
    learned(tmp_path)
    (tmp_path / "target.spm").write_bytes(b"nothing")
    with pytest.raises(BadInput, match="not a SentencePiece model"):
        load_text(tmp_path)


def test_a_folder_whose_name_is_not_utf8(tmp_path: Path) -> None:
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    assert learned(folder).target_pieces() == load_text(folder).target_pieces()


# Moses' preprocessing


SENTENCES = ["So die Frau", "und die Uhr", "Die Frau kam", "bei Frau Meier", "die die"]


def test_nothing_unless_asked() -> None:
    rules = Moses.learn(VocabularyConfig(), "de", SENTENCES)
    for text in ("Die  Frau,kam “so”", "it's"):
        assert rules.apply(text) == rules.undo(text) == text


def test_tokens_and_back() -> None:
    rules = Moses("de", tokenize=True)
    assert rules.apply("Die Frau kam, nicht wahr?") == "Die Frau kam , nicht wahr ?"
    assert rules.undo("Die Frau kam , nicht wahr ?") == "Die Frau kam, nicht wahr?"
    assert Moses("fr", tokenize=True).apply("C'est l'eau.") == "C' est l' eau ."


def test_punctuation() -> None:
    assert Moses("en", normalize=True).apply("“so” it ’s…") == '"so" it \'s...'


def test_the_first_word_is_written_as_inside_of_sentences() -> None:
    rules = Moses.learn(VocabularyConfig(truecase=True), "de", SENTENCES)
    assert rules.apply("Die Frau") == "die Frau"
    assert rules.apply("Frau Meier") == "Frau Meier"
    assert rules.apply("Unbekannt ist es") == "Unbekannt ist es"
    assert rules.apply("So Die") == "So Die"  # only the first word is changed
    assert rules.undo("die Frau") == "Die Frau"


def test_lower_case_goes_before_truecasing() -> None:
    rules = Moses.learn(VocabularyConfig(truecase=True, lowercase=True), "de", SENTENCES)
    assert rules.apply("Die FRAU") == "die frau"
    assert not rules.truecase


def test_rules_are_written_and_read() -> None:
    rules = Moses.learn(VocabularyConfig(truecase=True, tokenize=True), "de", SENTENCES)
    assert Moses.from_dict(rules.to_dict()) == rules
