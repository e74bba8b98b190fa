"""The demo: two models learn, are asked, attacked, diagnosed and compared; a report shows what came of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anaphora import api
from anaphora.build.attacks.phrase import phrase_addition, phrase_preset
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import atomic_writer
from anaphora.core.finite import json_text
from anaphora.core.lock import lock_folder
from anaphora.demo.corpus import Files, write_corpus
from anaphora.evaluation.compare import Comparison
from anaphora.evaluation.result import Result
from anaphora.runs import Run
from anaphora.suites.suite import read_native
from anaphora.systems.listing import missing_packages

MODELS = {"sentence-level": "transformer-baseline-laptop", "context-aware": "transformer-concat22-laptop"}
UPDATES = 800
ATTACKS = ("he_said", "true_colon")
PRETRAINED = Path(__file__).with_name("pretrained")
Say = Callable[[str], None]
Watched = Callable[[str], AbstractContextManager[Callable[[int, int], None] | None]]  # a bar for what is counted


@dataclass(frozen=True, slots=True)
class Story:
    """What the demo leaves behind."""

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
    """Tell it from the beginning; what an interrupted run has finished is taken as it is.

    pretrained: with the models that come with the package, trained by this very function
    watched: gives a bar for what is counted, as `progress_bar` of the command line does
    """
    if missing := missing_packages("anaphora.nmt.training"):
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
    results = {name: api.evaluate(found[0]) for name, found in runs.items()}
    named = [replace(run[0], header=replace(run[0].header, system=name)) for name, run in runs.items()]
    comparison = api.compare(*named, by=("template",))
    reported = api.report(
        *(run for found in runs.values() for run in found),
        output=folder / "report.html",
        suites=[files.suite],
        names=[name for name, found in runs.items() for _ in found],
    )
    with atomic_writer(folder / "results.json") as out:
        figures = {name: result.to_dict() for name, result in results.items()}
        text = json_text({"systems": figures, "summary": list(reported.summary)}, "the demo's result", indent=2)
        out.write(text.encode() + b"\n")
    return Story(folder, folder / "report.html", results, comparison, reported.summary)


def train(name: str, files: Files, folder: Path, updates: int, watched: Watched) -> None:
    """Train a model of laptop size, or go on where an interrupted demo was."""
    import torch

    from anaphora.nmt.checkpoint import open_folder
    from anaphora.nmt.config import parse_config
    from anaphora.nmt.data import prepare
    from anaphora.nmt.training import Trainer

    keys = ("source", "target", "validation_source", "validation_target")
    texts = [str(path) for path in (*files.train, *files.validation)]
    quarter = max(1, updates // 4)
    document: dict[str, Any] = {
        "base": MODELS[name],
        "data": {"languages": "en-de", **dict(zip(keys, texts, strict=True))},
        "training": {"updates": updates, "save_every": quarter, "report_every": max(1, updates // 40)},
        "validation": {"every": quarter},
    }
    config = parse_config(document, folder)
    torch.set_num_threads(1)  # so small a model gains nothing from more, and loses much where the machine is busy
    with lock_folder(folder), watched("updates") as bar:
        open_folder(folder, config, resume=True)
        Trainer(config, prepare(config, folder), folder, lambda line: bar and bar(line["update"], updates)).run()


def kept(folder: Path) -> str:
    """Describe what an interrupted demo has kept; empty where there is nothing."""
    models = folder / "models"
    return f"what is trained so far is kept in {models}" if models.is_dir() else ""
