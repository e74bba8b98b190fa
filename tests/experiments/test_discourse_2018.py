"""The text that the English–French models learn from, and the test against guessing."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("zstandard")
scipy_stats = pytest.importorskip("scipy.stats")

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FOLDER = EXPERIMENTS / "discourse-2018"


@pytest.fixture(autouse=True)
def stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXPERIMENTS / "contrapro-2018"))  # as real.py does


def module(name: str) -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / name))


def test_text_of_other_films_and_without_sentences_of_the_tests(data: Callable[[str], Path], tmp_path: Path) -> None:
    text = module("_real_text.py")
    for name in ("disceval-en-fr", "lopes-en-fr", "tatoeba", "diabla-en-fr"):
        data(name)
    counts = text["write_text"](data(""), tmp_path, limit=200)
    assert counts["documents"] <= 800
    assert counts["development"] == counts["lopes"] == 200
    learned = {text["plain"](line) for name in ("single", "documents") for line in lines(tmp_path / f"{name}.en")}
    tested = text["bawden_sentences"](data(""))
    assert len(tested) > 300
    assert not tested & learned
    suites = [
        {text["plain"](json.loads(line)["source"][-1]) for line in lines(tmp_path / f"{name}.jsonl")[1:]}
        for name in ("development", "lopes")
    ]
    assert not suites[0] & suites[1]
    assert not (suites[0] | suites[1]) & {text["plain"](line) for line in lines(tmp_path / "documents.en")}
    assert all(line.count("<SEP>") == 1 for line in lines(tmp_path / "passages.fr"))


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").split("\n") if line]


@pytest.mark.parametrize(("correct", "total"), [(100, 200), (130, 200), (70, 200), (0, 5), (3, 7)])
def test_guessing(correct: int, total: int) -> None:
    expected = scipy_stats.binomtest(correct, total).pvalue
    assert module("real.py")["two_sided"](correct, total) == pytest.approx(expected)


def test_models_differ_in_the_context_they_read_alone() -> None:
    stages = {stage.name: stage for stage in module("real.py")["MODELS"]}
    context, source, none = (stages[name].config() for name in ("2-to-2-1", "2-to-1-1", "baseline-1"))
    assert {k for k in context.keys() | source.keys() if context.get(k) != source.get(k)} == {"training.context_weight"}
    differing = {key for key in source.keys() | none.keys() if source.get(key) != none.get(key)}
    assert differing == {"training.batch_tokens"}  # as many sentences in a batch
