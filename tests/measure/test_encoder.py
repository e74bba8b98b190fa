"""Static vectors with a BiLSTM: padding does not matter, vectors come from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from anaphora.core.errors import BadInput
from anaphora.languages.readings import load_readings
from anaphora.measure.encoder import StaticEncoder, learn_vocabulary, put_vectors
from anaphora.measure.items import Text, text_of

ENGLISH = load_readings("en")


def text(sentence: str) -> Text:
    return text_of((sentence,), ENGLISH)


def test_states_do_not_depend_on_padding() -> None:
    torch.manual_seed(1)
    encoder = StaticEncoder(["<unk>", "he", "left"], 6)
    states, words = encoder([text("He left"), text("He left and left and left")])
    alone, _ = encoder([text("He left")])
    assert states.shape == (2, 6, encoder.width)
    assert words.tolist()[0] == [True, True, False, False, False, False]
    assert torch.allclose(states[0, :2], alone[0], atol=1e-6)
    assert not torch.allclose(states[1, 1], alone[0, 1])  # what follows is read as well


def test_texts_without_words() -> None:
    states, words = StaticEncoder(["<unk>"], 4)([text("")])
    assert states.shape == (1, 1, 4)
    assert words.tolist() == [[False]]


def test_a_vocabulary_of_the_most_frequent_words() -> None:
    assert learn_vocabulary([text("he he left she left he")], 3) == ["<unk>", "he", "left"]


def test_vectors_of_a_file(tmp_path: Path) -> None:
    encoder = StaticEncoder(["<unk>", "he", "left"], 3)
    path = tmp_path / "glove.txt"
    path.write_text("she 1 1 1\nhe 0.5 -1 2\n")
    assert put_vectors(encoder, path) == 1
    assert encoder.vectors.weight[1].tolist() == [0.5, -1, 2]
    path.write_text("she 1\nhe 0.5 -1\n")
    with pytest.raises(BadInput, match="line 2: 2 numbers, but vectors have 3"):
        put_vectors(encoder, path)
