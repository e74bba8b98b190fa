"""A language model's opinion of each pronoun: in all it is the model's log-probability of the sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from anaphora.core.finite import NotFinite
from anaphora.languages.pronouns import load_readings
from anaphora.measure.features import LanguageModelFeatures, by_pronoun, learn_names, recase
from anaphora.measure.texts import Text, plain_text, text_of
from anaphora.scoring.batching import token_log_probabilities

ENGLISH = load_readings("en")


def text(*passage: str) -> Text:
    return text_of(passage, ENGLISH)


def log_probabilities(features: LanguageModelFeatures, whole: str) -> list[float]:
    """The log-probabilities of all pieces of a text, computed without shortcuts."""
    ids = torch.tensor([[0, *features.tokenizer(whole, add_special_tokens=False)["input_ids"]]])
    with torch.inference_mode():
        values = torch.log_softmax(features.model(ids).logits[0], -1)
    return [float(values[n, ids[0, n + 1]]) for n in range(ids.shape[1] - 1)]


def test_features_add_up_to_the_log_probability_of_the_sentence(tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    actual = features(text("I saw the king.", "He was old, it came back."))
    both = sum(log_probabilities(features, "I saw the king. He was old, it came back."))
    before = sum(log_probabilities(features, "I saw the king."))
    assert actual.shape == (2, 4)
    assert actual.sum() == pytest.approx(both - before, abs=1e-3)


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


def test_a_sentence_that_is_too_long_loses_its_end(tiny_lm: Path) -> None:
    """Memory would grow with the square of its length. What is read is scored as it would be alone."""
    features = LanguageModelFeatures(str(tiny_lm))
    limit = features.model.config.max_position_embeddings
    long = text("He saw the king. " * limit)
    (encoded,) = features.encode([long])
    assert len(encoded.candidate.given) + len(encoded.candidate.predicted) == limit
    pieces = log_probabilities(features, long.sentence[: limit * 8])  # more than it reads
    assert features.sentence_scores([long]) == [pytest.approx(sum(pieces[: limit - 1]), abs=1e-2)]
    assert features(long)[-1].tolist() == [0, 0, 0, 0]  # a pronoun that was not read


def test_what_follows_is_divided_by_its_distance() -> None:
    actual = by_pronoun(-np.arange(10.0), text("the He a b c d e f it g"))  # pronouns are the words 1 and 8
    assert actual.tolist() == [[-1, -2, -3 - 4 - 5 - 6, -7], [-8, -9, 0, 0]]


def plain(*passage: str) -> Text:
    return text_of(passage, ENGLISH, plain=True)


def test_recased_text_is_read_and_the_same_words_scored(tiny_lm: Path) -> None:
    shown = LanguageModelFeatures(f"{tiny_lm}?restore=true")
    actual = shown(plain("I saw the king.", "He doesn't know it."))
    both = sum(log_probabilities(shown, "I saw the king. He doesn't know it."))
    before = sum(log_probabilities(shown, "I saw the king."))
    assert actual.shape == (2, 4)  # he and it; doesn and t are two words, as in the plain text
    assert actual.sum() == pytest.approx(both - before, abs=1e-3)
    pieces = log_probabilities(shown, "I saw the king. He")
    known = len(log_probabilities(shown, "I saw the king."))
    assert actual[0, 0] == pytest.approx(sum(pieces[known:]), abs=1e-3)  # the capital belongs to the pronoun
    assert not np.allclose(actual, LanguageModelFeatures(str(tiny_lm))(plain("I saw the king.", "He doesn't know it.")))


def test_names_are_learned_from_a_text(tiny_lm: Path, tmp_path: Path) -> None:
    (tmp_path / "text.en").write_text("We saw the King.\n", encoding="utf-8")
    shown = LanguageModelFeatures(f"{tiny_lm}?names={tmp_path / 'text.en'}")
    actual = shown(plain("the king saw it"))
    assert actual.sum() == pytest.approx(
        sum(log_probabilities(shown, "The King saw it.")) - sum(log_probabilities(shown, "The King saw")), abs=1e-3
    )
    (tmp_path / "other.en").write_text("We saw the QUEEN.\n", encoding="utf-8")
    other = LanguageModelFeatures(f"{tiny_lm}?names={tmp_path / 'other.en'}")
    assert shown.settings()["names"] != other.settings()["names"]
    assert "restore" not in LanguageModelFeatures(str(tiny_lm)).settings()


TEXTS = [("I saw the king.", f"The house was old, and {word} came back.") for word in ("he", "it", "she was")]


def test_scores_through_the_prefix_tree_are_those_of_each_text(tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    texts = [text(*passage) for passage in (*TEXTS, ("The queen.", "It was old."))]
    plain = token_log_probabilities(features.model, [one.candidate for one in features.encode(texts)])
    assert features.sentence_scores(texts) == [pytest.approx(float(row.sum()), abs=1e-3) for row in plain]
    for together, one in zip(features.sentence_scores(texts), texts, strict=True):
        assert features.sentence_scores([one]) == [pytest.approx(together, abs=1e-3)]


def test_a_model_that_no_tree_fits_is_scored_without(tiny_lm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = LanguageModelFeatures(str(tiny_lm)).sentence_scores([text(*passage) for passage in TEXTS])
    features = LanguageModelFeatures(str(tiny_lm))
    monkeypatch.setattr(type(features.model), "_supports_sdpa", False)
    assert features._scorer is None
    actual = features.sentence_scores([text(*passage) for passage in TEXTS])
    assert actual == [pytest.approx(score, abs=1e-3) for score in expected]


def test_an_interruption_does_not_change_figures(
    tiny_lm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anaphora.measure.features.BATCH_TOKENS", 16)
    texts = [text(f"I saw {noun}.", f"{word} was old.") for noun in ("the king", "it") for word in ("He", "She", "It")]

    def stop(done: int, total: int) -> None:
        if done < total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LanguageModelFeatures(str(tiny_lm), cache=tmp_path).prepare(texts, stop)
    resumed = LanguageModelFeatures(str(tiny_lm), cache=tmp_path)
    resumed.prepare(texts)
    whole = LanguageModelFeatures(str(tiny_lm))
    whole.prepare(texts)
    assert all(np.array_equal(resumed(one), whole(one)) for one in texts)


def test_log_probabilities_that_are_not_finite_are_an_error(tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    with torch.no_grad():
        next(iter(features.model.parameters())).fill_(torch.nan)
    with pytest.raises(NotFinite, match="Check the model's files"):
        features(text("He left."))


# Capitals, apostrophes and spaces where they belong; every character knows the place in the plain text it is from.

WORDS = st.sampled_from(["i", "it", "he", "s", "t", "don", "re", "the", ".", "?", "!", "3.5", "özil", "munich", "'"])


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("", ""),
        ("it", "It."),
        ("i don t know . it was jenner s", "I don't know. It was jenner's."),
        ("they re here ! and i m not ?", "They're here! And I'm not?"),
        ("he has 3.5 t of it .", "He has 3.5 t of it."),  # no t of a negation
        ("s is a letter . s too", "S is a letter. S too."),  # there is no word that a clitic could belong to
        ("  he   said ", "He said."),
    ],
)
def test_sentences(plain: str, expected: str) -> None:
    assert recase(plain)[0] == expected


def test_names_are_written_as_elsewhere() -> None:
    assert recase("the bbc in munich .", {"munich": "Munich", "bbc": "BBC"})[0] == "The BBC in Munich."


def test_places_of_what_was_put_in() -> None:
    text, places = recase("i don t")
    assert text == "I don't."
    assert places == [0, 2, 2, 3, 4, 6, 6, 6]  # the space belongs to what follows it, the apostrophe and the end to t


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_every_character_has_its_place(plain: str) -> None:
    text, places = recase(plain, {"munich": "Munich"})
    assert len(text) == len(places)
    assert places == sorted(places)
    for character, position in zip(text, places, strict=True):
        assert character in " '." or character.lower() == plain[position]


@given(st.lists(WORDS.filter(lambda word: word != "'"), max_size=12).map(" ".join))
def test_made_plain_again_it_is_the_same(plain: str) -> None:
    again = plain_text(recase(plain)[0])
    assert again in (plain_text(plain), f"{plain_text(plain)} .")  # with a full stop where there was none


def test_learning_names() -> None:
    lines = ["The Munich of May.", "We saw Munich. May I?", "you may go, may you", 'He said: "They go."', "In US terms"]
    assert learn_names(lines) == {"munich": "Munich", "us": "US", "i": "I"}  # what begins a sentence says nothing
