"""Sentence-level and concatenation models on real text, judged on ContraPro (Müller et al. 2018, Tables 5 to 8).

    python experiments/run.py contrapro-2018/train [--counterfactual | --missing | --ablation] [--seeds N]
                                                   [--smoke] [--report-only]

The stages are defined in _stages.py; one core trains all of them in about two hours. An interrupted command resumes
when it is run again. No sentence of ContraPro is in the training text (_text.py). Lengths and checkpoints are chosen on
passages held out of the last stage (_last_stage.py, _choose.py). WORK (default: experiments/contrapro-2018/work) has
the text, models, runs and translations; the kept models are here, in half precision.

--counterfactual trains only the last stage with counterfactual passages, which is kept as concat22, from the kept
stage 2.
--missing trains only the seeds of that stage and of the baseline that train.json does not have, and judges them.
Nothing else changes.
--ablation trains the last stage without each of its ingredients, from stage 2 as well; only what train.json lacks.
--seeds N trains the first N seeds of last stages instead of all three.
--smoke runs the steps on a little text with a few updates, in WORK/smoke, and changes nothing here. It has not been run
to the end yet.
--report-only writes TRAIN.md and the model cards from train.json, without training.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _choose import CHOSEN, accuracy_of, choose, mean_of_seeds
from _judge import SAMPLE, Judge
from _keep import card, cards, keep
from _last_stage import write_last_stage
from _stages import (
    ABLATIONS,
    COUNTERFACTUAL,
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
from _weak import write_counterfactual, write_weak

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ANAPHORA_DATA") or HERE.parents[2] / "shared" / "data")
WORK = Path(os.environ.get("WORK") or HERE / "work")
NEEDED = ("tatoeba", "multi30k", "docs-en-de", "ctxpro", "contrapro")
ABLATED = 1500  # items of ContraPro that ablations are judged on
SMOKE = 24  # items of every judgment, if only the steps are tried


def main() -> int:
    options = sys.argv[1:]
    smoke = "--smoke" in options
    seeds = SEEDS[: 1 if smoke else int(options[options.index("--seeds") + 1]) if "--seeds" in options else None]
    work, out = (WORK / "smoke", WORK / "smoke" / "kept") if smoke else (WORK, HERE)
    experiment = Experiment(work, out, smoke, seeds)
    results = experiment.out / "train.json"
    found: dict[str, Any] = json.loads(results.read_bytes()) if results.exists() else {}
    if "--report-only" not in options:
        missing = [name for name in NEEDED if not (DATA / name).is_dir()]
        if missing:
            print(f"skipped: no {DATA / missing[0]}; set ANAPHORA_DATA", file=sys.stderr)
            return 0
        experiment.out.mkdir(parents=True, exist_ok=True)
        only = {"--ablation", "--counterfactual", "--missing"} & set(options)
        if smoke or not only:
            found = {**found, **experiment.models()}
        if smoke or not only or "--counterfactual" in only:
            found = experiment.counterfactual(found)
        if "--missing" in only:
            found = experiment.missing(found)
        if smoke or "--ablation" in only:
            found = {**found, "ablation": experiment.ablation(found.get("ablation", {}))}
        results.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (experiment.out / "TRAIN.md").write_text(report(found), encoding="utf-8")
    cards(experiment.out, found)
    return 0


@dataclass(frozen=True)
class Experiment:
    """All steps, each computed once.

    work: text, models and runs; out: where results and the best models are kept
    smoke: whether the steps are only tried
    seeds: of last stages
    """

    work: Path
    out: Path
    smoke: bool = False
    seeds: tuple[int, ...] = SEEDS

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
        """Train and judge all stages, and keep the baseline and stage 2."""
        counts, judge = self.text(), self.judge()
        for stage in (STAGE_1, STAGE_2, STAGE_2_BASELINE):
            self.train(stage)
        baseline = self.train(seeded(STAGE_3_BASELINE, SEEDS[0])).name
        found: dict[str, dict[str, Any]] = {
            STAGE_2_BASELINE.name: {"right": judge.accuracy(STAGE_2_BASELINE.name, "right", SAMPLE)},
            STAGE_2.name: against_random(judge, STAGE_2.name),
            baseline: {"right": judge.accuracy(baseline, "right", SAMPLE), "chosen": self.chosen(baseline)},
            **self.every_seed(STAGE_3, judge),
        }
        for name in (STAGE_2_BASELINE.name, STAGE_2.name, baseline):
            found[name]["bleu"] = judge.bleu(name)
        kept = {"baseline": baseline, "stage2": STAGE_2.name}
        accuracies = {folder: self.keep(judge, name, folder) for folder, name in kept.items()}
        found[baseline]["all"] = accuracies["baseline"]  # as anyone has it, in half precision
        return {
            "pairs": counts,
            "updates": {stage.name: stage.updates for stage in (STAGE_1, STAGE_2, STAGE_3)},
            "models": found,
            "kept": accuracies,
            "probe": {folder: judge.probe(self.out / folder) for folder in kept},
            "bayes": judge.naive_bayes(),
        }

    def counterfactual(self, found: dict[str, Any]) -> dict[str, Any]:
        """The last stage with counterfactual passages (_weak.py), added to what was found; seed 1 is kept.

        The rule was fixed before ContraPro was asked: seed 1 must not be worse on the development set than seed 1
        without these passages, or nothing else is tried. That seed 1 is kept was fixed before others were trained.
        """
        self.text()
        judge, text = self.judge(), self.work / "text"
        pairs = {"weak": write_weak(text), "counterfactual": write_counterfactual(text)}
        self.start()
        before = found["models"][f"{STAGE_3.name}-{SEEDS[0]}"]
        if "development" not in before:  # the development set had slips (train.json, slips): measured again
            again = found.get("slips") and found["detailed"] == f"{STAGE_3.name}-{SEEDS[0]}"
            chosen = before["chosen"]["accuracy"]
            before["development"] = accuracy_of(HERE / "concat22", text / "development.jsonl") if again else chosen
        first = self.train(seeded(COUNTERFACTUAL, SEEDS[0])).name
        found["counterfactual"] = {"pairs": pairs, "updates": COUNTERFACTUAL.updates}
        if self.chosen(first)["accuracy"] < before["development"]:
            return {**found, "models": {**found["models"], first: {"chosen": self.chosen(first)}}}
        models: dict[str, Any] = {**found["models"], first: {**against_random(judge, first)}}
        for condition in ("none", "produced", "source only"):
            models[first][condition] = judge.accuracy(first, condition, SAMPLE)
        details = {"cxmi": judge.cxmi(first), "bleu": judge.bleu(first), "all": self.keep(judge, first, "concat22")}
        models[first] |= {**details, "chosen": self.chosen(first)}
        for name, figures in self.every_seed(COUNTERFACTUAL, judge).items():
            models[name] = {**figures, **models.get(name, {})}
        return {
            **found,
            "models": models,
            "detailed": first,
            "kept": {**found["kept"], "concat22": models[first]["all"]},
            "probe": {**found["probe"], "concat22": judge.probe(self.out / "concat22")},
        }

    def missing(self, found: dict[str, Any]) -> dict[str, Any]:
        """The seeds of last stages that were not trained yet: of the kept one, with counterfactual passages, from the
        kept stage 2, and of the baseline, whose first two stages are not kept and are trained again.

        Each is judged on the sample and, in half precision as seed 1 is kept, on all items.
        """
        self.text()
        judge, text = self.judge(), self.work / "text"
        models, read = dict(found["models"]), dict(found["counterfactual"].get("pairs_of_seeds", {}))
        for seed in self.seeds:
            stage = seeded(COUNTERFACTUAL, seed)
            if "right" not in models.get(stage.name, {}):
                pairs = {"weak": write_weak(text), "counterfactual": write_counterfactual(text)}
                self.start()
                models[stage.name] = {**against_random(judge, self.train(stage).name), **self.halved(judge, stage)}
                read[str(seed)] = pairs  # may differ from those of seed 1, which another version wrote
        for seed in self.seeds:
            stage = seeded(STAGE_3_BASELINE, seed)
            if stage.name not in models:
                for earlier in (STAGE_1, STAGE_2_BASELINE):
                    self.train(earlier)
                right = judge.accuracy(self.train(stage).name, "right", SAMPLE)
                models[stage.name] = {"right": right, **self.halved(judge, stage)}
        return {**found, "models": models, "counterfactual": {**found["counterfactual"], "pairs_of_seeds": read}}

    def halved(self, judge: Judge, stage: Stage) -> dict[str, Any]:
        """What a model has on all items in half precision, as seed 1 is kept, and which checkpoints it is made of."""
        half = self.work / "half" / stage.name
        keep(self.work / stage.name, half)
        return {"chosen": self.chosen(stage.name), "all": judge.kept(half)}

    def every_seed(self, stage: Stage, judge: Judge) -> dict[str, dict[str, Any]]:
        """A last stage with each seed, and the mean of the weights of all three."""
        names = [self.train(seeded(stage, seed)).name for seed in self.seeds]
        if self.seeds == SEEDS:
            models, mean = [self.work / name for name in names], f"{stage.name}-mean"
            mean_of_seeds(models, self.work / mean, self.work / "text" / "development.jsonl")
            names.append(mean)
        return {name: {**against_random(judge, name), "chosen": self.chosen(name)} for name in names}

    def judge(self) -> Judge:
        return Judge(DATA, self.work, SMOKE if self.smoke else None)

    def chosen(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.work / name / CHOSEN).read_text("utf-8"))
        return found

    def keep(self, judge: Judge, name: str, folder: str) -> dict[str, Any]:
        """Keep a model, with its card; the accuracy of what is kept."""
        keep(self.work / name, self.out / folder)
        right = judge.kept(self.out / folder, SAMPLE if name == STAGE_2.name else 0)
        (self.out / folder / "README.md").write_text(card(folder, right, name), encoding="utf-8")
        return right

    def start(self) -> None:
        """Stage 2, the kept one if it was not trained here."""
        if not (self.work / STAGE_2.name).exists() and (HERE / STAGE_2.name).exists():
            shutil.copytree(HERE / STAGE_2.name, self.work / STAGE_2.name)

    def ablation(self, known: dict[str, Any]) -> dict[str, Any]:
        """The last stage without each of its ingredients or with more of them, seed by seed.

        known: what was found before, in this folder or elsewhere; only what it does not have is trained
        """
        self.text()
        judge = self.judge()
        self.start()
        write_weak(self.work / "text")
        write_counterfactual(self.work / "text")
        table: dict[str, dict[str, Any]] = {name: dict(known.get(name, {})) for name in ABLATIONS}
        for seed in self.seeds:
            for name, stage in ABLATIONS.items():
                if str(seed) not in table[name]:
                    model = self.train(seeded(stage, seed)).name
                    table[name][str(seed)] = against_random(judge, model, ABLATED)
        return table


def against_random(judge: Judge, name: str, sample: int = SAMPLE) -> dict[str, Any]:
    """Accuracy in the right and in a random context, and the difference on the same items."""
    found = {condition: judge.accuracy(name, condition, sample) for condition in ("right", "random")}
    return {**found, "difference": judge.against_random(name, sample)}


if __name__ == "__main__":
    sys.exit(main())
