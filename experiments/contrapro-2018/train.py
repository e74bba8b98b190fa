"""Sentence-level and concatenation models on real text, judged on ContraPro (Müller et al. 2018, Tables 5 to 8).

    python experiments/run.py contrapro-2018/train [--ablation] [--report-only]

The stages are in _stages.py; a core of a processor trains all of them in about two hours. Interrupted, the command goes
on where it was. Never trained on: what ContraPro holds (_text.py). WORK (default: experiments/contrapro-2018/work) has
text, models, runs and translations; the best models are kept here, in half precision.

--ablation also trains what the last stage is without each of its ingredients. It needs stage 2 only, which is kept.
--report-only writes TRAIN.md from train.json, without training.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from _judge import SAMPLE, Judge
from _keep import keep
from _stages import (
    ABLATIONS,
    SEEDS,
    STAGE_1,
    STAGE_2,
    STAGE_2_BASELINE,
    STAGE_3,
    STAGE_3_BASELINE,
    seeded,
    train,
)
from _text import write_text
from _train_report import report
from _weak import write_weak

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ANAPHORA_DATA") or HERE.parents[2] / "shared" / "data")
WORK = Path(os.environ.get("WORK") or HERE / "work")
RESULTS = HERE / "train.json"
ABLATED = 900  # items of ContraPro that ablations are judged on


def main() -> int:
    options = sys.argv[1:]
    found: dict[str, Any] = json.loads(RESULTS.read_bytes()) if RESULTS.exists() else {}
    if "--report-only" not in options:
        missing = [n for n in ("tatoeba", "multi30k", "docs-en-de", "ctxpro", "contrapro") if not (DATA / n).is_dir()]
        if missing:
            print(f"skipped: no {DATA / missing[0]}; set ANAPHORA_DATA", file=sys.stderr)
            return 0
        WORK.mkdir(parents=True, exist_ok=True)
        counts, judge = text(), Judge(DATA, WORK)
        found = ablated(judge, found) if "--ablation" in options else {**found, "pairs": counts, **models(judge)}
        RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "TRAIN.md").write_text(report(found), encoding="utf-8")
    return 0


def text() -> dict[str, int]:
    """The text files, written once, and their sizes."""
    done = WORK / "text" / "counts.json"
    if not done.exists():
        counts = write_text(DATA, WORK / "text")
        done.write_text(json.dumps(counts), encoding="utf-8")
    found: dict[str, int] = json.loads(done.read_text("utf-8"))
    return found


def models(judge: Judge) -> dict[str, Any]:
    """Train and judge all stages, and keep the best models."""
    for stage in (STAGE_1, STAGE_2, STAGE_2_BASELINE):
        train(stage, WORK)
    baseline = seeded(STAGE_3_BASELINE, SEEDS[0])
    train(baseline, WORK)
    seeds = [train(seeded(STAGE_3, seed), WORK) for seed in SEEDS]
    detailed = seeds[0].name
    found = {
        STAGE_2_BASELINE.name: {"right": judge.accuracy(STAGE_2_BASELINE.name, "right", SAMPLE)},
        STAGE_2.name: against_random(judge, STAGE_2.name),
        baseline.name: {"right": judge.accuracy(baseline.name, "right", SAMPLE)},
        **{model.name: against_random(judge, model.name) for model in seeds},
    }
    for name in (baseline.name, detailed):
        found[name]["all"] = judge.accuracy(name, "right")
    for name in (STAGE_2_BASELINE.name, STAGE_2.name, baseline.name, detailed):
        found[name]["bleu"] = judge.bleu(name)
    for condition in ("none", "produced", "source only"):
        found[detailed][condition] = judge.accuracy(detailed, condition, SAMPLE)
    found[detailed]["cxmi"] = judge.cxmi(detailed)
    kept = {"baseline": baseline.name, "concat22": detailed, "stage2": STAGE_2.name}
    for folder, name in kept.items():
        keep(WORK / name, HERE / folder, found[name])
    probe = {folder: judge.probe(HERE / folder) for folder in kept}
    updates = {stage.name: stage.updates for stage in (STAGE_1, STAGE_2, STAGE_3)}
    return {"updates": updates, "models": found, "probe": probe, "bayes": judge.naive_bayes()}


def against_random(judge: Judge, name: str, sample: int = SAMPLE) -> dict[str, Any]:
    """Accuracy in the right and in a random context, and the difference on the same items."""
    found = {condition: judge.accuracy(name, condition, sample) for condition in ("right", "random")}
    return {**found, "difference": judge.against_random(name, sample)}


def ablated(judge: Judge, found: dict[str, Any]) -> dict[str, Any]:
    """The last stage without each of its ingredients; whatever was trained is judged, seed by seed."""
    if not (WORK / STAGE_2.name).exists() and (HERE / STAGE_2.name).exists():
        shutil.copytree(HERE / STAGE_2.name, WORK / STAGE_2.name)
    write_weak(WORK / "text")
    table: dict[str, dict[str, Any]] = {}
    for seed in SEEDS:
        for name, stage in ABLATIONS.items():
            model = train(seeded(stage, seed), WORK).name
            table.setdefault(name, {})[str(seed)] = against_random(judge, model, ABLATED)
    return {**found, "ablation": table}


if __name__ == "__main__":
    sys.exit(main())
