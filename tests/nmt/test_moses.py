"""Moses' rules, each only where asked."""

from __future__ import annotations

import pytest

pytest.importorskip("sacremoses")

from anaphora.nmt.config import VocabularyConfig
from anaphora.nmt.moses import Moses

SENTENCES = ["So die Frau", "und die Uhr", "Die Frau kam", "bei Frau Meier", "die die"]


def test_nothing_unless_asked() -> None:
    rules = Moses.learn(VocabularyConfig(), "de", SENTENCES)
    for text in ("Die  Frau,kam “so”", "it's"):
        assert rules.apply(text) == rules.undo(text) == text


def test_tokens_and_back() -> None:
    rules = Moses("de", tokenise=True)
    assert rules.apply("Die Frau kam, nicht wahr?") == "Die Frau kam , nicht wahr ?"
    assert rules.undo("Die Frau kam , nicht wahr ?") == "Die Frau kam, nicht wahr?"
    assert Moses("fr", tokenise=True).apply("C'est l'eau.") == "C' est l' eau ."


def test_punctuation() -> None:
    assert Moses("en", normalise=True).apply("“so” it ’s…") == '"so" it \'s...'


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
    rules = Moses.learn(VocabularyConfig(truecase=True, tokenise=True), "de", SENTENCES)
    assert Moses.from_dict(rules.to_dict()) == rules
