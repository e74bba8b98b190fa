"""Accuracy of a trained measure on a suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

from anaphora import api
from anaphora.measure.config import Config, Model, Training
from anaphora.measure.evaluation import evaluate_measure
from anaphora.measure.training import train_measure
from anaphora.suites.example import Example


def test_accuracy_and_breakdowns(
    toy: list[Example], write_suite: Callable[[list[Example], Path], Path], tmp_path: Path
) -> None:
    training = Training(rate=1e-2, batch=16, epochs=20, seed=5)
    measure = train_measure(Config(model=Model(width=16, sentences=1), training=training), toy, toy).measure
    suite = api.load_suite(write_suite(toy, tmp_path / "toy.jsonl"))
    result, human = evaluate_measure(measure, suite, "m")
    assert result.figure.total == 72
    assert result.accuracy is not None
    assert result.accuracy > 0.9
    assert sum(figure.total for figure in result.breakdowns["pronoun_pair"].values()) == 72
    assert human is None
    assert (result.system, result.context) == ("measure:m", "CRC")
    limited, _ = evaluate_measure(measure, suite, "m", limit=5, breakdowns=["reference_pronoun"])
    assert limited.figure.total == 5
    assert list(limited.breakdowns) == ["reference_pronoun"]
