"""The last layers of a language model learn which of two texts is better; nothing else of it changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from anaphora.cli.measure import measure
from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import NotFinite
from anaphora.languages.pronouns import load_readings
from anaphora.measure.config import Model
from anaphora.measure.features import LanguageModelFeatures
from anaphora.measure.model import Pair, pairs_of, text_of
from anaphora.measure.tuning import Tuning, preferred, save_tuned, tune
from anaphora.suites.example import Example

ENGLISH = load_readings("en")
FAST = Tuning(layers=1, rate=1e-2, batch=8, epochs=3)


def pairs(toy: list[Example]) -> list[Pair]:
    return pairs_of(toy, Model(), ENGLISH)


def test_it_learns_from_the_context(toy: list[Example], tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    before = preferred(features, pairs(toy))
    log = tune(features, pairs(toy), FAST)
    assert preferred(features, pairs(toy)) > max(0.9, before + 0.2)
    assert [line["pairs"] for line in log] == [8] * 27
    assert log[-1]["loss"] < log[0]["loss"]
    assert not any(parameter.requires_grad for parameter in features.model.parameters())


def test_only_the_last_layers_change(toy: list[Example], tiny_lm: Path) -> None:
    first, second = LanguageModelFeatures(str(tiny_lm)), LanguageModelFeatures(str(tiny_lm))
    tune(second, pairs(toy)[:8], FAST)
    old, new = first.model.state_dict(), second.model.state_dict()
    changed = {name for name in old if not torch.equal(old[name], new[name])}
    assert changed
    assert all(name.startswith(("model.layers.1.", "model.norm.")) for name in changed)


def test_the_same_seed_gives_the_same_weights(toy: list[Example], tiny_lm: Path) -> None:
    found = []
    for seed in (1, 1, 2):
        features = LanguageModelFeatures(str(tiny_lm))
        tune(features, pairs(toy)[:24], Tuning(layers=1, rate=1e-2, seed=seed))
        found.append(features.model.model.norm.weight.clone())
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_a_tuned_model_is_a_feature_like_any_other(toy: list[Example], tiny_lm: Path, tmp_path: Path) -> None:
    features = LanguageModelFeatures(f"{tiny_lm}?restore=true")
    tune(features, pairs(toy)[:16], FAST)
    save_tuned(features, tmp_path / "tuned")
    loaded = LanguageModelFeatures(f"{tmp_path / 'tuned'}?restore=true")
    text = pairs(toy)[0].better
    assert loaded(text).tolist() == [pytest.approx(row, abs=1e-4) for row in features(text).tolist()]
    assert loaded.settings()["weights"] != LanguageModelFeatures(str(tiny_lm)).settings()["weights"]


def test_a_model_that_was_read_from_gguf_is_saved_as_plain_weights(tiny_lm: Path, tmp_path: Path) -> None:
    """What transformers notes on such a model: it was quantized in its file, and is not here."""

    class Quantizer:
        quantization_config = SimpleNamespace(quant_method="gguf")

        def is_serializable(self, *_: object) -> bool:
            return False

    features = LanguageModelFeatures(str(tiny_lm))
    features.model.hf_quantizer = Quantizer()
    features.model.config.quantization_config = {"quant_method": "gguf"}
    save_tuned(features, tmp_path / "tuned")
    assert "quantization_config" not in json.loads((tmp_path / "tuned" / "config.json").read_text("utf-8"))
    loaded = LanguageModelFeatures(str(tmp_path / "tuned"))
    assert loaded.settings()["weights"] == LanguageModelFeatures(str(tiny_lm)).settings()["weights"]


def test_what_cannot_be_learned_from_is_said(toy: list[Example], tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    with pytest.raises(AnaphoraError, match="no pairs to learn from"):
        tune(features, [], FAST)
    with pytest.raises(AnaphoraError, match="5 layers to learn, but the model has 2"):
        tune(features, pairs(toy), Tuning(layers=5))
    with pytest.raises(AnaphoraError, match="numbers from 1"):
        Tuning(batch=0)


def test_contexts_of_their_own_are_read_with_each_text(toy: list[Example], tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    own = [replace(pair, worse=text_of(("The queen.", "It was old."), ENGLISH)) for pair in pairs(toy)[:4]]
    expected = sum(
        float(features.log_probabilities([p.better])) > float(features.log_probabilities([p.worse])) for p in own
    )
    assert preferred(features, own) == expected / 4
    assert len(tune(features, own, FAST)) == 3


def test_on_the_command_line(
    toy: list[Example], tiny_lm: Path, write_suite: Callable[[list[Example], Path], Path], tmp_path: Path
) -> None:
    suite = str(write_suite(toy[:24], tmp_path / "toy.jsonl"))
    common = ["tune", f"lm:{tiny_lm}?restore=true", "--train", suite, "--dev", suite, "--layers", "1", "--rate", "0.01"]
    output = ["-o", str(tmp_path / "tuned"), "--json"]
    result = CliRunner().invoke(measure, [*common, "--plain", "--epochs", "3", *output])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["pairs"], found["dev_pairs"], len(found["log"])) == (24, 24, 9)
    assert found["dev"]["after"] > found["dev"]["before"]
    again = CliRunner().invoke(measure, [*common, *output])
    assert "is there already" in str(again.exception)
    wrong = CliRunner().invoke(measure, ["tune", "hf:x", "--train", suite, "-o", str(tmp_path / "other")])
    assert "not a language model: 'hf:x'" in str(wrong.exception)


def test_a_loss_that_is_not_finite_stops_the_tuning(toy: list[Example], tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    with torch.no_grad():
        next(iter(features.model.parameters())).fill_(torch.nan)
    with pytest.raises(NotFinite, match=r"^the loss of step 1 is nan, .* Lower the rate"):
        tune(features, pairs(toy), FAST)
    with pytest.raises(NotFinite, match=r"^log-probabilities by the language model: "):
        features(text_of(("He left.",), ENGLISH))
