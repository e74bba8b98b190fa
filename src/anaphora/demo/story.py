"""The demo: two small models are trained, scored, attacked, diagnosed and compared in a report."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anaphora import api
from anaphora.build.attacks.phrase import phrase_addition, phrase_preset
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import atomic_writer
from anaphora.core.finite import json_text
from anaphora.demo.corpus import Files, write_corpus
from anaphora.evaluation.compare import Comparison
from anaphora.evaluation.result import Result
from anaphora.runs import Run
from anaphora.suites.suite import read_native
from anaphora.systems import KINDS, missing_packages

MODELS = {"sentence-level": "transformer-baseline-laptop", "context-aware": "transformer-concat22-laptop"}
UPDATES = 800
SEED = 1  # the figures of the documentation are those of this seed
ATTACKS = ("he_said", "true_colon")
PRETRAINED = Path(__file__).with_name("pretrained")
Say = Callable[[str], None]
Watched = Callable[[str], AbstractContextManager[Callable[[int, int], None] | None]]  # a progress bar


@dataclass(frozen=True, slots=True)
class Story:
    """The files and results of the demo."""

    folder: Path
    report: Path
    results: dict[str, Result]
    comparison: Comparison
    summary: tuple[str, ...]


def run_story(
    folder: Path,
    *,
    pretrained: bool = False,
    updates: int = UPDATES,
    say: Say = lambda text: None,
    watched: Watched = lambda unit: nullcontext(),
) -> Story:
    """Run the demo; models that an interrupted demo has trained are used again.

    pretrained: use the models of the package, which were trained by this function
    watched: returns a progress bar, as `progress_bar` of the command line does
    """
    if missing := missing_packages(KINDS["nmt"].packages):
        remedy = 'Install with: pip install "anaphora[nmt]"; or see tables alone: anaphora demo --stand-ins'
        does = "runs two small models" if pretrained else "trains two small models"
        packages = ", ".join(sorted(missing, key=lambda name: (name != "torch", name)))  # the big one first
        raise AnaphoraError(f"the demo {does}, which needs {packages}: not installed. {remedy}")
    say("Templates: a pronoun, a sentence before it, three translations (ContraCAT)")
    files = write_corpus(folder / "text")
    suites = {"templates": files.suite, "attacked": folder / "attacked.jsonl"}
    phrase_addition(read_native(files.suite), [phrase_preset(name) for name in ATTACKS]).write(suites["attacked"])
    runs: dict[str, list[Run]] = {}
    for name in MODELS:
        model = PRETRAINED / name if pretrained else folder / "models" / name
        if not pretrained:
            say(f"Training the {name} model")
            train(name, files, model, updates, watched)
        say(f"Asking the {name} model")
        runs[name] = [
            api.score(suite, f"nmt:{model}", folder / "runs" / f"{name}-{kind}", overwrite=True, threads=1)
            for kind, suite in suites.items()
        ]
    results = {name: api.evaluate(members[0]) for name, members in runs.items()}
    named = [replace(run[0], header=replace(run[0].header, system=name)) for name, run in runs.items()]
    comparison = api.compare(*named, by=("template",))
    reported = api.report(
        *(run for members in runs.values() for run in members),
        output=folder / "report.html",
        suites=[files.suite],
        names=[name for name, members in runs.items() for _ in members],
    )
    with atomic_writer(folder / "results.json") as out:
        figures = {name: result.to_dict() for name, result in results.items()}
        text = json_text({"systems": figures, "summary": list(reported.summary)}, "the demo's result", indent=2)
        out.write(text.encode() + b"\n")
    return Story(folder, folder / "report.html", results, comparison, reported.summary)


def train(name: str, files: Files, folder: Path, updates: int, watched: Watched) -> None:
    """Train a small model, or resume the training of an interrupted demo."""
    keys = ("source", "target", "validation_source", "validation_target")
    texts = [str(path) for path in (*files.train, *files.validation)]
    quarter = max(1, updates // 4)
    document: dict[str, Any] = {
        "base": MODELS[name],
        "data": {"languages": "en-de", **dict(zip(keys, texts, strict=True))},
        "training": {"seed": SEED, "updates": updates, "save_every": quarter, "report_every": max(1, updates // 40)},
        "validation": {"every": quarter},
    }
    with watched("updates") as bar:

        def report(record: Mapping[str, Any]) -> None:
            if bar is not None and "update" in record:
                bar(record["update"], updates)

        # a small model is not faster with more threads, and much slower on a busy machine
        api.train(document, folder, resume=True, threads=1, report=report)


LEFT_OUT = ("checkpoints", "log.jsonl", "curve.svg")  # what only training needs


def keep(demo: Path, folder: Path = PRETRAINED) -> None:
    """Copy the models of a demo, without what only training needs, to where the package's own models are.

    Use: python -m anaphora.demo.story DEMO_FOLDER
    """
    for name in MODELS:
        model = folder / name
        shutil.rmtree(model, ignore_errors=True)
        shutil.copytree(demo / "models" / name, model, ignore=shutil.ignore_patterns(*LEFT_OUT))
        config = model / "config.toml"
        config.write_text(config.read_text("utf-8").replace(f"{demo}/", ""), encoding="utf-8")
        for file in model.iterdir():
            file.chmod(0o644)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
