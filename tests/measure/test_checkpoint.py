"""Models on disk: they come back as they were, and what is none is refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file, save_file

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronouns import load_readings
from anaphora.measure.checkpoint import check_new, load_measure, read_about, save_measure, start_from
from anaphora.measure.config import Config, Model, Training
from anaphora.measure.model import Measure, load_encoder, load_features, text_of

ENGLISH = load_readings("en")
TEXTS = [text_of(("I saw the king.", "He was old and it came back."), ENGLISH)]


def made(model: Model, training: Training | None = None) -> tuple[Measure, Config]:
    torch.manual_seed(3)
    encoder = load_encoder(model, vocabulary=("<unk>", "he", "was"))
    measure = Measure(model, ENGLISH, 4, encoder, load_features(model.features))
    return measure, Config("", model=model, training=training or Training())


@pytest.fixture
def static(tmp_path: Path) -> tuple[Path, Measure]:
    measure, config = made(Model(width=8, hidden=4, features=("identity",)))
    save_measure(tmp_path / "m", measure, config, {"best": {"epoch": 1}})
    return tmp_path / "m", measure


def test_a_measure_comes_back_as_it_was(static: tuple[Path, Measure]) -> None:
    folder, measure = static
    again = load_measure(folder)
    assert again.score(TEXTS) == measure.score(TEXTS)
    assert again.readings == measure.readings
    assert sorted(path.name for path in folder.iterdir()) == ["measure.json", "model.safetensors"]


def test_a_copy_of_the_encoder_makes_it_whole(tiny_bert: Path, tiny_lm: Path, tmp_path: Path) -> None:
    place = shutil.copytree(tiny_bert, tmp_path / "bert")
    measure, config = made(Model(encoder=f"hf:{place}?words=last", features=(f"lm:{tiny_lm}",)))
    save_measure(tmp_path / "m", measure, config, {})
    expected = measure.score(TEXTS)
    shutil.rmtree(place)
    assert load_measure(tmp_path / "m").score(TEXTS)[0].score == pytest.approx(expected[0].score, abs=1e-5)
    assert "encoder.model.embeddings.word_embeddings.weight" not in load_file(tmp_path / "m" / "model.safetensors")


def test_without_a_copy_the_encoder_is_named(tiny_bert: Path, tiny_lm: Path, tmp_path: Path) -> None:
    place = shutil.copytree(tiny_bert, tmp_path / "bert")
    measure, config = made(Model(encoder=f"hf:{place}"), Training(keep_encoder=False))
    save_measure(tmp_path / "m", measure, config, {})
    assert not (tmp_path / "m" / "encoder").exists()
    place = place.rename(tmp_path / "moved")
    assert load_measure(tmp_path / "m", fallback=f"hf:{place}").score(TEXTS) == measure.score(TEXTS)
    with pytest.raises(BadInput, match="another encoder than in training"):
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
    measure, config = made(Model(width=8, kind="average"))
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
    with pytest.raises(BadInput, match=r"has head\.normal\.weight, but the file has not.*another architecture"):
        load_measure(folder)
    save_file({**weights, "head.z": torch.zeros(9)}, folder / "model.safetensors")
    with pytest.raises(BadInput, match=r"head\.z: \(9,\) in the file, \(4,\) in the model"):
        load_measure(folder)


def test_a_description_of_another_architecture_is_refused(static: tuple[Path, Measure]) -> None:
    folder, _ = static
    about = json.loads((folder / "measure.json").read_text())
    change(folder, config={**about["config"], "model": {**about["config"]["model"], "kind": "average"}})
    with pytest.raises(BadInput, match=r"the file has head\.normal\.\w+, but the model has not"):
        load_measure(folder)


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
    with pytest.raises(AnaphoraError, match="is there already"):
        check_new(static[0])
    check_new(tmp_path / "new")
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(AnaphoraError, match="is there already"):
        check_new(file)


def test_the_config_is_kept(static: tuple[Path, Measure]) -> None:
    assert load_measure(static[0]).config == replace(Model(width=8, hidden=4), features=("identity",))
