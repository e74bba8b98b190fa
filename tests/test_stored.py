"""What version 0.1.0 wrote is read today, with the same figures: a suite, runs, a study, models, an aligner.

tests/stored/0.1.0.tar.xz was written by commit 49e89bb, the last one of 0.1.0: the first twelve examples of
`demo --stand-ins`, their run and its evaluation; `study create --example`; two models of four updates and a measure of
two epochs, with the runs that they gave; an aligner and its links.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.suites.download import extract

ARCHIVE = Path(__file__).with_name("stored") / "0.1.0.tar.xz"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    extract(ARCHIVE, tmp_path / "out")
    return tmp_path / "out"


def scores(run: Path) -> list[list[float]]:
    return [json.loads(line)["scores"] for line in run.read_bytes().splitlines()[1:]]


def figures(result: dict[str, Any]) -> dict[str, Any]:
    return {key: result[key] for key in ("suite", "total", "correct", "accuracy", "interval", "ties", "breakdowns")}


def values(figure: Any) -> Any:
    """Figures without their intervals: 0.1.0 drew 2,000 samples."""
    if isinstance(figure, dict):
        return {key: values(value) for key, value in figure.items() if key != "interval"}
    if isinstance(figure, list):
        return [values(item) for item in figure]
    return round(figure, 12) if isinstance(figure, float) else figure


def test_suite_is_valid(stored: Path, anaphora: Run) -> None:
    anaphora("suites", "validate", stored / "suite.jsonl")


def test_run_gives_the_same_figures(stored: Path, anaphora: Run) -> None:
    now = json.loads(anaphora("evaluate", stored / "run", "--json").stdout)
    assert figures(now) == figures(json.loads((stored / "evaluate.json").read_bytes()))


def test_run_is_that_of_its_suite_today(stored: Path, anaphora: Run) -> None:
    anaphora("score", stored / "suite.jsonl", "--system", f"scores:{stored}/scores.txt", "-o", stored / "again")
    compared = json.loads(anaphora("compare", stored / "run", stored / "again", "--json").stdout)
    assert compared["pairs"][0]["delta"] == 0


def test_study_gives_the_same_agreement(stored: Path, anaphora: Run) -> None:
    now = json.loads(anaphora("study", "agreement", stored / "study", "--json").stdout)
    before = json.loads((stored / "agreement.json").read_bytes())
    assert (before.pop("samples"), now["samples"]) == (2_000, 10_000)
    assert {key: values(now[key]) for key in before} == {key: values(before[key]) for key in before}


@pytest.mark.parametrize("model", ["transformer-concat22-laptop", "rnn-s-hier-to-2-laptop"])
def test_model_gives_the_same_scores(stored: Path, anaphora: Run, model: str) -> None:
    pytest.importorskip("torch")
    anaphora("score", stored / "suite.jsonl", "--system", f"nmt:{stored / model}", "-o", stored / "again")
    before = scores(stored / f"{model}.run" / "run.jsonl")
    assert scores(stored / "again" / "run.jsonl") == [pytest.approx(row, abs=1e-3) for row in before]


def test_training_continues_from_a_stored_model(stored: Path, anaphora: Run) -> None:
    pytest.importorskip("torch")
    lines = [f"the cup {n} fell" for n in range(8)]
    for side in ("en", "de"):
        (stored / f"a.{side}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = stored / "transformer-concat22-laptop" / "config.toml"
    settings = {"data.source": stored / "a.en", "data.target": stored / "a.de", "training.start_from": config.parent}
    options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    anaphora("train", config, *options, "-o", stored / "more", "--threads", "1")
    assert (stored / "more" / "model.safetensors").is_file()


def test_measure_gives_the_same_scores(stored: Path, anaphora: Run) -> None:
    pytest.importorskip("torch")
    anaphora("score", stored / "pairs.jsonl", "--system", f"measure:{stored}/measure", "-o", stored / "again")
    before = scores(stored / "measure.run" / "run.jsonl")
    assert scores(stored / "again" / "run.jsonl") == [pytest.approx(row, abs=1e-4) for row in before]


def test_aligner_gives_the_same_links(stored: Path, anaphora: Run) -> None:
    pytest.importorskip("thot")
    texts, options = (stored / "a.en", stored / "a.de"), ("--load", stored / "aligner")
    anaphora("align", *texts, *options, "-o", stored / "again.txt")
    assert (stored / "again.txt").read_text("utf-8") == (stored / "links.txt").read_text("utf-8")


def test_unfinished_run_of_another_version_is_kept(stored: Path, anaphora: Run) -> None:
    run = stored / "run" / "run.jsonl"
    part = run.with_name("run.jsonl.part")
    part.write_bytes(b"".join(run.read_bytes().splitlines(keepends=True)[:5]))
    run.unlink()
    before = part.read_bytes()
    options = ("--system", "scores:out/scores.txt", "-o", "out/run", "--resume")
    assert (
        "an unfinished run is at out/run/run.jsonl.part"
        in anaphora("score", "out/suite.jsonl", *options, check=2).stderr
    )
    assert part.read_bytes() == before
