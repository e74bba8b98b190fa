"""Sentence-level and concatenation models on real text, judged on ContraPro (Müller et al. 2018, Tables 5 to 8).

    python experiments/run.py contrapro-2018/train [--ablation] [--smoke] [--report-only]

The stages are in _stages.py; a core of a processor trains all of them in about two hours. Interrupted, the command goes
on where it was. Never trained on: what ContraPro holds (_text.py). Lengths and checkpoints are chosen on passages that
are held out of the last stage (_last_stage.py, _choose.py). WORK (default: experiments/contrapro-2018/work) has text,
models, runs and translations; the best models are kept here, in half precision.

--ablation also trains what the last stage is without each of its ingredients. It needs stage 2 only, which is kept.
--smoke tries the steps on a little text with a few updates, in WORK/smoke, and changes nothing here. It has not
been seen to its end yet.
--report-only writes TRAIN.md from train.json, without training.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _choose import CHOSEN, choose, mean_of_seeds
from _judge import SAMPLE, Judge
from _keep import card, keep
from _last_stage import write_last_stage
from _stages import (
    ABLATIONS,
    EVERY_MEAN,
    SEEDS,
    STAGE_1,
    STAGE_2,
    STAGE_2_BASELINE,
    STAGE_3,
    STAGE_3_BASELINE,
    Stage,
    seeded,
    tiny,
    train,
)
from _text import write_text
from _train_report import report
from _weak import write_weak

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ANAPHORA_DATA") or HERE.parents[2] / "shared" / "data")
WORK = Path(os.environ.get("WORK") or HERE / "work")
NEEDED = ("tatoeba", "multi30k", "docs-en-de", "ctxpro", "contrapro")
MEAN = "concat22-mean"  # of the weights of all seeds
ABLATED = 1500  # items of ContraPro that ablations are judged on
SMOKE = 24  # items of every judgment, if only the steps are tried


def main() -> int:
    options = sys.argv[1:]
    smoke = "--smoke" in options
    experiment = Experiment(WORK / "smoke", WORK / "smoke" / "kept", smoke=True) if smoke else Experiment(WORK, HERE)
    results = experiment.out / "train.json"
    found: dict[str, Any] = json.loads(results.read_bytes()) if results.exists() else {}
    if "--report-only" not in options:
        missing = [name for name in NEEDED if not (DATA / name).is_dir()]
        if missing:
            print(f"skipped: no {DATA / missing[0]}; set ANAPHORA_DATA", file=sys.stderr)
            return 0
        experiment.out.mkdir(parents=True, exist_ok=True)
        if smoke or "--ablation" not in options:
            found = {**found, **experiment.models()}
        if smoke or "--ablation" in options:
            found = {**found, "ablation": experiment.ablation(SEEDS[:1] if smoke else SEEDS)}
        results.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (experiment.out / "TRAIN.md").write_text(report(found), encoding="utf-8")
    return 0


@dataclass(frozen=True)
class Experiment:
    """All steps, each computed once.

    work: text, models and runs; out: where results and the best models are kept
    smoke: whether the steps are only tried
    """

    work: Path
    out: Path
    smoke: bool = False

    def text(self) -> dict[str, int]:
        """The text files, written once, and their sizes."""
        folder = self.work / "text"
        done = folder / "counts.json"
        if not done.exists():
            counts = write_text(DATA, folder, limit=SMOKE * 20 if self.smoke else None)
            counts |= write_last_stage(folder)
            done.write_text(json.dumps(counts), encoding="utf-8")
        found: dict[str, int] = json.loads(done.read_text("utf-8"))
        return found

    def train(self, stage: Stage) -> Path:
        """A trained model; the checkpoints of a last stage are chosen."""
        folder = train(tiny(stage), self.work, "vocabulary.size=600") if self.smoke else train(stage, self.work)
        if stage.chosen:
            choose(folder, self.work / "text" / "development.jsonl", 4 if self.smoke else EVERY_MEAN)
        return folder

    def models(self) -> dict[str, Any]:
        """Train and judge all stages, and keep the best models."""
        counts, judge = self.text(), Judge(DATA, self.work, SMOKE if self.smoke else None)
        for stage in (STAGE_1, STAGE_2, STAGE_2_BASELINE):
            self.train(stage)
        baseline = self.train(seeded(STAGE_3_BASELINE, SEEDS[0])).name
        seeds = [self.train(seeded(STAGE_3, seed)).name for seed in (SEEDS[:1] if self.smoke else SEEDS)]
        mean_of_seeds([self.work / name for name in seeds], self.work / MEAN, self.work / "text" / "development.jsonl")
        chosen = {name: self.chosen(name) for name in (baseline, *seeds, MEAN)}
        detailed = max((*seeds, MEAN), key=lambda name: chosen[name]["accuracy"])
        found = {
            STAGE_2_BASELINE.name: {"right": judge.accuracy(STAGE_2_BASELINE.name, "right", SAMPLE)},
            STAGE_2.name: against_random(judge, STAGE_2.name),
            baseline: {"right": judge.accuracy(baseline, "right", SAMPLE)},
            **{name: against_random(judge, name) for name in (*seeds, MEAN)},
        }
        for name, best in chosen.items():
            found[name]["chosen"] = best
        for name in (STAGE_2_BASELINE.name, STAGE_2.name, baseline, detailed):
            found[name]["bleu"] = judge.bleu(name)
        for condition in ("none", "produced", "source only"):
            found[detailed][condition] = judge.accuracy(detailed, condition, SAMPLE)
        found[detailed]["cxmi"] = judge.cxmi(detailed)
        kept = {"baseline": baseline, "concat22": detailed, "stage2": STAGE_2.name}
        accuracies = {folder: self.keep(judge, name, folder) for folder, name in kept.items()}
        for folder in ("baseline", "concat22"):
            found[kept[folder]]["all"] = accuracies[folder]  # as anyone has it, in half precision
        return {
            "pairs": counts,
            "updates": {stage.name: stage.updates for stage in (STAGE_1, STAGE_2, STAGE_3)},
            "models": found,
            "detailed": detailed,
            "kept": accuracies,
            "probe": {folder: judge.probe(self.out / folder) for folder in kept},
            "bayes": judge.naive_bayes(),
        }

    def chosen(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.work / name / CHOSEN).read_text("utf-8"))
        return found

    def keep(self, judge: Judge, name: str, folder: str) -> dict[str, Any]:
        """Keep a model, with its card; the accuracy of what is kept."""
        keep(self.work / name, self.out / folder)
        right = judge.kept(self.out / folder, SAMPLE if name == STAGE_2.name else 0)
        (self.out / folder / "README.md").write_text(card(folder, right, name), encoding="utf-8")
        return right

    def ablation(self, seeds: tuple[int, ...]) -> dict[str, Any]:
        """The last stage without each of its ingredients, seed by seed."""
        self.text()
        judge = Judge(DATA, self.work, SMOKE if self.smoke else None)
        if not (self.work / STAGE_2.name).exists() and (HERE / STAGE_2.name).exists():
            shutil.copytree(HERE / STAGE_2.name, self.work / STAGE_2.name)
        write_weak(self.work / "text")
        table: dict[str, dict[str, Any]] = {}
        for seed in seeds:
            for name, stage in ABLATIONS.items():
                model = self.train(seeded(stage, seed)).name
                table.setdefault(name, {})[str(seed)] = against_random(judge, model, ABLATED)
        return table


def against_random(judge: Judge, name: str, sample: int = SAMPLE) -> dict[str, Any]:
    """Accuracy in the right and in a random context, and the difference on the same items."""
    found = {condition: judge.accuracy(name, condition, sample) for condition in ("right", "random")}
    return {**found, "difference": judge.against_random(name, sample)}


if __name__ == "__main__":
    sys.exit(main())
