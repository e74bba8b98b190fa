"""States of words: static vectors, Hugging Face models, and the cache of states."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import numpy as np
import torch

from anaphora.core.errors import (
    AnaphoraError,
    BadInput,
    CannotWrite,
)
from anaphora.languages.pronouns import load_readings
from anaphora.measure.encoders import (
    HuggingFaceEncoder,
    StateCache,
    StaticEncoder,
    learn_vocabulary,
    load_vectors,
    text_key,
)
from anaphora.measure.texts import Text, text_of
from tests.warm import client

# Static vectors with a BiLSTM.

ENGLISH = load_readings("en")


def text(*passage: str) -> Text:
    return text_of(passage, ENGLISH)


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
    assert load_vectors(encoder, path) == 1
    assert encoder.vectors.weight[1].tolist() == [0.5, -1, 2]
    path.write_text("she 1\nhe 0.5 -1\n")
    with pytest.raises(BadInput, match="line 2: 2 numbers, but vectors have 3"):
        load_vectors(encoder, path)


# Hugging Face models: one state per word, cached, truncated where the model ends.


def direct(encoder: HuggingFaceEncoder, whole: str) -> torch.Tensor:
    """The model's own states of the pieces of a text."""
    given = encoder.tokenizer(whole, return_tensors="pt")
    with torch.inference_mode():
        return encoder.model(**given).last_hidden_state[0]


@pytest.mark.parametrize(("by", "pieces"), [("mean", slice(4, 9)), ("first", slice(4, 5)), ("last", slice(8, 9))])
def test_a_word_is_made_of_its_pieces(tiny_bert: Path, by: str, pieces: slice) -> None:
    encoder = HuggingFaceEncoder(f"{tiny_bert}?words={by}")
    states, words = encoder([text("I saw the queen.")])
    expected = direct(encoder, "I saw the queen.")  # [CLS] i saw the q ##u ##e ##e ##n . [SEP]
    assert words.tolist() == [[True] * 5]
    assert torch.allclose(states[0, 3], expected[pieces].mean(0), atol=2e-3)  # kept in 16 bits
    assert torch.allclose(states[0, 1], expected[2], atol=2e-3)


def test_layers_are_mixed_by_learned_weights(tiny_bert: Path) -> None:
    """With the initial weights their mean; the weights are parameters, and the layers are what is cached."""
    layers = [HuggingFaceEncoder(f"{tiny_bert}?layer={n}")([text("I saw the queen.")])[0] for n in (0, 1, 2)]
    mixed = HuggingFaceEncoder(f"{tiny_bert}?layer=mix")
    states, words = mixed([text("I saw the queen.")])
    assert torch.allclose(states, sum(layers[1:], layers[0]) / 3, atol=2e-3)
    assert words.tolist() == [[True] * 5]
    assert [name for name, p in mixed.named_parameters() if p.requires_grad] == ["mix", "gamma"]
    two = HuggingFaceEncoder(f"{tiny_bert}?layer=0,-1")
    assert two.mix is not None
    with torch.no_grad():
        two.mix.copy_(torch.tensor([50.0, 0.0]))
    assert torch.allclose(two([text("I saw the queen.")])[0], layers[0], atol=2e-3)
    assert (two.settings()["layer"], mixed.settings()["layer"]) == ("0,-1", "0,1,2")


def test_layers_that_do_not_exist(tiny_bert: Path) -> None:
    for layer, problem in (("3", "no layer 3"), ("1,9", "no layer 9"), ("x", "is not a number"), ("", "is not a")):
        with pytest.raises(AnaphoraError, match=problem):
            HuggingFaceEncoder(f"{tiny_bert}?layer={layer}")


def test_states_of_a_causal_model_know_only_what_comes_before(tiny_lm: Path) -> None:
    encoder = HuggingFaceEncoder(str(tiny_lm))
    one, _ = encoder([text("I saw the king. He was old.")])
    other, _ = encoder([text("I saw the king. He has gone.")])
    assert torch.allclose(one[0, 5], other[0, 5], atol=1e-3)
    assert not torch.allclose(one[0, 6], other[0, 6], atol=1e-2)


def test_states_are_kept(tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text("I saw the king."), text("He was old."), text("")]
    encoder = HuggingFaceEncoder(str(tiny_bert), cache=tmp_path)
    encoder.prepare(texts)
    before, _ = encoder(texts)
    again = HuggingFaceEncoder(str(tiny_bert), cache=tmp_path)
    monkeypatch.setattr(again, "_states", lambda texts: pytest.fail("computed again"))
    assert torch.equal(again(texts)[0], before)
    assert before[2].abs().sum() == 0


def stored(folder: Path) -> list[tuple[str, bytes]]:
    """Everything in a cache."""
    (file,) = folder.iterdir()
    return sqlite3.connect(file).execute("SELECT key, data FROM arrays ORDER BY key").fetchall()


def test_an_interruption_does_not_change_what_is_computed_together(
    tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [text(" ".join(["old"] * n)) for n in range(1, 30)]
    monkeypatch.setattr("anaphora.measure.encoders.BATCH_TOKENS", 100)

    seen: list[list[str]] = []

    class Watched(HuggingFaceEncoder):
        def _states(self, texts: Sequence[Text]) -> tuple[torch.Tensor, torch.Tensor]:
            seen.append([one.whole for one in texts])
            return super()._states(texts)

    def batches(cache: Path, stop: int = 100) -> list[list[str]]:
        """What is computed until it is interrupted after this many texts."""

        def progress(done: int, total: int) -> None:
            if done >= stop:
                raise KeyboardInterrupt

        seen.clear()
        with contextlib.suppress(KeyboardInterrupt):
            Watched(str(tiny_bert), cache=cache).prepare(texts, progress)
        return list(seen)

    whole = batches(tmp_path / "whole")
    assert len(whole) > 5
    first = batches(tmp_path / "part", stop=7)
    (file,) = (tmp_path / "part").iterdir()
    with sqlite3.connect(file) as connection:  # as if it had been killed while it wrote the last batch
        connection.executemany("DELETE FROM arrays WHERE key = ?", [(text_key(one),) for one in first[-1]])
    second = batches(tmp_path / "part")
    assert second[0] == first[-1]
    assert first + second[1:] == whole
    assert stored(tmp_path / "part") == stored(tmp_path / "whole")


def test_another_layer_has_other_states(tiny_bert: Path, tmp_path: Path) -> None:
    last = HuggingFaceEncoder(str(tiny_bert), cache=tmp_path)([text("He was old.")])[0]
    first = HuggingFaceEncoder(f"{tiny_bert}?layer=0", cache=tmp_path)([text("He was old.")])[0]
    assert not torch.allclose(first, last)


def test_a_long_text_loses_its_oldest_words(tiny_bert: Path) -> None:
    encoder = HuggingFaceEncoder(str(tiny_bert))
    long = text("i " * 80, "He was old.")
    states, words = encoder([long])
    assert words.shape[1] == len(long.words)
    assert words[0, long.begin :].all()
    assert words.sum() == 64 - 2  # less [CLS] and [SEP]
    assert not words[0, :20].any()
    assert states[0, 0].abs().sum() == 0
    assert encoder.truncated == 1
    alone = text("he " * 80)  # one long sentence loses its end
    assert encoder([alone])[1][0].tolist() == [True] * 62 + [False] * 18


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("?layer=9", "no layer 9"),
        ("?layer=x", "not a number"),
        ("?words=all", "unknown words"),
        ("?a=1", "unknown setting"),
    ],
)
def test_settings_that_do_not_exist(tiny_bert: Path, what: str, problem: str) -> None:
    with pytest.raises(AnaphoraError, match=problem):
        HuggingFaceEncoder(f"{tiny_bert}{what}")


# The cache.

ONE, TWO = np.arange(6, dtype=np.float32).reshape(3, 2), np.ones((1, 2), np.float32)


def test_what_is_put_is_found_again(tmp_path: Path) -> None:
    cache = StateCache(tmp_path / "s", 2, {"model": "a"})
    cache.put({"one": ONE, "none": np.zeros((0, 2))})
    cache.put({"two": TWO})
    for opened in (cache, StateCache(tmp_path / "s", 2, {"model": "a"})):
        assert np.array_equal(opened.get("one", 3), ONE)
        assert np.array_equal(opened.get("two", 1), TWO)
        assert opened.get("none", 0).shape == (0, 2)
        assert "three" not in opened


def test_without_a_folder_states_stay_in_memory() -> None:
    cache = StateCache(None, 2, {})
    cache.put({"one": ONE})
    assert np.array_equal(cache.get("one", 3), ONE)
    assert "one" not in StateCache(None, 2, {})


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    """A process that is killed in the middle of a transaction leaves a journal, which the next one rolls back."""
    StateCache(tmp_path, 2, {}).put({"one": ONE})
    program = (
        "import os, signal, numpy; from pathlib import Path; from anaphora.measure.encoders import StateCache; "
        f"cache = StateCache(Path({str(tmp_path)!r}), 2, {{}}); cache._connection.execute('PRAGMA cache_size = 1'); "
        "rows = [(str(n), bytes(4096)) for n in range(100)]; "
        "cache._connection.executemany('INSERT INTO arrays VALUES (?, ?)', rows); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([*client(), "python", "-c", program], check=False).returncode == -signal.SIGKILL
    again = StateCache(tmp_path, 2, {})
    assert "50" not in again
    again.put({"two": TWO})
    assert np.array_equal(StateCache(tmp_path, 2, {}).get("two", 1), TWO)
    assert np.array_equal(StateCache(tmp_path, 2, {}).get("one", 3), ONE)


def test_states_of_another_origin_do_not_meet(tmp_path: Path) -> None:
    StateCache(tmp_path, 2, {"model": "a"}).put({"one": ONE})
    assert "one" not in StateCache(tmp_path, 2, {"model": "b"})


def test_a_damaged_cache_is_an_error(tmp_path: Path) -> None:
    cache = StateCache(tmp_path, 2, {})
    cache.put({"one": ONE})
    with pytest.raises(BadInput, match=r"wrong size.*Delete the file"):
        cache.get("one", 4)
    cache.path.write_bytes(b"no database" * 100)
    with pytest.raises(BadInput, match=r"not a cache of encoder states.*Delete the file"):
        StateCache(tmp_path, 2, {})


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    cache = StateCache(tmp_path, 2, {})
    cache._connection.execute("PRAGMA query_only = 1")
    with pytest.raises(CannotWrite, match="readonly"):
        cache.put({"one": ONE})


def test_processes_share_a_cache(tmp_path: Path) -> None:
    cache = StateCache(tmp_path, 2, {})
    program = (
        "import numpy; from pathlib import Path; from anaphora.measure.encoders import StateCache; "
        f"StateCache(Path({str(tmp_path)!r}), 2, {{}}).put({{'two': numpy.ones((1, 2))}})"
    )
    subprocess.run([*client(), "python", "-c", program], check=True)
    assert np.array_equal(cache.get("two", 1), TWO)


def test_keys_of_texts() -> None:
    assert text_key("a", "b") == text_key("a", "b") != text_key("ab", "") != text_key("a", "b", "")
