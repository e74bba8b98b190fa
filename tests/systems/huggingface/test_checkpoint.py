"""Loading weights: what is loaded is named so that nothing else passes for it, and what cannot be is one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

from anaphora.core.errors import AnaphoraError
from anaphora.systems.huggingface.checkpoint import fingerprint, load_checkpoint


@pytest.fixture
def copy(tiny_marian: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_marian, tmp_path / "copy"))


def named(path: Path, **settings: str) -> dict[str, Any]:
    model, tokenizer = load_checkpoint(AutoModelForSeq2SeqLM, str(path), settings)
    return fingerprint(model, tokenizer, settings)


def test_a_model_is_ready_to_be_asked(tiny_marian: Path) -> None:
    model, tokenizer = load_checkpoint(AutoModelForSeq2SeqLM, str(tiny_marian), {})
    assert not model.training
    assert model.dtype == torch.float32
    assert tokenizer("It broke.").input_ids


def test_the_fingerprint_says_what_the_scores_depend_on(tiny_marian: Path) -> None:
    found = named(tiny_marian)
    assert found["architecture"] == "MarianMTModel"
    assert found["dtype"] == "float32"
    assert found["parameters"] > 50_000
    assert json.loads(json.dumps(found)) == found  # it goes into the header of a run, and comes back the same
    assert named(tiny_marian) == found


def test_other_weights_under_the_same_name_are_noticed(copy: Path, tiny_marian: Path) -> None:
    model, _ = load_checkpoint(AutoModelForSeq2SeqLM, str(copy), {})
    with torch.no_grad():
        model.model.decoder.layers[1].fc2.weight += 0.001  # one layer trained a little further
    model.save_pretrained(copy)
    assert named(copy)["weights"] != named(tiny_marian)["weights"]


def test_another_tokeniser_of_the_same_size_is_noticed(copy: Path, tiny_marian: Path) -> None:
    vocabulary = json.loads((copy / "vocab.json").read_text(encoding="utf-8"))
    first, second = list(vocabulary)[20:22]
    vocabulary[first], vocabulary[second] = vocabulary[second], vocabulary[first]
    (copy / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    assert named(copy)["tokenizer"] != named(tiny_marian)["tokenizer"]
    assert named(copy)["weights"] == named(tiny_marian)["weights"]


def test_the_numbers_it_computes_in_are_part_of_the_name(tiny_marian: Path) -> None:
    half = named(tiny_marian, dtype="bfloat16")
    assert half["dtype"] == "bfloat16"
    assert half != named(tiny_marian)


def test_a_revision_that_was_asked_for_is_kept(tiny_marian: Path) -> None:
    assert named(tiny_marian, revision="v2")["revision"] == "v2"
    assert named(tiny_marian)["revision"] is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dtype": "float8"}, r"unknown dtype 'float8'\. Known: float32, bfloat16, float16"),
        ({"device": "gpu"}, r"device.*gpu"),
        ({"device": "cuda:99"}, r"cuda"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, str], message: str, tiny_marian: Path) -> None:
    with pytest.raises(AnaphoraError, match=message) as caught:
        load_checkpoint(AutoModelForSeq2SeqLM, str(tiny_marian), settings)
    assert "\n" not in str(caught.value)


def spoil_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])


def spoil_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "marian", ', encoding="utf-8")


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def unknown_kind(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "abacus"}', encoding="utf-8")


def other_shapes(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"d_model": 64}), encoding="utf-8")


@pytest.mark.parametrize("spoil", [spoil_weights, spoil_config, no_weights, unknown_kind, other_shapes])
def test_a_broken_checkpoint_is_one_line(spoil: Any, copy: Path) -> None:
    spoil(copy)
    with pytest.raises(AnaphoraError, match=f"{copy}: the model cannot be loaded: ") as caught:
        load_checkpoint(AutoModelForSeq2SeqLM, str(copy), {})
    assert "\n" not in str(caught.value)


def test_a_model_of_the_wrong_kind(tiny_llama: Path) -> None:
    with pytest.raises(AnaphoraError, match="cannot be loaded"):
        load_checkpoint(AutoModelForSeq2SeqLM, str(tiny_llama), {})


def test_a_name_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="no such path here, and it could not be had from the hub"):
        load_checkpoint(AutoModelForSeq2SeqLM, "nobody/nothing", {})


def test_a_gguf_file_that_is_not_there_or_is_none(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match=r"x\.gguf: no such file"):
        load_checkpoint(AutoModelForCausalLM, str(tmp_path / "x.gguf"), {})
    (tmp_path / "y.gguf").write_bytes(b"not a model")
    with pytest.raises(AnaphoraError, match=r"the model cannot be loaded: .*y\.gguf"):
        load_checkpoint(AutoModelForCausalLM, str(tmp_path / "y.gguf"), {})
