"""A language model learns to read texts of a kind: by the next word, to the same weights if it is interrupted."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")
pytest.importorskip("transformers")
if importlib.util.find_spec("peft") is None:  # not imported here: it takes seconds, and few workers need it
    pytest.skip("PEFT is not installed: pip install 'anaphora[measure]'", allow_module_level=True)

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from anaphora.cli.app import app
from anaphora.cli.interrupts import resume_message as stopped
from anaphora.cli.measure import measure
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.finite import NotFinite
from anaphora.languages.pronouns import load_readings
from anaphora.measure.adapting import (
    KEEP_EVERY,
    Adapting,
    _batches,
    _passages,
    adapt,
    documents,
    preference_accuracy,
    save_language_model,
)
from anaphora.measure.config import Model
from anaphora.measure.features import LanguageModelFeatures
from anaphora.measure.texts import pairs_of, text_of
from anaphora.suites.example import Example

ENGLISH = load_readings("en")
FAST = Adapting(rank=8, rate=2e-2, steps=60, batch=8, pieces=40)


def right(toy: list[Example]) -> list[list[str]]:
    return [list(example.candidates[0]) for example in toy]


def test_it_learns_what_the_texts_are_like(toy: list[Example], tiny_lm: Path) -> None:
    """Nobody shows it a wrong text; to prefer the right one it has to learn what king and he have to do with it."""
    features = LanguageModelFeatures(str(tiny_lm))
    pairs = pairs_of(toy, Model(), ENGLISH)
    before = preference_accuracy(features, pairs)
    log = adapt(features, right(toy), FAST)
    assert preference_accuracy(features, pairs) > max(0.9, before + 0.2)
    assert log[-1]["loss"] < log[0]["loss"] / 2
    assert not any(parameter.requires_grad for parameter in features.model.parameters())


def test_the_loss_is_that_of_the_next_piece(tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    before = features.sentence_scores([text_of((s,), ENGLISH) for s in ("He was old.", "It has gone.")])
    lengths = [
        len(features.tokenizer(s, add_special_tokens=False)["input_ids"]) for s in ("He was old.", "It has gone.")
    ]
    [line] = adapt(features, [["He was old."], ["It has gone."]], replace(FAST, steps=1, batch=2))
    assert line["pieces"] == sum(lengths)
    assert line["loss"] == pytest.approx(-sum(before) / sum(lengths), abs=1e-4)


def test_what_is_learned_is_in_the_weights(toy: list[Example], tiny_lm: Path, tmp_path: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    names = set(features.model.state_dict())
    adapt(features, right(toy), replace(FAST, steps=5))
    assert set(features.model.state_dict()) == names
    save_language_model(features, tmp_path / "adapted")
    loaded = LanguageModelFeatures(str(tmp_path / "adapted"))
    text = text_of(("I saw the king.", "He was old."), ENGLISH)
    assert loaded(text).tolist() == [pytest.approx(row, abs=1e-4) for row in features(text).tolist()]
    old, new = LanguageModelFeatures(str(tiny_lm)).model.state_dict(), loaded.model.state_dict()
    changed = {name for name in old if not torch.equal(old[name], new[name])}
    assert len(changed) == 2 * 7  # every projection of both layers, neither embeddings nor output nor normalization


def test_an_interrupted_run_goes_on_to_the_same_weights(toy: list[Example], tiny_lm: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    whole = LanguageModelFeatures(str(tiny_lm))
    expected = adapt(whole, right(toy), FAST)

    def stop(line: dict[str, Any]) -> None:
        if line["step"] == KEEP_EVERY + 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapt(LanguageModelFeatures(str(tiny_lm)), right(toy), FAST, keep=kept, report=stop)
    seen: list[int] = []
    again = LanguageModelFeatures(str(tiny_lm))
    assert adapt(again, right(toy), FAST, keep=kept, report=lambda line: seen.append(line["step"])) == expected
    assert seen == list(range(KEEP_EVERY + 1, FAST.steps + 1))
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, again.model.state_dict()[name]), name
    with pytest.raises(AnaphoraError, match="belongs to a different model, text or configuration"):
        adapt(LanguageModelFeatures(str(tiny_lm)), right(toy)[1:], FAST, keep=kept)


def test_unfinished_weights_of_another_size_are_refused(toy: list[Example], tiny_lm: Path, tmp_path: Path) -> None:
    def stop(line: dict[str, Any]) -> None:
        if line["step"] == KEEP_EVERY + 1:
            raise KeyboardInterrupt

    kept = tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        adapt(LanguageModelFeatures(str(tiny_lm)), right(toy), FAST, keep=kept, report=stop)
    with safe_open(kept, "pt") as file:
        about = file.metadata()
    tensors = load_file(kept)
    tensors["0.exp_avg"] = tensors["0.exp_avg"][:1].clone()  # PyTorch would spread it over all rows
    save_file(tensors, kept, about)
    with pytest.raises(BadInput, match=r"update 0 has another size"):
        adapt(LanguageModelFeatures(str(tiny_lm)), right(toy), FAST, keep=kept)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(12, 40))
def test_passages_hold_all_sentences_in_order(lengths: list[int], most: int) -> None:
    class Words:
        """A tokenizer for which every word is a piece; a space before the first is kept as its sign."""

        def __call__(self, text: str, **_: object) -> dict[str, list[int]]:
            return {"input_ids": [int(word) for word in text.split()]}

    class Reader:
        begin, tokenizer = -1, Words()

        def recased(self, text: str) -> str:
            return text

    numbers = iter(range(10**6))
    sentences = [" ".join(str(next(numbers)) for _ in range(length)) for length in lengths]
    actual = list(_passages(Reader(), sentences, most))  # type: ignore[arg-type]
    assert [piece for passage in actual for piece in passage[1:]] == list(range(sum(lengths)))
    assert all(passage[0] == -1 and 1 < len(passage) <= most for passage in actual)
    starts = {int(sentence.split()[0]) for sentence in sentences}
    assert all(passage[1] in starts for passage in actual)


def test_every_passage_has_its_turn_before_one_comes_again() -> None:
    passages = [[0, n] for n in range(10)]
    drawn = [p[1] for batch in _batches(passages, replace(FAST, steps=5, batch=4)) for p in batch]
    assert sorted(drawn[:10]) == sorted(drawn[10:20]) == list(range(10))
    assert drawn[:10] != drawn[10:20]


def test_documents_end_at_an_empty_line(tmp_path: Path) -> None:
    lines = tmp_path / "text.en"
    lines.write_text("One, two.\n\n \nThree!  Four\n—\nI don't.\n", encoding="utf-8")
    assert list(documents(lines)) == [["One, two."], ["Three! Four", "—", "I don't."]]
    assert list(documents(lines, plain=True)) == [["one two ."], ["three ! four", "i don t ."]]


def test_documents_have_one_way_to_write_each_sign(tmp_path: Path) -> None:
    file = tmp_path / "text.en"
    file.write_text("It’s\u00a0here.\nHe&#39;s not.\n", encoding="utf-8")
    assert list(documents(file)) == [["It's here.", "He's not."]]


def test_invalid_text_and_settings_are_errors(tiny_lm: Path) -> None:
    with pytest.raises(AnaphoraError, match="no text to adapt to"):
        adapt(LanguageModelFeatures(str(tiny_lm)), [[]], FAST)
    with pytest.raises(AnaphoraError, match="must be at least 1"):
        Adapting(steps=0)


def test_on_the_command_line(
    toy: list[Example], tiny_lm: Path, write_suite: Callable[[list[Example], Path], Path], tmp_path: Path
) -> None:
    suite = str(write_suite(toy, tmp_path / "toy.jsonl"))
    text = tmp_path / "text.en"
    text.write_text("\n\n".join("\n".join(document) for document in right(toy)), encoding="utf-8")
    output = tmp_path / "adapted"
    command = ["adapt", f"lm:{tiny_lm}", str(text), "--dev", suite, "--rate", "0.02", "--steps", "60", "--pieces", "40"]
    result = CliRunner().invoke(measure, [*command, "-o", str(output), "--json"])
    assert result.exit_code == 0, result.output
    actual = json.loads(result.stdout)
    assert (actual["dev_pairs"], len(actual["log"])) == (len(toy), 60)
    assert actual["dev"]["after"] > 0.9 > actual["dev"]["before"]
    assert (output / "model.safetensors").is_file()
    assert not output.with_name("adapted.part").exists()
    missing = CliRunner().invoke(measure, ["adapt", f"lm:{tiny_lm}", "nowhere.en", "-o", str(tmp_path / "other")])
    assert "nowhere.en" in str(missing.exception)


def test_a_run_killed_after_its_output_was_written_ends_well(
    toy: list[Example], tiny_lm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.en"
    text.write_text("\n\n".join("\n".join(document) for document in right(toy)), encoding="utf-8")
    output, part = tmp_path / "adapted", tmp_path / "adapted.part"
    command = ["adapt", f"lm:{tiny_lm}", str(text), "--steps", "3", "--pieces", "40", "-o", str(output), "--json"]
    unlink = Path.unlink

    def kept(path: Path, missing_ok: bool = False) -> None:
        if path == part:
            raise KeyboardInterrupt
        unlink(path, missing_ok)

    with monkeypatch.context() as killed:
        killed.setattr(Path, "unlink", kept)
        assert CliRunner().invoke(measure, command).exit_code != 0
    assert part.is_file()
    weights = (output / "model.safetensors").read_bytes()
    other = CliRunner().invoke(measure, [*command, "--seed", "5"])
    assert "already exists" in str(other.exception), "this output was made with other settings"
    again = CliRunner().invoke(measure, command)
    assert again.exit_code == 0, again.output
    assert len(json.loads(again.stdout)["log"]) == 3
    assert (output / "model.safetensors").read_bytes() == weights
    assert not part.exists()
    assert "already exists" in str(CliRunner().invoke(measure, command).exception)


def test_after_ctrl_c_the_same_command_goes_on(tmp_path: Path) -> None:
    words = ["measure", "adapt", "lm:x", "text.en", "-o", str(tmp_path / "adapted")]
    assert stopped(app, words).startswith("stopped; nothing was written. Start again with: anaphora measure adapt")
    (tmp_path / "adapted.part").touch()
    assert "learned so far is kept in" in stopped(app, words)
    assert stopped(app, words).endswith(f"Resume with: anaphora measure adapt lm:x text.en -o {tmp_path / 'adapted'}")


def test_a_loss_that_is_not_finite_stops_the_adapting(toy: list[Example], tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    with torch.no_grad():
        next(iter(features.model.parameters())).fill_(torch.nan)
    with pytest.raises(NotFinite, match=r"^the loss of step 1 is nan, .* Lower the rate"):
        adapt(features, right(toy), FAST)


def test_a_gguf_model_is_saved_as_plain_weights(tiny_lm: Path, tmp_path: Path) -> None:
    """What transformers notes on such a model: it was quantized in its file, and is not here."""

    class Quantizer:
        quantization_config = SimpleNamespace(quant_method="gguf")

        def is_serializable(self, *_: object) -> bool:
            return False

    features = LanguageModelFeatures(str(tiny_lm))
    features.model.hf_quantizer = Quantizer()
    features.model.config.quantization_config = {"quant_method": "gguf"}
    save_language_model(features, tmp_path / "saved")
    assert "quantization_config" not in json.loads((tmp_path / "saved" / "config.json").read_text("utf-8"))
    loaded = LanguageModelFeatures(str(tmp_path / "saved"))
    assert loaded.settings()["weights"] == LanguageModelFeatures(str(tiny_lm)).settings()["weights"]


def test_the_preference_is_that_of_both_texts_in_their_contexts(toy: list[Example], tiny_lm: Path) -> None:
    features = LanguageModelFeatures(str(tiny_lm))
    pairs = pairs_of(toy, Model(), ENGLISH)[:4]
    own = [replace(pair, worse=text_of(("The queen.", "It was old."), ENGLISH)) for pair in pairs]
    right = [features.sentence_scores([p.better]) > features.sentence_scores([p.worse]) for p in own]
    assert preference_accuracy(features, own) == sum(right) / 4
    assert preference_accuracy(features, []) == 0


def test_only_language_models_are_adapted(tmp_path: Path) -> None:
    wrong = CliRunner().invoke(measure, ["adapt", "hf:x", "text.en", "-o", str(tmp_path / "other")])
    assert "not a language model: 'hf:x'" in str(wrong.exception)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    again = CliRunner().invoke(measure, ["adapt", "lm:x", "text.en", "-o", str(tmp_path / "full")])
    assert "already exists" in str(again.exception)
