"""A language model's opinion of each pronoun: in all it is the model's log-probability of the sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from anaphora.languages.readings import load_readings
from anaphora.measure.features import LanguageModelFeatures, by_pronoun
from anaphora.measure.items import Text, text_of

ENGLISH = load_readings("en")


def text(*passage: str) -> Text:
    return text_of(passage, ENGLISH)


def log_probabilities(features: LanguageModelFeatures, whole: str) -> list[float]:
    """Of all pieces of a text, plainly computed."""
    ids = torch.tensor([[0, *features.tokenizer(whole, add_special_tokens=False)["input_ids"]]])
    with torch.inference_mode():
        found = torch.log_softmax(features.model(ids).logits[0], -1)
    return [float(found[n, ids[0, n + 1]]) for n in range(ids.shape[1] - 1)]


def test_features_add_up_to_the_log_probability_of_the_sentence(tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    found = features(text("I saw the king.", "He was old, it came back."))
    both = sum(log_probabilities(features, "I saw the king. He was old, it came back."))
    before = sum(log_probabilities(features, "I saw the king."))
    assert found.shape == (2, 4)
    assert found.sum() == pytest.approx(both - before, abs=1e-3)


def test_what_comes_before_the_first_pronoun_does_not_count(tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    pieces = log_probabilities(features, "the king saw he")
    assert features(text("the king saw he")).tolist() == [[pytest.approx(pieces[-1], abs=1e-4), 0.0, 0.0, 0.0]]


def test_texts_of_one_context_are_computed_together(tiny_lm: Path, tmp_path: Path) -> None:
    passages = [("I saw the king.", "He was old."), ("I saw the king.", "It has gone and it came back."), ("", "It.")]
    together = LanguageModelFeatures(str(tiny_lm), cache=tmp_path)
    together.prepare(text(*passage) for passage in passages)
    for passage in passages:
        alone = LanguageModelFeatures(str(tiny_lm))(text(*passage))
        assert np.allclose(together(text(*passage)), alone, atol=1e-4)


def test_texts_without_pronouns_or_words_have_no_features(tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    assert features(text("The king.")).shape == (0, 4)
    assert features(text("I saw.", "")).shape == (0, 4)


def test_a_context_that_is_too_long_is_cut(tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    assert np.isfinite(features(text("I saw the king. " * 30, "He was old."))).all()


def test_what_follows_is_divided_by_its_distance() -> None:
    found = by_pronoun(-np.arange(10.0), text("the He a b c d e f it g"))  # pronouns are the words 1 and 8
    assert found.tolist() == [[-1, -2, -3 - 4 - 5 - 6, -7], [-8, -9, 0, 0]]
