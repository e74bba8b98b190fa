"""States of Hugging Face models: one per word, kept on disk, cut where the model ends."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import load_readings
from anaphora.measure.hf_encoder import HuggingFaceEncoder
from anaphora.measure.model import Text, text_of

ENGLISH = load_readings("en")


def text(*passage: str) -> Text:
    return text_of(passage, ENGLISH)


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


def test_an_interruption_does_not_change_what_is_computed_together(
    tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [text(" ".join(["old"] * n)) for n in range(1, 30)]
    monkeypatch.setattr("anaphora.measure.hf_encoder.BATCH_TOKENS", 100)

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
        gc.collect()  # the store is closed, as if the process had ended
        return list(seen)

    whole = batches(tmp_path / "whole")
    assert len(whole) > 5
    first = batches(tmp_path / "part", stop=7)
    (index,) = (tmp_path / "part").glob("*/index.jsonl")
    index.write_bytes(index.read_bytes()[:-20])  # killed while it wrote the last batch
    second = batches(tmp_path / "part")
    assert second[0] == first[-1]
    assert first + second[1:] == whole
    (one,), (other,) = ((tmp_path / name).glob("*/rows.bin") for name in ("part", "whole"))
    assert one.read_bytes() == other.read_bytes()


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
    assert encoder.cut == 1
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
