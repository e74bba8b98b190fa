"""`measure:MODEL`: the scores of `anaphora score` are those of the measure, whatever context is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

from anaphora import api
from anaphora.core.errors import AnaphoraError
from anaphora.measure.checkpoint import load_measure, save_measure
from anaphora.measure.config import Config, Model, Training
from anaphora.measure.evaluation import evaluate_measure, score_examples
from anaphora.measure.training import train_measure
from anaphora.suites.example import Example
from anaphora.systems import load_system
from anaphora.systems.context import Context, Options

Write = Callable[[list[Example], Path], Path]


@pytest.fixture(scope="module")
def model(toy: list[Example], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measure")
    config = Config(model=Model(width=16, sentences=1), training=Training(rate=1e-2, batch=16, epochs=12, seed=5))
    found = train_measure(config, toy, toy)
    save_measure(folder, found.measure, config, found.results())
    return folder


def test_the_command_scores_as_the_measure_does(
    model: Path, toy: list[Example], write_suite: Write, tmp_path: Path
) -> None:
    suite = api.load_suite(write_suite(toy, tmp_path / "toy.jsonl"))
    run = api.score(suite, f"measure:{model}", tmp_path / "run", context=0)
    expected = {item.id: item.scores for item in score_examples(load_measure(model), toy)}
    assert {item.id: item.scores for item in run} == {
        name: [pytest.approx(score, abs=1e-5) for score in scores] for name, scores in expected.items()
    }
    result, _ = evaluate_measure(load_measure(model), suite, "")
    assert api.evaluate(run).accuracy == result.accuracy
    assert run.header.context == "0+1"  # one previous sentence was read, though none was asked for


def test_what_is_known_already_is_not_computed_again(model: Path, toy: list[Example]) -> None:
    system = load_system(f"measure:{model}", Options())
    assert [number for number, _ in system.score(toy[:4], {0, 2})] == [1, 3]


def test_other_weights_are_another_system(model: Path, toy: list[Example], tmp_path: Path) -> None:
    config = Config(model=Model(width=16, sentences=1), training=Training(epochs=1, seed=6))
    save_measure(tmp_path, train_measure(config, toy, toy).measure, config, {})
    first, second = (load_system(f"measure:{path}", Options()).settings() for path in (model, tmp_path))
    assert first["weights"] != second["weights"]
    assert load_system(f"measure:{model}", Options()).settings() == first


def test_what_a_measure_cannot_do_is_said(model: Path) -> None:
    with pytest.raises(AnaphoraError, match="a measure of en, but the target language of the suite is fr"):
        load_system(f"measure:{model}", Options(languages=("en", "fr")))
    with pytest.raises(AnaphoraError, match="a measure only scores"):
        load_system(f"measure:{model}", Options(context=Context(1, target="produced")))
    with pytest.raises(AnaphoraError, match="unknown setting 'layer'"):
        load_system(f"measure:{model}?layer=1", Options())
    with pytest.raises(AnaphoraError, match="no such folder"):
        load_system("measure:nowhere", Options())
