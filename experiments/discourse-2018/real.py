"""Models with and without context on real English–French text, judged on Bawden's test sets (Bawden et al. 2018).

    python experiments/run.py discourse-2018/real [--report-only]

Stage 1: sentence by sentence, on everything. Stage 2, from its weights: passages of subtitles whose last sentence has
*it* or *they*, the pronouns weighted and the context half of the loss discounted, with other text mixed in: without
context (baseline), with the previous source sentence (2-to-1), with the previous sentence of both sides (2-to-2, three
seeds). Checkpoints are chosen on held-out passages of other films. Interrupted, the command goes on where it was. WORK
(default: experiments/discourse-2018/work) has text, models and runs. --report-only writes REAL.md from real.json.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "contrapro-2018"))  # the stages of training, and the choice of checkpoints

from _choose import choose  # noqa: E402
from _command import anaphora  # noqa: E402
from _real_report import report  # noqa: E402
from _real_text import PRONOUNS, write_text  # noqa: E402
from _stages import HALF, SAVED, Stage, seeded, train  # noqa: E402
from _suites import DATA, suite_file  # noqa: E402

WORK = Path(os.environ.get("WORK") or HERE / "work")
NEEDED = ("tatoeba", "lopes-en-fr", "diabla-en-fr", "disceval-en-fr")
BAWDEN, HELD_OUT = ("bawden-coreference", "bawden-cohesion"), "lopes-held-out"
SEEDS = (1, 2, 3)
EVERY_MEAN = 200  # updates after which means of checkpoints are tried
BALANCED = {"passages": 2, "mixed": 1}
WEIGHTED = {"weighted_words": PRONOUNS, "word_weight": 8.0, **SAVED}
STAGE_1 = Stage("stage1", {"single": 1, "documents": 1}, 1000, 0.0012, 300)
BASELINE = Stage("baseline", BALANCED, 2000, 0.0006, 200, "stage1", chosen=True, settings={**WEIGHTED, **HALF})
TO_1 = replace(BASELINE, name="2-to-1", context=1, preset="concat21", settings=WEIGHTED)
TO_2 = replace(BASELINE, name="2-to-2", context=1, settings={**WEIGHTED, "context_weight": 0.1})
# what matters most first, as it takes long
MODELS = (seeded(TO_2, 1), seeded(BASELINE, 1), seeded(TO_2, 2), seeded(TO_1, 1), seeded(TO_2, 3))
KEPT = ("total", "correct", "accuracy", "interval", "signature", "breakdowns")


def main() -> int:
    results = HERE / "real.json"
    found: dict[str, Any] = json.loads(results.read_bytes()) if results.exists() else {}
    if "--report-only" not in sys.argv[1:]:
        missing = [name for name in NEEDED if not (DATA / name).is_dir()]
        if missing:
            print(f"skipped: no {DATA / missing[0]}; set ANAPHORA_DATA", file=sys.stderr)
            return 0
        WORK.mkdir(parents=True, exist_ok=True)
        found = {"pairs": text(), "updates": {stage.name: stage.updates for stage in (STAGE_1, TO_2)}, "models": {}}
        train_french(STAGE_1)
        for stage in MODELS:
            found["models"][stage.name] = judged(stage)
            results.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "REAL.md").write_text(report(found), encoding="utf-8")
    return 0


def text() -> dict[str, int]:
    """The text files, written once, and their sizes."""
    done = WORK / "text" / "counts.json"
    if not done.exists():
        counts = write_text(DATA, WORK / "text")
        done.write_text(json.dumps(counts), encoding="utf-8")
    found: dict[str, int] = json.loads(done.read_text("utf-8"))
    return found


def train_french(stage: Stage) -> Path:
    settings = {
        "data.languages": "en-fr",
        "data.target": [f"text/{name}.fr" for name in stage.text],
        "data.validation_target": "text/validation.fr",
    }
    folder = train(stage, WORK, *(f"{key}={json.dumps(value)}" for key, value in settings.items()))
    if stage.chosen:
        choose(folder, WORK / "text" / "development.jsonl", EVERY_MEAN)
    return folder


def judged(stage: Stage) -> dict[str, Any]:
    """Accuracy on every suite with the right, a random and no context, and right against random on the same items."""
    model = train_french(stage)
    found: dict[str, Any] = {"chosen": json.loads((model / "chosen.json").read_text("utf-8"))}
    for name in (*BAWDEN, HELD_OUT):
        suite = WORK / "text" / "lopes.jsonl" if name == HELD_OUT else suite_file(name, WORK)
        conditions = ("right", "random", "none") if stage.context else ("right",)
        runs = {condition: scored(model, suite, condition) for condition in conditions}
        of_suite: dict[str, Any] = {condition: evaluated(run) for condition, run in runs.items()}
        right = of_suite["right"]
        right["p_guessing"] = two_sided(right["correct"], right["total"])
        if stage.context:
            (attack,) = anaphora("robustness", runs["right"], runs["random"], "--json")["attacks"]
            of_suite["difference"] = {key: attack[key] for key in ("delta", "interval", "p_adjusted")}
        found[name] = of_suite
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
