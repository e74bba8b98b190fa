"""`anaphora train`, end to end with models of a few thousand weights."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch")
pytest.importorskip("sentencepiece")
pytest.importorskip("transformers")

from anaphora.cli.app import app
from anaphora.core.errors import AnaphoraError
from tests.nmt.synthetic_text import synthetic


def corpus(folder: Path, documents: int, seed: int) -> tuple[Path, Path]:
    spec = importlib.util.spec_from_file_location("nmt_conftest", Path(__file__).parents[1] / "nmt" / "conftest.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    actual: tuple[Path, Path] = module.write_corpus(folder, documents, seed)
    return actual


@pytest.fixture
def settings(tmp_path: Path) -> list[str]:
    source, target = corpus(tmp_path, 40, 1)
    values = {
        "data.source": source,
        "data.target": target,
        "vocabulary.size": 60,
        "model.embedding": 16,
        "training.updates": 6,
        "training.save_every": 2,
        "training.report_every": 2,
    }
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")] + ["--threads", "1"]


def run(*arguments: str) -> Any:
    result = CliRunner().invoke(app, ["train", *arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    "preset", ["transformer-concat22-laptop", "rnn-s-t-hier-to-2-tied-laptop", "transformer-voita-laptop"]
)
def test_a_preset_is_trained_and_goes_on(tmp_path: Path, settings: list[str], preset: str) -> None:
    folder = tmp_path / "model"
    result = run(preset, "-o", str(folder), *settings)
    assert (result["model"], result["updates"]) == (str(folder), 6)
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert [line["update"] for line in lines] == [2, 4, 6]
    assert run(preset, "-o", str(folder), *settings, "--set", "training.updates=8", "--resume")["updates"] == 8
    assert run(preset, "-o", str(folder), *settings, "--resume", "--average", "2", "--set", "training.updates=8")


def test_average_keeps_what_it_averages(tmp_path: Path, settings: list[str]) -> None:
    """training.keep is 3 unless it is set."""
    every = ["--set", "training.save_every=1"]
    run("rnn-baseline-laptop", "-o", str(tmp_path / "m"), *settings, *every, "--average", "5")
    assert "average = 5\n" in (tmp_path / "m" / "config.toml").read_text()


def test_the_best_checkpoints_need_validation_text(tmp_path: Path, settings: list[str]) -> None:
    best = ["--set", "training.average_of=best", "--set", "validation.every=1", "--average", "5"]
    command = ["train", "rnn-baseline-laptop", "-o", str(tmp_path / "m"), *settings, *best]
    with pytest.raises(AnaphoraError, match=r"best checkpoints.*need data\.validation_source"):
        CliRunner().invoke(app, command, catch_exceptions=False)
    source, target = corpus(tmp_path, 8, 2)
    text = ["--set", f"data.validation_source={source}", "--set", f"data.validation_target={target}"]
    result = run("rnn-baseline-laptop", "-o", str(tmp_path / "n"), *settings, *best, *text)
    assert result["perplexity"] > 1


def test_a_short_run_prints_its_loss(tmp_path: Path, settings: list[str]) -> None:
    more = ["--set", "training.report_every=50"]
    arguments = ["train", "rnn-baseline-laptop", "-o", str(tmp_path / "m"), *settings, *more]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert "update 6 · loss " in result.stderr


def test_a_sweep(tmp_path: Path, settings: list[str]) -> None:
    result = run(
        "rnn-baseline-laptop", "-o", str(tmp_path / "m"), *settings, "--sweep", "training.learning_rate=0.01,0.001"
    )
    assert [Path(model["model"]).name for model in result["models"]] == ["learning_rate-0.01", "learning_rate-0.001"]
    configs = [
        (tmp_path / "m" / name / "config.toml").read_text() for name in ("learning_rate-0.01", "learning_rate-0.001")
    ]
    assert "rate = 0.01\n" in configs[0]
    assert "rate = 0.001\n" in configs[1]


def test_accuracy_during_training_is_drawn(tmp_path: Path, settings: list[str]) -> None:
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed: pip install 'anaphora[tensorboard]'")
    suite = synthetic.make_suite("target", each=1)
    suite.write(tmp_path / "held out.jsonl")
    more = ["--set", f'validation.suites=["{tmp_path / "held out.jsonl"}"]', "--set", "validation.every=3"]
    run("transformer-baseline-laptop", "-o", str(tmp_path / "m"), *settings, *more, "--tensorboard")
    assert "0.500 after 6 updates" in (tmp_path / "m" / "curve.svg").read_text(encoding="utf-8")  # by chance
    assert any((tmp_path / "m" / "tensorboard").iterdir())


def test_the_list() -> None:
    actual = run("--list")["presets"]
    assert len(actual) > 40
    assert actual["rnn-s-hier-to-2"].startswith("S-HIER-TO-2")
    result = CliRunner().invoke(app, ["train", "--list"])
    assert "transformer-concat22" in result.stdout
    assert "-laptop  " not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nothing-laptop"], "no preset 'nothing-laptop'"),
        (["rnn-baseline-laptop", "--set", "training.updates"], r"section\.key=value"),
        (["rnn-baseline-laptop"], "There is no training text"),
        (["rnn-baseline-laptop", "--set", "model.layers=2"], r"model\.layers is not used: recurrent models have one"),
        (["none.toml"], "none.toml: no such file"),
    ],
)
def test_invalid_arguments_of_train_are_errors(tmp_path: Path, arguments: list[str], problem: str) -> None:
    with pytest.raises(AnaphoraError, match=problem):
        CliRunner().invoke(app, ["train", *arguments, "-o", str(tmp_path / "m")], catch_exceptions=False)
    assert CliRunner().invoke(app, ["train"]).exit_code == 2
