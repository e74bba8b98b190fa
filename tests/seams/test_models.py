"""Trained models as systems: what `train`, `translate`, `augment` and `measure` write is read by the next command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.suites.suite import read_native

pytest.importorskip("torch", reason="torch is not installed: pip install 'anaphora[nmt]'")
pytest.importorskip("sentencepiece", reason="sentencepiece is not installed: pip install 'anaphora[nmt]'")

Run = Callable[..., str]
Json = Callable[[str], Any]

SMALL = (
    "--set vocabulary.size=150 --set model.embedding=16 --set model.feed_forward=32 --set model.heads=2 "
    "--set training.updates=4 --set training.save_every=4 --set training.report_every=2 --threads 1"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo's suite and a concatenation model that `anaphora train` made from its sentences."""
    from anaphora.cli import main

    folder = tmp_path_factory.mktemp("model")
    command(main, "demo", "--stand-ins", "-o", str(folder / "demo"))
    examples = list(read_native(folder / "demo" / "suite.jsonl"))
    for name, passages in (
        ("train.en", [example.source for example in examples]),
        ("train.de", [example.candidates[example.gold or 0] for example in examples]),
    ):
        (folder / name).write_text("\n\n".join("\n".join(p) for p in passages) + "\n", encoding="utf-8")
    data = f"--set data.source={folder / 'train.en'} --set data.target={folder / 'train.de'}"
    train = f"train transformer-concat22-laptop -o {folder / 'concat22'} {data} {SMALL}"
    command(main, *train.split())
    return folder


def command(main: Callable[[list[str]], None], *arguments: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert not end.value.code, arguments


def scores_of(run_folder: Path) -> list[list[float]]:
    lines = (run_folder / "run.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    return [json.loads(line)["scores"] for line in lines]


def test_a_trained_model_scores_the_same_as_nmt_and_hf(run: Run, model: Path, tmp_path: Path) -> None:
    same = "--context 1 --limit 12 --threads 1"
    run(f"score {model}/demo/suite.jsonl --system nmt:{model}/concat22 -o runs/nmt {same}")
    # nmt: joins sentences with the mark it was trained with; hf: is told
    separator = json.loads((model / "concat22" / "config.json").read_text(encoding="utf-8")).get("separator", "<SEP>")
    from anaphora.cli import main

    arguments = f"score {model}/demo/suite.jsonl --system hf:{model}/concat22 -o runs/hf {same}".split()
    command(main, *arguments, "--separator", f" {separator} ")
    for ours, theirs in zip(scores_of(tmp_path / "runs" / "nmt"), scores_of(tmp_path / "runs" / "hf"), strict=True):
        assert theirs == pytest.approx(ours, abs=1e-3)


def test_a_trained_model_converts_to_ctranslate2(run: Run, model: Path, tmp_path: Path) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed: pip install 'anaphora[ct2]'")
    converter = ctranslate2.converters.TransformersConverter(str(model / "concat22"))
    converter.convert(str(tmp_path / "ct2"))
    for name in ("hf", "ct2"):
        where = (
            f"ct2:{tmp_path / 'ct2'}?tokenizer={model / 'concat22'}" if name == "ct2" else f"hf:{model / 'concat22'}"
        )
        run(f"score {model}/demo/suite.jsonl --system {where} -o runs/{name} --context 0 --limit 12 --threads 1")
    for ours, theirs in zip(scores_of(tmp_path / "runs" / "hf"), scores_of(tmp_path / "runs" / "ct2"), strict=True):
        assert theirs == pytest.approx(ours, abs=1e-2)


def test_own_translations_are_judged_and_reported(run: Run, run_json: Json, model: Path, tmp_path: Path) -> None:
    """translate → generative → report, next to the same system's contrastive run."""
    examples = list(read_native(model / "demo" / "suite.jsonl"))
    (tmp_path / "src.en").write_text("\n\n".join("\n".join(e.source) for e in examples) + "\n", encoding="utf-8")
    run(f"translate --system nmt:{model}/concat22 -i src.en -o out.de --threads 1 --max-tokens 8 --beams 1")
    documents = (tmp_path / "out.de").read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    assert len(documents) == len(examples)
    (tmp_path / "current.de").write_text("\n".join(d.split("\n")[-1] for d in documents) + "\n", encoding="utf-8")
    run(f"score {model}/demo/suite.jsonl --system nmt:{model}/concat22 -o runs/nmt --threads 1")
    judged = run(f"generative {model}/demo/suite.jsonl -t current.de --run runs/nmt --backend builtin --json")
    (tmp_path / "generative.json").write_text(judged, encoding="utf-8")
    run(f"report runs/nmt --suite {model}/demo/suite.jsonl --result generative.json -o page.html")
    assert "Own translations" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_context_usage_goes_into_the_report(run: Run, model: Path, tmp_path: Path) -> None:
    usage = f"context-usage {model}/demo/suite.jsonl --system nmt:{model}/concat22 -o usage --limit 24 --threads 1"
    (tmp_path / "usage.json").write_text(run(f"{usage} --json"), encoding="utf-8")
    runs = sorted(str(path.parent) for path in (tmp_path / "usage").rglob("run.jsonl"))
    assert runs
    run(f"report {runs[0]} -o without.html")
    run(f"report {runs[0]} --result usage.json -o page.html")
    without, page = ((tmp_path / name).read_text(encoding="utf-8") for name in ("without.html", "page.html"))
    assert "Accuracy by context: demo" in page
    assert "Accuracy by context" not in without


def test_attributions_go_into_the_report(run: Run, run_json: Json, model: Path, tmp_path: Path) -> None:
    """build templates → score and attribute → evaluate and report."""
    run("build templates --only overlap/object -o templates.jsonl")
    arguments = f"templates.jsonl --system nmt:{model}/concat22 --sample 12 --threads 1"
    run(f"score {arguments} -o runs/nmt")
    result = run_json(f"attribute {arguments} -o words.jsonl")
    assert result["attributed"] == 12
    assert run_json("evaluate words.jsonl")["total"] == 12
    run("report runs/nmt --suite templates.jsonl --result words.jsonl -o page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Attribution on the antecedent" in page
    assert 'class="passage"' in page


def test_augmented_text_trains_a_model(
    run: Run, run_json: Json, model: Path, tmp_path: Path, pipeline: Callable[[str], str]
) -> None:
    """augment → train, from the model it is meant to repair (ContraCAT §7)."""
    english = ["A dog came into the garden.", "I laughed.", "It was hungry."]
    german = ["Ein Hund kam in den Garten.", "Ich lachte.", "Er war hungrig."]
    for name, lines in (("x.en", english), ("x.de", german)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    specs = f"--annotate-source {pipeline('en')} --annotate-target {pipeline('de')}"
    made = run_json(f"augment --source x.en --target x.de {specs} -o augmented")
    assert made["new_examples"] == 2
    data = "--set data.source=augmented/augmented.en --set data.target=augmented/augmented.de"
    start = f"--set training.start_from={model}/concat22 --set training.batch_tokens=40"
    trained = run_json(f"train transformer-concat22-laptop -o tuned {data} {SMALL} {start}")
    assert trained["updates"] == 4
    assert trained["examples"] == 3  # the candidate and its two new versions, each with its own context
    run(f"score {model}/demo/suite.jsonl --system nmt:tuned -o runs/tuned --limit 3 --threads 1")


def test_pairs_train_a_measure_that_is_a_system(run: Run, run_json: Json, tmp_path: Path) -> None:
    """measure pairs → train → evaluate, and the same judge through score → evaluate."""
    run("measure example made-up")
    texts = "-r made-up/reference.en -t made-up/first.en -t made-up/second.en -l de-en"
    run(f"measure pairs {texts} --pair-list made-up/annotators.json -o made-up/pairs.jsonl")
    run("measure train made-up/measure.toml -o my-measure --threads 1")
    judged = run_json("measure evaluate made-up/pairs.jsonl --model my-measure --threads 1")
    run("score made-up/pairs.jsonl --system measure:my-measure -o runs/judge --context 2 --threads 1")
    assert run_json("evaluate runs/judge")["correct"] == judged["correct"]
    assert run_json("measure evaluate made-up/pairs.jsonl --run runs/judge")["correct"] == judged["correct"]
    created = run_json("study create made-up/pairs.jsonl -o study --annotators anna,ben --sample 10")
    assert created["items"] == 10
