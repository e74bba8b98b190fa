"""Training on pairs, and the folder of a trained measure."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file, save_file

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.finite import NotFinite
from anaphora.languages.pronouns import load_readings
from anaphora.measure import training
from anaphora.measure.config import Config, Data, Model, Training
from anaphora.measure.model import Measure, load_encoder, load_features
from anaphora.measure.texts import pairs_of, text_of
from anaphora.measure.training import (
    Trained,
    check_new,
    evaluate_pairs,
    load_measure,
    read_about,
    save_measure,
    start_from,
    train_measure,
)
from anaphora.suites.example import Example


def config(**model: Any) -> Config:
    training = Training(rate=1e-2, batch=16, epochs=25, patience=8, seed=5)
    return Config("", Data(), replace(Model(encoder="static", width=16, sentences=1), **model), training)


def split(toy: list[Example]) -> tuple[list[Example], list[Example]]:
    """Other verbs in development: what is learned is which pronoun a noun takes."""
    held_out = [example for example in toy if example.id.endswith("came back")]
    return [example for example in toy if example not in held_out], held_out


def weights(trained: Trained) -> dict[str, torch.Tensor]:
    return dict(trained.measure.state_dict())


@pytest.mark.parametrize("kind", ["attention", "average"])
def test_context_decides(toy: list[Example], kind: str) -> None:
    train, dev = split(toy)
    with_context = train_measure(config(kind=kind), train, dev)
    assert with_context.best["dev_accuracy"] > 0.9
    assert with_context.log[0]["loss"] > with_context.log[-1]["loss"]
    without = train_measure(config(kind=kind, context="NC"), train, dev)
    assert without.best["dev_accuracy"] <= 0.5  # each pair is there in both directions


def test_the_best_epoch_is_kept(toy: list[Example], monkeypatch: pytest.MonkeyPatch) -> None:
    def trained(epochs: int) -> Trained:
        accuracies = iter([0.5, 0.9, 0.6, 0.9, 0.9, 0.7, 0.8])
        losses = iter([1.0, 0.5, 0.1, 0.5, 0.6, 0.1, 0.1])  # of equal accuracies the lower loss is better
        monkeypatch.setattr(training, "evaluate_pairs", lambda *_: (next(accuracies), next(losses)))
        limits = replace(config().training, epochs=epochs, patience=3)
        return train_measure(replace(config(), training=limits), *split(toy))

    actual, two = trained(7), trained(2)
    assert actual.best["epoch"] == 2
    assert len(actual.log) == 5  # three epochs without a gain
    assert all(torch.equal(tensor, weights(two)[name]) for name, tensor in weights(actual).items())


def test_accuracy_and_loss_of_pairs(toy: list[Example]) -> None:
    train, dev = split(toy)
    trained = train_measure(config(), train, dev)
    pairs = pairs_of(dev, trained.measure.config, trained.measure.readings)
    assert evaluate_pairs(trained.measure, pairs, config())[0] == trained.best["dev_accuracy"]


def test_the_same_seed_gives_the_same_weights(toy: list[Example]) -> None:
    train, dev = split(toy)
    short = replace(config(), training=replace(config().training, epochs=2))
    one, other = train_measure(short, train, dev), train_measure(short, train, dev)
    assert one.log == other.log
    assert all(torch.equal(tensor, weights(other)[name]) for name, tensor in weights(one).items())
    third = train_measure(replace(short, training=replace(short.training, seed=6)), train, dev)
    assert third.log != one.log


def test_a_frozen_encoder_stays_and_a_tuned_one_learns(toy: list[Example], tiny_bert: Path, tmp_path: Path) -> None:
    train, dev = split(toy)
    base = config(encoder=f"hf:{tiny_bert}", hidden=8)
    base = replace(base, training=replace(base.training, epochs=1, dropout=0.1))
    frozen = train_measure(base, train, dev, cache=tmp_path)
    tuned = train_measure(replace(base, training=replace(base.training, fine_tune=True)), train[:16], dev[:4])
    start = train_measure(base, train, dev, cache=tmp_path)
    save_measure(tmp_path / "tuned", tuned.measure, replace(base, training=replace(base.training, fine_tune=True)), {})
    texts = [pair.better for pair in pairs_of(dev[:4], base.model, tuned.measure.readings)]
    again = load_measure(tmp_path / "tuned").score(texts)
    assert [one.score for one in again] == pytest.approx([one.score for one in tuned.measure.score(texts)], abs=1e-2)
    inner = [name for name in weights(frozen) if name.startswith("encoder.model.")]
    assert inner
    assert all(torch.equal(weights(frozen)[name], weights(start)[name]) for name in inner)
    assert any(not torch.equal(weights(frozen)[name], weights(tuned)[name]) for name in inner)


def test_a_measure_begins_with_the_preference_of_its_language_model(
    toy: list[Example], tiny_bert: Path, tiny_lm: Path
) -> None:
    from anaphora.languages.pronouns import load_readings
    from anaphora.measure.model import load_encoder, load_features

    model = Model(encoder=f"hf:{tiny_bert}", sentences=1, features=(f"lm:{tiny_lm}", "identity"))
    features = load_features(model.features)
    measure = Measure(model, load_readings("en"), 3, load_encoder(model), features)
    with torch.no_grad():
        measure.head.z.zero_()
    pair = pairs_of(toy, model, measure.readings)[0]
    for text, actual in zip((pair.better, pair.worse), measure.score([pair.better, pair.worse]), strict=True):
        assert actual.score == pytest.approx(0.1 * float(features[0](text).sum()), abs=1e-4)
    trained = train_measure(replace(config(), model=model), *split(toy))
    assert trained.measure.head.of_identities is not None
    assert trained.measure.head.of_identities.abs().sum() > 0


def test_a_linear_schedule_ends_at_zero_or_later(toy: list[Example], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps of two epochs: the first has the peak rate, the others fall; laid out for four epochs, half as fast."""
    train, dev = split(toy)
    rates: list[float] = []
    step = torch.optim.AdamW.step

    def noted(self: torch.optim.AdamW, closure: None = None) -> None:
        rates.append(self.param_groups[0]["lr"])
        step(self, closure)

    monkeypatch.setattr(torch.optim.AdamW, "step", noted)
    base = replace(config().training, rate=1.0, epochs=2, batch=16, schedule="linear")
    for epochs, expected in ((0, [1, 1, 2 / 3, 1 / 3]), (4, [1, 1, 6 / 7, 5 / 7])):
        rates.clear()
        train_measure(replace(config(), training=replace(base, schedule_epochs=epochs)), train[:32], dev[:2])
        assert rates == pytest.approx(expected)


def test_sampled_limits_and_missing_pairs(toy: list[Example]) -> None:
    train, dev = split(toy)
    limited = replace(config(), data=Data(limit=10, dev_limit=4), training=Training(epochs=1))
    trained = train_measure(limited, train, dev)
    assert (trained.pairs, trained.dev_pairs) == (10, 4)
    with pytest.raises(AnaphoraError, match="no training pairs of kind 'system'"):
        train_measure(replace(config(), data=Data(train_kind="system")), train, dev)


def test_unknown_encoders_and_features(toy: list[Example]) -> None:
    for model, problem in (
        ({"encoder": "elmo"}, "unknown encoder 'elmo'"),
        ({"features": ("x",)}, "unknown feature 'x'"),
    ):
        with pytest.raises(AnaphoraError, match=problem):
            train_measure(config(**model), toy, toy)


def test_features_are_added_to_a_trained_measure(toy: list[Example], tmp_path: Path) -> None:
    train, dev = split(toy)
    base = config(max_pronouns=3)
    first = train_measure(base, train, dev)
    save_measure(tmp_path / "first", first.measure, base, {})
    more = replace(base, model=replace(base.model, features=("identity",)))
    more = replace(
        more,
        training=replace(
            base.training, start_from=str(tmp_path / "first"), only_features=True, epochs=2, loss="logistic"
        ),
    )
    second = train_measure(more, train, dev)
    kept = [name for name in weights(first) if torch.equal(weights(first)[name], weights(second)[name])]
    assert set(kept) == set(weights(first))
    assert second.measure.head.of_identities is not None
    assert second.measure.head.of_identities.abs().sum() > 0
    with pytest.raises(AnaphoraError, match="the model has no features"):
        train_measure(replace(more, model=base.model), train, dev)
    with pytest.raises(AnaphoraError, match=r"head\.w: \(3,\) in it, \(5,\) here.*architecture differs"):
        train_measure(replace(more, model=replace(more.model, max_pronouns=5)), train, dev)


def test_a_loss_that_is_not_finite_stops_the_training(toy: list[Example], monkeypatch: pytest.MonkeyPatch) -> None:
    real = training.ranking_loss
    monkeypatch.setattr(training, "ranking_loss", lambda *texts: real(*texts) * torch.nan)
    with pytest.raises(NotFinite, match=r"^the loss of a batch of 16 pairs is nan, .* Lower training\.rate"):
        train_measure(config(), *split(toy))


# A measure on disk: everything comes back, and what does not fit is refused.

ENGLISH = load_readings("en")
TEXTS = [text_of(("I saw the king.", "He was old and it came back."), ENGLISH)]


def make_measure(model: Model, training: Training | None = None) -> tuple[Measure, Config]:
    torch.manual_seed(3)
    encoder = load_encoder(model, vocabulary=("<unk>", "he", "was"))
    measure = Measure(model, ENGLISH, 4, encoder, load_features(model.features))
    return measure, Config("", model=model, training=training or Training())


@pytest.fixture
def static(tmp_path: Path) -> tuple[Path, Measure]:
    measure, config = make_measure(Model(width=8, hidden=4, features=("identity",)))
    save_measure(tmp_path / "m", measure, config, {"best": {"epoch": 1}})
    return tmp_path / "m", measure


def test_a_measure_comes_back_as_it_was(static: tuple[Path, Measure]) -> None:
    folder, measure = static
    again = load_measure(folder)
    assert again.score(TEXTS) == measure.score(TEXTS)
    assert again.readings == measure.readings
    assert sorted(path.name for path in folder.iterdir()) == ["measure.json", "model.safetensors"]


def test_a_copy_of_the_encoder_makes_it_whole(tiny_bert: Path, tiny_lm: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_bert, tmp_path / "bert")
    measure, config = make_measure(Model(encoder=f"hf:{folder}?words=last", features=(f"lm:{tiny_lm}",)))
    save_measure(tmp_path / "m", measure, config, {})
    expected = measure.score(TEXTS)
    shutil.rmtree(folder)
    assert load_measure(tmp_path / "m").score(TEXTS)[0].score == pytest.approx(expected[0].score, abs=1e-5)
    assert "encoder.model.embeddings.word_embeddings.weight" not in load_file(tmp_path / "m" / "model.safetensors")


def test_without_a_copy_the_encoder_is_named(tiny_bert: Path, tiny_lm: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_bert, tmp_path / "bert")
    measure, config = make_measure(Model(encoder=f"hf:{folder}"), Training(keep_encoder=False))
    save_measure(tmp_path / "m", measure, config, {})
    assert not (tmp_path / "m" / "encoder").exists()
    folder = folder.rename(tmp_path / "moved")
    assert load_measure(tmp_path / "m", fallback=f"hf:{folder}").score(TEXTS) == measure.score(TEXTS)
    with pytest.raises(BadInput, match="not the encoder of the training"):
        load_measure(tmp_path / "m", fallback=f"hf:{tiny_lm}")


def change(folder: Path, **values: object) -> None:
    about = json.loads((folder / "measure.json").read_text())
    (folder / "measure.json").write_text(json.dumps(about | values))


def as_version_1(folder: Path) -> None:
    """The description as 0.1.0 wrote it: without a scale, which was 2√d."""
    about = json.loads((folder / "measure.json").read_text())
    del about["attention_divisor"]
    (folder / "measure.json").write_text(json.dumps(about | {"anaphora_measure": 1}))


def test_a_measure_of_0_1_0_keeps_its_scale(static: tuple[Path, Measure], tmp_path: Path) -> None:
    folder, measure = static
    assert load_measure(folder).head.divisor == 1.0
    expected = measure.score(TEXTS)
    measure.head.divisor = 2.0
    old = measure.score(TEXTS)
    assert old != expected
    as_version_1(folder)
    assert load_measure(folder).score(TEXTS) == old
    config = Config("", model=measure.config)
    save_measure(tmp_path / "again", load_measure(folder), config, {})
    assert load_measure(tmp_path / "again").score(TEXTS) == old
    assert read_about(tmp_path / "again")["anaphora_measure"] == 2


def test_no_measure_starts_from_another_scale(static: tuple[Path, Measure]) -> None:
    folder, measure = static
    start_from(measure, folder)
    as_version_1(folder)
    with pytest.raises(BadInput, match=r"divides by 2\.0·√d.*this one by 1\.0·√d.*Train it again"):
        start_from(measure, folder)


def test_the_baseline_starts_from_any_scale(tmp_path: Path) -> None:
    """The mean of the pronouns does not attend, so that the scale has no part in its score."""
    measure, config = make_measure(Model(width=8, kind="average"))
    save_measure(tmp_path / "m", measure, config, {})
    as_version_1(tmp_path / "m")
    start_from(measure, tmp_path / "m")


@pytest.mark.parametrize("divisor", ["2", 0, -1.0, None, float("nan")])
def test_a_scale_that_is_no_number_is_refused(static: tuple[Path, Measure], divisor: object) -> None:
    change(static[0], attention_divisor=divisor)
    with pytest.raises(BadInput, match=r"attention_divisor|NaN is not a number that JSON has"):
        load_measure(static[0])


def test_weights_of_another_architecture_are_refused(static: tuple[Path, Measure]) -> None:
    folder, _ = static
    weights = load_file(folder / "model.safetensors")
    save_file({name: t for name, t in weights.items() if name != "head.normal.weight"}, folder / "model.safetensors")
    with pytest.raises(BadInput, match=r"has head\.normal\.weight, but the file does not.*another architecture"):
        load_measure(folder)
    save_file({**weights, "head.z": torch.zeros(9)}, folder / "model.safetensors")
    with pytest.raises(BadInput, match=r"head\.z: \(9,\) in the file, \(4,\) in the model"):
        load_measure(folder)


def test_a_description_of_another_architecture_is_refused(static: tuple[Path, Measure]) -> None:
    folder, _ = static
    about = json.loads((folder / "measure.json").read_text())
    change(folder, config={**about["config"], "model": {**about["config"]["model"], "kind": "average"}})
    with pytest.raises(BadInput, match=r"the file has head\.normal\.\w+, but the model does not"):
        load_measure(folder)


@pytest.mark.parametrize("width", [10**9, 10**6])
def test_a_description_of_another_size_takes_no_memory(static: tuple[Path, Measure], width: int) -> None:
    folder, _ = static
    about = json.loads((folder / "measure.json").read_text())
    change(folder, config={**about["config"], "model": {**about["config"]["model"], "width": width}})
    with pytest.raises(
        BadInput, match=r"measure\.json: it asks for [\d,]+ weights, more than model\.safetensors can hold"
    ):
        load_measure(folder)


def test_a_length_of_another_size_takes_no_memory(static: tuple[Path, Measure]) -> None:
    change(static[0], length=10**11)
    with pytest.raises(
        BadInput, match=r"measure\.json: it asks for [\d,]+ weights, more than model\.safetensors can hold"
    ):
        load_measure(static[0])


def test_what_is_no_measure(static: tuple[Path, Measure], tmp_path: Path) -> None:
    folder, _ = static
    with pytest.raises(BadInput, match="no such folder"):
        load_measure(tmp_path / "nowhere")
    with pytest.raises(BadInput, match=r"measure\.json is missing"):
        load_measure(tmp_path)
    change(folder, anaphora_measure=99)
    with pytest.raises(BadInput, match="version 99"):
        load_measure(folder)
    (folder / "measure.json").write_text("[]")
    with pytest.raises(BadInput, match="not the description of a measure"):
        load_measure(folder)
    (folder / "measure.json").write_text('{"anaphora_measure": 1}')
    with pytest.raises(BadInput, match="not a measure"):
        load_measure(folder)


def test_nothing_is_overwritten(static: tuple[Path, Measure], tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="already exists"):
        check_new(static[0])
    check_new(tmp_path / "new")
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(AnaphoraError, match="already exists"):
        check_new(file)


def test_the_config_is_kept(static: tuple[Path, Measure]) -> None:
    assert load_measure(static[0]).config == replace(Model(width=8, hidden=4), features=("identity",))
